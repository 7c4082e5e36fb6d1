#include "shell/commands/sqlite/render.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>

#include "base/utf8.h"
#include "shell/text/sink.h"
#include "shell/text/width.h"

namespace atl::shell::sqlite {

namespace {

struct ModeRow {
  std::string_view name;
  Mode mode;
  std::string_view separator;      // empty: stays as it is
  std::string_view row_separator;  // the same
};

constexpr ModeRow kModes[] = {
    {"ascii", Mode::ascii, "\x1f", "\x1e"}, {"box", Mode::box, "", ""},
    {"column", Mode::column, "", "\n"},     {"csv", Mode::csv, ",", "\r\n"},
    {"html", Mode::html, "", ""},           {"insert", Mode::insert, "", ""},
    {"json", Mode::json, "", ""},           {"line", Mode::line, "", "\n"},
    {"list", Mode::list, "|", "\n"},        {"markdown", Mode::markdown, "", ""},
    {"quote", Mode::quote, ",", "\n"},      {"table", Mode::table, "", ""},
    {"tabs", Mode::tabs, "\t", ""},         {"tcl", Mode::tcl, " ", "\n"},
};

std::string csv_field(std::string_view text, std::string_view separator) {
  auto special = [](char c) {
    auto byte = static_cast<unsigned char>(c);
    return byte <= 0x20 || byte == '"' || byte == '\'' || byte >= 0x7f;
  };
  bool bare = !text.empty() && std::none_of(text.begin(), text.end(), special) &&
              text.find(separator) == std::string_view::npos;
  if (bare) return std::string(text);
  std::string out = "\"";
  for (char c : text) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + '"';
}

std::string json_text(std::string_view text) {
  static constexpr std::string_view kFrom = "\"\\\b\f\n\r\t", kTo = "\"\\bfnrt";
  std::string out = "\"";
  for (char c : text) {
    std::size_t which = kFrom.find(c);
    if (which != std::string_view::npos)
      out += {'\\', kTo[which]};
    else if (static_cast<unsigned char>(c) < 0x20)
      out += fmt::format("\\u{:04x}", static_cast<unsigned char>(c));
    else
      out += c;
  }
  return out + '"';
}

std::string tcl_text(std::string_view text) {
  std::string out = "\"";
  for (char c : text) {
    if (c == '\\' || c == '"')
      out += {'\\', c};
    else if (c == '\n')
      out += "\\n";
    else if (c == '\t')
      out += "\\t";
    else if (c == '\r')
      out += "\\r";
    else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f)
      out += fmt::format("\\{:03o}", static_cast<unsigned char>(c));
    else
      out += c;
  }
  return out + '"';
}

std::string html_text(std::string_view text) {
  static constexpr std::pair<char, std::string_view> kRows[] = {
      {'<', "&lt;"}, {'&', "&amp;"}, {'>', "&gt;"}, {'"', "&quot;"}, {'\'', "&#39;"}};
  std::string out;
  for (char c : text) {
    auto row = std::find_if(std::begin(kRows), std::end(kRows), [c](auto& r) { return r.first == c; });
    if (row == std::end(kRows))
      out += c;
    else
      out += row->second;
  }
  return out;
}

// SQLite's way to print a double so that it reads back the same.
std::string exact(double value) {
  std::array<char, 64> buffer;
  sqlite3_snprintf(static_cast<int>(buffer.size()), buffer.data(), "%!.20g", value);
  return buffer.data();
}

std::string json_value(Query& query, int column) {
  switch (sqlite3_column_type(query.get(), column)) {
    case SQLITE_NULL: return "null";
    case SQLITE_INTEGER: return query.text(column);
    case SQLITE_FLOAT: return exact(sqlite3_column_double(query.get(), column));
    default: return json_text(query.text(column));
  }
}

std::vector<std::string> names(Query& query) {
  std::vector<std::string> out;
  for (int i = 0; i < query.columns(); ++i) out.emplace_back(sqlite3_column_name(query.get(), i));
  return out;
}

std::string shown(Query& query, int column, const Style& style) {
  return query.is_null(column) ? style.null : query.text(column);
}

// Rows that can be printed as they come.
class Rows {
 public:
  Rows(Query& query, const Style& style, Sink& out)
      : query_(query), style_(style), out_(out), names_(names(query)) {}

