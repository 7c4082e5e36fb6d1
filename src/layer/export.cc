#include "layer/export.h"

#include <archive.h>
#include <archive_entry.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <boost/json.hpp>
#include <cerrno>
#include <memory>

#include "layer/merge.h"
#include "layer/walk.h"
#include "os/file.h"

namespace atl::layer {
namespace {

namespace bj = boost::json;

// Where bytes of an archive go: a descriptor, hashed and counted on the way.
struct Sink {
  int fd = -1;
  Sha256 hash;
  std::uint64_t bytes = 0;

  static la_ssize_t write(archive* writer, void* self, const void* bytes, std::size_t size) {
    auto& sink = *static_cast<Sink*>(self);
    const std::string_view piece(static_cast<const char*>(bytes), size);
    if (!os::write_all(sink.fd, piece)) {
      archive_set_error(writer, errno, "cannot be written");
      return -1;
    }
    sink.hash.update(piece);
    sink.bytes += size;
    return static_cast<la_ssize_t>(size);
  }
};

// What was read of what will be, for whoever waits.
struct Meter {
  const Moved& moved;
  std::uint64_t all = 0, so_far = 0;

  Result<void> add(std::size_t bytes) {
    so_far += bytes;
    return moved ? moved(std::min(so_far, all), all) : Result<void>();
  }
};

class TarWriter {
 public:
  TarWriter(Sink& sink, Meter& meter) : meter_(meter), writer_(archive_write_new(), &archive_write_free) {
    archive_write_set_format_pax_restricted(writer_.get());
    archive_write_set_options(writer_.get(), "hdrcharset=BINARY");
    archive_write_set_bytes_per_block(writer_.get(), 1 << 18);
    archive_write_set_bytes_in_last_block(writer_.get(), 512);
    archive_write_open(writer_.get(), &sink, nullptr, &Sink::write, nullptr);
  }

  Result<void> header(archive_entry* entry) {
    if (archive_write_header(writer_.get(), entry) != ARCHIVE_OK) return broken();
    return {};
  }
  Result<void> content(int fd) {
    std::string block(1 << 18, '\0');
    for (;;) {
      const ssize_t got = ::read(fd, block.data(), block.size());
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) return fail(errno_error(errno, "read a layer"));
      if (got == 0) return {};
      if (archive_write_data(writer_.get(), block.data(), static_cast<std::size_t>(got)) != got)
        return broken();
      TRY(meter_.add(static_cast<std::size_t>(got)));
    }
  }
  Result<void> bytes(std::string_view text) {
    if (archive_write_data(writer_.get(), text.data(), text.size()) != static_cast<la_ssize_t>(text.size()))
      return broken();
    return {};
  }
  Result<void> finish() {
    if (archive_write_close(writer_.get()) != ARCHIVE_OK) return broken();
    return {};
  }

 private:
  Result<void> broken() {
    const char* why = archive_error_string(writer_.get());
    return fail(Code::unavailable,
                fmt::format("the archive cannot be written: {}", why == nullptr ? "" : why));
  }
  Meter& meter_;
  std::unique_ptr<archive, int (*)(archive*)> writer_;
};

using ArchiveEntry = std::unique_ptr<archive_entry, void (*)(archive_entry*)>;

ArchiveEntry new_entry(const std::string& path, mode_t kind, const struct stat& info) {
  ArchiveEntry entry(archive_entry_new(), &archive_entry_free);
  archive_entry_set_pathname(entry.get(), path.c_str());
  archive_entry_set_filetype(entry.get(), kind);
  archive_entry_set_perm(entry.get(), info.st_mode & 07777);
  archive_entry_set_mtime(entry.get(), info.st_mtim.tv_sec, 0);
  archive_entry_set_size(entry.get(), 0);
  return entry;
}

// One tree as a tar; what overlayfs calls a whiteout becomes what OCI calls one.
class TreeWriter {
 public:
  TreeWriter(TarWriter& tar, Owners owners) : tar_(tar), owners_(owners) {}

