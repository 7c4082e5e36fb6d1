#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "policy/scan/evaluate.h"
#include "policy/scan/patterns.h"
#include "policy/scan/shell_words.h"
#include "policy/scan/text_value.h"

namespace atl::policy {

namespace {

class ShellScanner {
 public:
  ShellScanner(std::string_view text, const TSTree& syntax, Report& report)
      : text_(text),
        reader_(text, syntax),
        syntax_(syntax),
        report_(report),
        rules_(report.compiled().of(Language::shell)) {}
  void run();

 private:
  using Words = std::vector<Word>;
  void visit(TSNode node);
  void command(TSNode node);
  void run_words(Words words, int depth);
  void check_name(const Word& word, bool wrapper);
  void check_name_value(const std::string& value, const Word& word);
  void special(std::string_view name, const Words& words, int depth);
  void find_command(const Words& words, int depth);
  void interpreter(const Interpreter& how, const Words& words);
  void evaluate_words(const Words& words, std::size_t from, std::uint32_t offset, Language language);
  void awk_or_perl(std::string_view program, std::uint32_t offset);
  void remove_command(const Words& words);
  void device_arguments(std::string_view name, const Words& words);
  void redirect(TSNode node);
  void check_device(const std::string& path, std::uint32_t offset, bool redirected);
  void pipeline(TSNode node);
  void piped_into(TSNode command_node, const Output& input);
  void given_to(TSNode command_node, const std::string& input);
  void statement_with_input(TSNode node);
  void function(TSNode node);
  void nested(std::string_view code, Language language, std::uint32_t offset);
  void taints(bool decoded, bool remote, std::uint32_t offset);
  void broken(TSNode node);
  void token(Token::Kind kind, std::string value, bool command_position, std::uint32_t offset);

