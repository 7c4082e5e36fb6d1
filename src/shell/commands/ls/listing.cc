#include "shell/commands/ls/listing.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>

#include "shell/calendar/calendar.h"
#include "shell/commands/sort/order.h"
#include "shell/files/file_names.h"
#include "shell/files/inputs.h"
#include "shell/files/walk.h"
#include "shell/text/quotes.h"
#include "shell/text/width.h"

namespace atl::shell {

// In units of 1 KiB, as if on a disk with blocks of 4 KiB.
std::uint64_t Ls::blocks_of(const Entry& entry) {
  if (entry.stat.type == vfs::Type::directory) return 4;
  if (entry.stat.type != vfs::Type::file) return 0;
  return (entry.stat.size + 4095) / 4096 * 4;
}

WallTime Ls::time_of(const Entry& entry) const {
  switch (s_.time) {
    case 'c': return entry.stat.changed;
    case 'u': return entry.stat.accessed.value_or(entry.stat.modified);
    case 'b': return entry.stat.created;
    default: return entry.stat.modified;
  }
}

Ls::Entry Ls::load(const std::string& name, const vfs::Path& path, const vfs::Stat& stat) {
  Entry entry{name, path, stat, {}, false, false};
  if (stat.type == vfs::Type::symlink) {
    if (auto target = call_.fs().read_link(path)) entry.target = *target;
    auto followed = call_.fs().find(path);
    entry.broken = !followed;
    entry.target_directory = followed && followed->is_directory();
  }
  return entry;
}

void Ls::arrange(std::vector<Entry>& entries) const {
  auto by_name = [](const Entry& a, const Entry& b) { return a.name < b.name; };
  auto less = [&](const Entry& a, const Entry& b) {
    switch (s_.sort) {
      case LsSettings::Sort::size:
        if (a.stat.size != b.stat.size) return a.stat.size > b.stat.size;
        break;
      case LsSettings::Sort::time:
        if (time_of(a) != time_of(b)) return time_of(a) > time_of(b);
        break;
      case LsSettings::Sort::version: {
        int order = compare_versions(a.name, b.name);
        if (order != 0) return order < 0;
        break;
      }
      case LsSettings::Sort::width: {
        std::size_t left = display_width(quoted_name(a.name)), right = display_width(quoted_name(b.name));
        if (left != right) return left < right;
        break;
      }
      case LsSettings::Sort::extension: {
        auto extension = [](const std::string& n) {
          std::size_t dot = n.rfind('.');
          return dot == std::string::npos ? std::string_view() : std::string_view(n).substr(dot);
        };
        if (extension(a.name) != extension(b.name)) return extension(a.name) < extension(b.name);
        break;
      }
      default: break;
    }
    return by_name(a, b);
  };
  if (s_.sort != LsSettings::Sort::none) {
    std::stable_sort(entries.begin(), entries.end(), less);
    if (s_.reverse) std::reverse(entries.begin(), entries.end());
  }
  if (s_.directories_first)
    std::stable_partition(entries.begin(), entries.end(),
                          [](const Entry& e) { return e.stat.is_directory() || e.target_directory; });
}

namespace {

// In C's escapes; in `close` quotes if given.
std::string escaped_name(std::string_view name, std::string_view close) {
  std::string out(close);
  for (char ch : name) {
    unsigned char c = static_cast<unsigned char>(ch);
    static constexpr std::string_view kFrom = "\a\b\f\n\r\t\v\\";
    static constexpr std::string_view kTo = "abfnrtv\\";
    std::size_t at = kFrom.find(ch);
    if (at != std::string_view::npos && ch)
      out += {'\\', kTo[at]};
    else if (c < 32 || c == 127)
      out += fmt::format("\\{:03o}", c);
    else if (close == "\"" && ch == '"')
      out += "\\\"";
    else if (close.empty() && ch == ' ')
      out += "\\ ";
    else
      out += ch;
  }
  return out.append(close);
}

}  // namespace

std::string Ls::quoted_name(const std::string& name) const {
  using Quote = LsSettings::Quote;
  std::string out;
  switch (s_.quote) {
    case Quote::shell:
    case Quote::shell_always: {
      bool apostrophe =
          name.find('\'') != std::string::npos && name.find_first_of("\"$`\\!") == std::string::npos;
      bool plain = shell_quoted(name) == name && s_.quote == Quote::shell;
      out = plain ? name : apostrophe ? fmt::format("\"{}\"", name) : quote_operand(name);
      break;
    }
    case Quote::shell_escape: return shell_quoted(name);
    case Quote::shell_escape_always: {
      out = shell_quoted(name);
      return out == name ? quote_operand(name) : out;
    }
    case Quote::c: return escaped_name(name, "\"");
    case Quote::c_maybe: {
      out = escaped_name(name, "\"");
      return out.size() == name.size() + 2 ? name : out;
    }
    case Quote::escape: return escaped_name(name, "");
    case Quote::locale:
    case Quote::clocale: return escaped_name(name, "'");
    default: out = name;
  }
  if (s_.hide_controls)
    for (char& c : out)
      if (static_cast<unsigned char>(c) < 32 || c == 127) c = '?';
  return out;
}

std::string Ls::indicator(const Entry& entry) const {
  if (!s_.indicator) return {};
  if (entry.stat.is_directory()) return "/";
  if (s_.indicator == 'p') return {};
  if (entry.stat.type == vfs::Type::symlink) return s_.format == LsSettings::Format::lengthy ? "" : "@";
  if (entry.stat.type == vfs::Type::fifo) return "|";
  if (s_.indicator == 'F' && (entry.stat.mode & 0111)) return "*";
  return {};
}

std::string Ls::cell(const Entry& entry, bool bare) const {
  std::string text;
  if (s_.inodes && !bare) text += fmt::format("{} ", entry.stat.inode);
  if (s_.blocks && !bare) text += fmt::format("{} ", shown_blocks(entry));
  if (s_.context && !bare) text += "? ";
  std::string name = quoted_name(entry.name);
  if (s_.color) {
    std::string_view code = entry.stat.is_directory()               ? "01;34"
                            : entry.stat.type == vfs::Type::symlink ? "01;36"
                            : entry.stat.type == vfs::Type::fifo    ? "40;33"
                            : (entry.stat.mode & 0111)              ? "01;32"
                                                                    : "";
    if (!code.empty()) name = fmt::format("\33[0m\33[{}m{}\33[0m", code, name);
  }
  if (s_.links) {
    std::string place = call_.fs().real_path(entry.path).value_or(entry.path).str();
    name = fmt::format("\33]8;;file://{}{}\a{}\33]8;;\a", call_.variable("HOSTNAME").value_or("atoll"), place,
                       name);
  }
  return text + name + indicator(entry);
}

std::string Ls::time_text(const Entry& entry) const {
  WallTime time = time_of(entry);
  Zone zone = Zone::of(call_);
  if (s_.time_style == "full-iso") return format_time("%Y-%m-%d %H:%M:%S.%N %z", time, zone);
  if (s_.time_style == "long-iso") return format_time("%Y-%m-%d %H:%M", time, zone);
  auto age = call_.now() - time;
  // Half a year: older files show their year instead of the time, and so do files of the future.
  bool recent = age > std::chrono::hours(-1) && age < std::chrono::hours(24 * 365 / 2);
  if (s_.time_style.starts_with('+')) {
    // A second line of the format is for what is recent.
    std::string_view spec = std::string_view(s_.time_style).substr(1);
    std::size_t newline = spec.find('\n');
    return format_time(
        recent && newline != std::string_view::npos ? spec.substr(newline + 1) : spec.substr(0, newline),
        time, zone);
  }
  if (s_.time_style == "iso") return format_time(recent ? "%m-%d %H:%M" : "%Y-%m-%d ", time, zone);
  return format_time(recent ? "%b %e %H:%M" : "%b %e  %Y", time, zone);
}

void Ls::print_long(const std::vector<Entry>& entries) {
  struct Columns {
    std::string blocks, inode, links, user, group, size, time;
  };
  std::vector<Columns> rows;
  std::size_t widths[6] = {};
  for (const Entry& e : entries) {
    Columns c;
    if (s_.inodes) c.inode = std::to_string(e.stat.inode);
    if (s_.blocks) c.blocks = shown_blocks(e);
    c.links = std::to_string(std::max<std::uint32_t>(e.stat.is_directory() ? 2 : 1, e.stat.links));
    c.user = s_.numeric ? std::to_string(e.stat.uid) : user_name(call_, e.stat.uid);
    c.group = s_.numeric ? std::to_string(e.stat.gid) : group_name(call_, e.stat.gid);
    std::uint64_t size = e.stat.is_directory() ? 4096 : e.stat.size;
    c.size = s_.file_size.text(size);
    c.time = time_text(e);
    const std::string* all[6] = {&c.inode, &c.blocks, &c.links, &c.user, &c.group, &c.size};
    for (int i = 0; i < 6; ++i) widths[i] = std::max(widths[i], all[i]->size());
    rows.push_back(std::move(c));
  }
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Entry& e = entries[i];
    const Columns& c = rows[i];
    std::string line;
    if (s_.inodes) line += fmt::format("{:>{}} ", c.inode, widths[0]);
    if (s_.blocks) line += fmt::format("{:>{}} ", c.blocks, widths[1]);
    line += fmt::format("{} {:>{}} ", mode_text(e.stat.type, e.stat.mode), c.links, widths[2]);
    if (s_.owner)
      line +=
          s_.numeric ? fmt::format("{:>{}} ", c.user, widths[3]) : fmt::format("{:<{}} ", c.user, widths[3]);
    if (s_.group)
      line += s_.numeric ? fmt::format("{:>{}} ", c.group, widths[4])
                         : fmt::format("{:<{}} ", c.group, widths[4]);
    if (s_.author)
      line +=
          s_.numeric ? fmt::format("{:>{}} ", c.user, widths[3]) : fmt::format("{:<{}} ", c.user, widths[3]);
    if (s_.context) line += "? ";
    line += fmt::format("{:>{}} {} ", c.size, widths[5], c.time);
    line += cell(e, true);
    if (e.stat.type == vfs::Type::symlink) {
      line += " -> " + quoted_name(e.target);
      if (s_.indicator && e.target_directory) line += '/';
    }
    out_.line(line, s_.end);
  }
}

