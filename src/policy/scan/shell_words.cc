#include "policy/scan/shell_words.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "policy/scan/text_value.h"

namespace atl::policy {

namespace {

// Bounds of what is worked out: substitutions in substitutions, values that one variable may have, bytes of a
// text. Beyond them a word is unknown, which the rules treat as computed at run time.
constexpr int depth_max = 8;
constexpr std::size_t values_max = 4;
constexpr std::size_t text_max = 1U << 16U;
using R = ShellReader;

constexpr std::array<NodeTypes::Row, 41> shell_node_rows{{
    {"comment", R::comment},
    {"command", R::command},
    {"command_name", R::command_name},
    {"word", R::plain_word},
    {"number", R::number},
    {"raw_string", R::raw_string},
    {"string", R::string},
    {"string_content", R::string_content},
    {"ansi_c_string", R::ansi_c_string},
    {"translated_string", R::translated_string},
    {"concatenation", R::concatenation},
    {"simple_expansion", R::simple_expansion},
    {"expansion", R::expansion},
    {"command_substitution", R::command_substitution},
    {"process_substitution", R::process_substitution},
    {"arithmetic_expansion", R::arithmetic},
    {"variable_name", R::variable_name},
    {"special_variable_name", R::special_variable},
    {"variable_assignment", R::variable_assignment},
    {"declaration_command", R::declaration},
    {"file_redirect", R::file_redirect},
    {"heredoc_redirect", R::heredoc_redirect},
    {"herestring_redirect", R::herestring_redirect},
    {"heredoc_body", R::heredoc_body},
    {"heredoc_content", R::string_content},
    {"heredoc_start", R::heredoc_start},
    {"heredoc_end", R::heredoc_end},
    {"redirected_statement", R::redirected_statement},
    {"pipeline", R::pipeline},
    {"function_definition", R::function_definition},
    {"brace_expression", R::brace_expression},
    {"if_statement", R::branch},
    {"while_statement", R::branch},
    {"case_statement", R::branch},
    {"subshell", R::subshell},
    {"compound_statement", R::subshell},
    {"program", R::subshell},
    {"list", R::list},
    {"for_statement", R::for_statement},
    {"c_style_for_statement", R::branch},
    {"test_command", R::test_command},
}};

// A word outside quotes: backslashes quote, and a backslash before a newline is nothing.
std::string unquote_word(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 1 < text.size()) {
      if (text[++i] != '\n') out += text[i];
    } else {
      out += text[i];
    }
  }
  return out;
}

// Inside double quotes a backslash quotes only these.
std::string unquote_double(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 1 < text.size() && std::string_view("$`\"\\\n").contains(text[i + 1])) {
      if (text[++i] != '\n') out += text[i];
    } else {
      out += text[i];
    }
  }
  return out;
}

bool has_glob(std::string_view text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\')
      ++i;
    else if (text[i] == '*' || text[i] == '?' || (text[i] == '[' && text.substr(i).contains(']')))
      return true;
  }
  return false;
}

std::string joined(const std::vector<Word>& words, std::size_t from) {
  std::string out;
  for (std::size_t i = from; i < words.size(); ++i) out += (i > from ? " " : "") + words[i].text();
  return out;
}

bool all_known(const std::vector<Word>& words, std::size_t from) {
  return std::all_of(words.begin() + static_cast<std::ptrdiff_t>(std::min(from, words.size())), words.end(),
                     [](const Word& word) { return word.known(); });
}

// What printf prints, closely enough to see a command that is put together by it. Widths are ignored.
std::string print_format(const std::vector<Word>& words) {
  std::string format = decode_ansi_c(words[1].text());
  std::string out;
  std::size_t used = 2;
  do {
    std::size_t before = used;
    for (std::size_t i = 0; i < format.size(); ++i) {
      if (format[i] != '%' || i + 1 >= format.size()) {
        out += format[i];
        continue;
      }
      char kind = format[++i];
      if (kind == '%') {
        out += '%';
      } else {
        std::string given = used < words.size() ? words[used].text() : std::string();
        ++used;
        out += kind == 'b' ? decode_ansi_c(given) : given;
      }
    }
    if (used == before) break;
  } while (used < words.size() && out.size() < text_max);
  return out;
}

}  // namespace

