#include "store/blobs.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <openssl/evp.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <unordered_set>

#include "base/bytes.h"
#include "os/offload.h"
#include "store/blob_file.h"

namespace atl::store {
namespace {

constexpr std::size_t kChunkBytes = 64U << 10;
constexpr std::size_t kDigestLetters = 64;

bool is_digest(std::string_view text) {
  return text.size() == kDigestLetters &&
         std::ranges::all_of(text, [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

}  // namespace

struct Blobs::Writing::State {
  boost::asio::thread_pool* pool = nullptr;
  std::shared_ptr<std::uint64_t> bytes_since;
  std::string directory;
  std::string temporary;
  os::Fd fd;
  std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> hash{EVP_MD_CTX_new(), &EVP_MD_CTX_free};

  ~State() {
    // Given up before seal(): nothing of it stays.
    if (!temporary.empty()) ::unlink(temporary.c_str());
  }

  Result<void> append(std::string_view bytes) {
    EVP_DigestUpdate(hash.get(), bytes.data(), bytes.size());
    while (!bytes.empty()) {
      const ssize_t written = ::write(fd.get(), bytes.data(), bytes.size());
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) return fail(errno_error(errno, "write an artifact"));
      bytes.remove_prefix(static_cast<std::size_t>(written));
    }
    return {};
  }

  Result<std::string> seal() {
    std::string raw(EVP_MAX_MD_SIZE, '\0');
    unsigned length = 0;
    EVP_DigestFinal_ex(hash.get(), reinterpret_cast<unsigned char*>(raw.data()), &length);
    raw.resize(length);
    std::string digest = to_hex(raw);
    // 256 folders, so that none becomes large.
    const std::string folder = directory + "/" + digest.substr(0, 2);
    ::mkdir(folder.c_str(), 0700);
    const std::string target = folder + "/" + digest.substr(2);
    // The same content has the same name: replacing it by itself is harmless, also while somebody reads it.
    if (::rename(temporary.c_str(), target.c_str()) != 0)
      return fail(errno_error(errno, "store an artifact"));
    temporary.clear();
    fd.reset();
    return digest;
  }
};

Blobs::Blobs(std::string directory)
    : directory_(std::move(directory)), pool_(std::make_unique<boost::asio::thread_pool>(1)) {}

Blobs::~Blobs() {
  pool_->join();
}

Result<std::unique_ptr<Blobs>> Blobs::open(std::string directory) {
  std::error_code failed;
  std::filesystem::create_directories(directory, failed);
  if (failed) return fail(errno_error(failed.value(), "create the artifact directory"));
  for (const auto& entry : std::filesystem::directory_iterator(directory, failed)) {
    if (entry.path().filename().string().starts_with("incoming-"))
      std::filesystem::remove(entry.path(), failed);
  }
  return std::unique_ptr<Blobs>(new Blobs(std::move(directory)));
}

std::string Blobs::path_of(const std::string& digest) const {
  return blob_path(directory_, digest);
}

Blobs::Writing::~Writing() = default;

Task<std::unique_ptr<Blobs::Writing>> Blobs::create() {
  auto state = std::make_shared<Writing::State>();
  state->pool = pool_.get();
  state->bytes_since = bytes_since_;
  state->directory = directory_;
  const std::string temporary = fmt::format("{}/incoming-{}", directory_, ++next_);
  auto begin = [state, temporary]() -> Result<void> {
    state->fd = os::Fd(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
    if (!state->fd.is_open()) return fail(errno_error(errno, "create an artifact"));
    state->temporary = temporary;
    EVP_DigestInit_ex(state->hash.get(), EVP_sha256(), nullptr);
    return {};
  };
  CO_CHECK(co_await os::offload<void>(*pool_, std::move(begin)));
  co_return std::unique_ptr<Writing>(new Writing(std::move(state)));
}

Task<void> Blobs::Writing::write(std::string bytes) {
  size_ += bytes.size();
  *state_->bytes_since += bytes.size();
  auto append = [state = state_, bytes = std::move(bytes)] { return state->append(bytes); };
  co_return co_await os::offload<void>(*state_->pool, std::move(append));
}

Task<std::string> Blobs::Writing::finish() {
  auto seal = [state = state_] { return state->seal(); };
  co_return co_await os::offload<std::string>(*state_->pool, std::move(seal));
}

Task<std::unique_ptr<Blobs::Reading>> Blobs::open_read(std::string digest) {
  if (!is_digest(digest)) co_return fail(Code::not_found, "no such artifact");
  auto reading = std::make_unique<Reading>();
  reading->blobs_ = this;
  auto begin = [path = path_of(digest)]() -> Result<std::pair<std::shared_ptr<os::Fd>, std::uint64_t>> {
    auto fd = std::make_shared<os::Fd>(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    struct stat info {};
    if (!fd->is_open() || ::fstat(fd->get(), &info) != 0) return fail(Code::not_found, "no such artifact");
    return std::pair{std::move(fd), static_cast<std::uint64_t>(info.st_size)};
  };
  using Opened = std::pair<std::shared_ptr<os::Fd>, std::uint64_t>;
  CO_TRY(auto opened, co_await os::offload<Opened>(*pool_, std::move(begin)));
  reading->fd_ = std::move(opened.first);
  reading->size_ = opened.second;
  co_return std::move(reading);
}

Task<std::string> Blobs::Reading::next() {
  auto take = [fd = fd_]() -> Result<std::string> {
    std::string bytes(kChunkBytes, '\0');
    const ssize_t got = ::read(fd->get(), bytes.data(), bytes.size());
    if (got < 0) return fail(errno_error(errno, "read an artifact"));
    bytes.resize(static_cast<std::size_t>(got));
    return bytes;
  };
  co_return co_await os::offload<std::string>(*blobs_->pool_, std::move(take));
}

Task<std::int64_t> Blobs::collect_garbage(std::vector<std::string> keep, std::chrono::seconds spared) {
  auto sweep = [directory = directory_, spared, keep = std::move(keep)]() -> Result<std::int64_t> {
    const auto young = std::filesystem::file_time_type::clock::now() - spared;
    const std::unordered_set<std::string> kept(keep.begin(), keep.end());
    std::int64_t removed = 0;
    std::error_code failed;
    for (const auto& folder : std::filesystem::directory_iterator(directory, failed)) {
      if (!folder.is_directory(failed)) continue;
      for (const auto& file : std::filesystem::directory_iterator(folder.path(), failed)) {
        const std::string digest = folder.path().filename().string() + file.path().filename().string();
        if (kept.contains(digest) || (spared.count() > 0 && file.last_write_time(failed) > young)) continue;
        if (std::filesystem::remove(file.path(), failed)) ++removed;
      }
    }
    return removed;
  };
  co_return co_await os::offload<std::int64_t>(*pool_, std::move(sweep));
}

}  // namespace atl::store
