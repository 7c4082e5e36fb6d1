#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "base/result.h"

namespace atl::vfs {

// Numbers and byte strings in the binary forms that leave the process (docs/formats/snapshot.md).
// A varint is 7 bits a byte, least significant first, at most 10 bytes, never longer than needed.

inline void put_varint(std::string& out, std::uint64_t value) {
  while (value >= 0x80) {
    out += static_cast<char>(value | 0x80);
    value >>= 7;
  }
  out += static_cast<char>(value);
}

inline void put_bytes(std::string& out, std::string_view bytes) {
  put_varint(out, bytes.size());
  out += bytes;
}

inline void put_fixed64(std::string& out, std::uint64_t value) {
  for (int shift = 0; shift < 64; shift += 8) out += static_cast<char>(value >> shift);
}

inline void put_fixed32(std::string& out, std::uint32_t value) {
  for (int shift = 0; shift < 32; shift += 8) out += static_cast<char>(value >> shift);
}

// Reads untrusted bytes; every call fails with Code::data_loss rather than go beyond the end.
// Borrows the bytes; what it returns are views into them. After a failure the position is not defined.
class WireReader {
 public:
  explicit WireReader(std::string_view bytes) : rest_(bytes) {}
  bool done() const { return rest_.empty(); }
  std::size_t remaining() const { return rest_.size(); }

  Result<std::string_view> take(std::uint64_t count) {
    if (count > rest_.size()) return fail(Code::data_loss, "truncated");
    auto bytes = rest_.substr(0, count);
    rest_.remove_prefix(count);
    return bytes;
  }
  Result<std::uint64_t> varint() {
    std::uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      auto byte = static_cast<unsigned char>(TRY(take(1)).front());
      if (shift == 63 && byte > 1) break;
      if (shift > 0 && byte == 0) break;
      value |= std::uint64_t{byte & 0x7FU} << shift;
      if (byte < 0x80) return value;
    }
    return fail(Code::data_loss, "malformed number");
  }
  Result<std::string_view> bytes() { return take(TRY(varint())); }
  Result<std::uint64_t> fixed64() {
    auto raw = TRY(take(8));
    std::uint64_t value = 0;
    for (int i = 7; i >= 0; --i)
      value = value << 8 | static_cast<unsigned char>(raw[static_cast<std::size_t>(i)]);
    return value;
  }
  Result<std::uint32_t> fixed32() {
    auto raw = TRY(take(4));
    std::uint32_t value = 0;
    for (int i = 3; i >= 0; --i)
      value = value << 8 | static_cast<unsigned char>(raw[static_cast<std::size_t>(i)]);
    return value;
  }

 private:
  std::string_view rest_;
};

}  // namespace atl::vfs
