#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

// For tests: tar archives written byte by byte, so that they can lie.
namespace atl::layer {

struct TarEntry {
  std::string name;
  char type = '0';
  std::string content;
  std::string link;
  unsigned mode = 0644;
  unsigned uid = 0, gid = 0;
  std::int64_t time = 1'700'000'000;
  std::string size_field;  // instead of the true one
};

// Each call appends one entry. Nothing is checked: names are cut at 100 bytes, and a size may be a lie.
class TarBytes {
 public:
  TarBytes& add(const TarEntry& entry) {
    char header[512] = {};
    std::memcpy(header, entry.name.data(), std::min<std::size_t>(entry.name.size(), 100));
    field(header + 100, 8, entry.mode);
    field(header + 108, 8, entry.uid);
    field(header + 116, 8, entry.gid);
    field(header + 124, 12, entry.content.size());
    if (!entry.size_field.empty())
      std::memcpy(header + 124, entry.size_field.data(), std::min<std::size_t>(12, entry.size_field.size()));
    field(header + 136, 12, static_cast<std::uint64_t>(entry.time));
    std::memset(header + 148, ' ', 8);
    header[156] = entry.type;
    std::memcpy(header + 157, entry.link.data(), std::min<std::size_t>(entry.link.size(), 100));
    std::memcpy(header + 257, "ustar\00000", 8);
    unsigned sum = 0;
    for (const char c : header) sum += static_cast<unsigned char>(c);
    std::memcpy(header + 148, fmt::format("{:06o}", sum).data(), 6);
    header[154] = '\0';
    bytes_.append(header, sizeof header);
    bytes_ += entry.content;
    bytes_.append((512 - entry.content.size() % 512) % 512, '\0');
    return *this;
  }
  TarBytes& file(std::string name, std::string content = "x") {
    return add({.name = std::move(name), .content = std::move(content)});
  }
  TarBytes& directory(std::string name) { return add({.name = std::move(name), .type = '5', .mode = 0755}); }
  TarBytes& symlink(std::string name, std::string target) {
    return add({.name = std::move(name), .type = '2', .link = std::move(target), .mode = 0777});
  }
  TarBytes& hard_link(std::string name, std::string target) {
    return add({.name = std::move(name), .type = '1', .link = std::move(target)});
  }
  // A pax header for the entry that follows.
  TarBytes& pax(std::string_view key, std::string_view value) {
    const std::size_t rest = key.size() + value.size() + 3;
    std::size_t length = rest + 1;
    while (std::to_string(length).size() + rest != length) ++length;
    return add({.name = "pax", .type = 'x', .content = fmt::format("{} {}={}\n", length, key, value)});
  }
  std::string finish() const { return bytes_ + std::string(1024, '\0'); }
  // Cut off where the last entry ends.
  const std::string& unfinished() const { return bytes_; }

 private:
  static void field(char* at, std::size_t size, std::uint64_t value) {
    const std::string text = fmt::format("{:0{}o}", value, size - 1);
    std::memcpy(at, text.data(), std::min(size - 1, text.size()));
  }
  std::string bytes_;
};

}  // namespace atl::layer