std::string_view ShellReader::slice(TSNode node) const {
  std::uint32_t start = ts_node_start_byte(node);
  return text_.substr(start, ts_node_end_byte(node) - start);
}

ShellReader::ShellReader(std::string_view text, const TSTree& syntax)
    : text_(text), types_([]() -> const NodeTypes& {
        static const NodeTypes types(grammar_of(Language::shell), shell_node_rows);
        return types;
      }()) {
  const TSLanguage* grammar = grammar_of(Language::shell);
  name_ = ts_language_field_id_for_name(grammar, "name", 4);
  value_ = ts_language_field_id_for_name(grammar, "value", 5);
  collect(syntax);
}

void ShellReader::assign(TSNode assignment) {
  TSNode name = ts_node_child_by_field_id(assignment, name_);
  TSNode value = ts_node_child_by_field_id(assignment, value_);
  if (ts_node_is_null(name)) return;
  std::string name_text(slice(name));
  std::string_view operator_text = text_.substr(ts_node_end_byte(name), 2);
  // An assignment without a value is the empty text.
  Word word = ts_node_is_null(value) ? Word{.values = {""}} : read(value, 1);
  if (operator_text == "+=") {
    Word before = variable(name_text);
    word = join(before.known() ? before : Word{.values = {""}}, word);
  }
  auto& known = variables_[name_text];
  for (std::string& one : word.values) {
    // Newest first: a later assignment is likelier to be the one that counts.
    std::erase(known, one);
    known.insert(known.begin(), std::move(one));
    if (known.size() > values_max) known.pop_back();
  }
}

