#include "sandbox/docker/archive.h"

#include <fmt/format.h>

namespace atl::sandbox::docker {
namespace {

constexpr std::size_t kTarBlock = 512;

std::string header_of(const ArchivedFile& file) {
  std::string header(kTarBlock, '\0');
  const auto put = [&](std::size_t at, std::string_view text) { header.replace(at, text.size(), text); };
  put(0, file.path);
  put(100, fmt::format("{:07o}", file.mode));
  put(108, "0000000"), put(116, "0000000");
  put(124, fmt::format("{:011o}", file.bytes.size()));
  put(136, "00000000000");
  put(148, "        ");  // the sum counts its own field as blanks
  put(156, "0");
  put(257, std::string_view("ustar\0"
                            "00",
                            8));
  unsigned sum = 0;
  for (const char c : header) sum += static_cast<unsigned char>(c);
  put(148, fmt::format("{:06o}", sum));
  header[154] = '\0';
  return header;
}

}  // namespace

std::string archive_of(std::span<const ArchivedFile> files) {
  std::string archive;
  for (const ArchivedFile& file : files) {
    archive += header_of(file);
    archive.append(file.bytes);
    archive.resize((archive.size() + kTarBlock - 1) / kTarBlock * kTarBlock, '\0');
  }
  archive.append(2 * kTarBlock, '\0');
  return archive;
}

}  // namespace atl::sandbox::docker