  Result<void> add(const Entry& entry, int fd) {
    if (entry.kind == Kind::whiteout) return marker(entry.path, ".wh.", entry.info);
    const mode_t kind = entry.kind == Kind::directory ? AE_IFDIR
                        : entry.kind == Kind::symlink ? AE_IFLNK
                                                      : AE_IFREG;
    const ArchiveEntry out = new_entry(entry.path.empty() ? "./" : entry.path, kind, entry.info);
    if (owners_ == Owners::kept) {
      archive_entry_set_uid(out.get(), entry.info.st_uid);
      archive_entry_set_gid(out.get(), entry.info.st_gid);
    }
    if (entry.kind == Kind::symlink) archive_entry_set_symlink(out.get(), entry.target.c_str());
    if (entry.kind == Kind::hard_link) archive_entry_set_hardlink(out.get(), entry.target.c_str());
    if (entry.kind == Kind::file) archive_entry_set_size(out.get(), entry.info.st_size);
    for (const auto& [name, value] : entry.attributes)
      archive_entry_xattr_add_entry(out.get(), name.c_str(), value.data(), value.size());
    TRY(tar_.header(out.get()));
    if (entry.kind == Kind::file) TRY(tar_.content(fd));
    if (entry.opaque) return marker(entry.path + "/x", ".wh..wh..opq", entry.info);
    return {};
  }

 private:
  Result<void> marker(const std::string& path, std::string_view prefix, const struct stat& info) {
    const std::size_t name = path.rfind('/') == std::string::npos ? 0 : path.rfind('/') + 1;
    const std::string shown = prefix == ".wh." ? path.substr(0, name) + ".wh." + path.substr(name)
                                               : path.substr(0, name) + std::string(prefix);
    struct stat plain = info;
    plain.st_mode = S_IFREG | 0644;
    const ArchiveEntry out = new_entry(shown, AE_IFREG, plain);
    return tar_.header(out.get());
  }

  TarWriter& tar_;
  Owners owners_;
};

Result<void> write_tree(int tree, Sink& sink, Owners owners, Meter& meter) {
  TarWriter tar(sink, meter);
  TreeWriter writer(tar, owners);
  TRY(walk(tree, attributes_for(owners), [&](const Entry& entry, int fd) { return writer.add(entry, fd); }));
  return tar.finish();
}

struct Blob {
  std::string digest;
  std::uint64_t bytes = 0;
};

bj::object descriptor(std::string_view type, const Blob& blob) {
  return {{"mediaType", type}, {"digest", "sha256:" + blob.digest}, {"size", blob.bytes}};
}

std::string architecture() {
  utsname name{};
  ::uname(&name);
  const std::string machine = name.machine;
  return machine == "x86_64" ? "amd64" : machine == "aarch64" ? "arm64" : machine;
}

class OciWriter {
 public:
  OciWriter(Store& store, const Stack& stack, int out, Meter& meter)
      : store_(store), stack_(stack), meter_(meter), sink_{.fd = out}, tar_(sink_, meter) {}

  Result<void> write() {
    TRY(document("oci-layout", R"({"imageLayoutVersion":"1.0.0"})"));
    bj::array layers, diff_ids;
    for (const std::string& digest : stack_.layers) {
      const Blob blob = TRY(layer(digest));
      layers.emplace_back(descriptor("application/vnd.oci.image.layer.v1.tar", blob));
      diff_ids.emplace_back("sha256:" + blob.digest);
    }
    const Blob config = TRY(json_blob(configuration(std::move(diff_ids))));
    const Blob manifest =
        TRY(json_blob({{"schemaVersion", 2},
                       {"mediaType", "application/vnd.oci.image.manifest.v1+json"},
                       {"config", descriptor("application/vnd.oci.image.config.v1+json", config)},
                       {"layers", std::move(layers)}}));
    bj::object entry = descriptor("application/vnd.oci.image.manifest.v1+json", manifest);
    entry["platform"] = {{"os", "linux"}, {"architecture", architecture()}};
    entry["annotations"] = {{"org.opencontainers.image.ref.name", stack_.name}};
    TRY(document("index.json", bj::serialize(bj::object{{"schemaVersion", 2},
                                                        {"manifests", bj::array{std::move(entry)}}})));
    return tar_.finish();
  }

