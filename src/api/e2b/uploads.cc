#include "api/e2b/uploads.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>

#include "api/e2b/recipe.h"
#include "base/ids.h"
#include "os/fd.h"

namespace atl::api::e2b {
namespace {

constexpr std::size_t kLinksMax = 1000;  // of one tenant
constexpr std::size_t kDigestLetters = 64;

// "<tenant>-<digest>.tar", with something behind it while it is being sent. A tenant's name may hold
// anything.
bool is_file_of(std::string_view name, std::string_view tenant) {
  if (!name.starts_with(tenant)) return false;
  name.remove_prefix(tenant.size());
  return name.size() > kDigestLetters && name.front() == '-' && is_sha256(name.substr(1, kDigestLetters)) &&
         name.substr(1 + kDigestLetters).starts_with(".tar");
}

Result<void> write_piece(int file, std::string_view piece) {
  while (!piece.empty()) {
    const ssize_t written = ::write(file, piece.data(), piece.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return fail(errno_error(errno, "keep the upload"));
    piece.remove_prefix(static_cast<std::size_t>(written));
  }
  return {};
}

}  // namespace

std::string Uploads::path_of(const std::string& tenant, const std::string& hash) const {
  return fmt::format("{}/{}-{}.tar", directory(), tenant, hash);
}

bool Uploads::is_there(const std::string& tenant, const std::string& hash) const {
  return ::utimensat(AT_FDCWD, path_of(tenant, hash).c_str(), nullptr, 0) == 0;
}

std::string Uploads::make_token(const auth::Principal& owner, const std::string& hash) {
  const SteadyTime now = context_.clock.steady();
  std::erase_if(links_, [&](const auto& one) { return one.second.until <= now; });
  const auto is_own = [&](const auto& one) { return one.second.owner.tenant == owner.tenant; };
  if (static_cast<std::size_t>(std::ranges::count_if(links_, is_own)) >= kLinksMax) {
    auto oldest = links_.end();
    for (auto at = links_.begin(); at != links_.end(); ++at)
      if (is_own(*at) && (oldest == links_.end() || at->second.until < oldest->second.until)) oldest = at;
    links_.erase(oldest);
  }
  std::string token = random_hex(20);
  links_[token] = {owner, path_of(owner.tenant, hash), now + context_.bounds.upload_links};
  return token;
}

std::optional<auth::Principal> Uploads::owner_of(const std::string& token) const {
  const auto found = links_.find(token);
  if (found == links_.end() || found->second.until <= context_.clock.steady()) return std::nullopt;
  return found->second.owner;
}

std::uint64_t Uploads::bytes_of(const std::string& tenant) const {
  std::uint64_t bytes = 0;
  std::error_code failed;
  for (const auto& entry : std::filesystem::directory_iterator(directory(), failed))
    if (is_file_of(entry.path().filename().string(), tenant)) bytes += entry.file_size(failed);
  return bytes;
}

Task<void> Uploads::check_room(auth::Principal owner) const {
  const std::uint64_t most = context_.bounds.upload_bytes;
  if (most > 0 && bytes_of(owner.tenant) > most)
    co_return fail(Code::no_space,
                   fmt::format("uploads for builds take {} bytes at most: use fewer or smaller ones, or wait "
                               "until older ones are forgotten",
                               most));
  // What is being sent is measured where it lies.
  CO_CHECK(co_await context_.reserve_stored(owner, 0));
  co_return Result<void>{};
}

void Uploads::remove_all(const std::string& tenant) {
  std::erase_if(links_, [&](const auto& one) { return one.second.owner.tenant == tenant; });
  std::error_code failed;
  for (const auto& entry : std::filesystem::directory_iterator(directory(), failed))
    if (is_file_of(entry.path().filename().string(), tenant)) std::filesystem::remove(entry.path(), failed);
}

Task<void> Uploads::receive(net::Exchange& exchange) {
  const auto found = links_.find(exchange.request().param("token"));
  if (found == links_.end() || found->second.until <= context_.clock.steady())
    co_return fail(Code::not_found, "no such upload, or its address is too old: ask for another");
  const Link link = found->second;
  std::error_code ignored;
  std::filesystem::create_directories(directory(), ignored);
  const std::string partial = link.path + "." + random_word(8);
  os::Fd file(::open(partial.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!file.is_open()) co_return fail(errno_error(errno, "keep the upload"));
  std::uint64_t unchecked = 0;
  Result<void> result;
  while (result) {
    auto piece = co_await exchange.read();
    if (!piece) {
      result = fail(std::move(piece).error());
      break;
    }
    if (piece->empty()) break;
    result = write_piece(file.get(), *piece);
    unchecked += piece->size();
    // Others of the same tenant may be on their way, too.
    if (result && unchecked >= (1U << 20)) {
      unchecked = 0;
      result = co_await check_room(link.owner);
    }
  }
  if (result) result = co_await check_room(link.owner);
  if (result && ::rename(partial.c_str(), link.path.c_str()) != 0)
    result = fail(errno_error(errno, "keep the upload"));
  if (!result) {
    ::unlink(partial.c_str());
    co_return result;
  }
  net::Response done = net::Response::empty(200);
  co_return co_await exchange.send(std::move(done));
}

void Uploads::sweep() {
  const SteadyTime now = context_.clock.steady();
  std::erase_if(links_, [&](const auto& one) { return one.second.until <= now; });
  if (context_.bounds.uploads.count() == 0) return;
  std::error_code failed;
  const auto old = std::filesystem::file_time_type::clock::now() - context_.bounds.uploads;
  for (const auto& entry : std::filesystem::directory_iterator(directory(), failed))
    if (entry.last_write_time(failed) < old) std::filesystem::remove(entry.path(), failed);
}

}  // namespace atl::api::e2b
