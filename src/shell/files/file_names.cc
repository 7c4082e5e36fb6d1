#include "shell/files/file_names.h"

#include <fmt/format.h>

#include <cmath>
#include <cstring>

#include "shell/text/numbers.h"

namespace atl::shell {

std::string user_name(const Invocation& call, std::uint32_t uid) {
  if (uid == 0) return "root";
  if (uid == 1000) {
    auto name = call.variable("USER");
    return name && !name->empty() ? *name : "user";
  }
  return std::to_string(uid);
}

std::string group_name(const Invocation& call, std::uint32_t gid) {
  return user_name(call, gid);
}

std::optional<std::uint32_t> parse_owner(const Invocation& call, const std::string& name) {
  std::int64_t value = 0;
  if (parse_integer(name, value) && value >= 0) return static_cast<std::uint32_t>(value);
  for (const std::uint32_t uid : {0U, 1000U})
    if (name == user_name(call, uid)) return uid;
  return std::nullopt;
}

std::uint32_t current_uid(Invocation&) {
  return 1000;
}

std::string mode_text(vfs::Type type, std::uint32_t mode) {
  std::string out = type == vfs::Type::directory ? "d"
                    : type == vfs::Type::symlink ? "l"
                    : type == vfs::Type::fifo    ? "p"
                                                 : "-";
  for (int shift : {6, 3, 0}) {
    std::uint32_t bits = mode >> shift;
    out += bits & 4 ? 'r' : '-';
    out += bits & 2 ? 'w' : '-';
    bool special = shift == 6 ? mode & 04000 : shift == 3 ? mode & 02000 : mode & 01000;
    char letter = shift == 0 ? 't' : 's';
    out += special ? (bits & 1 ? letter : static_cast<char>(toupper(letter))) : bits & 1 ? 'x' : '-';
  }
  return out;
}

std::string human_size(std::uint64_t bytes, int base) {
  if (bytes < static_cast<std::uint64_t>(base)) return std::to_string(bytes);
  double value = static_cast<double>(bytes);
  const char* units = base == 1024 ? "KMGTPE" : "kMGTPE";
  int unit = -1;
  while (value >= base && unit < 5) {
    value /= base;
    ++unit;
  }
  double up = std::ceil(value * 10) / 10;
  if (up < 10) return fmt::format("{:.1f}{}", up, units[unit]);
  up = std::ceil(value);
  if (up >= base && unit < 5) return fmt::format("1.0{}", units[unit + 1]);
  return fmt::format("{:.0f}{}", up, units[unit]);
}

std::string_view base_name(std::string_view path) {
  while (path.size() > 1 && path.ends_with('/')) path.remove_suffix(1);
  if (path == "/") return path;
  return path.substr(path.rfind('/') + 1);
}

std::string_view dir_name(std::string_view path) {
  while (path.size() > 1 && path.ends_with('/')) path.remove_suffix(1);
  std::size_t slash = path.rfind('/');
  if (slash == std::string_view::npos) return ".";
  path = path.substr(0, slash);
  while (path.size() > 1 && path.ends_with('/')) path.remove_suffix(1);
  return path.empty() ? "/" : path;
}

bool apply_mode(std::string_view text, std::uint32_t& mode, bool directory, std::uint32_t umask) {
  if (text.empty()) return false;
  if (text.find_first_not_of("01234567") == std::string_view::npos) {
    if (text.size() > 5) return false;
    std::uint32_t value = 0;
    for (char c : text) value = value * 8 + static_cast<std::uint32_t>(c - '0');
    if (value > 07777) return false;
    // Set-id bits of a directory stay unless they are written out.
    if (directory && text.size() < 5) value |= mode & 06000;
    mode = value;
    return true;
  }
  while (true) {
    std::size_t comma = text.find(',');
    std::string_view clause = text.substr(0, comma);
    std::uint32_t who = 0;
    std::size_t i = 0;
    for (; i < clause.size() && std::strchr("ugoa", clause[i]); ++i)
      who |= clause[i] == 'u' ? 04700U : clause[i] == 'g' ? 02070U : clause[i] == 'o' ? 01007U : 07777U;
    bool all = who == 0;
    std::uint32_t mask = all ? 07777U & ~(umask & 0777U) : who;
    if (i >= clause.size()) return false;
    while (i < clause.size()) {
      char op = clause[i++];
      if (op != '+' && op != '-' && op != '=') return false;
      std::uint32_t bits = 0;
      if (i < clause.size() && isdigit(static_cast<unsigned char>(clause[i]))) {
        while (i < clause.size() && clause[i] >= '0' && clause[i] <= '7')
          bits = bits * 8 + static_cast<std::uint32_t>(clause[i++] - '0');
        if (bits > 07777) return false;
        mask = 07777;
      } else if (i < clause.size() && std::strchr("ugo", clause[i])) {
        std::uint32_t from = clause[i] == 'u' ? mode >> 6 : clause[i] == 'g' ? mode >> 3 : mode;
        bits = (from & 7) * 0111;
        ++i;
      } else {
        for (; i < clause.size() && std::strchr("rwxXst", clause[i]); ++i) {
          switch (clause[i]) {
            case 'r': bits |= 0444; break;
            case 'w': bits |= 0222; break;
            case 'x': bits |= 0111; break;
            case 'X':
              if (directory || (mode & 0111)) bits |= 0111;
              break;
            case 's': bits |= 06000; break;
            case 't': bits |= 01000; break;
            default: break;
          }
        }
      }
      bits &= mask;
      if (op == '+')
        mode |= bits;
      else if (op == '-')
        mode &= ~bits;
      else {
        std::uint32_t cleared = all ? 07777U : who;
        if (directory) cleared &= ~06000U;
        mode = (mode & ~cleared) | bits;
      }
    }
    if (comma == std::string_view::npos) return true;
    text.remove_prefix(comma + 1);
  }
}

}  // namespace atl::shell
