#include "policy/scan/patterns.h"

#include <fmt/format.h>

#include <algorithm>

#include "policy/scan/text_value.h"

namespace atl::policy {

namespace {

bool is_word_character(char c) {
  return c == '_' || c == '$' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         static_cast<unsigned char>(c) >= 0x80;
}

bool is_blank(char c) {
  return c == ' ' || c == '\t';
}

// Words, strings and single marks. False: a quote is not closed.
bool tokenize_code(std::string_view text, std::uint32_t base, TokenStream& out) {
  for (std::size_t i = 0; i < text.size();) {
    auto offset = static_cast<std::uint32_t>(base + i);
    char c = text[i];
    if (is_blank(c) || c == '\n' || c == '\r') {
      ++i;
    } else if (c == '"' || c == '\'' || c == '`') {
      std::size_t close = text.find(c, i + 1);
      if (close == std::string_view::npos) return false;
      out.push_back({{Token::Kind::text, std::string(text.substr(i + 1, close - i - 1))}, offset});
      i = close + 1;
    } else if (is_word_character(c)) {
      std::size_t end = i;
      while (end < text.size() && is_word_character(text[end])) ++end;
      out.push_back({{Token::Kind::word, std::string(text.substr(i, end - i))}, offset});
      i = end;
    } else {
      out.push_back({{Token::Kind::punctuation, std::string(1, c)}, offset});
      ++i;
    }
  }
  return true;
}

bool tokenize_shell(std::string_view text, TokenStream& out) {
  constexpr std::string_view marks = "<>|&;()";
  bool first = true;
  for (std::size_t i = 0; i < text.size();) {
    char c = text[i];
    if (is_blank(c)) {
      ++i;
    } else if (marks.contains(c)) {
      std::size_t end = i;
      while (end < text.size() && text[end] == c) ++end;
      // Any redirection of output counts as '>'.
      std::string mark = c == '>' ? ">" : std::string(text.substr(i, end - i));
      out.push_back({{Token::Kind::punctuation, mark}});
      i = end;
      first = true;
    } else if (c == '"' || c == '\'') {
      std::size_t close = text.find(c, i + 1);
      if (close == std::string_view::npos) return false;
      out.push_back({{Token::Kind::word, std::string(text.substr(i + 1, close - i - 1))}});
      i = close + 1;
      first = false;
    } else {
      std::size_t end = i;
      while (end < text.size() && !is_blank(text[end]) && !marks.contains(text[end])) ++end;
      out.push_back({{Token::Kind::word, std::string(text.substr(i, end - i))}, 0, first});
      i = end;
      first = false;
    }
  }
  return true;
}

bool matches(const Token& wanted, const Token& found, bool last) {
  if (wanted.kind != found.kind) return false;
  if (last && wanted.kind == Token::Kind::word && wanted.value.ends_with('/'))
    return found.value.starts_with(wanted.value);
  return wanted.value == found.value;
}

bool is_string_node(std::string_view type) {
  return type == "string" || type == "template_string" || type == "string_content" ||
         type == "string_fragment";
}

}  // namespace

Result<std::vector<Token>> tokenize_pattern(std::string_view pattern, Language language) {
  constexpr std::size_t longest = 200;
  if (pattern.empty() || pattern.find_first_not_of(" \t") == std::string_view::npos) {
    return fail(Code::invalid_argument, "a pattern must not be empty");
  }
  if (pattern.size() > longest)
    return fail(Code::invalid_argument, "a pattern must not be longer than 200 characters");
  if (std::ranges::any_of(pattern,
                          [](char c) { return static_cast<unsigned char>(c) < 0x20 && c != '\t'; })) {
    return fail(Code::invalid_argument, "a pattern must be one line without control characters");
  }
  if (pattern.contains('\\') || pattern.contains(".*") || pattern.contains(".+") ||
      pattern.starts_with('^')) {
    return fail(Code::invalid_argument, fmt::format("'{}' looks like a regular expression; a pattern is a "
                                                    "sequence of tokens (eval(, require('fs'), >/dev/)",
                                                    pattern));
  }
  TokenStream stream;
  bool closed =
      language == Language::shell ? tokenize_shell(pattern, stream) : tokenize_code(pattern, 0, stream);
  if (!closed) return fail(Code::invalid_argument, fmt::format("a quote in '{}' is not closed", pattern));
  std::vector<Token> tokens;
  for (PlacedToken& placed : stream) tokens.push_back(std::move(placed.token));
  return tokens;
}

TokenStream tokens_of(std::string_view text, const TSTree& syntax, Language language) {
  TokenStream out;
  TSTreeCursor cursor = ts_tree_cursor_new(ts_tree_root_node(&syntax));
  for (bool inside = true; inside;) {
    TSNode node = ts_tree_cursor_current_node(&cursor);
    std::uint32_t start = ts_node_start_byte(node);
    std::string_view piece = text.substr(start, ts_node_end_byte(node) - start);
    std::string_view type = ts_node_type(node);
    bool whole = false;
    if (type == "comment") {
      whole = true;
    } else if (ts_node_is_named(node) && is_string_node(type)) {
      bool plain = true;
      std::uint32_t count = ts_node_named_child_count(node);
      for (std::uint32_t i = 0; i < count; ++i) {
        std::string_view child = ts_node_type(ts_node_named_child(node, i));
        plain = plain && child != "interpolation" && child != "template_substitution";
      }
      if (type == "string_content" || type == "string_fragment") {
        whole = true;
      } else if (plain) {
        whole = true;
        auto value = language == Language::python ? decode_python_literal(piece)
                     : piece.size() >= 2 ? std::optional(decode_javascript(piece.substr(1, piece.size() - 2)))
                                         : std::nullopt;
        out.push_back({{Token::Kind::text, value.value_or(std::string(piece))}, start});
      }
    } else if (ts_node_child_count(node) == 0) {
      if (type != "string_start" && type != "string_end" && type != "`" && type != "\"" && type != "'")
        tokenize_code(piece, start, out);
    }
    if (!whole && ts_tree_cursor_goto_first_child(&cursor)) continue;
    while (!ts_tree_cursor_goto_next_sibling(&cursor)) {
      if (!ts_tree_cursor_goto_parent(&cursor)) {
        inside = false;
        break;
      }
    }
  }
  ts_tree_cursor_delete(&cursor);
  return out;
}

void match_patterns(const LanguageRules& rules, const TokenStream& tokens, Report& report,
                    Language language) {
  for (const TokenPattern& pattern : rules.patterns) {
    const auto& wanted = pattern.tokens;
    for (std::size_t at = 0; at + wanted.size() <= tokens.size(); ++at) {
      bool equal = true;
      for (std::size_t i = 0; i < wanted.size() && equal; ++i) {
        equal = matches(wanted[i], tokens[at + i].token, i + 1 == wanted.size());
      }
      if (!equal) continue;
      bool word_first = wanted.front().kind == Token::Kind::word;
      if (language == Language::shell && word_first && !tokens[at].command_position) continue;
      if (language != Language::shell && word_first && at > 0 &&
          tokens[at - 1].token == Token{Token::Kind::punctuation, "."})
        continue;
      const std::string& name = report.compiled().listed[static_cast<std::size_t>(pattern.listed)].name;
      report.add_listed(pattern.listed, tokens[at].offset, fmt::format("the pattern {} is forbidden", name));
    }
  }
}

void report_shell_errors(std::string_view text, const TSTree& syntax, Report& report) {
  TSNode root = ts_tree_root_node(&syntax);
  std::size_t depth = 0;
  std::size_t deepest = 0;
  std::uint32_t deepest_at = 0;
  int errors = 0;
  bool broken = ts_node_has_error(root);
  TSTreeCursor cursor = ts_tree_cursor_new(root);
  for (bool inside = true; inside;) {
    TSNode node = ts_tree_cursor_current_node(&cursor);
    bool wrong = broken && (ts_node_symbol(node) == error_symbol || ts_node_is_missing(node));
    if (wrong && errors++ < 20) {
      std::uint32_t start = ts_node_start_byte(node);
      std::string_view near = text.substr(start, std::min<std::size_t>(40, ts_node_end_byte(node) - start));
      near = near.substr(0, near.find('\n'));
      report.add_parse_error(start,
                             near.empty() ? "syntax error" : fmt::format("syntax error near '{}'", near));
    }
    if (ts_tree_cursor_goto_first_child(&cursor)) {
      if (++depth > deepest) {
        deepest = depth;
        deepest_at = ts_node_start_byte(node);
      }
      continue;
    }
    while (!ts_tree_cursor_goto_next_sibling(&cursor)) {
      if (!ts_tree_cursor_goto_parent(&cursor)) {
        inside = false;
        break;
      }
      --depth;
    }
  }
  ts_tree_cursor_delete(&cursor);
  // A command in the grammar's tree stands about three levels below the block that holds it.
  if (deepest / 3 > report.policy().limits().max_nesting) {
    report.add(RuleId::too_deep, deepest_at, "the script is nested too deeply");
  }
}

}  // namespace atl::policy