void Ls::print_columns(const std::vector<Entry>& entries, bool down) {
  std::vector<std::string> cells;
  std::vector<std::size_t> sizes;
  for (const Entry& e : entries) {
    cells.push_back(cell(e));
    sizes.push_back(display_width(s_.color ? quoted_name(e.name) + indicator(e) : cells.back()));
  }
  std::size_t count = cells.size();
  std::size_t width = s_.width ? s_.width : 1 << 20;
  // The largest number of columns that fits.
  std::size_t columns = std::max<std::size_t>(1, std::min(count, width / 3));
  std::vector<std::size_t> widths;
  for (; columns >= 1; --columns) {
    std::size_t rows = (count + columns - 1) / columns;
    widths.assign(columns, 0);
    for (std::size_t i = 0; i < count; ++i) {
      std::size_t column = down ? i / rows : i % columns;
      widths[column] = std::max(widths[column], sizes[i]);
    }
    std::size_t total = 0, used = 0;
    for (std::size_t i = 0; i < columns; ++i)
      if (widths[i]) total += widths[i] + 2, ++used;
    if (total < 2 || total - 2 < width || columns == 1) break;
  }
  std::size_t rows = (count + columns - 1) / columns;
  for (std::size_t row = 0; row < rows; ++row) {
    std::string line;
    std::size_t begin = 0;
    for (std::size_t column = 0; column < columns; ++column) {
      std::size_t i = down ? column * rows + row : row * columns + column;
      if (i >= count) break;
      line += cells[i];
      std::size_t next = down ? (column + 1) * rows + row : i + 1;
      if (column + 1 >= columns || next >= count) break;
      // Tabs where they reach farther than a blank, as GNU does.
      std::size_t at = begin + sizes[i], end = begin + widths[column] + 2;
      while (at < end) {
        bool tab = s_.tab && end / s_.tab > (at + 1) / s_.tab;
        line += tab ? '\t' : ' ';
        at = tab ? at + s_.tab - at % s_.tab : at + 1;
      }
      begin = end;
    }
    out_.line(line, s_.end);
  }
}

