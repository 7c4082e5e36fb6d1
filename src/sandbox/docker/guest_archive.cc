#include "sandbox/docker/guest_archive.h"

#include <fmt/format.h>

#include <cstring>

namespace atl::sandbox::docker {

std::string guest_archive(std::string_view program) {
  constexpr std::size_t kBlock = 512;
  std::string header(kBlock, '\0');
  const auto put = [&](std::size_t at, std::string_view text) { header.replace(at, text.size(), text); };
  put(0, "guest");
  put(100, "0000555");
  put(108, "0000000"), put(116, "0000000");
  put(124, fmt::format("{:011o}", program.size()));
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
  std::string archive = header;
  archive.append(program);
  archive.resize((archive.size() + kBlock - 1) / kBlock * kBlock, '\0');
  archive.append(2 * kBlock, '\0');
  return archive;
}

}  // namespace atl::sandbox::docker
