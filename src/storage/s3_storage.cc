#include "storage/s3_storage.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <mutex>
#include <set>

#include "base/log.h"
#include "vfs/batch_format.h"

namespace atl::storage {
namespace {

constexpr std::uint64_t kLogObjectsMax = 100;    // then the log is put together
constexpr std::uint64_t kLogBytesMin = 1 << 20;  // a shorter log is not worth it
constexpr int kLoadTries = 5;

std::optional<std::uint64_t> number_in(std::string_view name, std::string_view before) {
  if (!name.starts_with(before) || name.size() != before.size() + 16) return std::nullopt;
  name.remove_prefix(before.size());
  std::uint64_t number = 0;
  const auto [end, failed] = std::from_chars(name.data(), name.data() + name.size(), number, 16);
  if (failed != std::errc() || end != name.data() + name.size()) return std::nullopt;
  return number;
}

std::string text_of(const vfs::StorageOptions& options, std::string_view name, std::string otherwise = {}) {
  const auto found = options.find(name);
  return found == options.end() ? std::move(otherwise) : found->second;
}

Error lost() {
  return {Code::conflict,
          "somebody else changed the storage first; nothing was changed, look again and repeat"};
}

// Tells the operator once for each bucket if the server lets two daemons overwrite each other's changes.
void warn_of_unconditional(const S3Client& client, const vfs::StorageOptions& options) {
  static std::mutex lock;
  static std::set<std::string> asked;
  const std::string bucket = text_of(options, "endpoint") + "/" + text_of(options, "bucket");
  const std::lock_guard hold(lock);
  if (!asked.insert(bucket).second) return;
  const std::string name = text_of(options, "prefix", "atoll") + "/.conditional";
  Result<void> put = client.put_new(name, "");
  if (put) put = client.put_new(name, "");
  if (put)
    log::warn("the server of a storage knows no conditions: only one daemon may write to it",
              {{"storage", bucket}});
}

Result<std::unique_ptr<S3Client>> client_of(const vfs::StorageOptions& options) {
  S3Address address;
  address.endpoint = text_of(options, "endpoint");
  address.bucket = text_of(options, "bucket");
  address.region = text_of(options, "region", address.region);
  address.access_key = text_of(options, "access_key");
  address.secret_key = text_of(options, "secret_key");
  return S3Client::make(std::move(address));
}

// Names of spaces have a percent sign, which an address would need encoded.
std::string place_of(const vfs::StorageOptions& options, std::string space) {
  std::ranges::replace(space, '%', '~');
  return fmt::format("{}/{}", text_of(options, "prefix", "atoll"), space);
}

}  // namespace

std::string S3Storage::log_name(std::uint64_t number) const {
  return fmt::format("{}/log/{:016x}", place_, number);
}

std::string S3Storage::base_name(std::uint64_t number) const {
  return fmt::format("{}/base/{:016x}", place_, number);
}

Result<std::unique_ptr<S3Storage>> S3Storage::open(std::unique_ptr<S3Client> client, std::string place) {
  std::unique_ptr<S3Storage> storage(new S3Storage(std::move(client), std::move(place)));
  TRY(storage->get_all());
  return storage;
}

Result<void> S3Storage::discard(const S3Client& client, const std::string& place) {
  for (const S3Client::Object& object : TRY(client.list(place + "/"))) TRY(client.remove(object.name));
  return {};
}

Result<std::vector<vfs::FileEntry>> S3Storage::load() const {
  for (int attempt = 1;; ++attempt) {
    Known known;
    auto entries = load_once(known);
    // Another daemon has put the log together between our look at it and our reading.
    if (!entries && entries.error().code() == Code::not_found && attempt < kLoadTries) continue;
    if (entries) known_ = known;
    return entries;
  }
}

Result<std::vector<vfs::FileEntry>> S3Storage::load_once(Known& known) const {
  std::vector<std::uint64_t> log;
  for (const S3Client::Object& object : TRY(client_->list(place_ + "/"))) {
    if (const auto base = number_in(object.name, place_ + "/base/"); base && *base > known.base) {
      known.base = *base;
      known.base_bytes = object.size;
    }
    if (const auto number = number_in(object.name, place_ + "/log/")) {
      log.push_back(*number);
      known.log_bytes += object.size;
    }
  }
  vfs::MemoryStorage all;
  const auto replay = [&](const std::string& name) -> Result<void> {
    const std::string bytes = TRY(client_->get(name));
    return all.apply(TRY(vfs::decode_batch(bytes)));
  };
  if (known.base > 0) TRY(replay(base_name(known.base)));
  known.last = known.base;
  std::ranges::sort(log);
  for (const std::uint64_t number : log) {
    if (number <= known.base) continue;
    if (number != known.last + 1) return fail(Code::data_loss, "a change is missing from the storage");
    TRY(replay(log_name(number)));
    known.last = number;
  }
  return all.get_all();
}

Result<void> S3Storage::store(const vfs::Batch& batch) {
  const std::string bytes = vfs::encode_batch(batch);
  const std::string name = log_name(known_.last + 1);
  auto put = client_->put_new(name, bytes);
  if (!put && put.error().code() == Code::already_exists) return fail(lost());
  if (!put) return put;
  // The number was free, but it may be one that others have used and put together since.
  for (const S3Client::Object& object : TRY(client_->list(place_ + "/base/"))) {
    const auto base = number_in(object.name, place_ + "/base/");
    if (!base || *base <= known_.last) continue;
    TRY(client_->remove(name));
    return fail(lost());
  }
  ++known_.last;
  known_.log_bytes += bytes.size();
  return {};
}

// What fails here costs room in the bucket, and the next change tries again.
void S3Storage::stored(const vfs::MemoryStorage& all) {
  const bool is_long = known_.last - known_.base >= kLogObjectsMax;
  const bool is_heavy = known_.log_bytes > std::max(2 * known_.base_bytes, kLogBytesMin);
  if (!is_long && !(is_heavy && known_.last - known_.base > 1)) return;
  const auto tidy = [&]() -> Result<void> {
    vfs::Batch whole;
    whole.entries = TRY(all.get_all());
    const std::string bytes = vfs::encode_batch(whole);
    TRY(client_->put(base_name(known_.last), bytes));
    for (const S3Client::Object& object : TRY(client_->list(place_ + "/"))) {
      const auto log = number_in(object.name, place_ + "/log/");
      const auto base = number_in(object.name, place_ + "/base/");
      if ((log && *log <= known_.last) || (base && *base < known_.last)) TRY(client_->remove(object.name));
    }
    known_.base = known_.last;
    known_.base_bytes = bytes.size();
    known_.log_bytes = 0;
    return {};
  };
  if (auto done = tidy(); !done)
    log::warn("the log of a storage could not be put together", {{"error", done.error().message()}});
}

vfs::StorageKind s3_kind() {
  return {.options = {"endpoint", "bucket", "region", "prefix", "access_key", "secret_key"},
          .open = [](const vfs::StorageOptions& options,
                     const std::string& space) -> Result<std::shared_ptr<vfs::FileStorage>> {
            auto client = TRY(client_of(options));
            const S3Client& used = *client;  // the storage owns it
            auto opened = TRY(S3Storage::open(std::move(client), place_of(options, space)));
            warn_of_unconditional(used, options);
            return opened;
          },
          .discard = [](const vfs::StorageOptions& options, const std::string& space) -> Result<void> {
            return S3Storage::discard(*TRY(client_of(options)), place_of(options, space));
          }};
}

}  // namespace atl::storage