 private:
  bj::object configuration(bj::array diff_ids) const {
    bj::array env;
    for (const auto& [name, value] : stack_.env) env.emplace_back(name + "=" + value);
    return {{"architecture", architecture()},
            {"os", "linux"},
            {"config",
             {{"User", stack_.user}, {"WorkingDir", stack_.working_directory}, {"Env", std::move(env)}}},
            {"rootfs", {{"type", "layers"}, {"diff_ids", std::move(diff_ids)}}}};
  }

  // The tar of a layer must be whole before its name and size are known.
  Result<Blob> layer(const std::string& digest) {
    TRY(store_.find(digest));
    const Draft draft = TRY(store_.draft());
    const os::Fd tree = TRY(os::open(store_.path(digest).c_str(), O_RDONLY | O_DIRECTORY));
    const os::Fd file = TRY(os::open_at(draft.room(), "blob", O_RDWR | O_CREAT | O_EXCL, 0600));
    Sink sink{.fd = file.get()};
    TRY(write_tree(tree.get(), sink, store_.owners(), meter_));
    if (::lseek(file.get(), 0, SEEK_SET) < 0) return fail(errno_error(errno, "read a layer"));
    Blob blob{sink.hash.finish(), sink.bytes};
    TRY(place("blobs/sha256/" + blob.digest, blob.bytes));
    TRY(tar_.content(file.get()));
    return blob;
  }

  Result<Blob> json_blob(const bj::object& object) {
    const std::string text = bj::serialize(object);
    Sha256 hash;
    hash.update(text);
    Blob blob{hash.finish(), text.size()};
    TRY(document("blobs/sha256/" + blob.digest, text));
    return blob;
  }

  Result<void> place(const std::string& path, std::uint64_t bytes) {
    struct stat info {};
    info.st_mode = 0644;
    const ArchiveEntry entry = new_entry(path, AE_IFREG, info);
    archive_entry_set_size(entry.get(), static_cast<la_int64_t>(bytes));
    return tar_.header(entry.get());
  }

  Result<void> document(const std::string& path, const std::string& text) {
    TRY(place(path, text.size()));
    return tar_.bytes(text);
  }

  Store& store_;
  const Stack& stack_;
  Meter& meter_;
  Sink sink_;
  TarWriter tar_;
};

}  // namespace

Result<void> export_stack(Store& store, const Stack& stack, ExportFormat format, int out,
                          const Moved& moved) {
  // What is being written must not be collected meanwhile.
  const Claim claim = TRY(store.claim());
  TRY(store.extend(claim, stack.layers));
  Meter meter{.moved = moved};
  for (const std::string& digest : stack.layers) meter.all += TRY(store.find(digest)).bytes;
  if (format == ExportFormat::oci) {
    meter.all *= 2;  // each layer into a file of its own, and from there
    return OciWriter(store, stack, out, meter).write();
  }
  const Draft whole = TRY(store.draft());
  for (const std::string& digest : stack.layers) {
    const os::Fd tree = TRY(os::open(store.path(digest).c_str(), O_RDONLY | O_DIRECTORY));
    const Draft draft = TRY(store.draft());
    TRY(meter.add(0));
    TRY(link_tree(tree.get(), draft.tree(), store.owners()));
    TRY(merge(draft.tree(), whole.tree(), Below::nothing, store.owners()));
  }
  Sink sink{.fd = out};
  return write_tree(whole.tree(), sink, store.owners(), meter);
}

}  // namespace atl::layer
