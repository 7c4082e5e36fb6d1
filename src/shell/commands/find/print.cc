#include "shell/commands/find/print.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "shell/calendar/calendar.h"
#include "shell/files/file_names.h"

namespace atl::shell::find {

namespace {

std::string time_directive(Context& c, WallTime time, char how) {
  Zone zone = Zone::of(c.call);
  switch (how) {
    case '@': return format_time("%s.%N0", time, zone);
    case 'T': return format_time("%H:%M:%S.%N0", time, zone);
    case '+': return format_time("%Y-%m-%d+%H:%M:%S.%N0", time, zone);
    case 'S': return format_time("%S.%N0", time, zone);
    case 'X': return format_time("%H:%M:%S.%N0", time, zone);
    default: return format_time(std::string("%") + how, time, zone);
  }
}

std::string directive(Context& c, Subject& s, char d) {
  const Visit& visit = *s.visit;
  const vfs::Stat* stat = c.stat(s);
  vfs::Stat none;
  if (!stat) stat = &none;
  std::string_view shown = visit.shown;
  Zone zone = Zone::of(c.call);
  constexpr std::string_view kWhole = "%a %b %e %H:%M:%S.%N0 %Y";
  switch (d) {
    case 'p': return visit.shown;
    case 'f': return std::string(base_name(shown));
    case 'h': {
      if (visit.depth == 0 && shown.find('/') == std::string_view::npos) return ".";
      std::size_t slash = shown.rfind('/');
      return std::string(shown.substr(0, slash));
    }
    case 'P': {
      if (visit.depth == 0) return "";
      std::string_view rest = shown.substr(std::min(s.start->size(), shown.size()));
      while (rest.starts_with('/')) rest.remove_prefix(1);
      return std::string(rest);
    }
    case 'H': return *s.start;
    case 'd': return std::to_string(visit.depth);
    case 's': return std::to_string(stat->is_directory() ? 4096 : stat->size);
    case 'b': return std::to_string(stat->is_directory() ? 8 : (stat->size + 4095) / 4096 * 8);
    case 'k': return std::to_string(stat->is_directory() ? 4 : (stat->size + 4095) / 4096 * 4);
    case 'm': return fmt::format("{:o}", stat->mode);
    case 'M': return mode_text(stat->type, stat->mode);
    case 'y':
    case 'Y': {
      vfs::Type type = visit.type;
      if (d == 'Y' && type == vfs::Type::symlink) {
        auto followed = c.call.fs().find(visit.path);
        if (!followed) return "N";
        type = followed->type;
      }
      return type == vfs::Type::directory ? "d"
             : type == vfs::Type::symlink ? "l"
             : type == vfs::Type::fifo    ? "p"
                                          : "f";
    }
    case 'l': {
      if (visit.type != vfs::Type::symlink) return "";
      auto target = c.call.fs().read_link(visit.path);
      return target ? *target : "";
    }
    case 'u': return user_name(c.call, stat->uid);
    case 'U': return std::to_string(stat->uid);
    case 'g': return group_name(c.call, stat->gid);
    case 'G': return std::to_string(stat->gid);
    case 'i': return std::to_string(stat->inode);
    case 'n': return std::to_string(std::max<std::uint32_t>(stat->links, stat->is_directory() ? 2 : 1));
    case 'D': return "1";
    case 'F': return "tmpfs";
    case 't': return format_time(kWhole, stat->modified, zone);
    case 'a': return format_time(kWhole, stat->accessed.value_or(stat->modified), zone);
    case 'c': return format_time(kWhole, stat->changed, zone);
    default: return std::string("%") + d;
  }
}

}  // namespace

void print_formatted(Context& c, Subject& s, std::string_view format, Sink& out) {
  for (std::size_t i = 0; i < format.size(); ++i) {
    char ch = format[i];
    if (ch == '\\' && i + 1 < format.size()) {
      char e = format[++i];
      static constexpr std::string_view kFrom = "abfnrtv\\";
      static constexpr std::string_view kTo = "\a\b\f\n\r\t\v\\";
      std::size_t at = kFrom.find(e);
      if (at != std::string_view::npos)
        out.put(kTo[at]);
      else if (e == 'c')
        return;
      else if (e >= '0' && e <= '7') {
        int value = e - '0';
        for (int k = 0; k < 2 && i + 1 < format.size() && format[i + 1] >= '0' && format[i + 1] <= '7'; ++k)
          value = value * 8 + (format[++i] - '0');
        out.put(static_cast<char>(value));
      } else {
        out.put('\\');
        out.put(e);
      }
      continue;
    }
    if (ch != '%' || i + 1 >= format.size()) {
      out.put(ch);
      continue;
    }
    bool left = false, zero = false;
    for (++i; i < format.size() && std::strchr("-+ 0#", format[i]); ++i) {
      left |= format[i] == '-';
      zero |= format[i] == '0';
    }
    std::size_t width = 0, precision = std::string::npos;
    while (i < format.size() && isdigit(static_cast<unsigned char>(format[i])))
      width = std::min<std::size_t>(width * 10 + static_cast<unsigned>(format[i++] - '0'), 4096);
    if (i < format.size() && format[i] == '.') {
      precision = 0;
      for (++i; i < format.size() && isdigit(static_cast<unsigned char>(format[i])); ++i)
        precision = precision * 10 + static_cast<unsigned>(format[i] - '0');
    }
    if (i >= format.size()) break;
    char d = format[i];
    std::string text;
    if (d == '%')
      text = "%";
    else if ((d == 'A' || d == 'C' || d == 'T' || d == 'B') && i + 1 < format.size()) {
      const vfs::Stat* stat = c.stat(s);
      WallTime time = !stat      ? WallTime()
                      : d == 'A' ? stat->accessed.value_or(stat->modified)
                      : d == 'C' ? stat->changed
                      : d == 'B' ? stat->created
                                 : stat->modified;
      text = time_directive(c, time, format[++i]);
    } else {
      text = directive(c, s, d);
    }
    if (precision != std::string::npos) text = text.substr(0, precision);
    if (text.size() < width) {
      std::string pad(width - text.size(), zero && !left ? '0' : ' ');
      text = left ? text + pad : pad + text;
    }
    out.append(text);
  }
}

void print_ls(Context& c, Subject& s, Sink& out) {
  print_formatted(c, s, "%9i %6k %M %3n %-8u %-8g %8s ", out);
  const vfs::Stat* stat = c.stat(s);
  if (stat) {
    auto age = c.call.now() - stat->modified;
    bool recent = age < std::chrono::hours(24 * 180) && age > std::chrono::hours(-1);
    out.append(format_time(recent ? "%b %e %H:%M " : "%b %e  %Y ", stat->modified, Zone::of(c.call)));
  }
  print_formatted(c, s, s.visit->type == vfs::Type::symlink ? "%p -> %l\n" : "%p\n", out);
}

}  // namespace atl::shell::find