  void header() {
    if (!style_.headers) return;
    switch (style_.mode) {
      case Mode::csv:
        return joined(
            [&](int i) { return csv_field(names_[static_cast<std::size_t>(i)], style_.separator); });
      case Mode::quote: return joined([&](int i) { return sql_text(names_[static_cast<std::size_t>(i)]); });
      case Mode::tcl: return joined([&](int i) { return tcl_text(names_[static_cast<std::size_t>(i)]); });
      case Mode::html: return html("TH", [&](int i) { return names_[static_cast<std::size_t>(i)]; });
      case Mode::list:
      case Mode::tabs:
      case Mode::ascii: return joined([&](int i) { return names_[static_cast<std::size_t>(i)]; });
      default: return;
    }
  }
  void row() {
    switch (style_.mode) {
      case Mode::csv:
        joined([&](int i) {
          return query_.is_null(i) ? style_.null : csv_field(query_.text(i), style_.separator);
        });
        break;
      case Mode::quote: joined([&](int i) { return sql_value(query_, i); }); break;
      case Mode::tcl: joined([&](int i) { return tcl_text(shown(query_, i, style_)); }); break;
      case Mode::html: html("TD", [&](int i) { return shown(query_, i, style_); }); break;
      case Mode::json: json(); break;
      case Mode::line: line(); break;
      case Mode::insert: insert(); break;
      default: joined([&](int i) { return shown(query_, i, style_); });
    }
    ++count_;
  }
  void end() {
    if (style_.mode == Mode::json && count_ > 0) out_.append("]\n");
  }

 private:
  template <class F>
  void joined(F field) {
    for (int i = 0; i < query_.columns(); ++i) {
      if (i) out_.append(style_.separator);
      out_.append(field(i));
    }
    out_.append(style_.row_separator);
  }
  template <class F>
  void html(std::string_view tag, F field) {
    out_.append("<TR>");
    for (int i = 0; i < query_.columns(); ++i)
      out_.append(fmt::format("<{}>{}</{}>\n", tag, html_text(field(i)), tag));
    out_.append("</TR>\n");
  }
  void json() {
    out_.append(count_ == 0 ? "[{" : ",\n{");
    for (int i = 0; i < query_.columns(); ++i)
      out_.append(fmt::format("{}{}:{}", i ? "," : "", json_text(names_[static_cast<std::size_t>(i)]),
                              json_value(query_, i)));
    out_.append("}");
  }
  void line() {
    std::size_t width = 5;
    for (const std::string& name : names_) width = std::max(width, name.size());
    if (count_ > 0) out_.append("\n");
    for (int i = 0; i < query_.columns(); ++i)
      out_.append(
          fmt::format("{:>{}} = {}\n", names_[static_cast<std::size_t>(i)], width, shown(query_, i, style_)));
  }
  void insert() {
    out_.append("INSERT INTO " + sql_name(style_.table));
    if (style_.headers) {
      std::string list;
      for (const std::string& name : names_) list += (list.empty() ? "" : ",") + sql_name(name);
      out_.append("(" + list + ")");
    }
    out_.append(" VALUES(");
    for (int i = 0; i < query_.columns(); ++i) out_.append((i ? "," : "") + sql_value(query_, i));
    out_.append(");\n");
  }

  Query& query_;
  const Style& style_;
  Sink& out_;
  std::vector<std::string> names_;
  std::size_t count_ = 0;
};

// Modes whose columns are as wide as their widest value: all rows are collected first.
class Columns {
 public:
  Columns(Query& query, const Style& style, Sink& out) : query_(query), style_(style), out_(out) {}

