#include "layer/import.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "base/clock.h"
#include "layer/extract.h"
#include "layer/image.h"
#include "layer/merge.h"
#include "layer/walk.h"
#include "os/file.h"

namespace atl::layer {
namespace {

class Import {
 public:
  Import(Store& store, const ImportOptions& options, Claim claim)
      : store_(store), options_(options), claim_(std::move(claim)) {}

  Result<Imported> from(const std::string& file) {
    struct stat info {};
    if (::stat(file.c_str(), &info) < 0)
      return fail(Code::not_found, fmt::format("there is no file {}", file));
    if (S_ISDIR(info.st_mode)) {
      const os::Fd directory = TRY(os::open(file.c_str(), O_RDONLY | O_DIRECTORY));
      const Bundle kind = bundle_kind(directory.get());
      if (kind == Bundle::none)
        return fail(
            Code::invalid_argument,
            fmt::format("{} is a directory without an image: it has neither oci-layout nor manifest.json",
                        file));
      TRY(bundle(directory.get(), kind));
    } else {
      TRY(archive(file));
    }
    imported_.stack.name = options_.name;
    imported_.stack.source = "import " + file.substr(file.rfind('/') + 1);
    imported_.stack.created_at = to_rfc3339(Clock::machine().now());
    TRY(store_.save(imported_.stack));
    return std::move(imported_);
  }

 private:
  void say(const std::string& line) const {
    if (options_.progress) options_.progress(line);
  }

  // Unpacked once as what it is; an image inside shows by its files, and then its layers are unpacked.
  Result<void> archive(const std::string& file) {
    const os::Fd in = TRY(os::open(file.c_str(), O_RDONLY));
    Draft draft = TRY(store_.draft());
    say("unpacking " + file.substr(file.rfind('/') + 1));
    const Extracted done = TRY(
        extract(in.get(), draft.tree(), store_.owners(), Whiteouts::none, options_.limits, options_.moved));
    // Most likely the wrong file: as an environment it would have no programs at all.
    if (done.entries == 0) return fail(Code::invalid_argument, "the archive is empty");
    const Bundle kind = bundle_kind(draft.tree());
    if (kind != Bundle::none) return bundle(draft.tree(), kind);
    count(done);
    return keep(std::move(draft));
  }

  void count(const Extracted& done) {
    imported_.devices_dropped += done.devices_dropped;
    imported_.attributes_dropped += done.attributes_dropped;
  }

  Result<void> keep(Draft draft) {
    const Layer layer = TRY(store_.put(std::move(draft), claim_));
    imported_.stack.layers.push_back(layer.digest);
    say(fmt::format("layer {} ({} entries, {} bytes)", layer.digest.substr(0, 12), layer.entries,
                    layer.bytes));
    return {};
  }

  Result<void> bundle(int directory, Bundle kind) {
    const Image image = TRY(find_image(directory, kind, options_.image));
    imported_.stack.env = image.env;
    imported_.stack.user = image.user;
    imported_.stack.working_directory = image.working_directory;
    // The lowest ones become one layer if there are too many.
    const std::size_t together =
        image.layers.size() > kImportLayersMax ? image.layers.size() - kImportLayersMax + 1 : 1;
    Draft lowest = TRY(store_.draft());
    for (std::size_t i = 0; i < image.layers.size(); ++i) {
      say(fmt::format("unpacking layer {} of {}", i + 1, image.layers.size()));
      if (i == 0) {
        TRY(unpack(directory, image.layers[i], lowest));
        TRY(forget_whiteouts(lowest));
      } else {
        Draft draft = TRY(store_.draft());
        TRY(unpack(directory, image.layers[i], draft));
        if (i < together)
          TRY(merge(draft.tree(), lowest.tree(), Below::nothing, store_.owners()));
        else
          uppers_.push_back(std::move(draft));
      }
    }
    TRY(keep(std::move(lowest)));
    for (Draft& draft : uppers_) TRY(keep(std::move(draft)));
    return {};
  }

  // Nothing lies below the lowest layer: what it hides is not there.
  Result<void> forget_whiteouts(const Draft& draft) {
    std::vector<std::string> hidden;
    TRY(walk(draft.tree(), store_.attributes(), [&](const Entry& entry, int) -> Result<void> {
      if (entry.kind == Kind::whiteout) hidden.push_back(entry.path);
      return {};
    }));
    for (const std::string& path : hidden) TRY(forget_one(draft.tree(), path));
    return {};
  }

  static Result<void> forget_one(int tree, const std::string& path) {
    const std::size_t slash = path.rfind('/');
    const std::string parent = slash == std::string::npos ? "." : path.substr(0, slash);
    const os::Fd dir = TRY(os::open_beneath(tree, parent.c_str(), O_RDONLY | O_DIRECTORY));
    // Removing a name changes the time of its directory, and that is part of the digest of the layer.
    struct stat before {};
    if (::fstat(dir.get(), &before) < 0) return fail(errno_error(errno, "unpack into a layer"));
    TRY(os::remove_tree(dir.get(), slash == std::string::npos ? path : path.substr(slash + 1)));
    const timespec times[2] = {before.st_mtim, before.st_mtim};
    if (::futimens(dir.get(), times) < 0) return fail(errno_error(errno, "unpack into a layer"));
    return {};
  }

  Result<void> unpack(int directory, const ImageLayer& layer, Draft& draft) {
    const os::Fd blob = TRY(open_in_bundle(directory, layer.path, O_RDONLY));
    struct stat info {};
    if (::fstat(blob.get(), &info) < 0 || !S_ISREG(info.st_mode))
      return fail(Code::invalid_argument, fmt::format("the image is damaged: '{}' is no file", layer.path));
    if (!layer.digest.empty()) {
      // Before it is unpacked: a damaged file is told as such, and not by what the archive reader makes of
      // it.
      if (TRY(digest_of_file(blob.get())) != layer.digest)
        return fail(Code::invalid_argument,
                    fmt::format("the image is damaged: a layer has not the digest sha256:{}", layer.digest));
      if (::lseek(blob.get(), 0, SEEK_SET) < 0) return fail(errno_error(errno, "read a layer"));
    }
    const Extracted done = TRY(
        extract(blob.get(), draft.tree(), store_.owners(), Whiteouts::oci, options_.limits, options_.moved));
    // What was unpacked is what the image's configuration promises, whatever happened to the file meanwhile.
    if (done.digest != layer.diff_id)
      return fail(Code::invalid_argument,
                  fmt::format("the image is damaged: the content of a layer has not the digest sha256:{}",
                              layer.diff_id));
    count(done);
    return {};
  }

  Store& store_;
  const ImportOptions& options_;
  Claim claim_;
  Imported imported_;
  std::vector<Draft> uppers_;
};

}  // namespace

Result<Imported> import_file(Store& store, const std::string& file, const ImportOptions& options) {
  if (!is_name(options.name))
    return fail(
        Error(Code::invalid_argument,
              fmt::format("'{}' is no name for an environment: letters, digits, '-', '_' and '.', at most 64",
                          options.name))
            .with_field("name"));
  return Import(store, options, TRY(store.claim())).from(file);
}

}  // namespace atl::layer
