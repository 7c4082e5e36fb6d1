// Whole trees as tar, down and up, with flat memory.
#include <archive.h>
#include <archive_entry.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>

#include "api/http/content.h"
#include "api/rest/context.h"
#include "api/rest/files.h"
#include "api/rest/render.h"
#include "os/fd.h"

namespace atl::api::rest {
namespace {

namespace bj = boost::json;

constexpr std::size_t kChunkBytes = 64U << 10;

struct WriteDeleter {
  void operator()(archive* a) const { archive_write_free(a); }
};
struct ReadDeleter {
  void operator()(archive* a) const { archive_read_free(a); }
};
struct EntryDeleter {
  void operator()(archive_entry* e) const { archive_entry_free(e); }
};

// A tar that is taken out piece by piece: libarchive writes into `out`, the caller sends it on.
class TarWriter {
 public:
  explicit TarWriter(std::string& out) : archive_(archive_write_new()) {
    archive_write_set_format_pax_restricted(archive_.get());
    archive_write_set_bytes_per_block(archive_.get(), 0);
    archive_write_open(archive_.get(), &out, nullptr, append, nullptr);
  }
  Result<void> entry(const sandbox::FileInfo& info, const std::string& name) {
    std::unique_ptr<archive_entry, EntryDeleter> entry(archive_entry_new());
    archive_entry_set_pathname(entry.get(), name.c_str());
    archive_entry_set_perm(entry.get(), info.mode & 07777U);
    archive_entry_set_uid(entry.get(), info.uid);
    archive_entry_set_gid(entry.get(), info.gid);
    archive_entry_set_uname(entry.get(), info.owner.c_str());
    archive_entry_set_gname(entry.get(), info.group.c_str());
    archive_entry_set_mtime(entry.get(), unix_micros(info.modified_at) / 1'000'000, 0);
    if (info.type == sandbox::FileType::directory) {
      archive_entry_set_filetype(entry.get(), AE_IFDIR);
    } else if (info.type == sandbox::FileType::symlink) {
      archive_entry_set_filetype(entry.get(), AE_IFLNK);
      archive_entry_set_symlink(entry.get(), info.target.c_str());
    } else {
      archive_entry_set_filetype(entry.get(), AE_IFREG);
      archive_entry_set_size(entry.get(), static_cast<la_int64_t>(info.size));
    }
    return check(archive_write_header(archive_.get(), entry.get()));
  }
  Result<void> data(std::string_view bytes) {
    const la_ssize_t written = archive_write_data(archive_.get(), bytes.data(), bytes.size());
    return check(written < 0 ? static_cast<int>(written) : ARCHIVE_OK);
  }
  Result<void> close() { return check(archive_write_close(archive_.get())); }

