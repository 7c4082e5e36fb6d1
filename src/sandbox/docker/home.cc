#include "sandbox/docker/home.h"

#include <vector>

namespace atl::sandbox::docker {
namespace {

// More users than any image has; what is beyond is not looked at.
constexpr std::size_t kPasswdMax = 1U << 20;

std::vector<std::string_view> split(std::string_view text, char at) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t end = text.find(at);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

}  // namespace

std::string home_in(std::string_view passwd, std::string_view user) {
  constexpr std::size_t kName = 0, kNumber = 2, kHome = 5;
  for (const std::string_view line : split(passwd, '\n')) {
    const auto fields = split(line, ':');
    if (fields.size() <= kHome || (fields[kName] != user && fields[kNumber] != user)) continue;
    if (fields[kHome].starts_with('/')) return std::string(fields[kHome]);
  }
  return "/";
}

Task<std::string> home_of(Files& files, std::string user) {
  std::string path = "/etc/passwd", reader_user, text;
  auto opened = co_await files.open_read(std::move(path), 0, std::nullopt, std::move(reader_user));
  if (!opened && opened.error().code() == Code::not_found) co_return std::string("/");
  if (!opened) co_return fail(std::move(opened).error());
  while (text.size() < kPasswdMax) {
    CO_TRY(const std::string block, co_await (*opened)->next());
    if (block.empty()) break;
    text += block;
  }
  co_return home_in(text, user);
}

}  // namespace atl::sandbox::docker
