#include "shell/commands/sqlite/session.h"

#include <fmt/format.h>

#include <algorithm>

namespace atl::shell::sqlite {

namespace {

constexpr int kReadDepthMax = 25;

bool blank(std::string_view text) {
  return text.find_first_not_of(" \t\r\n") == std::string_view::npos;
}

// The line with the mistake and a mark below it, as the original shows them.
std::string context(std::string_view sql, int offset) {
  if (offset < 0 || static_cast<std::size_t>(offset) >= sql.size()) return "";
  auto at = static_cast<std::size_t>(offset);
  auto inside = [](char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; };
  while (at > 50) {
    do {
      sql.remove_prefix(1);
      --at;
    } while (!sql.empty() && inside(sql[0]));
  }
  std::size_t length = std::min<std::size_t>(sql.size(), 78);
  while (length > 0 && length < sql.size() && inside(sql[length])) --length;
  std::string code(sql.substr(0, length));
  for (char& c : code)
    if (isspace(static_cast<unsigned char>(c))) c = ' ';
  if (at < 25) return fmt::format("\n  {}\n  {}^--- error here", code, std::string(at, ' '));
  return fmt::format("\n  {}\n  {}error here ---^", code, std::string(at - 14, ' '));
}

// The words of a dot-command; quotes hold them together, and double ones know escapes.
std::vector<std::string> words_of(std::string_view line) {
  std::vector<std::string> out;
  for (std::size_t at = 0; at < line.size();) {
    if (isspace(static_cast<unsigned char>(line[at]))) {
      ++at;
      continue;
    }
    std::string word;
    if (line[at] == '\'' || line[at] == '"') {
      char quote = line[at++];
      for (; at < line.size() && line[at] != quote; ++at) {
        if (quote == '"' && line[at] == '\\' && at + 1 < line.size()) {
          static constexpr std::string_view kFrom = "abtnvfr\\\"", kTo = "\a\b\t\n\v\f\r\\\"";
          std::size_t which = kFrom.find(line[++at]);
          word += which == std::string_view::npos ? line[at] : kTo[which];
        } else {
          word += line[at];
        }
      }
      ++at;
    } else {
      while (at < line.size() && !isspace(static_cast<unsigned char>(line[at]))) word += line[at++];
    }
    out.push_back(std::move(word));
  }
  return out;
}

}  // namespace

Session::Session(Invocation& call) : call_(call), stdout_(call.out()) {}

bool Session::open(const std::string& path, bool read_only) {
  path_ = path.empty() ? ":memory:" : path;
  db_ = std::make_unique<Database>(call_);
  auto opened = db_->open(path_, read_only);
  if (!opened) {
    out().flush();
    call_.err().write(
        fmt::format("Error: unable to open database \"{}\": {}\n", path_, opened.error().message()));
    return false;
  }
  if (path_ == ":memory:") return true;
  // SQLite opens a file when it first needs it; what cannot be opened is to be known now.
  auto place = call_.resolve(path_);
  auto parent = place ? call_.fs().find(place->parent()) : std::nullopt;
  auto there = place ? call_.fs().find(*place) : std::nullopt;
  if (!parent || !parent->is_directory() || (there && there->is_directory()) || (read_only && !there)) {
    out().flush();
    call_.err().write(
        fmt::format("Error: unable to open database \"{}\": unable to open database file\n", path_));
    return false;
  }
  return true;
}

std::optional<Session::Trouble> Session::execute(std::string_view sql) {
  while (!blank(sql)) {
    std::string_view rest;
    auto query = db_->prepare(sql, rest);
    if (!query)
      return Trouble{true, query.error().code, query.error().message + context(sql, query.error().offset)};
    sql = rest;
    if (!*query) continue;
    int code = render(**query, style, out());
    if (code != SQLITE_DONE)
      return Trouble{
          false, sqlite3_errcode(db_->get()),
          fmt::format("{} ({})", sqlite3_errmsg(db_->get()), sqlite3_extended_errcode(db_->get()))};
  }
  return std::nullopt;
}

void Session::wrong(std::string_view message) {
  out().flush();
  call_.err().write(fmt::format("{}\n", message));
  ++errors_;
}

void Session::report(const Trouble& trouble, int line) {
  wrong(fmt::format("{} near line {}: {}", trouble.prepare ? "Parse error" : "Runtime error", line,
                    trouble.message));
}

void Session::end_once() {
  if (changes)
    out().append(fmt::format("changes: {}   total_changes: {}\n", sqlite3_changes64(db_->get()),
                             sqlite3_total_changes64(db_->get())));
  if (once_) redirect({}, false);
}

std::optional<int> Session::argument(const std::string& text) {
  if (text.starts_with('.')) {
    dot(text);
    if (ended_) return ended_;
    return errors_ > 0 && bail ? std::optional<int>(1) : std::nullopt;
  }
  auto trouble = execute(text);
  if (!trouble) {
    end_once();
    return std::nullopt;
  }
  out().flush();
  call_.err().write(
      fmt::format("Error: {}{}\n", trouble->prepare ? "in prepare, " : "stepping, ", trouble->message));
  return trouble->code & 0xff;
}

std::optional<int> Session::read(Input& in) {
  if (++reading_ > kReadDepthMax) {
    wrong(fmt::format("Input nesting limit ({}) reached.", kReadDepthMax));
    --reading_;
    return std::nullopt;
  }
  std::string sql, line;
  int outer_line = std::exchange(line_, 0), start = 0;
  while (!ended_ && !(bail && errors_ > 0) && in.read_line(line)) {
    ++line_;
    call_.charge(line.size() + 1);
    if (blank(sql)) {
      sql.clear();
      if (blank(line)) continue;
      if (line.starts_with('.')) {
        if (echo) out().append(line + "\n");
        dot(line);
        continue;
      }
      start = line_;
    }
    sql += (sql.empty() ? "" : "\n") + line;
    if (line.find(';') == std::string::npos || !sqlite3_complete(sql.c_str())) continue;
    if (echo) out().append(sql + "\n");
    if (auto trouble = execute(sql)) report(*trouble, start);
    end_once();
    sql.clear();
  }
  if (!ended_ && !blank(sql) && !(bail && errors_ > 0)) {
    if (auto trouble = execute(sql)) report(*trouble, start);
    end_once();
  }
  line_ = outer_line;
  --reading_;
  return ended_;
}

void Session::redirect(const Words& words, bool once) {
  if (file_sink_) file_sink_->flush();
  file_sink_.reset();
  file_.reset();
  once_ = false;
  output_name_ = "stdout";
  if (words.size() < 2 || words[1] == "stdout") return;
  if (words[1].starts_with('|')) return wrong("Error: pipes are not supported here");
  auto opened = call_.open_output(words[1], false);
  if (!opened) return wrong(fmt::format("Error: cannot open \"{}\"", words[1]));
  file_ = std::move(*opened);
  file_sink_ = std::make_unique<Sink>(*file_);
  output_name_ = words[1];
  once_ = once;
}

void Session::dot(std::string_view line) {
  Words words = words_of(line.substr(1));
  if (words.empty()) return;
  // Abbreviations count where they are unique enough for the original: the first row that begins so.
  for (const DotRow& row : dots()) {
    if (row.name.starts_with(words[0]) &&
        (words[0].size() >= 3 || row.name == words[0] || (words[0] == "q" && row.name == "quit"))) {
      (this->*row.run)(words);
      return;
    }
  }
  wrong(fmt::format("Error: unknown command or invalid arguments:  \"{}\". Enter \".help\" for help",
                    words[0]));
}

int Session::finish(int status) {
  if (file_sink_) file_sink_->flush();
  return stdout_.finish(call_, status);
}

}  // namespace atl::shell::sqlite