void Ls::print(const std::vector<Entry>& entries, bool total) {
  if (total && (s_.format == LsSettings::Format::lengthy || s_.blocks)) {
    std::uint64_t blocks = 0;
    for (const Entry& e : entries) blocks += blocks_of(e);
    out_.append(fmt::format("total {}{}", s_.block_size.text(blocks * 1024), s_.end));
  }
  switch (s_.format) {
    case LsSettings::Format::lengthy: print_long(entries); break;
    case LsSettings::Format::columns:
      if (!entries.empty()) print_columns(entries, true);
      break;
    case LsSettings::Format::across:
      if (!entries.empty()) print_columns(entries, false);
      break;
    case LsSettings::Format::commas: {
      std::size_t at = 0;
      for (std::size_t i = 0; i < entries.size(); ++i) {
        std::string text = cell(entries[i]);
        if (i) {
          bool fits = s_.width == 0 || at + 2 + text.size() + (i + 1 < entries.size() ? 1 : 0) < s_.width;
          out_.append(fits ? ", " : ",\n");
          at = fits ? at + 2 : 0;
        }
        out_.append(text);
        at += text.size();
      }
      if (!entries.empty()) out_.put('\n');
      break;
    }
    default: {
      std::size_t inode_width = 0, block_width = 0;
      for (const Entry& e : entries) {
        inode_width = std::max(inode_width, std::to_string(e.stat.inode).size());
        if (s_.blocks) block_width = std::max(block_width, shown_blocks(e).size());
      }
      for (const Entry& e : entries) {
        if (s_.inodes) out_.append(fmt::format("{:>{}} ", e.stat.inode, inode_width));
        if (s_.blocks) out_.append(fmt::format("{:>{}} ", shown_blocks(e), block_width));
        if (s_.context) out_.append("? ");
        out_.line(cell(e, true), s_.end);
      }
    }
  }
}

