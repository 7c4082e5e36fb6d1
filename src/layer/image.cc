#include "layer/image.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/openat2.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <boost/json.hpp>
#include <cerrno>

#include "base/bytes.h"
#include "base/json.h"
#include "layer/digest.h"
#include "os/file.h"

namespace atl::layer {
namespace {

namespace bj = boost::json;

constexpr std::size_t kDocumentBytesMax = 4 << 20;
constexpr std::size_t kLayersMax = 127;
constexpr int kIndexDepthMax = 4;
constexpr std::string_view kSha256 = "sha256:";

Error bad(std::string what) {
  return {Code::invalid_argument, "the image is damaged: " + what};
}

const bj::value* member(const bj::object& object, std::string_view key) {
  return object.if_contains(key);
}

std::string text(const bj::object& object, std::string_view key) {
  const bj::value* value = member(object, key);
  return value != nullptr && value->is_string() ? std::string(value->as_string()) : std::string();
}

Result<bj::object> as_object(const bj::value* value, std::string_view what) {
  if (value == nullptr || !value->is_object()) return fail(bad(fmt::format("{} is missing", what)));
  return value->as_object();
}

Result<bj::array> array(const bj::object& object, std::string_view key) {
  const bj::value* value = member(object, key);
  if (value == nullptr || !value->is_array()) return fail(bad(fmt::format("'{}' is missing", key)));
  return value->as_array();
}

Result<bj::array> array_in(const Result<bj::object>& object, std::string_view key) {
  if (!object) return fail(object.error());
  return array(*object, key);
}

Result<std::string> hex_of(const std::string& digest) {
  if (!digest.starts_with(kSha256) || !is_digest(digest.substr(kSha256.size())))
    return fail(bad(fmt::format("'{}' is no sha256 digest", digest.substr(0, 80))));
  return digest.substr(kSha256.size());
}

Result<bj::object> parse_object(const std::string& document, std::string_view what) {
  auto value = json::parse(document);
  if (!value) return fail(bad(fmt::format("{}: {}", what, value.error().message())));
  return as_object(&*value, what);
}

// A document by its digest, checked.
Result<bj::object> blob(int directory, const std::string& digest, std::string_view what) {
  const std::string hex = TRY(hex_of(digest));
  const std::string document = TRY_CONTEXT(what, read_in_bundle(directory, "blobs/sha256/" + hex));
  if (sha256_hex(document) != hex) return fail(bad(fmt::format("{} has not the digest {}", what, digest)));
  return parse_object(document, what);
}

std::string machine_architecture() {
  utsname name{};
  ::uname(&name);
  const std::string machine = name.machine;
  if (machine == "x86_64") return "amd64";
  if (machine == "aarch64") return "arm64";
  return machine;
}

// An index's own manifests (attestations) carry the platform "unknown".
bool fits(const bj::object& descriptor) {
  const bj::value* platform = member(descriptor, "platform");
  if (platform == nullptr || !platform->is_object()) return true;
  const std::string os = text(platform->as_object(), "os");
  const std::string architecture = text(platform->as_object(), "architecture");
  return os == "linux" && architecture == machine_architecture();
}

bool is_index(const bj::object& descriptor) {
  const std::string type = text(descriptor, "mediaType");
  return type == "application/vnd.oci.image.index.v1+json" ||
         type == "application/vnd.docker.distribution.manifest.list.v2+json";
}

bool is_called(const bj::object& descriptor, const std::string& wanted) {
  const bj::value* notes = member(descriptor, "annotations");
  if (notes == nullptr || !notes->is_object()) return false;
  for (const char* key : {"org.opencontainers.image.ref.name", "io.containerd.image.name"})
    if (text(notes->as_object(), key) == wanted) return true;
  return false;
}

Result<bj::object> choose(const bj::array& manifests, const std::string& wanted) {
  std::vector<const bj::object*> fitting;
  for (const bj::value& item : manifests) {
    if (!item.is_object()) return fail(bad("a manifest's descriptor is no object"));
    const bj::object& descriptor = item.as_object();
    if (fits(descriptor) && (wanted.empty() || is_called(descriptor, wanted))) fitting.push_back(&descriptor);
  }
  if (fitting.empty())
    return fail(Code::not_found,
                wanted.empty() ? fmt::format("the file holds no image for linux/{}", machine_architecture())
                               : fmt::format("the file holds no image '{}'", wanted));
  if (fitting.size() > 1)
    return fail(Code::invalid_argument, "the file holds several images: name one with --image");
  return *fitting.front();
}

Result<void> read_config(const bj::object& config, Image& image) {
  const bj::object rootfs = TRY(as_object(member(config, "rootfs"), "'rootfs'"));
  const bj::array diff_ids = TRY(array(rootfs, "diff_ids"));
  if (diff_ids.size() != image.layers.size())
    return fail(
        bad(fmt::format("{} layers, but {} digests of their content", image.layers.size(), diff_ids.size())));
  for (std::size_t i = 0; i < diff_ids.size(); ++i) {
    if (!diff_ids[i].is_string()) return fail(bad("a digest is no text"));
    image.layers[i].diff_id = TRY(hex_of(std::string(diff_ids[i].as_string())));
  }
  const bj::value* settings = member(config, "config");
  if (settings == nullptr || !settings->is_object()) return {};
  image.user = text(settings->as_object(), "User");
  image.working_directory = text(settings->as_object(), "WorkingDir");
  const bj::value* env = member(settings->as_object(), "Env");
  if (env == nullptr || !env->is_array()) return {};
  for (const bj::value& item : env->as_array()) {
    const std::string pair = item.is_string() ? std::string(item.as_string()) : std::string();
    const std::size_t equals = pair.find('=');
    if (equals == 0 || equals == std::string::npos || pair.find('\0') != std::string::npos)
      return fail(bad("a variable is not NAME=VALUE"));
    image.env[pair.substr(0, equals)] = pair.substr(equals + 1);
  }
  return {};
}

Result<Image> find_oci(int directory, const std::string& wanted) {
  const std::string top = TRY_CONTEXT("index.json", read_in_bundle(directory, "index.json"));
  bj::array manifests = TRY(array_in(parse_object(top, "index.json"), "manifests"));
  bj::object chosen = TRY(choose(manifests, wanted));
  // An index may name an index; one that names itself would need to hold its own digest.
  for (int depth = 0; is_index(chosen); ++depth) {
    if (depth == kIndexDepthMax) return fail(bad("indexes are nested too deeply"));
    manifests = TRY(array_in(blob(directory, text(chosen, "digest"), "an index"), "manifests"));
    chosen = TRY(choose(manifests, ""));
  }
  const bj::object manifest = TRY(blob(directory, text(chosen, "digest"), "a manifest"));
  Image image;
  for (const bj::value& item : TRY(array(manifest, "layers"))) {
    const bj::object layer = TRY(as_object(&item, "a layer's descriptor"));
    const std::string hex = TRY(hex_of(text(layer, "digest")));
    image.layers.push_back({.path = "blobs/sha256/" + hex, .digest = hex});
  }
  const bj::object about = TRY(as_object(member(manifest, "config"), "'config'"));
  const bj::object config = TRY(blob(directory, text(about, "digest"), "the configuration"));
  TRY(read_config(config, image));
  return image;
}

bool has_tag(const bj::object& entry, const std::string& wanted) {
  const bj::value* tags = member(entry, "RepoTags");
  if (tags == nullptr || !tags->is_array()) return false;
  for (const bj::value& tag : tags->as_array())
    if (tag.is_string() && tag.as_string() == wanted) return true;
  return false;
}

Result<Image> find_docker(int directory, const std::string& wanted) {
  const std::string document = TRY_CONTEXT("manifest.json", read_in_bundle(directory, "manifest.json"));
  auto value = json::parse(document);
  if (!value || !value->is_array()) return fail(bad("manifest.json is no list"));
  std::vector<const bj::object*> fitting;
  for (const bj::value& item : value->as_array())
    if (item.is_object() && (wanted.empty() || has_tag(item.as_object(), wanted)))
      fitting.push_back(&item.as_object());
  if (fitting.empty())
    return fail(Code::not_found,
                fmt::format("the file holds no image{}", wanted.empty() ? "" : " '" + wanted + "'"));
  if (fitting.size() > 1)
    return fail(Code::invalid_argument, "the file holds several images: name one with --image");
  const bj::object& entry = *fitting.front();
  Image image;
  for (const bj::value& item : TRY(array(entry, "Layers"))) {
    if (!item.is_string()) return fail(bad("a layer's path is no text"));
    image.layers.push_back({.path = std::string(item.as_string())});
  }
  const std::string about =
      TRY_CONTEXT("the configuration", read_in_bundle(directory, text(entry, "Config")));
  const bj::object config = TRY(parse_object(about, "the configuration"));
  TRY(read_config(config, image));
  return image;
}

}  // namespace

Result<os::Fd> open_in_bundle(int directory, const std::string& path, int flags) {
  open_how how{};
  how.flags = static_cast<std::uint64_t>(flags | O_CLOEXEC | O_NONBLOCK);
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS;
  const long fd = path.find('\0') != std::string::npos
                      ? -1
                      : ::syscall(SYS_openat2, directory, path.c_str(), &how, sizeof how);
  if (fd < 0) return fail(bad(fmt::format("it has no '{}'", path.substr(0, 200))));
  return os::Fd(static_cast<int>(fd));
}

Result<std::string> read_in_bundle(int directory, const std::string& path) {
  const os::Fd file = TRY(open_in_bundle(directory, path, O_RDONLY));
  std::string bytes(kDocumentBytesMax + 1, '\0');
  std::size_t size = 0;
  while (size < bytes.size()) {
    const ssize_t got = ::read(file.get(), bytes.data() + size, bytes.size() - size);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return fail(bad(fmt::format("'{}' cannot be read", path)));
    if (got == 0) break;
    size += static_cast<std::size_t>(got);
  }
  if (size > kDocumentBytesMax)
    return fail(Code::too_large, fmt::format("the image's '{}' is too large", path));
  bytes.resize(size);
  return bytes;
}

Bundle bundle_kind(int directory) {
  if (::faccessat(directory, "oci-layout", F_OK, AT_SYMLINK_NOFOLLOW) == 0 &&
      ::faccessat(directory, "index.json", F_OK, AT_SYMLINK_NOFOLLOW) == 0)
    return Bundle::oci_layout;
  if (::faccessat(directory, "manifest.json", F_OK, AT_SYMLINK_NOFOLLOW) == 0) return Bundle::docker_archive;
  return Bundle::none;
}

Result<Image> find_image(int directory, Bundle kind, const std::string& wanted) {
  Image image =
      TRY(kind == Bundle::oci_layout ? find_oci(directory, wanted) : find_docker(directory, wanted));
  if (image.layers.empty()) return fail(bad("it has no layers"));
  if (image.layers.size() > kLayersMax)
    return fail(Code::too_large, fmt::format("the image has more than {} layers", kLayersMax));
  return image;
}

}  // namespace atl::layer
