#include "sandbox/runner_codec.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/bytes.h"

namespace atl::sandbox {
namespace {

// One message of a runner: an image may be large, a flood may not.
constexpr std::size_t kMessageMax = 64U << 20;
constexpr std::size_t kLineMax = 32;
constexpr std::size_t kKeptMax = 65536;

// "<size>\n<bytes>"; false if there is none.
bool take_field(std::string_view& from, std::string_view& field) {
  const std::size_t line = from.find('\n');
  std::size_t size = 0;
  if (line == std::string_view::npos) return false;
  const char* const begin = from.data();
  const auto [end, error] = std::from_chars(begin, begin + line, size);
  if (error != std::errc() || end != begin + line || size > from.size() - line - 1) return false;
  field = from.substr(line + 1, size);
  from.remove_prefix(line + 1 + size);
  return true;
}

}  // namespace

std::string encode_message(guest::ToRunner letter, std::string_view payload) {
  return fmt::format("{} {}\n{}", static_cast<char>(letter), payload.size(), payload);
}

// A word may arrive in pieces: its beginning is kept.
bool RunnerReader::find_word() {
  const std::size_t at = bytes_.find(word_);
  if (at == std::string::npos) {
    if (bytes_.size() > word_.size()) bytes_.erase(0, bytes_.size() - word_.size());
    return false;
  }
  bytes_.erase(0, at + word_.size());
  word_.clear();
  return true;
}

std::optional<RunnerReader::Message> RunnerReader::need_more() {
  bytes_.erase(0, taken_);
  taken_ = 0;
  if (bytes_.empty() && bytes_.capacity() > kKeptMax) bytes_.shrink_to_fit();
  return std::nullopt;
}

std::optional<RunnerReader::Message> RunnerReader::refuse() {
  is_broken_ = true;
  return std::nullopt;
}

std::optional<RunnerReader::Message> RunnerReader::next() {
  if (is_broken_ || (!word_.empty() && !find_word())) return std::nullopt;
  const std::string_view left = std::string_view(bytes_).substr(taken_);
  const std::size_t line = left.find('\n');
  if (line == std::string_view::npos) return left.size() > kLineMax ? refuse() : need_more();
  if (line < 3 || left[1] != ' ') return refuse();
  std::size_t size = 0;
  const char* const end_of_line = left.data() + line;
  const auto [end, error] = std::from_chars(left.data() + 2, end_of_line, size);
  if (error != std::errc() || (end != end_of_line && *end != ' ') || size > kMessageMax) return refuse();
  if (left.size() - line - 1 < size) return need_more();
  taken_ += line + 1 + size;
  return Message{left[0], {std::min(end + 1, end_of_line), end_of_line}, left.substr(line + 1, size)};
}

std::optional<ResultBundle> decode_result(std::string_view payload) {
  if (payload.empty()) return std::nullopt;
  ResultBundle bundle;
  bundle.is_main = payload.front() == '1';
  payload.remove_prefix(1);
  for (std::string_view mime, data; !payload.empty();) {
    if (!take_field(payload, mime) || !take_field(payload, data)) return std::nullopt;
    bundle.data.insert_or_assign(to_valid_utf8(mime), to_valid_utf8(data));
  }
  return bundle;
}

std::optional<ExecutionError> decode_failure(std::string_view payload) {
  std::string_view name, value, traceback;
  if (!take_field(payload, name) || !take_field(payload, value) || !take_field(payload, traceback))
    return std::nullopt;
  return ExecutionError{to_valid_utf8(name), to_valid_utf8(value), to_valid_utf8(traceback)};
}

std::optional<RunnerDone> decode_done(std::string_view payload) {
  RunnerDone done;
  const char* const end = payload.data() + payload.size();
  const auto code = std::from_chars(payload.data(), end, done.exit_code);
  if (code.ec != std::errc() || code.ptr == end) return std::nullopt;
  if (std::from_chars(code.ptr + 1, end, done.count).ec != std::errc()) return std::nullopt;
  return done;
}

}  // namespace atl::sandbox
