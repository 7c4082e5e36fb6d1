#include "policy/scan/cell.h"

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <span>

#include "policy/scan/grammar.h"
#include "policy/scan/text_value.h"

namespace atl::policy {

namespace {

using namespace std::string_view_literals;

// What str.strip() of Python takes away, in UTF-8.
constexpr std::array kBlanks = {" "sv,      "\t"sv,     "\n"sv,     "\r"sv,     "\v"sv,     "\f"sv,
                                "\x1c"sv,   "\x1d"sv,   "\x1e"sv,   "\x1f"sv,   "\u0085"sv, "\u00a0"sv,
                                "\u1680"sv, "\u2000"sv, "\u2001"sv, "\u2002"sv, "\u2003"sv, "\u2004"sv,
                                "\u2005"sv, "\u2006"sv, "\u2007"sv, "\u2008"sv, "\u2009"sv, "\u200a"sv,
                                "\u2028"sv, "\u2029"sv, "\u202f"sv, "\u205f"sv, "\u3000"sv};

// The interpreter strips by Python's rules. A blank that only one of the two knew would hide a line from the
// scanner.
std::string_view strip_left(std::string_view text) {
  for (bool again = true; again;) {
    again = false;
    for (std::string_view blank : kBlanks) {
      if (!text.starts_with(blank)) continue;
      text.remove_prefix(blank.size());
      again = true;
    }
  }
  return text;
}

std::string_view strip(std::string_view text) {
  text = strip_left(text);
  for (bool again = true; again;) {
    again = false;
    for (std::string_view blank : kBlanks) {
      if (!text.ends_with(blank)) continue;
      text.remove_suffix(blank.size());
      again = true;
    }
  }
  return text;
}

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  for (std::size_t start = 0;;) {
    const std::size_t end = text.find('\n', start);
    lines.push_back(text.substr(start, end - start));
    if (end == std::string_view::npos) return lines;
    start = end + 1;
  }
}

// The first word and what follows it.
std::pair<std::string_view, std::string_view> split_word(std::string_view text) {
  text = strip(text);
  const std::size_t end = text.find_first_of(" \t\r\v\f");
  if (end == std::string_view::npos) return {text, {}};
  return {text.substr(0, end), strip(text.substr(end))};
}

bool is_one_of(std::string_view word, std::span<const std::string_view> words) {
  return std::ranges::find(words, word) != words.end();
}

constexpr std::array kShellWords = {"bash"sv, "sh"sv, "script"sv, "system"sv, "sx"sv, "sc"sv, "!"sv, "zsh"sv};
constexpr std::array kPythonWords = {"time"sv,    "timeit"sv,  "capture"sv, "prun"sv,  "python"sv,
                                     "python3"sv, "python2"sv, "pypy"sv,    "debug"sv, "memit"sv};
constexpr std::array kScriptWords = {"javascript"sv, "js"sv, "node"sv};
constexpr std::array kInstallers = {"pip"sv, "pip3"sv, "conda"sv, "mamba"sv, "micromamba"sv, "uv"sv};
// Of these the body is shown, or the line sets something.
constexpr std::array kShownWords = {"html"sv, "markdown"sv, "latex"sv, "svg"sv, "writefile"sv, "file"sv};

// Of `%timeit -n 5 -r3 statement` what is run; options that the interpreter does not take stay.
std::string_view without_options(std::string_view word, std::string_view rest) {
  if (word != "timeit") return rest;
  const auto skip = [&](std::string_view set) {
    rest.remove_prefix(std::min(rest.find_first_not_of(set), rest.size()));
  };
  // The options that our own %timeit reads, no others.
  while (rest.size() > 1 && rest[0] == '-' && "nrqoc"sv.contains(rest[1])) {
    rest.remove_prefix(2);
    skip(" \t");
    skip("0123456789");
    skip(" \t");
  }
  return rest;
}

bool is_identifier_start(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
bool is_identifier_part(char c) {
  return is_identifier_start(c) || (c >= '0' && c <= '9');
}

bool is_python(std::string_view text) {
  SyntaxTree syntax = parse(text, Language::python);
  return syntax && !ts_node_has_error(ts_tree_root_node(syntax.get()));
}

std::string quoted(std::string_view text) {
  std::string out = "'";
  for (char c : text) {
    if (c == '\\' || c == '\'') out += '\\';
    if (c == '\n')
      out += "\\n";
    else
      out += c;
  }
  return out + "'";
}

// What the interpreter puts into a command before the shell sees it: {expression} and $name.
struct Placeholder {
  std::size_t start = 0, end = 0;
  std::string_view expression;
  bool is_certain = false;  // {expression}: not something the shell itself might mean
};

std::vector<Placeholder> placeholders_in(std::string_view command) {
  std::vector<Placeholder> found;
  for (std::size_t at = 0; at < command.size(); ++at) {
    if (command[at] == '{') {
      const std::size_t end = command.find_first_of("{}", at + 1);
      // {a{b}} and {} are the shell's.
      if (end == std::string_view::npos || command[end] != '}' || end == at + 1) continue;
      const std::string_view inner = command.substr(at + 1, end - at - 1);
      if (is_python(strip(inner))) found.push_back({at, end + 1, strip(inner), true});
      at = end;
    } else if (command[at] == '$' && at + 1 < command.size() && is_identifier_start(command[at + 1])) {
      std::size_t end = at + 2;
      while (end < command.size() && is_identifier_part(command[end])) ++end;
      found.push_back({at, end, command.substr(at + 1, end - at - 1), false});
      at = end - 1;
    }
  }
  return found;
}

// Brackets and quotes that are open behind a line, as the interpreter counts them (open_after in python.py).
struct OpenState {
  int depth = 0;
  std::string quote;
  bool goes_on = false;

  bool is_open() const { return depth > 0 || !quote.empty() || goes_on; }
  void pass(std::string_view line);
};

void OpenState::pass(std::string_view line) {
  for (std::size_t at = 0; at < line.size();) {
    const char c = line[at];
    // Inside a string: a backslash protects the next character, even in a raw string, where Python counts it
    // for this purpose as well.
    if (!quote.empty()) {
      const bool closes = line.substr(at).starts_with(quote);
      at += closes ? quote.size() : c == '\\' ? 2 : 1;
      if (closes) quote.clear();
      continue;
    }
    if (c == '#') {
      goes_on = false;
      return;
    }
    if (c == '"' || c == '\'') {
      const std::string three(3, c);
      quote = line.substr(at).starts_with(three) ? three : std::string(1, c);
      at += quote.size();
      continue;
    }
    if ("([{"sv.contains(c)) ++depth;
    if (")]}"sv.contains(c)) depth = std::max(depth - 1, 0);
    ++at;
  }
  goes_on = line.ends_with('\\');
  // A string in single quotes cannot go on to the next line; Python will refuse it.
  if (quote.size() != 3 && !goes_on) quote.clear();
}

// A line that stands for a call: what is assigned to, ! or %, and what follows.
struct Shorthand {
  std::string_view indent, target;
  char sign = '!';
  std::string_view rest;
};

std::optional<Shorthand> shorthand_of(std::string_view line) {
  const std::string_view body = strip_left(line);
  const std::string_view indent = line.substr(0, line.size() - body.size());
  if (body.starts_with('!') || body.starts_with('%'))
    return Shorthand{indent, {}, body[0], strip(body.substr(1))};
  // x = !ls and x = %time f(): the value of a command or a magic.
  const std::size_t equals = body.find('=');
  if (equals == std::string_view::npos) return std::nullopt;
  const std::string_view after = strip_left(body.substr(equals + 1));
  const std::string_view target = strip(body.substr(0, equals));
  const bool is_name = !target.empty() && target.find_first_of("\"'()[]{}#!<>+-*/") == std::string_view::npos;
  if (!is_name || !(after.starts_with('!') || after.starts_with('%'))) return std::nullopt;
  return Shorthand{indent, target, after[0], strip(after.substr(1))};
}

class CellReader {
 public:
  explicit CellReader(std::string_view code) : code_(code) {}
  Cell read();

 private:
  void read_whole(std::string_view body_of_cell);
  void read_lines();
  std::string call_for(const Shorthand& line, std::uint32_t offset);
  std::string run_shell(std::string_view command, std::uint32_t offset);
  std::string run_magic(std::string_view line, std::uint32_t offset);
  void embed(std::uint32_t offset, Language language, std::string text) {
    cell_.embedded.push_back({offset, language, std::move(text)});
  }
  bool assigns(std::string_view name);

  std::string_view code_;
  Cell cell_;
  std::optional<std::set<std::string_view>> assigned_;
};

// Whether the cell itself binds the name, roughly: it stands before an equals sign.
bool CellReader::assigns(std::string_view name) {
  if (!assigned_) {
    assigned_.emplace();
    for (std::size_t at = code_.find('='); at != std::string_view::npos; at = code_.find('=', at + 1)) {
      std::size_t end = at;
      while (end > 0 && (code_[end - 1] == ' ' || code_[end - 1] == '\t')) --end;
      std::size_t start = end;
      while (start > 0 && is_identifier_part(code_[start - 1])) --start;
      if (start < end) assigned_->insert(code_.substr(start, end - start));
    }
  }
  return assigned_->contains(name);
}

// Reads the command as it stands and with every placeholder unknown, and gives the expression that it is to
// Python, so that values which the cell itself sets are seen too.
std::string CellReader::run_shell(std::string_view command, std::uint32_t offset) {
  std::string unknown, expression;
  std::size_t done = 0, done_known = 0;
  bool has_known = false;
  for (const Placeholder& one : placeholders_in(command)) {
    if (one.is_certain) embed(offset, Language::python, std::string(one.expression));
    unknown += std::string(command.substr(done, one.start - done)) + "$__python__";
    done = one.end;
    if (!one.is_certain && !assigns(one.expression)) continue;
    has_known = true;
    expression += quoted(command.substr(done_known, one.start - done_known)) + "+str(" +
                  std::string(one.expression) + ")+";
    done_known = one.end;
  }
  if (done > 0) embed(offset, Language::shell, unknown + std::string(command.substr(done)));
  embed(offset, Language::shell, std::string(command));
  if (!has_known) return "''";
  return replace_text(expression + quoted(command.substr(done_known)), "\n", " ");
}

// The argument of the call that a %line becomes.
std::string CellReader::run_magic(std::string_view line, std::uint32_t offset) {
  const auto [word, rest] = split_word(line);
  if (is_one_of(word, kInstallers)) {
    const bool is_pip = word.starts_with("pip");
    return run_shell((is_pip ? "python3 -m pip " : std::string(word) + " ") + std::string(rest), offset);
  }
  if (is_one_of(word, kShellWords)) return run_shell(rest, offset);
  if (word == "run") return run_shell("python3 " + std::string(rest), offset);
  if (is_one_of(word, kPythonWords)) {
    embed(offset, Language::python, std::string(without_options(word, rest)));
    return "''";
  }
  // %cd {path}, %env NAME={value}: expressions alone are run.
  for (const Placeholder& one : placeholders_in(rest))
    if (one.is_certain) embed(offset, Language::python, std::string(one.expression));
  return "''";
}

std::string CellReader::call_for(const Shorthand& line, std::uint32_t offset) {
  std::string call(line.indent);
  if (!line.target.empty()) call += std::string(line.target) + " = ";
  const std::string argument = line.sign == '!' ? run_shell(line.rest, offset) : run_magic(line.rest, offset);
  return call + "__atoll_shell__(" + argument + ")";
}

void CellReader::read_lines() {
  std::vector<std::string_view> lines = lines_of(code_);
  OpenState open;
  // Inside an open bracket or string ! and % are Python's.
  for (std::size_t at = 0; at < lines.size(); ++at) {
    if (at > 0) cell_.text += '\n';
    const auto offset = static_cast<std::uint32_t>(cell_.text.size());
    auto found = open.is_open() ? std::nullopt : shorthand_of(lines[at]);
    if (!found) {
      open.pass(lines[at]);
      cell_.text += lines[at];
      continue;
    }
    // A backslash at the end is the shell's own way to go on.
    std::string joined(lines[at]);
    std::size_t more = 0;
    while (joined.ends_with('\\') && at + more + 1 < lines.size())
      joined += "\n" + std::string(lines[at + ++more]);
    cell_.text += call_for(*shorthand_of(joined), offset);
    // As many lines as were joined, so that lines keep their numbers in findings.
    cell_.text.append(more, '\n');
    at += more;
  }
}

std::optional<Language> language_of_file(std::string_view name) {
  if (name.ends_with(".py") || name.ends_with(".ipy")) return Language::python;
  if (name.ends_with(".js") || name.ends_with(".mjs") || name.ends_with(".cjs") || name.ends_with(".ts"))
    return Language::javascript;
  if (name.ends_with(".sh") || name.ends_with(".bash")) return Language::shell;
  return std::nullopt;
}

// %%word takes the whole cell: its body is code of another language, of Python, or a file's contents.
void CellReader::read_whole(std::string_view body_of_cell) {
  const std::size_t begin = code_.size() - body_of_cell.size();
  const std::size_t end = std::min(code_.find('\n', begin), code_.size());
  const auto [word, rest] = split_word(code_.substr(begin + 2, end - begin - 2));
  const std::string_view body = end < code_.size() ? code_.substr(end + 1) : std::string_view();
  // Blank lines in the place of the head, so that places stay true.
  const auto above = static_cast<std::size_t>(std::ranges::count(code_.substr(0, end), '\n')) + 1;
  const auto take_body = [&](Language language) {
    cell_.language = language;
    cell_.text = std::string(above, '\n') + std::string(body);
  };
  cell_.text = std::string(above - 1, '\n');
  for (const Placeholder& one : placeholders_in(rest))
    if (one.is_certain) embed(0, Language::python, std::string(one.expression));
  if (is_one_of(word, kShellWords)) {
    // `%%script python3`: in Jupyter the named program reads the body, in our interpreter always bash. A cell
    // that names another language is read as both.
    if (rest.starts_with("python") || rest.starts_with("pypy")) embed(0, Language::python, std::string(body));
    if (rest.starts_with("node")) embed(0, Language::javascript, std::string(body));
    take_body(Language::shell);
  } else if (is_one_of(word, kScriptWords)) {
    take_body(Language::javascript);
  } else if (is_one_of(word, kPythonWords)) {
    const std::string_view line = without_options(word, rest);
    if (!line.empty() && is_python(line)) embed(0, Language::python, std::string(line));
    Cell inner = read_cell(body);
    for (Embedded& one : inner.embedded) one.offset += static_cast<std::uint32_t>(above);
    std::ranges::move(inner.embedded, std::back_inserter(cell_.embedded));
    cell_.language = inner.language;
    cell_.text = std::string(above, '\n') + inner.text;
    cell_.unknown_word = inner.unknown_word;
  } else if (word == "writefile" || word == "file") {
    if (const auto language = language_of_file(rest.substr(rest.find_last_of(" \t") + 1)))
      embed(0, *language, std::string(body));
  } else if (!is_one_of(word, kShownWords)) {
    cell_.unknown_word = word.empty() ? "%%" : std::string(word);
  }
}

Cell CellReader::read() {
  const std::string_view body = strip_left(code_);
  if (body.starts_with("%%"))
    read_whole(body);
  else
    read_lines();
  return std::move(cell_);
}

// The indentation that a cell begins with, which the interpreter takes off every line.
std::string_view leading_indent(std::string_view code) {
  for (std::size_t start = 0; start < code.size();) {
    const std::size_t end = std::min(code.find('\n', start), code.size());
    const std::string_view line = code.substr(start, end - start);
    const std::size_t first = line.find_first_not_of(" \t\r");
    if (first != std::string_view::npos && line[first] != '#') return line.substr(0, first);
    start = end + 1;
  }
  return {};
}

std::string without_indent(std::string_view code, std::string_view indent) {
  std::string out;
  for (std::string_view line : lines_of(code)) {
    if (line.starts_with(indent)) line.remove_prefix(indent.size());
    out += line;
    out += '\n';
  }
  out.pop_back();
  return out;
}

}  // namespace

bool has_shorthands(std::string_view code) {
  if (!leading_indent(code).empty()) return true;
  for (std::size_t at = code.find_first_of("!%"); at != std::string_view::npos;
       at = code.find_first_of("!%", at + 1)) {
    std::size_t before = at;
    // Whatever lies between this and the line's start or an equals sign must be blank, of any kind.
    while (before > 0 && code[before - 1] != '\n' && code[before - 1] != '=' &&
           (static_cast<unsigned char>(code[before - 1]) <= ' ' ||
            static_cast<unsigned char>(code[before - 1]) >= 0x80))
      --before;
    if (before == 0 || code[before - 1] == '\n' || code[before - 1] == '=') return true;
  }
  return false;
}

Cell read_cell(std::string_view code) {
  if (const std::string_view indent = leading_indent(code); !indent.empty())
    return CellReader(without_indent(code, indent)).read();
  return CellReader(code).read();
}

std::string magic_cell(std::string_view word, std::string_view rest, std::string_view body) {
  std::string cell(body.data() == nullptr ? "%" : "%%");
  cell += std::string(word) + " " + std::string(rest);
  if (body.data() != nullptr) cell += "\n" + std::string(body);
  return cell;
}

}  // namespace atl::policy