void ShellReader::collect(const TSTree& syntax) {
  TSTreeCursor cursor = ts_tree_cursor_new(ts_tree_root_node(&syntax));
  int depth = 0;
  for (bool inside = true; inside;) {
    TSNode node = ts_tree_cursor_current_node(&cursor);
    // All assignments of the script are collected before any command is looked at, whatever runs first: a
    // variable has every value that it is given anywhere.
    Type type = ts_node_is_named(node) ? type_of(node) : other;
    if (type == variable_assignment) assign(node);
    if (type == for_statement) {
      TSFieldId variable_field = ts_language_field_id_for_name(grammar_of(Language::shell), "variable", 8);
      TSNode loop_variable = ts_node_child_by_field_id(node, variable_field);
      std::uint32_t count = ts_node_named_child_count(node);
      // The first child is the variable, the last the body.
      for (std::uint32_t i = 1; i + 1 < count && !ts_node_is_null(loop_variable); ++i) {
        Word value = read(ts_node_named_child(node, i), 1);
        auto& known = variables_[std::string(slice(loop_variable))];
        for (std::string& one : value.values) {
          if (known.size() < 16) known.push_back(std::move(one));
        }
      }
    }
    // Only functions at the top level count as defined: one inside a branch may never be.
    if (type == function_definition && depth <= 1) {
      TSNode name = ts_node_child_by_field_id(node, name_);
      if (!ts_node_is_null(name)) functions_.insert(unquote_word(slice(name)));
    }
    if (ts_tree_cursor_goto_first_child(&cursor)) {
      ++depth;
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
}

Word ShellReader::join(Word left, const Word& right) {
  Word out = left;
  out.values.clear();
  out.dynamic |= right.dynamic;
  out.glob |= right.glob;
  out.decoded |= right.decoded;
  out.remote |= right.remote;
  for (const std::string& a : left.values) {
    for (const std::string& b : right.values) {
      // Every combination of what both sides may be, up to a bound.
      if (out.values.size() < 16 && a.size() + b.size() < text_max) out.values.push_back(a + b);
    }
  }
  return out;
}

Word ShellReader::variable(std::string_view name) const {
  // Dynamic even with a known value: the environment may hold another.
  Word word{.dynamic = true};
  if (name == "IFS" && !variables_.contains(name)) word.values = {" "};
  auto found = variables_.find(name);
  if (found != variables_.end()) word.values = found->second;
  return word;
}

// ${name}, ${name:-default}, ${name:offset:length}, ${name#prefix}, ${name/from/to}, ${name,,}
Word ShellReader::expand(TSNode node) const {
  std::string_view body = slice(node);
  if (body.starts_with("${") && body.ends_with('}')) body = body.substr(2, body.size() - 3);
  bool indirect = body.starts_with('!');
  if (indirect) body.remove_prefix(1);
  std::size_t end = 0;
  while (end < body.size() && (std::isalnum(static_cast<unsigned char>(body[end])) != 0 || body[end] == '_'))
    ++end;
  std::string_view name = body.substr(0, end);
  std::string_view operation = body.substr(end);
  Word word = variable(name);
  // ${!name}.
  if (indirect && word.known()) word = variable(word.text());
  if (name == "IFS") return word;
  if (operation.empty()) return word;
  auto change = [&](auto&& f) {
    for (std::string& one : word.values) one = f(one);
    return word;
  };
  if (operation.starts_with(":-") || operation.starts_with(":=") || operation.starts_with(":+") ||
      operation.front() == '-') {
    std::string_view otherwise = operation.substr(operation.front() == '-' ? 1 : 2);
    // The default is one more value that the word may have.
    if (otherwise.find_first_of("$`") == std::string_view::npos && word.values.size() < values_max) {
      std::string plain(otherwise);
      std::erase_if(plain, [](char c) { return c == '"' || c == '\'' || c == '\\'; });
      word.values.push_back(plain);
    }
    return word;
  }
  if (operation.front() == ':') {
    std::string_view rest = operation.substr(1);
    std::size_t colon = rest.find(':');
    auto from = decode_number(rest.substr(0, colon));
    auto length = colon == std::string_view::npos ? std::nullopt : decode_number(rest.substr(colon + 1));
    if (!from || (colon != std::string_view::npos && !length)) return Word{.dynamic = true};
    return change([&](const std::string& one) {
      return slice_text(one, from, length ? std::optional<std::int64_t>(*from + *length) : std::nullopt, 1);
    });
  }
  if (operation.front() == '/') {
    bool all = operation.starts_with("//");
    std::string_view rest = operation.substr(all ? 2 : 1);
    std::size_t cut = rest.find('/');
    std::string_view from = rest.substr(0, cut);
    std::string_view to = cut == std::string_view::npos ? std::string_view() : rest.substr(cut + 1);
    if (from.find_first_of("*?[$") != std::string_view::npos || to.contains('$'))
      return Word{.dynamic = true};
    return change([&](const std::string& one) {
      if (all) return replace_text(one, from, to);
      std::size_t at = one.find(from);
      return at == std::string::npos || from.empty()
                 ? one
                 : one.substr(0, at) + std::string(to) + one.substr(at + from.size());
    });
  }
  if (operation == ",," || operation == "^^") {
    return change([&](std::string one) {
      for (char& c : one)
        c = static_cast<char>(operation == ",," ? std::tolower(static_cast<unsigned char>(c))
                                                : std::toupper(static_cast<unsigned char>(c)));
      return one;
    });
  }
  if (operation.front() == '#' || operation.front() == '%') {
    bool prefix = operation.front() == '#';
    std::string_view cut = operation.substr(operation.size() > 1 && operation[1] == operation[0] ? 2 : 1);
    if (cut.find_first_of("*?[$") != std::string_view::npos) return Word{.dynamic = true};
    return change([&](std::string one) {
      if (prefix && one.starts_with(cut)) return one.substr(cut.size());
      if (!prefix && one.ends_with(cut)) return one.substr(0, one.size() - cut.size());
      return one;
    });
  }
  return Word{.dynamic = true};
}

Word ShellReader::read(TSNode node, int depth) const {
  Word word{.offset = ts_node_start_byte(node)};
  if (depth > depth_max) {
    word.dynamic = true;
    return word;
  }
  std::string_view text = slice(node);
  std::uint32_t count = ts_node_named_child_count(node);
  switch (type_of(node)) {
    case ShellReader::plain_word:
    case number:
    case brace_expression:
    case variable_name:
      if (count > 0 && type_of(node) == ShellReader::plain_word) break;
      word.values = {unquote_word(text)};
      word.glob = has_glob(text);
      return word;
    case raw_string:
      word.values = {std::string(text.size() >= 2 ? text.substr(1, text.size() - 2) : text)};
      return word;
    case ansi_c_string:
      word.values = {decode_ansi_c(text.size() >= 3 ? text.substr(2, text.size() - 3) : text)};
      return word;
    case string: {
      word.values = {""};
      std::uint32_t at = ts_node_start_byte(node) + 1;
      std::uint32_t end = std::max(at, ts_node_end_byte(node) - 1);
      for (std::uint32_t i = 0; i < count; ++i) {
        TSNode child = ts_node_named_child(node, i);
        if (type_of(child) == string_content) continue;
        std::uint32_t start = ts_node_start_byte(child);
        if (start > at) word = join(word, {.values = {unquote_double(text_.substr(at, start - at))}});
        word = join(word, read(child, depth + 1));
        at = ts_node_end_byte(child);
      }
      if (end > at) word = join(word, {.values = {unquote_double(text_.substr(at, end - at))}});
      return word;
    }
    case simple_expansion:
      word = variable(text.substr(std::min<std::size_t>(1, text.size())));
      word.offset = ts_node_start_byte(node);
      return word;
    case expansion:
      word = expand(node);
      word.offset = ts_node_start_byte(node);
      return word;
    case command_substitution:
    case process_substitution: {
      word.dynamic = true;
      Output output;
      if (count > 0) output = output_of(ts_node_named_child(node, count - 1), depth + 1);
      word.decoded = output.decoded;
      word.remote = output.remote;
      // Newlines at the end are dropped, as the shell does.
      if (output.text && type_of(node) == command_substitution) {
        while (output.text->ends_with('\n')) output.text->pop_back();
        word.values = {std::move(*output.text)};
      }
      return word;
    }
    case arithmetic: word.dynamic = true; return word;
    case other:
      if (count == 0) {
        word.dynamic = text.contains('$') || text.contains('`');
        if (!word.dynamic) word.values = {unquote_word(text)};
        return word;
      }
      break;
    default: break;
  }
  // concatenation, command_name, translated_string and whatever else is made of parts
  word.values = {""};
  std::uint32_t at = ts_node_start_byte(node);
  for (std::uint32_t i = 0; i < count; ++i) {
    TSNode child = ts_node_named_child(node, i);
    std::uint32_t start = ts_node_start_byte(child);
    if (start > at && type_of(node) != translated_string) {
      word = join(word, {.values = {unquote_word(text_.substr(at, start - at))}});
    }
    word = join(word, read(child, depth + 1));
    at = ts_node_end_byte(child);
  }
  std::uint32_t end = ts_node_end_byte(node);
  if (end > at) word = join(word, {.values = {unquote_word(text_.substr(at, end - at))}});
  return word;
}

std::vector<Word> ShellReader::words_of(TSNode command_node, int depth) const {
  std::vector<Word> words;
  TSTreeCursor cursor = ts_tree_cursor_new(command_node);
  if (ts_tree_cursor_goto_first_child(&cursor)) {
    do {
      TSNode child = ts_tree_cursor_current_node(&cursor);
      if (!ts_node_is_named(child)) {
        // Operators inside a command are tokens of their own ("=~"); redirections are named nodes.
        continue;
      }
      Type type = type_of(child);
      if (type == variable_assignment && words.empty()) continue;
      if (type == file_redirect || type == heredoc_redirect || type == herestring_redirect || type == comment)
        continue;
      Word word = read(child, depth);
      word.offset = ts_node_start_byte(child);
      // {rm,-rf,x} is three words to bash.
      std::string text = word.text();
      bool quoted = slice(child).find_first_of("'\"\\") != std::string_view::npos;
      if (!quoted && !word.dynamic && text.size() > 2 && text.front() == '{' && text.back() == '}' &&
          text.contains(',')) {
        std::string_view rest = std::string_view(text).substr(1, text.size() - 2);
        for (;;) {
          std::size_t comma = rest.find(',');
          words.push_back({.values = {std::string(rest.substr(0, comma))}, .offset = word.offset});
          if (comma == std::string_view::npos) break;
          rest.remove_prefix(comma + 1);
        }
        continue;
      }
      // An unquoted expansion splits at blanks.
      if (word.dynamic && !quoted && word.known() && text.contains(' ')) {
        Word rest = word;
        std::string_view all = text;
        while (!all.empty()) {
          std::size_t blank = all.find(' ');
          if (blank != 0) {
            Word part = rest;
            part.values = {std::string(all.substr(0, blank))};
            words.push_back(std::move(part));
          }
          if (blank == std::string_view::npos) break;
          all.remove_prefix(blank + 1);
        }
        continue;
      }
      words.push_back(std::move(word));
    } while (ts_tree_cursor_goto_next_sibling(&cursor));
  }
  ts_tree_cursor_delete(&cursor);
  return words;
}

// What << and <<< give the command to read.
std::optional<std::string> ShellReader::given_input(TSNode node) const {
  std::uint32_t count = ts_node_named_child_count(node);
  for (std::uint32_t i = 0; i < count; ++i) {
    TSNode child = ts_node_named_child(node, i);
    Type type = type_of(child);
    if (type == herestring_redirect && ts_node_named_child_count(child) > 0) {
      Word word = read(ts_node_named_child(child, ts_node_named_child_count(child) - 1), 1);
      if (word.known()) return word.text();
    }
    if (type == heredoc_redirect) {
      std::uint32_t parts = ts_node_named_child_count(child);
      for (std::uint32_t j = 0; j < parts; ++j) {
        TSNode part = ts_node_named_child(child, j);
        if (type_of(part) == heredoc_body) return std::string(slice(part));
      }
    }
  }
  return std::nullopt;
}

// What a command writes when it reads `input`. The text is known for few commands; that data was decoded or
// downloaded stays with it through every command.
Output ShellReader::filter(const std::vector<Word>& words, const Output& input) const {
  std::vector<std::size_t> wrappers;
  std::size_t start = unwrap(words, wrappers);
  Output out = input;
  if (start >= words.size()) return out;
  std::vector<Word> rest(words.begin() + static_cast<std::ptrdiff_t>(start), words.end());
  const std::string command_text(base_name(rest.front().text()));
  auto has = [&](std::initializer_list<std::string_view> options) {
    return std::any_of(rest.begin() + 1, rest.end(), [&](const Word& word) {
      return std::ranges::find(options, word.text()) != options.end();
    });
  };
  for (const Word& word : rest) {
    out.decoded |= word.decoded;
    out.remote |= word.remote;
  }
  if (command_text == "echo") {
    out.text.reset();
    if (!all_known(rest, 1)) return out;
    std::size_t from = 1;
    bool escapes = false;
    while (from < rest.size() && (rest[from].text() == "-n" || rest[from].text() == "-e" ||
                                  rest[from].text() == "-ne" || rest[from].text() == "-en")) {
      escapes |= rest[from].text().contains('e');
      ++from;
    }
    std::string text = joined(rest, from);
    out.text = (escapes ? decode_ansi_c(text) : text) + "\n";
    return out;
  }
  if (command_text == "printf" && rest.size() > 1) {
    out.text.reset();
    if (all_known(rest, 1)) out.text = print_format(rest);
    return out;
  }
  if (command_text == "cat" || command_text == "tee") return out;
  if (command_text == "curl" || command_text == "wget" || command_text == "fetch" ||
      command_text == "aria2c" || command_text == "lynx")
    return {.text = {}, .decoded = out.decoded, .remote = true};
  bool decoder = (command_text == "base64" && has({"-d", "-D", "--decode", "-di", "-id"})) ||
                 (command_text == "base32" && has({"-d", "--decode"}));
  if (decoder || (command_text == "openssl" && has({"-d"}))) {
    std::optional<std::string> decoded;
    if (input.text && decoder)
      decoded = command_text == "base64" ? decode_base64(*input.text)
                                         : decode_base32(replace_text(*input.text, "\n", ""));
    return {.text = decoded, .decoded = true, .remote = out.remote};
  }
  if (command_text == "xxd" && has({"-r", "-rp", "-pr"})) {
    return {
        .text = input.text ? decode_hex(*input.text) : std::nullopt, .decoded = true, .remote = out.remote};
  }
  if (command_text == "rev" && input.text) {
    std::string text = *input.text;
    while (text.ends_with('\n')) text.pop_back();
    out.text = reverse_text(text);
    return out;
  }
  if (command_text == "tr" && rest.size() >= 3 && input.text) {
    std::string from = rest[1].text();
    // rot13, by far the most frequent use of tr in payloads.
    if (from == "A-Za-z" || from == "a-zA-Z") {
      return {.text = rot13(*input.text), .decoded = true, .remote = out.remote};
    }
    out.text.reset();
    return out;
  }
  for (std::string_view one : {"gunzip", "zcat", "bunzip2", "bzcat", "xzcat", "unxz", "uudecode"}) {
    if (command_text == one) return {.text = {}, .decoded = true, .remote = out.remote};
  }
  if (command_text == "gzip" && has({"-d", "-dc", "-cd"}))
    return {.text = {}, .decoded = true, .remote = out.remote};
  out.text.reset();
  return out;
}

Output ShellReader::output_of(TSNode node, int depth) const {
  if (depth > depth_max) return {};
  Type type = type_of(node);
  std::uint32_t count = ts_node_named_child_count(node);
  if (type == command) {
    Output input;
    if (auto given = given_input(node)) input.text = std::move(given);
    return filter(words_of(node, depth + 1), input);
  }
  if (type == redirected_statement && count > 0) {
    TSNode body = ts_node_named_child(node, 0);
    if (type_of(body) == command) {
      Output input;
      if (auto given = given_input(node)) input.text = std::move(given);
      return filter(words_of(body, depth + 1), input);
    }
    return output_of(body, depth + 1);
  }
  if (type == pipeline) {
    Output flow;
    for (std::uint32_t i = 0; i < count; ++i) {
      TSNode part = ts_node_named_child(node, i);
      if (type_of(part) == command && i > 0)
        flow = filter(words_of(part, depth + 1), flow);
      else if (type_of(part) != comment)
        flow = output_of(part, depth + 1);
    }
    return flow;
  }
  if ((type == subshell || type == list) && count > 0) {
    Output all = output_of(ts_node_named_child(node, count - 1), depth + 1);
    for (std::uint32_t i = 0; i + 1 < count && i < 16; ++i) {
      Output one = output_of(ts_node_named_child(node, i), depth + 1);
      all.decoded |= one.decoded;
      all.remote |= one.remote;
      // The text of a list is known only if all but the last command print nothing.
      if (one.text != std::optional<std::string>("")) all.text.reset();
    }
    return all;
  }
  return {};
}

}  // namespace atl::policy
