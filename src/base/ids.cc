#include "base/ids.h"

#include <sys/random.h>

#include <array>
#include <cerrno>
#include <cstdlib>

#include "base/bytes.h"

namespace atl {

void random_bytes(std::span<std::uint8_t> out) {
  while (!out.empty()) {
    const auto got = ::getrandom(out.data(), out.size(), 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) std::abort();
    out = out.subspan(static_cast<std::size_t>(got));
  }
}

std::string random_word(std::size_t length) {
  constexpr std::string_view alphabet = "abcdefghijklmnopqrstuvwxyz0123456789";
  std::string word;
  word.reserve(length);
  std::array<std::uint8_t, 64> pool;
  while (word.size() < length) {
    random_bytes(pool);
    for (const auto byte : pool) {
      // 252 is the largest multiple of 36 in a byte: above it the remainder would favour some letters.
      if (byte < 252 && word.size() < length) word += alphabet[byte % alphabet.size()];
    }
  }
  return word;
}

std::string random_hex(std::size_t bytes) {
  std::string raw(bytes, '\0');
  random_bytes({reinterpret_cast<std::uint8_t*>(raw.data()), raw.size()});
  return to_hex(raw);
}

std::string random_uuid() {
  std::array<std::uint8_t, 16> raw;
  random_bytes(raw);
  raw[6] = (raw[6] & 0x0f) | 0x40;
  raw[8] = (raw[8] & 0x3f) | 0x80;
  auto hex = to_hex({reinterpret_cast<const char*>(raw.data()), raw.size()});
  for (const auto at : {8, 13, 18, 23}) hex.insert(static_cast<std::size_t>(at), "-");
  return hex;
}

std::string new_sandbox_id() {
  return "i" + random_word(20);
}
std::string new_session_id() {
  return "ses_" + random_word(20);
}
std::string new_record_id() {
  return "exe_" + random_word(20);
}
std::string new_request_id() {
  return "req_" + random_word(16);
}

}  // namespace atl
