// What the broker does with snapshots: images of the engine, each described in a directory that the daemon
// can write. Every path is followed beneath a descriptor, and no description is believed.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/ids.h"
#include "base/json.h"
#include "os/file.h"
#include "sandbox/docker/broker_state.h"
#include "sandbox/docker/json_access.h"

namespace atl::sandbox::docker {
namespace {

namespace bj = boost::json;
constexpr const char* kDescription = "docker.json";
constexpr std::string_view kSnapshotRepository = "atoll-snapshot";

// The directory of a snapshot as it is now, without following a link.
Result<os::Fd> open_snapshot(int snapshots, const std::string& name) {
  return os::open_beneath(snapshots, name.c_str(), O_RDONLY | O_DIRECTORY);
}

// One that we made a moment ago, if it is still that one.
Result<os::Fd> open_own(int snapshots, const std::string& name) {
  os::Fd directory = TRY(open_snapshot(snapshots, name));
  struct stat facts {};
  if (::fstat(directory.get(), &facts) < 0 || facts.st_uid != ::geteuid())
    return fail(Code::permission_denied, "somebody else put a directory in the snapshot's place");
  return directory;
}

Result<bj::value> read_description(int snapshots, const std::string& name) {
  const os::Fd directory = TRY(open_snapshot(snapshots, name));
  const os::Fd file = TRY(os::open_beneath(directory.get(), kDescription, O_RDONLY | O_NONBLOCK));
  struct stat facts {};
  if (::fstat(file.get(), &facts) < 0 || !S_ISREG(facts.st_mode))
    return fail(Code::not_found, "the snapshot has no description");
  const std::string text = TRY(os::read_file(fmt::format("/proc/self/fd/{}", file.get())));
  return json::parse(text);
}

// "" if it is no tag of ours.
std::string tag_of(const std::string& image) {
  const std::string begin = std::string(kSnapshotRepository) + ":";
  if (!image.starts_with(begin)) return "";
  const std::string tag = image.substr(begin.size());
  return is_word(tag) ? tag : "";
}

}  // namespace

Result<std::string> Broker::name_of_target(const std::string& target) const {
  const std::size_t slash = target.rfind('/');
  if (slash == std::string::npos || target.substr(0, slash) != options_.snapshot_directory ||
      !is_word(target.substr(slash + 1)))
    return fail(Code::permission_denied, "the broker stores no snapshots there");
  return target.substr(slash + 1);
}

Task<bj::value> Broker::inspect_snapshot(std::string target, std::string& image) {
  CO_TRY(const std::string name, name_of_target(target));
  auto description = read_description(snapshots_.get(), name);
  if (!description && description.error().code() == Code::invalid_argument)
    co_return fail(Code::data_loss, "the snapshot's description is damaged");
  if (!description) co_return fail(Code::not_found, "the snapshot was not made by this provider");
  image = text_at(*description, {"image"});
  const std::string tag = tag_of(image);
  if (tag.empty()) co_return fail(Code::permission_denied, "the snapshot names an image that is none");
  auto inspected = co_await engine_.get(fmt::format("/images/{}/json", image));
  if (!inspected && inspected.error().code() == Code::not_found)
    co_return fail(Code::data_loss, "the engine has lost the snapshot's image: somebody removed it");
  if (!inspected) co_return fail(std::move(inspected).error());
  if (text_at(*inspected, {"Config", "Labels", kSnapshotLabel}) != tag ||
      text_at(*inspected, {"Config", "Labels", kInstallationLabel}) != options_.installation)
    co_return fail(Code::permission_denied, "the snapshot's image was not made by this installation");
  co_return std::move(*inspected);
}

Task<ImageFacts> Broker::snapshot_image(std::string target) {
  std::string image;
  CO_TRY(const bj::value inspected, co_await inspect_snapshot(std::move(target), image));
  co_return image_facts(inspected);
}

Task<Broker::Reply> Broker::snapshot(std::string name, std::string target) {
  CO_TRY(const auto container, find(name));
  CO_TRY(const std::string place, name_of_target(target));
  if (::mkdirat(snapshots_.get(), place.c_str(), 0755) != 0) {
    if (errno == EEXIST) co_return fail(Code::already_exists, "the snapshot is there already");
    co_return fail(errno_error(errno, "make the snapshot's directory"));
  }
  CO_TRY(const os::Fd directory, open_own(snapshots_.get(), place));
  const std::string tag = random_word(20);
  const std::string image = fmt::format("{}:{}", kSnapshotRepository, tag);
  const std::string label = fmt::format("LABEL {}={}", kSnapshotLabel, tag);
  auto stored = co_await engine_.post(fmt::format("/commit?container={}&repo={}&tag={}&pause={}&changes={}",
                                                  container->id, kSnapshotRepository, tag,
                                                  container->is_frozen ? 0 : 1, net::percent_encode(label)));
  if (!stored) {
    // The engine may have done what it did not answer.
    co_await remove_image(image);
    ::unlinkat(snapshots_.get(), place.c_str(), AT_REMOVEDIR);
    co_return fail(std::move(stored).error().context("commit the container"));
  }
  auto inspected = co_await engine_.get(fmt::format("/containers/{}/json?size=1", container->id));
  const std::int64_t bytes = inspected ? number_at(*inspected, {"SizeRw"}) : 0;
  const Object description{{"image", image}, {"bytes", bytes}};
  auto written = os::write_file_durably(fmt::format("/proc/self/fd/{}/{}", directory.get(), kDescription),
                                        bj::serialize(description));
  if (!written) {
    co_await remove_image(image);
    ::unlinkat(snapshots_.get(), place.c_str(), AT_REMOVEDIR);
    co_return fail(std::move(written).error());
  }
  co_return Reply{};
}

boost::asio::awaitable<void> Broker::remove_image(std::string image) {
  auto removed = co_await engine_.remove(fmt::format("/images/{}?force=1", image));
  if (removed || removed.error().code() == Code::not_found) co_return;
  strays_.push_back(std::move(image));
}

boost::asio::awaitable<void> Broker::remove_strays() {
  for (std::string& image : std::exchange(strays_, {})) co_await remove_image(std::move(image));
}

Task<Broker::Reply> Broker::discard(std::string target) {
  CO_TRY(const std::string place, name_of_target(target));
  std::string image;
  auto inspected = co_await inspect_snapshot(target, image);
  if (inspected) {
    auto removed = co_await engine_.remove(fmt::format("/images/{}?force=1", image));
    if (!removed && removed.error().code() != Code::not_found) co_return fail(std::move(removed).error());
  } else if (inspected.error().code() == Code::unavailable ||
             inspected.error().code() == Code::deadline_exceeded ||
             inspected.error().code() == Code::provider_failed) {
    // The engine did not say: without the description nobody would ever look for the image again.
    co_return fail(std::move(inspected).error());
  }
  CO_CHECK(os::remove_tree(snapshots_.get(), place));
  co_return Reply{};
}

Task<Broker::Reply> Broker::snapshot_bytes(std::string target) {
  CO_TRY(const std::string place, name_of_target(target));
  auto description = read_description(snapshots_.get(), place);
  if (!description) co_return fail(Code::not_found, "there is no such snapshot");
  constexpr std::int64_t kDescriptionBytes = 4096;
  // Its bytes are the engine's: if they are gone, so is the snapshot.
  CO_CHECK(co_await snapshot_image(target));
  co_return Reply{{{"bytes", number_at(*description, {"bytes"}) + kDescriptionBytes}}, {}};
}

}  // namespace atl::sandbox::docker