  std::string_view text_;
  ShellReader reader_;
  const TSTree& syntax_;
  Report& report_;
  const LanguageRules& rules_;
  TokenStream tokens_;
};

void ShellScanner::token(Token::Kind kind, std::string value, bool command_position, std::uint32_t offset) {
  // Tokens are kept only if a pattern of the policy could ask for them.
  if (!rules_.patterns.empty()) tokens_.push_back({{kind, std::move(value)}, offset, command_position});
}

void ShellScanner::run() {
  TSTreeCursor cursor = ts_tree_cursor_new(ts_tree_root_node(&syntax_));
  for (bool inside = true; inside;) {
    TSNode node = ts_tree_cursor_current_node(&cursor);
    visit(node);
    // An iterative walk: the depth of the tree is the author's choice and must not be our stack's.
    bool leaf = !ts_node_is_named(node);
    if (!leaf && ts_tree_cursor_goto_first_child(&cursor)) continue;
    while (!ts_tree_cursor_goto_next_sibling(&cursor)) {
      if (!ts_tree_cursor_goto_parent(&cursor)) {
        inside = false;
        break;
      }
    }
  }
  ts_tree_cursor_delete(&cursor);
  match_patterns(rules_, tokens_, report_, Language::shell);
}

void ShellScanner::visit(TSNode node) {
  if (!ts_node_is_named(node)) {
    std::string_view text = reader_.slice(node);
    constexpr std::array<std::string_view, 6> separators{"|", "|&", "&&", "||", ";", "&"};
    if (std::ranges::find(separators, text) != separators.end()) {
      token(Token::Kind::punctuation, std::string(text), false, ts_node_start_byte(node));
    }
    return;
  }
  // The grammar recovers from what it does not understand; bash may understand it all the same.
  if (ts_node_symbol(node) == error_symbol) broken(node);
  switch (reader_.type_of(node)) {
    case ShellReader::command:
      command(node);
      if (auto input = reader_.given_input(node)) given_to(node, *input);
      break;
    case ShellReader::file_redirect: redirect(node); break;
    case ShellReader::pipeline: pipeline(node); break;
    case ShellReader::redirected_statement: statement_with_input(node); break;
    case ShellReader::function_definition: function(node); break;
    default: break;
  }
}

void ShellScanner::command(TSNode node) {
  Words words = reader_.words_of(node);
  if (words.empty()) return;
  for (std::size_t i = 0; i < words.size(); ++i) {
    std::string text = words[i].text();
    token(Token::Kind::word, i == 0 ? std::string(base_name(text)) : text, i == 0, words[i].offset);
  }
  token(Token::Kind::punctuation, ";", false, ts_node_end_byte(node));
  run_words(std::move(words), 0);
}

// What the grammar cannot place may still be a command to a shell: {rm,-rf,x}. The first word of each piece
// is looked at as a name.
void ShellScanner::broken(TSNode node) {
  std::string_view text = reader_.slice(node);
  std::uint32_t offset = ts_node_start_byte(node);
  while (!text.empty()) {
    std::size_t end = text.find_first_of(";|&\n");
    std::string_view piece = text.substr(0, end);
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
    Words words;
    bool brace = piece.contains('{') && piece.contains(',') && !piece.contains('$');
    std::string current;
    auto finish = [&] {
      if (!current.empty())
        words.push_back({.values = {current},
                         .glob = current.find_first_of("*?[") != std::string::npos,
                         .offset = offset});
      current.clear();
    };
    for (char c : piece) {
      if (c == ' ' || c == '\t' || (brace && (c == ',' || c == '{' || c == '}')))
        finish();
      else if (c != '"' && c != '\'' && c != '\\')
        current += c;
    }
    finish();
    bool named = !words.empty() && words.front().text().find_first_of("$`()<>=") == std::string::npos;
    if (named) run_words(std::move(words), 0);
  }
}

void ShellScanner::taints(bool decoded, bool remote, std::uint32_t offset) {
  if (decoded) report_.add(RuleId::encoded_payload, offset, "decoded data is run as a command");
  if (remote) report_.add(RuleId::remote_code, offset, "what a download returns is run as a command");
}

void ShellScanner::check_name_value(const std::string& value, const Word& word) {
  std::string_view name = base_name(value);
  if (name.empty()) return;
  report_.add_import(name, word.offset, false, false);
  if (word.glob) {
    // /bin/r? runs rm: a pattern counts as every command that it matches.
    for (const auto& [forbidden, listed] : rules_.commands) {
      if (fnmatch(std::string(name).c_str(), forbidden.c_str(), 0) == 0) {
        report_.add_listed(listed, word.offset,
                           fmt::format("{} matches the forbidden command {}", value, forbidden));
      }
    }
  }
  auto found = rules_.commands.find(name);
  if (found == rules_.commands.end()) found = rules_.commands.find(value);
  // A function of the script takes the name of a forbidden command; with a path it does not.
  bool own = !value.contains('/') && reader_.is_function(value);
  if (found != rules_.commands.end() && !own) {
    report_.add_listed(found->second, word.offset, fmt::format("command {} is forbidden", name));
  } else if (rules_.allowed_commands && !own && !rules_.allowed_commands->contains(name)) {
    report_.add(RuleId::command_not_allowed, word.offset,
                fmt::format("command {} is not on the list of allowed commands", name));
  }
}

void ShellScanner::check_name(const Word& word, bool wrapper) {
  if ((!word.known() || word.dynamic || word.glob) && !wrapper) {
    // "$@" and "$1" run what the caller gave; so does "$SHELL". None of them is known here.
    report_.add(RuleId::dynamic_command, word.offset, "the name of the command is computed at run time");
    taints(word.decoded, word.remote, word.offset);
  }
  for (const std::string& value : word.values) check_name_value(value, word);
}

void ShellScanner::run_words(Words words, int depth) {
  constexpr int depth_max = 8;
  if (words.empty() || depth > depth_max) return;
  std::vector<std::size_t> wrappers;
  std::size_t start = unwrap(words, wrappers);
  for (std::size_t wrapper : wrappers) check_name(words[wrapper], true);
  if (start >= words.size()) return;
  words.erase(words.begin(), words.begin() + static_cast<std::ptrdiff_t>(start));
  // An empty word runs nothing.
  if (words.front().known() && words.front().text().empty()) return;
  check_name(words.front(), false);
  for (const std::string& value : std::vector<std::string>(words.front().values)) {
    std::string_view name = base_name(value);
    if (auto how = interpreter_of(name)) interpreter(*how, words);
    special(name, words, depth);
    // env -S and friends: a command with blanks in one word
    if (value.contains(' ') && !wrappers.empty()) nested(value, Language::shell, words.front().offset);
  }
}

void ShellScanner::special(std::string_view name, const Words& words, int depth) {
  std::uint32_t offset = words.front().offset;
  if (name == "eval") {
    evaluate_words(words, 1, offset, Language::shell);
  } else if (name == "find" || name == "fd" || name == "gfind") {
    find_command(words, depth);
  } else if (name == "alias") {
    for (std::size_t i = 1; i < words.size(); ++i) {
      std::string text = words[i].text();
      std::size_t equals = text.find('=');
      // What an alias stands for is code.
      if (equals != std::string::npos)
        nested(std::string_view(text).substr(equals + 1), Language::shell, words[i].offset);
    }
  } else if (name == "trap" && words.size() >= 3 && words[1].text() != "-") {
    evaluate_words({words[0], words[1]}, 1, offset, Language::shell);
  } else if (name == "source" || name == ".") {
    for (std::size_t i = 1; i < words.size(); ++i) taints(words[i].decoded, words[i].remote, words[i].offset);
  } else if (name == "rm") {
    remove_command(words);
  } else if (name == "awk" || name == "gawk" || name == "mawk" || name == "perl" || name == "ruby" ||
             name == "php" || name == "lua") {
    for (std::size_t i = 1; i < words.size(); ++i) awk_or_perl(words[i].text(), words[i].offset);
  } else if (name == "nc" || name == "ncat" || name == "netcat" || name == "socat") {
    for (const Word& word : words) {
      std::string text = word.text();
      std::string low = text;
      for (char& c : low) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
      bool runs = name == "socat" ? low.starts_with("exec:") || low.starts_with("system:")
                                  : text == "-e" || text == "-c" || text == "--exec" || text == "--sh-exec" ||
                                        text == "-le" || text == "-lvpe";
      if (runs)
        report_.add(RuleId::reverse_shell, word.offset,
                    fmt::format("{} gives a connection a program to talk to", name));
    }
  } else if (name == "su" || name == "script" || name == "runuser") {
    for (std::size_t i = 1; i + 1 < words.size(); ++i) {
      if (words[i].text() == "-c") evaluate_words({words[i], words[i + 1]}, 1, offset, Language::shell);
    }
  }
  device_arguments(name, words);
}

void ShellScanner::find_command(const Words& words, int depth) {
  for (std::size_t i = 1; i < words.size(); ++i) {
    std::string option = words[i].text();
    if (option == "-delete") {
      auto found = rules_.commands.find("rm");
      if (found != rules_.commands.end())
        report_.add_listed(found->second, words[i].offset, "find -delete removes files as rm does");
    }
    // find and fd both run commands on what they find.
    bool runs = option == "-exec" || option == "-execdir" || option == "-ok" || option == "-okdir" ||
                option == "-x" || option == "--exec";
    if (!runs) continue;
    Words inner;
    for (std::size_t j = i + 1; j < words.size() && words[j].text() != ";" && words[j].text() != "+"; ++j)
      inner.push_back(words[j]);
    run_words(std::move(inner), depth + 1);
  }
}

void ShellScanner::nested(std::string_view code, Language language, std::uint32_t offset) {
  if (code.empty() || !report_.enter_nested(code.size())) return;
  Report::Nested pin(report_, offset);
  scan_code(code, language, report_);
  report_.leave_nested();
}

void ShellScanner::evaluate_words(const Words& words, std::size_t from, std::uint32_t offset,
                                  Language language) {
  std::string code;
  bool known = true;
  for (std::size_t i = from; i < words.size(); ++i) {
    taints(words[i].decoded, words[i].remote, offset);
    known = known && words[i].known();
    code += (i > from ? " " : "") + words[i].text();
  }
  if (known)
    nested(code, language, offset);
  else
    report_.add(RuleId::dynamic_code, offset, "text that is computed at run time is run as code");
}

void ShellScanner::interpreter(const Interpreter& how, const Words& words) {
  for (std::size_t i = 1; i < words.size(); ++i) {
    std::string text = words[i].text();
    taints(words[i].decoded, words[i].remote, words[i].offset);
    bool gives_code = text == how.option;
    // sh -lc '...', python3 -Ic '...'
    if (text.size() > 2 && text[0] == '-' && text[1] != '-' && text.back() == how.option.back())
      gives_code = true;
    if (how.language == Language::javascript)
      gives_code = gives_code || text == "--eval" || text == "-p" || text == "--print" || text == "eval";
    if (gives_code && i + 1 < words.size()) {
      evaluate_words({words[i], words[i + 1]}, 1, words[i + 1].offset, how.language);
      return;
    }
    // The first operand is a script file; what follows is its business.
    if (!text.starts_with('-') && !text.starts_with('+') && text != "-") return;
  }
}

// system("rm x"), `rm x`, exec 'rm', "rm x" | getline: text in quotes after these words is a command.
void ShellScanner::awk_or_perl(std::string_view program, std::uint32_t offset) {
  for (std::string_view word : {"system", "exec", "popen", "qx"}) {
    for (std::size_t at = program.find(word); at != std::string_view::npos; at = program.find(word, at + 1)) {
      std::size_t open = program.find_first_not_of(" (", at + word.size());
      if (open == std::string_view::npos) continue;
      char quote = program[open];
      if (quote == '{') quote = '}';
      if (quote != '"' && quote != '\'' && quote != '}' && quote != '/') continue;
      std::size_t close = program.find(quote, open + 1);
      nested(program.substr(open + 1, close == std::string_view::npos ? close : close - open - 1),
             Language::shell, offset);
    }
  }
  for (std::size_t at = program.find('`'); at != std::string_view::npos;) {
    std::size_t close = program.find('`', at + 1);
    if (close == std::string_view::npos) break;
    nested(program.substr(at + 1, close - at - 1), Language::shell, offset);
    at = program.find('`', close + 1);
  }
}

void ShellScanner::remove_command(const Words& words) {
  bool recursive = false;
  for (const Word& word : words) {
    std::string text = word.text();
    bool short_option = text.size() > 1 && text[0] == '-' && text[1] != '-';
    recursive |= text == "--recursive" || (short_option && text.find_first_of("rR") != std::string::npos);
  }
  for (std::size_t i = 1; recursive && i < words.size(); ++i) {
    std::string path = plain_path(words[i].text());
    if (words[i].known() &&
        (path == "/" || path == "/*" || path == "/." || words[i].text() == "--no-preserve-root")) {
      report_.add(RuleId::wipe_root, words[i].offset, "everything below / is removed");
    }
  }
}

void ShellScanner::device_arguments(std::string_view name, const Words& words) {
  if (name == "tee" || name == "shred" || name == "truncate" || name.starts_with("mkfs")) {
    for (std::size_t i = 1; i < words.size(); ++i) check_device(words[i].text(), words[i].offset, false);
  } else if (name == "dd") {
    for (const Word& word : words) {
      std::string text = word.text();
      if (text.starts_with("of=")) check_device(text.substr(3), word.offset, false);
    }
  } else if ((name == "cp" || name == "mv" || name == "install") && words.size() > 2) {
    check_device(words.back().text(), words.back().offset, false);
  }
}

void ShellScanner::check_device(const std::string& path, std::uint32_t offset, bool redirected) {
  // //dev///sda and /dev/./sda are the device, too.
  std::string plain = plain_path(path);
  if (!plain.starts_with("/dev/")) return;
  if (plain.starts_with("/dev/tcp/") || plain.starts_with("/dev/udp/")) {
    report_.add(RuleId::reverse_shell, offset, fmt::format("{} is a connection to the network", plain));
    return;
  }
  if (std::ranges::find(rules_.allowed_devices, plain) != rules_.allowed_devices.end()) return;
  if (redirected) {
    token(Token::Kind::punctuation, ">", false, offset);
    token(Token::Kind::word, plain, false, offset);
  }
  report_.add(RuleId::device_write, offset, fmt::format("output goes to the device {}", plain));
}

void ShellScanner::redirect(TSNode node) {
  std::uint32_t count = ts_node_child_count(node);
  bool output = false;
  bool duplicate = false;
  for (std::uint32_t i = 0; i < count; ++i) {
    TSNode child = ts_node_child(node, i);
    if (!ts_node_is_named(child)) {
      std::string_view sign = reader_.slice(child);
      output |= sign.contains('>');
      duplicate |= sign == ">&" || sign == "<&";
      continue;
    }
    // The descriptor before the sign.
    if (reader_.type_of(child) == ShellReader::other &&
        reader_.slice(child).find_first_not_of("0123456789") == std::string_view::npos)
      continue;
    Word target = reader_.read(child);
    for (const std::string& value : target.values) {
      std::string plain = plain_path(value);
      if (output)
        check_device(value, target.offset, true);
      else if (plain.starts_with("/dev/tcp/") || plain.starts_with("/dev/udp/"))
        check_device(value, target.offset, false);
      bool device = plain.starts_with("/dev/");
      if (output && !device && !duplicate) {
        token(Token::Kind::punctuation, ">", false, target.offset);
        token(Token::Kind::word, plain, false, target.offset);
      }
    }
  }
}

// Text that flows into a command which runs its standard input.
void ShellScanner::piped_into(TSNode command_node, const Output& input) {
  Words words = reader_.words_of(command_node);
  std::vector<std::size_t> wrappers;
  std::size_t start = unwrap(words, wrappers);
  if (start >= words.size()) return;
  std::string name = words[start].text();
  bool sourced = (name == "source" || name == ".") && start + 1 < words.size() &&
                 words[start + 1].text() == "/dev/stdin";
  auto how = interpreter_of(name);
  bool xargs =
      std::ranges::any_of(wrappers, [&](std::size_t i) { return base_name(words[i].text()) == "xargs"; });
  if (sourced) how = Interpreter{Language::shell, "-c"};
  if (!how) return;
  bool reads_input = true;
  for (std::size_t i = start + 1; i < words.size() && !sourced; ++i) {
    std::string text = words[i].text();
    // bash with a script file does not run its input; bash -s does.
    if (text == "-" || text == "-s" || text == "/dev/stdin") break;
    if (text == how->option || !text.starts_with('-')) reads_input = false;
    if (!text.starts_with('-')) break;
  }
  std::uint32_t offset = words[start].offset;
  if (xargs && (input.decoded || input.remote)) taints(input.decoded, input.remote, offset);
  if (!reads_input) return;
  taints(input.decoded, input.remote, offset);
  if (input.text)
    nested(*input.text, how->language, offset);
  else if (!input.decoded && !input.remote)
    report_.add(RuleId::dynamic_code, offset, fmt::format("{} runs what a pipe gives it", name));
}

void ShellScanner::given_to(TSNode command_node, const std::string& input) {
  piped_into(command_node, Output{.text = input});
}

void ShellScanner::pipeline(TSNode node) {
  Output flow;
  std::uint32_t count = ts_node_named_child_count(node);
  bool first = true;
  for (std::uint32_t i = 0; i < count; ++i) {
    TSNode part = ts_node_named_child(node, i);
    if (reader_.type_of(part) == ShellReader::comment) continue;
    TSNode inner = part;
    if (reader_.type_of(part) == ShellReader::redirected_statement && ts_node_named_child_count(part) > 0)
      inner = ts_node_named_child(part, 0);
    bool simple = reader_.type_of(inner) == ShellReader::command;
    // A compound command is not followed: what it writes is asked for as a whole.
    if (!first && simple) piped_into(inner, flow);
    if (!first && simple)
      flow = reader_.filter(reader_.words_of(inner), flow);
    else
      flow = reader_.output_of(part);
    first = false;
  }
}

// cat <<E | sh: the here-document belongs to the statement, and what follows the pipe stands inside the
// redirection.
void ShellScanner::statement_with_input(TSNode node) {
  auto input = reader_.given_input(node);
  if (!input) return;
  TSNode body = ts_node_named_child(node, 0);
  if (reader_.type_of(body) == ShellReader::command) given_to(body, *input);
  if (reader_.type_of(body) == ShellReader::pipeline) {
    std::uint32_t parts = ts_node_named_child_count(body);
    for (std::uint32_t i = 0; i < parts; ++i) {
      TSNode part = ts_node_named_child(body, i);
      if (reader_.type_of(part) == ShellReader::command) given_to(part, *input);
    }
  }
  Output flow{.text = input};
  if (reader_.type_of(body) == ShellReader::command) flow = reader_.filter(reader_.words_of(body), flow);
  std::uint32_t count = ts_node_named_child_count(node);
  for (std::uint32_t i = 1; i < count; ++i) {
    TSNode child = ts_node_named_child(node, i);
    if (reader_.type_of(child) != ShellReader::heredoc_redirect) continue;
    std::uint32_t parts = ts_node_named_child_count(child);
    for (std::uint32_t j = 0; j < parts; ++j) {
      TSNode part = ts_node_named_child(child, j);
      if (reader_.type_of(part) == ShellReader::command) piped_into(part, flow);
      if (reader_.type_of(part) == ShellReader::pipeline) {
        Output inner = flow;
        std::uint32_t commands = ts_node_named_child_count(part);
        for (std::uint32_t k = 0; k < commands; ++k) {
          TSNode one = ts_node_named_child(part, k);
          if (reader_.type_of(one) != ShellReader::command) continue;
          piped_into(one, inner);
          inner = reader_.filter(reader_.words_of(one), inner);
        }
      }
    }
  }
}

// :(){ :|:& };: a function whose body pipes itself into itself, or starts itself in the background.
void ShellScanner::function(TSNode node) {
  TSNode name_node = ts_node_named_child(node, 0);
  if (ts_node_is_null(name_node)) return;
  std::string name(reader_.slice(name_node));
  if (name.empty()) return;
  std::string_view body = reader_.slice(node).substr(std::min(name.size(), reader_.slice(node).size()));
  std::string squeezed;
  for (char c : body) {
    if (c != ' ' && c != '\t' && c != '\n') squeezed += c;
  }
  bool bomb = squeezed.contains("{" + name + "|" + name + "&") ||
              squeezed.contains(";" + name + "|" + name + "&") ||
              squeezed.contains("{" + name + "&" + name) || squeezed.contains("{" + name + "|" + name + ";");
  if (bomb)
    report_.add(RuleId::fork_bomb, ts_node_start_byte(node),
                fmt::format("{} starts itself without end", name));
}

}  // namespace

void scan_shell(std::string_view code, Report& report) {
  SyntaxTree syntax = parse(code, Language::shell);
  // Refused as too complex rather than let through unread.
  if (!syntax) {
    report.add(RuleId::too_complex, 0, "this is too deep or too long for the parser");
    return;
  }
  // A backslash at the end of a line joins it to the next, in the middle of a word too, which the grammar
  // does not see.
  for (std::size_t at = code.find("\\\n"); at != std::string_view::npos; at = code.find("\\\n", at + 1)) {
    auto in_word = [](char c) { return c != ' ' && c != '\t' && c != '\n'; };
    if (at == 0 || at + 2 >= code.size() || !in_word(code[at - 1]) || !in_word(code[at + 2])) continue;
    std::string joined = replace_text(code, "\\\n", "");
    if (!report.enter_nested(joined.size())) break;
    Report::Nested pin(report, static_cast<std::uint32_t>(at));
    scan_shell(joined, report);
    report.leave_nested();
    break;
  }
  report_shell_errors(code, *syntax, report);
  ShellScanner(code, *syntax, report).run();
}

}  // namespace atl::policy