bool Ls::skipped(std::string_view name) const {
  bool few = s_.hidden == LsSettings::Hidden::no;
  if (few && name.starts_with('.')) return true;
  auto matches = [&](const std::string& pattern) { return glob_match(pattern, name, false, false, true); };
  return std::any_of(s_.ignore.begin(), s_.ignore.end(), matches) ||
         (few && std::any_of(s_.hide.begin(), s_.hide.end(), matches));
}

void Ls::list_directory(const std::string& shown, const vfs::Path& path, bool header) {
  struct Pending {
    std::string shown;
    vfs::Path path;
  };
  std::deque<Pending> pending{{shown, path}};
  while (!pending.empty()) {
    Pending now = std::move(pending.front());
    pending.pop_front();
    auto listing = call_.fs().list(now.path);
    if (!listing) {
      out_.flush();
      call_.complain(fmt::format("cannot open directory '{}': {}", now.shown, reason(listing.error())));
      status_ = std::max(status_, now.shown == shown ? 2 : 1);
      continue;
    }
    std::vector<Entry> entries;
    for (auto item : *listing) {
      call_.charge(1);
      if (skipped(item.name)) continue;
      auto child = now.path.child(item.name);
      if (!child) continue;
      auto stat = call_.fs().find(
          *child, s_.follow == LsSettings::Follow::always ? vfs::Follow::yes : vfs::Follow::no);
      if (!stat) stat = call_.fs().find(*child, vfs::Follow::no);
      if (stat) entries.push_back(load(std::string(item.name), *child, *stat));
    }
    if (s_.hidden == LsSettings::Hidden::all) {
      if (auto self = call_.fs().find(now.path)) entries.push_back(load(".", now.path, *self));
      if (auto parent = call_.fs().find(now.path.parent()))
        entries.push_back(load("..", now.path.parent(), *parent));
    }
    arrange(entries);
    if (header || s_.recursive) {
      if (printed_) out_.put('\n');
      out_.append(quoted_name(now.shown) + ":\n");
    }
    printed_ = true;
    print(entries, true);
    if (!s_.recursive) continue;
    std::deque<Pending> below;
    for (const Entry& e : entries)
      if (e.stat.is_directory() && e.name != "." && e.name != "..")
        below.push_back({join_shown(now.shown, e.name), e.path});
    // In front: a directory's subdirectories come before its siblings.
    pending.insert(pending.begin(), below.begin(), below.end());
  }
}

int Ls::run(const std::vector<std::string>& given) {
  std::vector<std::string> operands = given;
  if (operands.empty()) operands.push_back(".");
  std::vector<Entry> files, directories;
  for (const std::string& operand : operands) {
    auto path = call_.resolve(operand);
    Result<vfs::Stat> stat =
        path ? call_.fs().stat(*path, vfs::Follow::no) : Result<vfs::Stat>(fail(path.error()));
    if (!path || !stat) {
      call_.complain(fmt::format("cannot access {}: {}", quote_operand(operand), reason(stat.error())));
      status_ = 2;
      continue;
    }
    using Follow = LsSettings::Follow;
    bool all = s_.follow == Follow::always || s_.follow == Follow::arguments || operand.ends_with('/');
    bool through = all || s_.follow == Follow::argument_directories ||
                   (s_.follow == Follow::unset && s_.format != LsSettings::Format::lengthy &&
                    !s_.directories && s_.indicator != 'F');
    if (stat->type == vfs::Type::symlink && through) {
      auto target = call_.fs().stat(*path);
      if (!target && (target.error().code() == Code::loop || s_.follow == Follow::always)) {
        call_.complain(fmt::format("cannot access {}: {}", quote_operand(operand), reason(target.error())));
        status_ = 2;
        continue;
      }
      if (auto followed = call_.fs().find(*path))
        if (all || followed->is_directory()) *stat = *followed;
    }
    Entry entry = load(operand, *path, *stat);
    (stat->is_directory() && !s_.directories ? directories : files).push_back(std::move(entry));
  }
  arrange(files);
  arrange(directories);
  if (!files.empty()) {
    print(files, false);
    printed_ = true;
  }
  for (const Entry& directory : directories)
    list_directory(directory.name, directory.path, operands.size() > 1);
  return out_.finish(call_, status_);
}

}  // namespace atl::shell
