// .import: rows of a text file into a table, which is made from the first row if it is not there.

#include <fmt/format.h>

#include <algorithm>

#include "shell/commands/sqlite/session.h"

namespace atl::shell::sqlite {

namespace {

struct Dialect {
  std::string separator, row_separator;
  bool quotes = true;
};

// The fields of one record; quoted ones may hold separators and line ends.
class Records {
 public:
  Records(std::string text, Dialect dialect) : text_(std::move(text)), dialect_(std::move(dialect)) {}

  bool next(std::vector<std::string>& fields) {
    fields.clear();
    if (at_ >= text_.size()) return false;
    while (true) {
      fields.push_back(field());
      if (starts(dialect_.separator)) {
        at_ += dialect_.separator.size();
        continue;
      }
      if (at_ < text_.size()) at_ += starts("\r\n") ? 2 : dialect_.row_separator.size();
      ++line;
      return true;
    }
  }
  int line = 0;

 private:
  bool starts(std::string_view what) const { return std::string_view(text_).substr(at_).starts_with(what); }
  bool ends_row() const {
    return starts(dialect_.row_separator) || (dialect_.row_separator == "\n" && starts("\r\n"));
  }
  std::string field() {
    std::string out;
    if (dialect_.quotes && at_ < text_.size() && text_[at_] == '"') {
      for (++at_; at_ < text_.size(); ++at_) {
        if (text_[at_] != '"') {
          out += text_[at_];
          continue;
        }
        if (at_ + 1 < text_.size() && text_[at_ + 1] == '"') {
          out += text_[at_++];
          continue;
        }
        ++at_;
        break;
      }
      return out;
    }
    while (at_ < text_.size() && !starts(dialect_.separator) && !ends_row()) out += text_[at_++];
    return out;
  }

  std::string text_;
  Dialect dialect_;
  std::size_t at_ = 0;
};

}  // namespace

bool Session::import_row(Query& insert, const std::vector<std::string>& fields, std::size_t columns,
                         const std::string& where) {
  call_.charge(16 * columns);
  if (fields.size() < columns) {
    out().flush();
    call_.err().write(fmt::format("{}: expected {} columns but found {} - filling the rest with NULL\n",
                                  where, columns, fields.size()));
  } else if (fields.size() > columns) {
    out().flush();
    call_.err().write(fmt::format("{}: expected {} columns but found {} - extras ignored\n", where, columns,
                                  fields.size()));
  }
  insert.reset();
  for (std::size_t i = 0; i < std::min(columns, fields.size()); ++i)
    insert.bind(static_cast<int>(i) + 1, fields[i]);
  if (insert.step() == SQLITE_DONE) return true;
  out().flush();
  call_.err().write(fmt::format("{}: INSERT failed: {}\n", where, sqlite3_errmsg(db_->get())));
  return false;
}

void Session::dot_import(const Words& words) {
  // As in the original the rows that queries show end like those that were read from then on.
  if (style.mode == Mode::csv && style.row_separator == "\r\n") style.row_separator = "\n";
  Dialect dialect{style.separator, style.row_separator};
  std::vector<std::string> operands;
  int skip = 0;
  for (std::size_t i = 1; i < words.size(); ++i) {
    const std::string& word = words[i];
    std::string name = word.starts_with("--") ? word.substr(1) : word;
    if (name == "-csv")
      dialect = {",", "\n"};
    else if (name == "-ascii")
      dialect = {"\x1f", "\x1e", false};
    else if (name == "-v")
      continue;
    else if (name == "-skip" && i + 1 < words.size())
      skip = std::atoi(words[++i].c_str());
    else if (word.starts_with('-'))
      return wrong(fmt::format(
          "ERROR: unknown option: \"{}\".  Usage:\n.import [--csv|--ascii] [--skip N] FILE TABLE", word));
    else
      operands.push_back(word);
  }
  if (operands.size() != 2)
    return wrong(
        fmt::format("ERROR: missing {} argument. Usage:\n.import [--csv|--ascii] [--skip N] FILE TABLE",
                    operands.empty() ? "FILE" : "TABLE"));
  auto in = call_.open_input(operands[0]);
  if (!in) return wrong(fmt::format("Error: cannot open \"{}\"", operands[0]));
  Records records((*in)->read_all(), dialect);
  std::vector<std::string> fields;
  while (skip-- > 0 && records.next(fields)) {
  }
  std::string table = sql_name(operands[1]);
  auto columns = db_->rows("SELECT name FROM pragma_table_info(?1)", {operands[1]}).size();
  if (columns == 0) {
    if (!records.next(fields)) return wrong(fmt::format("{}: empty file", operands[0]));
    std::string list;
    for (const std::string& field : fields) {
      std::string name;
      for (char c : field) name += c == '"' ? std::string("\"\"") : std::string(1, c);
      list += fmt::format("{}\"{}\" TEXT", list.empty() ? "" : ", ", name);
    }
    std::string quoted_table = operands[1];
    if (auto trouble = execute(fmt::format("CREATE TABLE \"{}\"(\n{})", quoted_table, list)))
      return wrong(fmt::format("CREATE TABLE {}({}) failed: {}", table, list, trouble->message));
    columns = fields.size();
  }
  std::string marks = "?";
  for (std::size_t i = 1; i < columns; ++i) marks += ",?";
  auto insert = db_->query(fmt::format("INSERT INTO {} VALUES({})", table, marks));
  if (!insert) return wrong(fmt::format("Error: {}", sqlite3_errmsg(db_->get())));
  bool outside = sqlite3_get_autocommit(db_->get()) != 0;
  if (outside) (void)execute("BEGIN");
  while (records.next(fields))
    import_row(*insert, fields, columns, fmt::format("{}:{}", operands[0], records.line));
  insert.reset();
  if (outside) (void)execute("COMMIT");
}

}  // namespace atl::shell::sqlite