  int run(Files& files) {
    cells_.push_back(names(query_));
    int code;
    while ((code = query_.step()) == SQLITE_ROW) {
      auto& row = cells_.emplace_back();
      std::size_t bytes = 0;
      for (int i = 0; i < query_.columns(); ++i)
        bytes += row.emplace_back(shown(query_, i, style_)).size() + 64;
      files.charge(bytes, static_cast<std::int64_t>(bytes));
      held_ += static_cast<std::int64_t>(bytes);
      files.rethrow();
    }
    if (cells_.size() > 1) print();
    files.charge(0, -held_);
    return code;
  }

 private:
  static std::size_t width(std::string_view cell) {
    std::size_t widest = 0;
    for (std::size_t at = 0; at <= cell.size();) {
      std::size_t end = std::min(cell.find('\n', at), cell.size());
      widest = std::max(widest, display_width(cell.substr(at, end - at)));
      at = end + 1;
    }
    return widest;
  }
  void measure() {
    std::size_t columns = cells_[0].size();
    widths_.assign(columns, 0);
    for (std::size_t i = 0; i < columns; ++i) {
      if (i < style_.widths.size() && style_.widths[i] != 0) {
        widths_[i] = static_cast<std::size_t>(std::abs(style_.widths[i]));
        continue;
      }
      bool with_names = style_.mode != Mode::column || style_.headers;
      for (std::size_t row = with_names ? 0 : 1; row < cells_.size(); ++row)
        widths_[i] = std::max(widths_[i], width(cells_[row][i]));
    }
  }
  std::string padded(std::string_view text, std::size_t column, bool centered) const {
    std::size_t have = display_width(text), room = widths_[column] > have ? widths_[column] - have : 0;
    std::size_t before = centered                                                     ? room / 2
                         : column < style_.widths.size() && style_.widths[column] < 0 ? room
                                                                                      : 0;
    return std::string(before, ' ') + std::string(text) + std::string(room - before, ' ');
  }
  // One row; a cell with line ends takes several lines.
  void row(const std::vector<std::string>& cells, std::string_view left, std::string_view middle,
           std::string_view right, bool centered) {
    std::vector<std::string_view> rest(cells.begin(), cells.end());
    for (bool more = true; more;) {
      more = false;
      out_.append(left);
      for (std::size_t i = 0; i < rest.size(); ++i) {
        std::size_t end = rest[i].find('\n');
        std::string_view piece = rest[i].substr(0, end);
        rest[i] = end == std::string_view::npos ? std::string_view() : rest[i].substr(end + 1);
        piece = cut(piece, i, rest[i]);
        more |= !rest[i].empty();
        out_.append(padded(piece, i, centered));
        out_.append(i + 1 < rest.size() ? middle : right);
      }
      out_.append("\n");
    }
  }
  // A width set by hand wraps what is longer.
  std::string_view cut(std::string_view piece, std::size_t column, std::string_view& rest) const {
    if (display_width(piece) <= widths_[column] || widths_[column] == 0) return piece;
    std::size_t end = 0, used = 0;
    while (end < piece.size()) {
      std::size_t length = 1;
      char32_t c = utf8::read(piece.substr(end), length);
      auto w = static_cast<std::size_t>(std::max(0, char_width(c)));
      if (used + w > widths_[column]) break;
      used += w;
      end += length;
    }
    const char* stop = rest.empty() ? piece.data() + piece.size() : rest.data() + rest.size();
    rest = std::string_view(piece.data() + end, static_cast<std::size_t>(stop - piece.data()) - end);
    return piece.substr(0, end);
  }
  void rule(std::string_view left, std::string_view dash, std::string_view middle, std::string_view right,
            std::size_t extra) {
    out_.append(left);
    for (std::size_t i = 0; i < widths_.size(); ++i) {
      for (std::size_t n = 0; n < widths_[i] + extra; ++n) out_.append(dash);
      out_.append(i + 1 < widths_.size() ? middle : right);
    }
    out_.append("\n");
  }
  void print() {
    measure();
    struct Frame {
      std::string_view left, middle, right;
    };
    Frame frame = style_.mode == Mode::box      ? Frame{"│ ", " │ ", " │"}
                  : style_.mode == Mode::column ? Frame{"", "  ", ""}
                                                : Frame{"| ", " | ", " |"};
    if (style_.mode == Mode::table) rule("+", "-", "+", "+", 2);
    if (style_.mode == Mode::box) rule("┌", "─", "┬", "┐", 2);
    if (style_.mode != Mode::column || style_.headers) {
      row(cells_[0], frame.left, frame.middle, frame.right, style_.mode != Mode::column);
      if (style_.mode == Mode::column) rule("", "-", "  ", "", 0);
      if (style_.mode == Mode::table) rule("+", "-", "+", "+", 2);
      if (style_.mode == Mode::markdown) rule("|", "-", "|", "|", 2);
      if (style_.mode == Mode::box) rule("├", "─", "┼", "┤", 2);
    }
    for (std::size_t i = 1; i < cells_.size(); ++i)
      row(cells_[i], frame.left, frame.middle, frame.right, false);
    if (style_.mode == Mode::table) rule("+", "-", "+", "+", 2);
    if (style_.mode == Mode::box) rule("└", "─", "┴", "┘", 2);
  }

