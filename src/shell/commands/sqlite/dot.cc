// The commands that begin with a dot.

#include <fmt/format.h>

#include <algorithm>

#include "shell/commands/sqlite/session.h"

namespace atl::shell::sqlite {

std::span<const Session::DotRow> Session::dots() {
  static constexpr DotRow kRows[] = {
      {"bail", &Session::dot_bail},       {"binary", &Session::dot_ignored},
      {"changes", &Session::dot_changes}, {"databases", &Session::dot_databases},
      {"dump", &Session::dot_dump},       {"echo", &Session::dot_echo},
      {"exit", &Session::dot_quit},       {"headers", &Session::dot_headers},
      {"help", &Session::dot_help},       {"import", &Session::dot_import},
      {"indexes", &Session::dot_indexes}, {"indices", &Session::dot_indexes},
      {"mode", &Session::dot_mode},       {"nullvalue", &Session::dot_nullvalue},
      {"once", &Session::dot_once},       {"open", &Session::dot_open},
      {"output", &Session::dot_output},   {"print", &Session::dot_print},
      {"quit", &Session::dot_quit},       {"read", &Session::dot_read},
      {"schema", &Session::dot_schema},   {"separator", &Session::dot_separator},
      {"show", &Session::dot_show},       {"tables", &Session::dot_tables},
      {"timeout", &Session::dot_ignored}, {"width", &Session::dot_width},
  };
  return kRows;
}

bool Session::on_off(const Words& words, bool& value) {
  if (words.size() != 2) {
    wrong(fmt::format("Usage: .{} on|off", words[0]));
    return false;
  }
  const std::string& word = words[1];
  if (word == "on" || word == "yes" || word == "1")
    value = true;
  else if (word == "off" || word == "no" || word == "0")
    value = false;
  else {
    wrong(fmt::format("ERROR: Not a boolean value: \"{}\". Assuming \"no\".", word));
    --errors_;
    value = false;
  }
  return true;
}

void Session::print_columns(const std::vector<std::string>& names) {
  if (names.empty()) return;
  std::size_t widest = 0;
  for (const std::string& name : names) widest = std::max(widest, name.size());
  std::size_t columns = std::max<std::size_t>(1, 80 / (widest + 2)),
              rows = (names.size() + columns - 1) / columns;
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t j = i; j < names.size(); j += rows)
      out().append(fmt::format("{}{:<{}}", j < rows ? "" : "  ", names[j], widest));
    out().append("\n");
  }
}

void Session::dot_tables(const Words& words) {
  auto rows = db_->rows(
      "SELECT name FROM sqlite_schema WHERE type IN ('table','view') AND name NOT LIKE 'sqlite\\_%' ESCAPE "
      "'\\' AND name LIKE ?1 "
      "UNION SELECT name FROM sqlite_temp_schema WHERE type IN ('table','view') AND name NOT LIKE "
      "'sqlite\\_%' ESCAPE '\\' AND name LIKE ?1 ORDER BY 1",
      {words.size() > 1 ? words[1] : "%"});
  std::vector<std::string> names;
  for (auto& row : rows) names.push_back(row[0]);
  print_columns(names);
}

void Session::dot_indexes(const Words& words) {
  auto rows = db_->rows("SELECT name FROM sqlite_schema WHERE type='index' AND tbl_name LIKE ?1 ORDER BY 1",
                        {words.size() > 1 ? words[1] : "%"});
  std::vector<std::string> names;
  for (auto& row : rows) names.push_back(row[0]);
  print_columns(names);
}

namespace {

// A table whose name is quoted is created only if it is not there, as the original writes it.
std::string schema_line(const std::string& sql) {
  static constexpr std::string_view kCreate = "CREATE TABLE ";
  bool is_quoted = sql.starts_with(kCreate) && sql.size() > kCreate.size() &&
                   (sql[kCreate.size()] == '"' || sql[kCreate.size()] == '\'');
  return is_quoted ? "CREATE TABLE IF NOT EXISTS " + sql.substr(kCreate.size()) : sql;
}

}  // namespace

void Session::dot_schema(const Words& words) {
  auto rows = db_->rows(
      "SELECT type, name, sql FROM sqlite_schema WHERE sql NOT NULL AND (?1 = '' OR lower(name) LIKE "
      "lower(?1) OR lower(tbl_name) LIKE lower(?1)) "
      "ORDER BY rowid",
      {words.size() > 1 ? words[1] : ""});
  for (auto& row : rows) {
    if (row[1].starts_with("sqlite_") && words.size() < 2) {
      out().append(row[2] + ";\n");
      continue;
    }
    out().append(schema_line(row[2]));
    if (row[0] == "view") {
      std::string columns;
      for (auto& column : db_->rows("SELECT name FROM pragma_table_info(?1)", {row[1]}))
        columns += (columns.empty() ? "" : ",") + sql_name(column[0]);
      out().append(fmt::format("\n/* {}({}) */", sql_name(row[1]), columns));
    }
    out().append(";\n");
  }
}

void Session::dump_table(const std::string& name) {
  std::string columns;
  for (auto& row : db_->rows("SELECT name FROM pragma_table_info(?1)", {name}))
    columns += (columns.empty() ? "" : ",") + sql_name(row[0]);
  if (columns.empty()) return;
  auto query = db_->query(fmt::format("SELECT {} FROM {}", columns, sql_name(name)));
  if (!query) return;
  while (query->step() == SQLITE_ROW) {
    std::string values;
    for (int i = 0; i < query->columns(); ++i) values += (i ? "," : "") + sql_value(*query, i);
    out().append(fmt::format("INSERT INTO {} VALUES({});\n", sql_name(name), values));
  }
}

