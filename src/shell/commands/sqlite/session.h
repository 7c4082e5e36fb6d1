#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "shell/commands/sqlite/database.h"
#include "shell/commands/sqlite/render.h"

namespace atl::shell::sqlite {

// What the sqlite3 program does between a line of input and a line of output: SQL, and commands that begin
// with a dot.
// One invocation of the program. What it reports goes to standard error and is counted in errors().
class Session {
 public:
  explicit Session(Invocation& call);

  Style style;
  bool bail = false, echo = false, changes = false;

  // An empty path is a database in memory. Complains and gives false if it cannot be opened.
  bool open(const std::string& path, bool read_only);
  // A text given as an argument, SQL or one dot-command: the status that ends the program, or nothing to go
  // on.
  std::optional<int> argument(const std::string& text);
  // Every line of an input; nothing unless it asked to end.
  std::optional<int> read(Input& in);
  int errors() const { return errors_; }
  // Writes out what was collected.
  int finish(int status);

 private:
  using Words = std::vector<std::string>;
  struct Trouble {
    bool prepare;
    int code;
    std::string message;
  };
  struct DotRow {
    std::string_view name;
    void (Session::*run)(const Words&);
  };

  // Runs every statement of the text and shows its rows; the first that fails ends it.
  std::optional<Trouble> execute(std::string_view sql);
  void report(const Trouble& trouble, int line);
  // One dot-command, with sqlite3's words for what it does not know.
  void dot(std::string_view line);
  static std::span<const DotRow> dots();
  Sink& out() { return file_sink_ ? *file_sink_ : stdout_; }
  void end_once();
  void wrong(std::string_view message);
  // Reads on, off, yes, no or a number into `value`; complains otherwise.
  bool on_off(const Words& words, bool& value);
  void redirect(const Words& words, bool once);

  void dot_tables(const Words& words);
  void dot_indexes(const Words& words);
  void dot_schema(const Words& words);
  void dot_dump(const Words& words);
  void dot_mode(const Words& words);
  void dot_headers(const Words& words);
  void dot_separator(const Words& words);
  void dot_nullvalue(const Words& words);
  void dot_width(const Words& words);
  void dot_import(const Words& words);
  void dot_output(const Words& words) { redirect(words, false); }
  void dot_once(const Words& words) { redirect(words, true); }
  void dot_read(const Words& words);
  void dot_print(const Words& words);
  void dot_quit(const Words& words);
  void dot_open(const Words& words);
  void dot_bail(const Words& words) { on_off(words, bail); }
  void dot_echo(const Words& words) { on_off(words, echo); }
  void dot_changes(const Words& words) { on_off(words, changes); }
  void dot_ignored(const Words&) {}
  void dot_databases(const Words& words);
  void dot_show(const Words& words);
  void dot_help(const Words& words);

  void dump_table(const std::string& name);
  void print_columns(const std::vector<std::string>& names);
  bool import_row(Query& insert, const std::vector<std::string>& fields, std::size_t columns,
                  const std::string& where);

  Invocation& call_;
  Sink stdout_;
  std::unique_ptr<Output> file_;
  std::unique_ptr<Sink> file_sink_;
  bool once_ = false;
  std::string output_name_ = "stdout";
  std::string path_;
  std::unique_ptr<Database> db_;
  std::optional<int> ended_;
  int errors_ = 0;
  int line_ = 0;
  int reading_ = 0;
};

}  // namespace atl::shell::sqlite
