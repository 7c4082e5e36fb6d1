#include "volume/volumes.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <boost/asio/this_coro.hpp>
#include <boost/json.hpp>
#include <filesystem>

#include "base/bytes.h"
#include "base/ids.h"
#include "base/log.h"
#include "os/file.h"

namespace atl::volume {
namespace {

constexpr const char* kKind = "volume";
constexpr std::size_t kNameMax = 128;

Result<void> check_name(const std::string& name) {
  const bool good =
      !name.empty() && name.size() <= kNameMax &&
      name.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") ==
          std::string::npos;
  if (good) return {};
  return fail(Error(Code::invalid_argument,
                    fmt::format("Invalid volume name '{}': 1 to {} characters of a-z, A-Z, 0-9, '_' and '-'",
                                name.substr(0, kNameMax), kNameMax))
                  .with_field("name"));
}

std::unexpected<Error> no_volume(std::string_view id) {
  return fail(Code::not_found, fmt::format("Volume '{}' not found", id));
}

std::uint64_t member(const boost::json::object& body, std::string_view name) {
  const boost::json::value* value = body.if_contains(name);
  if (value == nullptr) return 0;
  boost::system::error_code failed;
  const auto number = value->to_number<std::uint64_t>(failed);
  return failed ? 0 : number;
}

// What the store remembers of it beside its name: nothing of one that we keep to its size, whose bounds are
// the service's.
std::string body_of(const Volume& volume) {
  if (volume.enforced == Enforcement::measured) return "{}";
  return boost::json::serialize(boost::json::object{
      {"disk", "image"}, {"bytes", volume.bounds.bytes_max}, {"inodes", volume.bounds.inodes_max}});
}

// Made once and kept: a token must open its volume after a restart too.
Result<std::string> key_in(const std::string& path) {
  if (os::exists(path)) {
    std::string key = TRY(os::read_file(path, 64));
    if (key.size() != 32) return fail(Code::data_loss, "the key of volume tokens is damaged");
    return key;
  }
  std::string key = TRY(from_hex(random_hex(32)));
  TRY(os::write_file_durably(path, key, 0600));
  return key;
}

// What an earlier life of this service was writing when it ended.
Result<void> drop_half_written(const std::string& directory) {
  std::error_code failed;
  for (const auto& item : std::filesystem::directory_iterator(directory, failed)) {
    if (!item.is_directory(failed)) continue;
    const os::Fd volume = TRY(os::open(item.path().c_str(), O_RDONLY | O_DIRECTORY));
    TRY(os::remove_tree(volume.get(), "incoming"));
  }
  return {};
}

}  // namespace

std::string_view to_string(Enforcement enforcement) {
  return enforcement == Enforcement::filesystem ? "filesystem" : "measured";
}

Result<std::unique_ptr<Volumes>> Volumes::open(store::Store& store, std::string directory,
                                               VolumeOptions options, Disks* disks, Clock& clock) {
  TRY(os::make_directories(directory, 0700));
  // Files here may be root's and have the set-uid bit, as somebody in a sandbox left them. Nobody else gets
  // to them, also where the directory was there before or was opened since.
  if (::chmod(directory.c_str(), 0700) < 0)
    return fail(errno_error(errno, "protect the directory of volumes"));
  TRY(drop_half_written(directory));
  std::unique_ptr<Volumes> volumes(new Volumes(store, std::move(directory), options, disks, clock));
  volumes->key_ = TRY(key_in(volumes->directory_ + "/token.key"));
  return volumes;
}

Volume Volumes::from_row(const store::DocumentRow& row) const {
  Volume volume{row.id, row.tenant, row.name, row.created_at, Enforcement::measured, options_.bounds()};
  boost::system::error_code failed;
  const boost::json::value body = boost::json::parse(row.body, failed);
  if (failed || !body.is_object() || !body.get_object().contains("disk")) return volume;
  volume.enforced = Enforcement::filesystem;
  // A bound of nothing would be none.
  const Bounds kept{member(body.get_object(), "bytes"), member(body.get_object(), "inodes")};
  if (kept.bytes_max > 0 && kept.inodes_max > 0) volume.bounds = kept;
  return volume;
}

Task<std::shared_ptr<os::Fd>> Volumes::top_of(Volume volume) {
  if (volume.enforced == Enforcement::measured) co_return std::shared_ptr<os::Fd>();
  if (const auto known = tops_.find(volume.id); known != tops_.end()) co_return known->second;
  if (disks_ == nullptr)
    co_return fail(Code::unsupported,
                   fmt::format("volume '{}' has a filesystem of its own, which cannot be mounted here: "
                               "start the service as root, with loop devices",
                               volume.name));
  auto& turn = openings_[volume.id];
  if (!turn) turn = std::make_shared<os::Turn>(co_await boost::asio::this_coro::executor);
  const auto mine = turn;
  CO_TRY(const auto hold, co_await mine->take());
  if (const auto known = tops_.find(volume.id); known != tops_.end()) co_return known->second;
  std::string path = path_of(volume);
  CO_TRY(os::Fd opened, co_await disks_->open(std::move(path), volume.bounds));
  auto top = std::make_shared<os::Fd>(std::move(opened));
  // What an earlier life of this service was writing when it ended.
  auto clear = [top] { return os::remove_tree(top->get(), "incoming"); };
  CO_CHECK(co_await off_loop<void>(volume.tenant, std::move(clear)));
  tops_[volume.id] = top;
  openings_.erase(volume.id);
  co_return top;
}

Task<Volume> Volumes::create(std::string tenant, std::string name) {
  CO_CHECK(check_name(name));
  CO_TRY(const auto others, co_await list(tenant));
  for (const Volume& other : others) {
    if (other.name == name)
      co_return fail(Code::already_exists, fmt::format("Volume with name '{}' already exists", name));
  }
  if (others.size() >= options_.count_max)
    co_return fail(Code::resource_exhausted,
                   fmt::format("at most {} volumes are allowed", options_.count_max));
  Volume volume{"vol_" + random_word(20),
                std::move(tenant),
                std::move(name),
                clock_.now(),
                disks_ != nullptr ? Enforcement::filesystem : Enforcement::measured,
                options_.bounds()};
  if (disks_ != nullptr) {
    CO_CHECK(os::make_directories(path_of(volume), 0700));
    auto top = co_await top_of(volume);
    const bool impossible =
        !top && (top.error().code() == Code::unsupported || top.error().code() == Code::resource_exhausted);
    if (!top && !impossible) {
      CO_CHECK(co_await erase(volume));
      co_return fail(std::move(top).error().context("make a volume's filesystem"));
    }
    if (impossible) {
      log::warn("a volume has no filesystem of its own and is measured instead",
                {{"reason", top.error().message()}});
      volume.enforced = Enforcement::measured;
    }
  }
  auto nothing = [](Tree&) -> Result<void> { return {}; };
  CO_CHECK(co_await with_tree<void>(volume, std::move(nothing)));
  store::DocumentRow row;
  row.kind = kKind;
  row.tenant = volume.tenant;
  row.id = volume.id;
  row.name = volume.name;
  row.body = body_of(volume);
  row.created_at = row.updated_at = volume.created_at;
  CO_CHECK(co_await store_.put_document(std::move(row)));
  co_return volume;
}

Task<Volume> Volumes::get(std::string tenant, std::string id_or_name) {
  std::string kind = kKind;
  auto row = co_await store_.get_document(kind, std::move(tenant), id_or_name);
  if (!row && row.error().code() == Code::not_found) co_return no_volume(id_or_name);
  if (!row) co_return fail(std::move(row).error());
  co_return from_row(*row);
}

Task<std::vector<Volume>> Volumes::list(std::string tenant) {
  std::string kind = kKind;
  CO_TRY(const auto rows, co_await store_.list_documents(kind, std::move(tenant)));
  std::vector<Volume> volumes;
  for (const store::DocumentRow& row : rows) volumes.push_back(from_row(row));
  co_return volumes;
}

// The row goes first: a volume that is half removed must not be found again.
Task<void> Volumes::remove(std::string tenant, std::string id_or_name) {
  CO_TRY(const Volume volume, co_await get(std::move(tenant), std::move(id_or_name)));
  std::string kind = kKind;
  CO_TRY(const bool removed, co_await store_.remove_document(kind, volume.tenant, volume.id));
  if (!removed) co_return no_volume(volume.id);
  co_return co_await erase(volume);
}

Task<void> Volumes::erase(Volume volume) {
  tops_.erase(volume.id);
  openings_.erase(volume.id);
  measured_.erase(volume.id);
  if (disks_ != nullptr && volume.enforced == Enforcement::filesystem) {
    std::string path = path_of(volume);
    CO_CHECK(co_await disks_->close(std::move(path)));
  }
  auto remove = [directory = directory_, id = volume.id]() -> Result<void> {
    const os::Fd top =
        TRY_CONTEXT("directory of volumes", os::open(directory.c_str(), O_RDONLY | O_DIRECTORY));
    return os::remove_tree(top.get(), id);
  };
  co_return co_await off_loop<void>(volume.tenant, std::move(remove));
}

// The tenant is part of it, so that a token alone finds its volume.
std::string Volumes::token_of(std::string_view tenant, std::string_view id) const {
  return fmt::format("{}_{}", to_hex(tenant), to_hex(hmac_sha256(key_, fmt::format("{}\n{}", tenant, id))));
}

std::string Volumes::token(const Volume& volume) const {
  return token_of(volume.tenant, volume.id);
}

Task<Volume> Volumes::opened_by(std::string token, std::string id) {
  auto tenant = from_hex(std::string_view(token).substr(0, token.find('_')));
  if (!tenant || !equal_in_constant_time(token_of(*tenant, id), token))
    co_return fail(Code::unauthenticated, "Invalid volume token");
  co_return co_await get(std::move(*tenant), std::move(id));
}

bool Volumes::keeps_ids() {
  return ::geteuid() == 0;
}

Task<std::uint64_t> Volumes::bytes_of(std::string tenant) {
  constexpr std::chrono::seconds kFresh(5);
  CO_TRY(const auto all, co_await list(std::move(tenant)));
  std::uint64_t sum = 0;
  for (const Volume& volume : all) {
    const bool walked = volume.enforced == Enforcement::measured;
    const auto known = measured_.find(volume.id);
    if (walked && known != measured_.end() && clock_.steady() - known->second.at < kFresh) {
      sum += known->second.bytes;
      continue;
    }
    auto measure = [](Tree& tree) { return tree.holding(); };
    const Result<Holding> held = co_await with_tree<Holding>(volume, std::move(measure));
    // One that was removed meanwhile holds nothing.
    if (!held && held.error().code() != Code::not_found) co_return fail(held.error());
    const std::uint64_t bytes = held ? held->bytes : 0;
    if (walked) measured_.insert_or_assign(volume.id, Measured{bytes, clock_.steady()});
    sum += bytes;
  }
  co_return sum;
}

std::shared_ptr<Arriving> Volumes::arriving_in(const Volume& volume) {
  std::erase_if(arriving_, [](const auto& one) { return one.second.expired(); });
  std::weak_ptr<Arriving>& known = arriving_[volume.id];
  auto shared = known.lock();
  if (!shared) known = shared = std::make_shared<Arriving>();
  return shared;
}

bool Volumes::is_due(const Volume& volume, Arriving& arriving, std::uint64_t bytes) {
  if (volume.enforced == Enforcement::filesystem) return false;
  // A look is a walk over everything there is: not for every piece.
  constexpr std::uint64_t kLeast = 1U << 20, kMost = 64U << 20;
  std::uint64_t every = kMost;
  if (volume.bounds.bytes_max != 0) every = std::clamp(volume.bounds.bytes_max / 16, kLeast, kMost);
  arriving.unmeasured += bytes;
  if (arriving.unmeasured < every && !arriving.over) return false;
  arriving.unmeasured = 0;
  return true;
}

Task<std::string> Volumes::mountable(Volume volume) {
  std::string mounted = path_of(volume) + "/files";
  if (volume.enforced == Enforcement::filesystem) {
    CO_TRY(const auto top, co_await top_of(volume));
    // Whoever mounts it for sandboxes may have been started again since.
    std::string path = path_of(volume);
    CO_TRY(const os::Fd again, co_await disks_->open(std::move(path), volume.bounds));
    co_return mounted;
  }
  auto measure = [](Tree& tree) { return tree.holding(); };
  CO_TRY(const Holding held, co_await with_tree<Holding>(volume, std::move(measure)));
  if (auto room = check_room(held, volume.bounds); !room)
    co_return fail(Code::no_space,
                   fmt::format("volume '{}' is over its size: {}", volume.name, room.error().message()));
  co_return mounted;
}

}  // namespace atl::volume
