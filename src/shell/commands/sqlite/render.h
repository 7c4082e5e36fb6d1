#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "shell/commands/sqlite/database.h"
#include "shell/text/sink.h"

namespace atl::shell::sqlite {

enum class Mode : unsigned char {
  list,
  csv,
  json,
  column,
  line,
  table,
  box,
  markdown,
  html,
  quote,
  tabs,
  ascii,
  insert,
  tcl
};

// How results are shown; what .mode, .headers and their friends set.
struct Style {
  Mode mode = Mode::list;
  bool headers = false;
  bool headers_given = false;
  std::string separator = "|", row_separator = "\n", null;
  std::string table = "table";  // of mode insert
  std::vector<int> widths;
};

// The mode of that name with its separators; false if there is none.
bool set_mode(Style& style, std::string_view name);
std::string_view mode_name(Mode mode);

// Shows the rows of a query: gives SQLite's code at the end (SQLITE_DONE when all went well).
// Throws what Query::step() throws; rows that were shown by then stay shown.
int render(Query& query, const Style& style, Sink& out);

// 'text' as SQL writes it; line ends by way of char() where `escape` says so (.dump).
std::string sql_text(std::string_view text, bool escape = false);
// A name, quoted if SQL needs it.
std::string sql_name(std::string_view name);
// The value of a column as SQL writes it.
std::string sql_value(Query& query, int column);

}  // namespace atl::shell::sqlite
