#include "config/checked.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>

#include "base/bytes.h"
#include "base/utf8.h"
#include "config/document.h"

namespace atl::config {
namespace {

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_control(char c) {
  return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
}

// Characters that break a line or change the direction of what follows, so that a table shows something else
// than it holds: U+061C, U+200E, U+200F, U+2028 to U+202E, U+2066 to U+2069.
bool is_reordering(std::string_view rest) {
  if (rest.starts_with("\xd8\x9c")) return true;
  if (rest.size() < 3 || rest[0] != '\xe2') return false;
  const auto second = static_cast<unsigned char>(rest[1]), third = static_cast<unsigned char>(rest[2]);
  if (second == 0x80) return third == 0x8e || third == 0x8f || (third >= 0xa8 && third <= 0xae);
  return second == 0x81 && third >= 0xa6 && third <= 0xa9;
}

// C1 controls (U+0080 to U+009F), which terminals obey as well, are two bytes in UTF-8.
std::size_t find_control(std::string_view text) {
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (is_control(text[at]) || is_reordering(text.substr(at))) return at;
    const bool is_c1 =
        text[at] == '\xc2' && at + 1 < text.size() && static_cast<unsigned char>(text[at + 1]) < 0xa0;
    if (is_c1) return at;
  }
  return std::string_view::npos;
}

template <class Number>
bool read_number(std::string_view text, Number& number) {
  if (text.starts_with('+')) text.remove_prefix(1);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return !text.empty() && error == std::errc() && end == text.data() + text.size();
}

// Closes the descriptor when the scope ends. The room's rank is the one of `os`, whose owner it cannot use.
class OpenFile {
 public:
  explicit OpenFile(int fd) : fd_(fd) {}
  ~OpenFile() {
    if (fd_ >= 0) ::close(fd_);
  }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  int get() const { return fd_; }

 private:
  int fd_;
};

std::string_view kind_of(mode_t mode) {
  if (S_ISDIR(mode)) return "a directory";
  if (S_ISFIFO(mode)) return "a pipe";
  if (S_ISSOCK(mode)) return "a socket";
  return "a device";
}

std::unexpected<Error> cannot_read(const std::string& path, int error_number) {
  const std::string name = shown(path, 300);
  switch (error_number) {
    case ENOENT:
    case ENOTDIR: return fail(Code::not_found, fmt::format("{}: there is no such file", name));
    case ELOOP:
      return fail(Code::invalid_argument,
                  fmt::format("{}: is a link that leads to itself; name the file", name));
    case EACCES:
    case EPERM: return fail(Code::permission_denied, fmt::format("{}: this user may not read it", name));
    case ENAMETOOLONG: return fail(Code::invalid_argument, fmt::format("{}: the path is too long", name));
    default:
      return fail(Code::unavailable,
                  fmt::format("{}: cannot be read: {}", name, std::strerror(error_number)));
  }
}

// Whether somebody has the other end open, or opens it in time.
bool has_writer(int fd) {
  constexpr int patience_ms = 5000;
  pollfd input{fd, POLLIN, 0};
  return ::poll(&input, 1, patience_ms) > 0;
}

Result<std::string> read_to_end(int fd, const std::string& path, std::size_t bytes_max) {
  std::string text;
  std::array<char, 65536> block;
  for (;;) {
    const ssize_t got = ::read(fd, block.data(), block.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno == EAGAIN) {
      pollfd input{fd, POLLIN, 0};
      ::poll(&input, 1, -1);
      continue;
    }
    if (got < 0) return cannot_read(path, errno);
    if (got == 0) return text;
    text.append(block.data(), static_cast<std::size_t>(got));
    if (text.size() > bytes_max)
      return fail(Code::too_large, fmt::format("{}: is longer than {} bytes", shown(path, 300), bytes_max));
  }
}

}  // namespace

std::string shown(std::string_view text, std::size_t characters_max) {
  std::string out;
  std::size_t characters = 0;
  for (std::size_t at = 0; at < text.size(); ++characters) {
    if (characters == characters_max) return out + "...";
    std::size_t size = 1;
    while (at + size < text.size() && utf8::is_continuation(text[at + size])) ++size;
    const std::string_view one = text.substr(at, size);
    if (is_utf8(one) && find_control(one) == std::string_view::npos)
      out += one;
    else
      for (const char c : one) out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    at += size;
  }
  return out;
}

Error Checked::wrong(std::string_view problem, std::string_view fix) const {
  return Error(Code::invalid_argument, fmt::format("{}: '{}' {}; {}", field_, shown(text_), problem, fix))
      .with_field(std::string(field_));
}

Result<std::int64_t> Checked::whole_number(std::int64_t least, std::int64_t most) const {
  std::int64_t number = 0;
  if (!read_number(text_, number) || number < least || number > most)
    return fail(wrong("is no whole number that is possible here",
                      fmt::format("write one from {} to {}", least, most)));
  return number;
}

Result<double> Checked::number(double least, double most) const {
  double number = 0;
  if (!read_number(text_, number) || !std::isfinite(number) || number < least || number > most)
    return fail(
        wrong("is no number that is possible here", fmt::format("write one from {} to {}", least, most)));
  return number;
}

Result<std::chrono::milliseconds> Checked::seconds(double least, double most) const {
  const auto amount = number(least, most);
  if (!amount)
    return fail(wrong("is no time that is possible here",
                      fmt::format("write a number of seconds from {} to {}, such as 30", least, most)));
  return std::chrono::milliseconds(static_cast<std::int64_t>(std::llround(*amount * 1000)));
}