  Query& query_;
  const Style& style_;
  Sink& out_;
  std::vector<std::vector<std::string>> cells_;
  std::vector<std::size_t> widths_;
  std::int64_t held_ = 0;
};

}  // namespace

bool set_mode(Style& style, std::string_view name) {
  if (name == "columns") name = "column";
  if (name == "lines") name = "line";
  for (const ModeRow& row : kModes) {
    if (row.name != name) continue;
    style.mode = row.mode;
    if (!row.separator.empty()) style.separator = row.separator;
    if (!row.row_separator.empty()) style.row_separator = row.row_separator;
    if (row.mode == Mode::column && !style.headers_given) style.headers = true;
    return true;
  }
  return false;
}

std::string_view mode_name(Mode mode) {
  for (const ModeRow& row : kModes)
    if (row.mode == mode) return row.name;
  return "";
}

int render(Query& query, const Style& style, Sink& out) {
  bool wide = style.mode == Mode::column || style.mode == Mode::table || style.mode == Mode::box ||
              style.mode == Mode::markdown;
  if (wide && query.columns() > 0) return Columns(query, style, out).run(query.files());
  Rows rows(query, style, out);
  int code;
  bool first = true;
  while ((code = query.step()) == SQLITE_ROW) {
    if (std::exchange(first, false)) rows.header();
    rows.row();
  }
  rows.end();
  return code;
}

std::string sql_text(std::string_view text, bool escape) {
  std::string body;
  bool newline = false, carriage = false;
  for (char c : text) {
    if (c == '\'') body += '\'';
    if (escape && c == '\n') {
      body += "\\n";
      newline = true;
    } else if (escape && c == '\r') {
      body += "\\r";
      carriage = true;
    } else {
      body += c;
    }
  }
  std::string out = "'" + body + "'";
  if (carriage) out = "replace(" + out + ",'\\r',char(13))";
  if (newline) out = "replace(" + out + ",'\\n',char(10))";
  return out;
}

std::string sql_name(std::string_view name) {
  bool plain = !name.empty() && !isdigit(static_cast<unsigned char>(name[0])) &&
               std::all_of(name.begin(), name.end(),
                           [](char c) { return isalnum(static_cast<unsigned char>(c)) || c == '_'; }) &&
               !sqlite3_keyword_check(name.data(), static_cast<int>(name.size()));
  if (plain) return std::string(name);
  std::string out = "\"";
  for (char c : name) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + '"';
}

std::string sql_value(Query& query, int column) {
  switch (sqlite3_column_type(query.get(), column)) {
    case SQLITE_NULL: return "NULL";
    case SQLITE_INTEGER: return query.text(column);
    case SQLITE_FLOAT: return exact(sqlite3_column_double(query.get(), column));
    case SQLITE_BLOB: {
      std::string out = "X'";
      const auto* bytes = static_cast<const unsigned char*>(sqlite3_column_blob(query.get(), column));
      for (int i = 0; i < sqlite3_column_bytes(query.get(), column); ++i)
        out += fmt::format("{:02x}", bytes[i]);
      return out + "'";
    }
    default: return sql_text(query.text(column), true);
  }
}

}  // namespace atl::shell::sqlite