 private:
  static la_ssize_t append(archive*, void* out, const void* bytes, std::size_t size) {
    static_cast<std::string*>(out)->append(static_cast<const char*>(bytes), size);
    return static_cast<la_ssize_t>(size);
  }
  Result<void> check(int code) {
    if (code >= ARCHIVE_WARN) return {};
    const char* said = archive_error_string(archive_.get());
    return fail(Code::internal, fmt::format("make an archive: {}", said == nullptr ? "unknown" : said));
  }
  std::unique_ptr<archive, WriteDeleter> archive_;
};

// Sends what has gathered, once it is worth a write.
Task<void> flush(net::Exchange& exchange, std::string& out, std::size_t at_least) {
  if (out.size() < at_least || out.empty()) co_return Result<void>{};
  std::string piece = std::exchange(out, {});
  co_return co_await exchange.write(std::move(piece));
}

Task<void> add_content(net::Exchange& exchange, sandbox::Files& files, TarWriter& tar, std::string& out,
                       std::string path, std::uint64_t size) {
  auto reader = co_await files.open_read(path, 0, size, std::string());
  // The entry's head is out: what cannot be read stays empty in the archive, which pads it.
  if (!reader) co_return Result<void>{};
  while (true) {
    CO_TRY(const std::string bytes, co_await (*reader)->next());
    if (bytes.empty()) break;
    CO_CHECK(tar.data(bytes));
    CO_CHECK(co_await flush(exchange, out, kChunkBytes));
  }
  co_return Result<void>{};
}

Task<void> download(Context context, Principal who, net::Exchange& exchange) {
  const Request& request = exchange.request();
  CO_TRY(std::string root, path_parameter(request));
  while (root.size() > 1 && root.ends_with('/')) root.pop_back();
  CO_TRY(auto files, co_await context->service->files(std::move(who), request.param("id")));
  CO_TRY(const auto top, co_await files->stat(root, std::string()));
  if (top.type != sandbox::FileType::directory) {
    co_return fail(
        Error(Code::not_a_directory, fmt::format("{} is not a directory", root)).with_field("path"));
  }
  CO_TRY(const auto entries, co_await files->list(root, 64, list_bounds(exchange.request()), std::string()));
  net::Headers headers{{"Content-Type", "application/x-tar"},
                       {"Content-Disposition", "attachment; filename=\"files.tar\""}};
  CO_CHECK(co_await exchange.start(200, std::move(headers)));
  std::string out;
  TarWriter tar(out);
  const std::size_t prefix = root == "/" ? 1 : root.size() + 1;
  for (const sandbox::FileInfo& info : entries) {
    if (info.type == sandbox::FileType::other || info.type == sandbox::FileType::unknown) continue;
    CO_CHECK(tar.entry(info, info.path.substr(std::min(prefix, info.path.size()))));
    if (info.type == sandbox::FileType::file && info.size > 0) {
      CO_CHECK(co_await add_content(exchange, *files, tar, out, info.path, info.size));
    }
    CO_CHECK(co_await flush(exchange, out, kChunkBytes));
  }
  CO_CHECK(tar.close());
  CO_CHECK(co_await flush(exchange, out, 1));
  co_return co_await exchange.finish();
}

Result<os::Fd> spool_file(const std::string& directory) {
  os::Fd fd(::open(directory.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
  if (!fd.is_open()) return fail(errno_error(errno, "make room for an upload"));
  return fd;
}

Result<void> write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return fail(errno_error(errno, "keep an upload"));
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return {};
}

// The path an entry goes to, or nothing for one that would leave the target. The sandbox resolves paths
// itself and nothing outside it can be named; this keeps an archive inside the directory its sender chose.
std::optional<std::string> target_of(const std::string& root, std::string name) {
  while (name.starts_with("./")) name.erase(0, 2);
  while (name.ends_with('/')) name.pop_back();
  if (name.empty() || name == "." || name.starts_with('/')) return std::nullopt;
  for (std::size_t at = 0; at <= name.size();) {
    const std::size_t end = std::min(name.find('/', at), name.size());
    if (name.compare(at, end - at, "..") == 0) return std::nullopt;
    at = end + 1;
  }
  return root == "/" ? "/" + name : root + "/" + name;
}

Task<void> unpack_file(archive* from, sandbox::Files& files, std::string path, std::uint32_t mode) {
  sandbox::WriteOptions options;
  options.mode = mode;
  CO_TRY(auto writer, co_await files.open_write(std::move(path), std::move(options)));
  std::string buffer(kChunkBytes, '\0');
  while (true) {
    const la_ssize_t got = archive_read_data(from, buffer.data(), buffer.size());
    if (got < 0) co_return fail(Code::invalid_argument, "the archive is damaged");
    if (got == 0) break;
    CO_CHECK(co_await writer->write(buffer.substr(0, static_cast<std::size_t>(got))));
  }
  CO_TRY(const auto info, co_await writer->finish());
  co_return Result<void>{};
}

struct Unpacked {
  std::uint64_t files = 0, directories = 0, skipped = 0;
};

Task<Unpacked> unpack(int fd, std::shared_ptr<sandbox::Files> files, std::string root) {
  std::unique_ptr<archive, ReadDeleter> from(archive_read_new());
  archive_read_support_format_tar(from.get());
  archive_read_support_filter_gzip(from.get());
  archive_read_support_filter_zstd(from.get());
  if (archive_read_open_fd(from.get(), fd, kChunkBytes) != ARCHIVE_OK) {
    co_return fail(Code::invalid_argument, "the body is not a tar archive (plain, gzip or zstd)");
  }
  Unpacked done;
  archive_entry* entry = nullptr;
  while (true) {
    const int next = archive_read_next_header(from.get(), &entry);
    if (next == ARCHIVE_EOF) break;
    if (next < ARCHIVE_WARN)
      co_return fail(Code::invalid_argument, "the body is not a tar archive, or it is damaged");
    const char* name = archive_entry_pathname_utf8(entry);
    if (name == nullptr) name = archive_entry_pathname(entry);
    const auto path = target_of(root, name == nullptr ? "" : name);
    const auto type = archive_entry_filetype(entry);
    if (!path || (type != AE_IFREG && type != AE_IFDIR) || archive_entry_hardlink(entry) != nullptr) {
      ++done.skipped;
      continue;
    }
    if (type == AE_IFDIR) {
      auto made = co_await files->make_directory(*path, std::string());
      if (!made && made.error().code() != Code::already_exists) co_return fail(std::move(made).error());
      ++done.directories;
      continue;
    }
    CO_CHECK(co_await unpack_file(from.get(), *files, *path, archive_entry_perm(entry) & 0777U));
    ++done.files;
  }
  co_return done;
}

Task<void> upload(Context context, Principal who, net::Exchange& exchange) {
  const Request& request = exchange.request();
  CO_TRY(std::string root, path_parameter(request));
  while (root.size() > 1 && root.ends_with('/')) root.pop_back();
  CO_TRY(auto files, co_await context->service->files(std::move(who), request.param("id")));
  CO_TRY(const os::Fd spool, spool_file(context->spool_directory));
  http::Sink keep = [&spool](std::string bytes) -> Task<void> { co_return write_all(spool.get(), bytes); };
  CO_CHECK(co_await http::receive_content(exchange, std::move(keep)));
  ::lseek(spool.get(), 0, SEEK_SET);
  CO_TRY(const Unpacked done, co_await unpack(spool.get(), files, root));
  bj::object body{
      {"path", root}, {"files", done.files}, {"directories", done.directories}, {"skipped", done.skipped}};
  co_return co_await exchange.send(json_response(200, std::move(body)));
}

}  // namespace

void mount_archive(net::Router& router, const Context& context) {
  stream(router, context, Method::get, "/api/sessions/{id}/files/archive", with_key(Permission::files_read),
         download);
  const net::RouteOptions large{.body_bytes_max = context->archive_bytes_max};
  stream(router, context, Method::post, "/api/sessions/{id}/files/archive", with_key(Permission::files_write),
         upload, large);
  stream(router, context, Method::put, "/api/sessions/{id}/files/archive", with_key(Permission::files_write),
         upload, large);
}

}  // namespace atl::api::rest