Result<std::uint64_t> Checked::bytes(std::uint64_t least, std::uint64_t most) const {
  const auto size = parse_bytes(text_);
  if (!size || *size < least || *size > most)
    return fail(wrong("is no size that is possible here",
                      fmt::format("write a number of bytes from {} to {}, such as 256M or 1G", least, most)));
  return *size;
}

Result<std::string> Checked::choice(std::span<const std::string_view> words) const {
  if (std::ranges::find(words, text_) != words.end()) return std::string(text_);
  return fail(wrong(fmt::format("is none of the words that are possible here{}", did_you_mean(text_, words)),
                    fmt::format("write {}", fmt::join(words, " or "))));
}

Result<std::string> Checked::label(std::size_t characters_max) const {
  const std::string fix = fmt::format("write 1 to {} printable characters", characters_max);
  if (!is_utf8(text_)) return fail(wrong("is no UTF-8 text", fix));
  if (find_control(text_) != std::string_view::npos) return fail(wrong("holds a control character", fix));
  if (text_.find_first_not_of(' ') == std::string_view::npos) return fail(wrong("is empty", fix));
  if (const std::size_t count = utf8::count_starts(text_); count > characters_max)
    return fail(wrong(fmt::format("has {} characters", count), fix));
  return std::string(text_);
}

Result<std::string> Checked::name(std::size_t characters_max) const {
  const bool is_good = !text_.empty() && text_.size() <= characters_max &&
                       (is_letter(text_.front()) || is_digit(text_.front())) &&
                       std::ranges::all_of(text_, [](char c) {
                         return is_letter(c) || is_digit(c) || c == '.' || c == '_' || c == '-';
                       });
  if (is_good) return std::string(text_);
  return fail(
      wrong("is no name",
            fmt::format("write 1 to {} letters, digits and . _ -, a letter or digit first", characters_max)));
}

Result<std::pair<std::string, std::string>> Checked::assignment() const {
  const std::size_t equals = text_.find('=');
  const std::string_view name = text_.substr(0, equals);
  const bool is_good =
      equals != std::string_view::npos && !name.empty() && !is_digit(name.front()) &&
      std::ranges::all_of(name, [](char c) { return is_letter(c) || is_digit(c) || c == '_'; });
  if (!is_good)
    return fail(
        wrong("is no assignment", "write NAME=VALUE, where NAME has letters, digits and _, no digit first"));
  return std::pair{std::string(name), std::string(text_.substr(equals + 1))};
}

Result<std::string> Checked::control_group() const {
  const std::string_view fix = "write names with / between them, such as atoll or machine/atoll";
  std::string_view rest = text_;
  if (rest.empty() || rest.size() > 200) return fail(wrong("is no control group", fix));
  while (true) {
    const std::size_t slash = rest.find('/');
    const std::string_view part = rest.substr(0, slash);
    if (!Checked(field_, part).name(100))
      return fail(wrong("is no control group below this process's own", fix));
    if (slash == std::string_view::npos) return std::string(text_);
    rest.remove_prefix(slash + 1);
  }
}

Result<std::string> Checked::absolute_path() const {
  const std::string_view fix = "write a path that begins with / and has no . or .. in it";
  if (!text_.starts_with('/') || text_.size() > 4000) return fail(wrong("is no absolute path", fix));
  if (find_control(text_) != std::string_view::npos) return fail(wrong("holds a control character", fix));
  for (std::string_view rest = text_; !rest.empty();) {
    const std::size_t slash = std::min(rest.find('/'), rest.size());
    if (rest.substr(0, slash) == "." || rest.substr(0, slash) == "..") return fail(wrong("climbs", fix));
    rest.remove_prefix(std::min(slash + 1, rest.size()));
  }
  return std::string(text_);
}

Result<std::string> Checked::host_name() const {
  const bool is_good =
      !text_.empty() && text_.size() <= 64 && text_.front() != '-' && text_.front() != '.' &&
      text_.back() != '-' &&
      std::ranges::all_of(text_, [](char c) { return is_letter(c) || is_digit(c) || c == '-' || c == '.'; });
  if (is_good) return std::string(text_);
  return fail(wrong("is no host name", "write 1 to 64 letters, digits, dashes and dots"));
}

Result<std::string> read_input(const std::string& path, std::size_t bytes_max, InputKind kind) {
  // Without O_NONBLOCK the opening of a pipe waits for somebody at its other end.
  const OpenFile file(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  if (file.get() < 0) {
    // A socket cannot be opened, with a message that says nothing.
    struct stat stat {};
    if (errno == ENXIO && ::stat(path.c_str(), &stat) == 0)
      return fail(Code::invalid_argument,
                  fmt::format("{}: is {}, not a file", shown(path, 300), kind_of(stat.st_mode)));
    return cannot_read(path, errno);
  }
  struct stat stat {};
  if (::fstat(file.get(), &stat) < 0) return cannot_read(path, errno);
  const bool is_pipe = S_ISFIFO(stat.st_mode) && kind == InputKind::file_or_pipe;
  if (!S_ISREG(stat.st_mode) && !is_pipe)
    return fail(S_ISDIR(stat.st_mode) ? Code::is_a_directory : Code::invalid_argument,
                fmt::format("{}: is {}, not a file", shown(path, 300), kind_of(stat.st_mode)));
  if (is_pipe && !has_writer(file.get()))
    return fail(Code::deadline_exceeded,
                fmt::format("{}: is a pipe that nobody writes to", shown(path, 300)));
  return read_to_end(file.get(), path, bytes_max);
}

}  // namespace atl::config