void Session::dot_dump(const Words& words) {
  std::string pattern = words.size() > 1 ? words[1] : "%";
  out().append("PRAGMA foreign_keys=OFF;\nBEGIN TRANSACTION;\n");
  auto tables = db_->rows(
      "SELECT name, sql FROM sqlite_schema WHERE type='table' AND sql NOT NULL AND name LIKE ?1 ORDER BY "
      "tbl_name='sqlite_sequence', rowid",
      {pattern});
  for (auto& row : tables) {
    if (row[0] == "sqlite_sequence") {
      out().append("DELETE FROM sqlite_sequence;\n");
    } else if (row[0].starts_with("sqlite_stat")) {
      out().append("ANALYZE sqlite_schema;\n");
    } else if (row[0].starts_with("sqlite_")) {
      continue;
    } else {
      out().append(schema_line(row[1]) + ";\n");
      if (row[1].starts_with("CREATE VIRTUAL")) continue;
    }
    dump_table(row[0]);
  }
  const char* others =
      words.size() > 1
          ? "SELECT sql FROM sqlite_schema WHERE sql NOT NULL AND type IN ('index','trigger','view') AND "
            "name LIKE ?1"
          : "SELECT sql FROM sqlite_schema WHERE sql NOT NULL AND type IN ('index','trigger','view') AND "
            "name LIKE ?1 ORDER BY type COLLATE NOCASE='view', rowid";
  for (auto& row : db_->rows(others, {pattern})) out().append(row[0] + ";\n");
  out().append("COMMIT;\n");
}

void Session::dot_mode(const Words& words) {
  if (words.size() < 2) return out().append(fmt::format("current output mode: {}\n", mode_name(style.mode)));
  if (!set_mode(style, words[1]))
    return wrong(
        "Error: mode should be one of: ascii box column csv html insert json line list markdown quote table "
        "tabs tcl");
  if (style.mode == Mode::insert) style.table = words.size() > 2 ? words[2] : "table";
}

void Session::dot_headers(const Words& words) {
  if (on_off(words, style.headers)) style.headers_given = true;
}

void Session::dot_separator(const Words& words) {
  if (words.size() < 2) return wrong("Usage: .separator COL ?ROW?");
  auto unescaped = [](const std::string& text) {
    std::string result;
    for (std::size_t i = 0; i < text.size(); ++i) {
      if (text[i] == '\\' && i + 1 < text.size()) {
        char c = text[++i];
        result += c == 't' ? '\t' : c == 'n' ? '\n' : c == 'r' ? '\r' : c;
      } else {
        result += text[i];
      }
    }
    return result;
  };
  style.separator = unescaped(words[1]);
  if (words.size() > 2) style.row_separator = unescaped(words[2]);
}

void Session::dot_nullvalue(const Words& words) {
  if (words.size() != 2) return wrong("Usage: .nullvalue STRING");
  style.null = words[1];
}

void Session::dot_width(const Words& words) {
  style.widths.clear();
  for (std::size_t i = 1; i < words.size(); ++i)
    style.widths.push_back(std::clamp(std::atoi(words[i].c_str()), -10000, 10000));
}

void Session::dot_read(const Words& words) {
  if (words.size() != 2) return wrong("Usage: .read FILE");
  auto in = call_.open_input(words[1]);
  if (!in) return wrong(fmt::format("Error: cannot open \"{}\"", words[1]));
  read(**in);
}

void Session::dot_print(const Words& words) {
  std::string text;
  for (std::size_t i = 1; i < words.size(); ++i) text += (i > 1 ? " " : "") + words[i];
  out().append(text + "\n");
}

void Session::dot_quit(const Words& words) {
  ended_ = words.size() > 1 ? std::atoi(words[1].c_str()) & 0xff : 0;
}

void Session::dot_open(const Words& words) {
  std::string path;
  bool read_only = false;
  for (std::size_t i = 1; i < words.size(); ++i) {
    if (words[i] == "--readonly" || words[i] == "-readonly")
      read_only = true;
    else if (words[i].starts_with('-'))
      return wrong(fmt::format("unknown option: {}", words[i]));
    else
      path = words[i];
  }
  if (open(path, read_only)) return;
  ++errors_;
  (void)open("", false);
}

void Session::dot_databases(const Words&) {
  for (auto& row : db_->rows("PRAGMA database_list"))
    out().append(fmt::format("{}: {} r/w\n", row[1], row[2].empty() ? "\"\"" : row[2]));
}

void Session::dot_show(const Words&) {
  auto escaped = [](std::string_view text) {
    std::string result = "\"";
    for (char c : text)
      result += c == '\n' ? "\\n" : c == '\r' ? "\\r" : c == '\t' ? "\\t" : std::string(1, c);
    return result + "\"";
  };
  out().append(fmt::format(
      "        echo: {}\n     headers: {}\n        mode: {}\n   nullvalue: {}\n      output: "
      "{}\ncolseparator: {}\nrowseparator: {}\n    filename: {}\n",
      echo ? "on" : "off", style.headers ? "on" : "off", mode_name(style.mode), escaped(style.null),
      output_name_, escaped(style.separator), escaped(style.row_separator), path_));
}

void Session::dot_help(const Words&) {
  for (const DotRow& row : dots())
    if (row.run != &Session::dot_ignored) out().append(fmt::format(".{}\n", row.name));
}

}  // namespace atl::shell::sqlite
