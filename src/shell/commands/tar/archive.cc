#include "shell/commands/tar/archive.h"

#include <archive.h>
#include <archive_entry.h>
#include <fmt/format.h>

#include <memory>

#include "shell/archives/compression.h"
#include "shell/heap.h"

namespace atl::shell {

namespace {

struct PackedBytes {
  std::string bytes;
};

la_ssize_t collect(archive*, void* data, const void* block, std::size_t size) {
  const HeapMeter::Quiet no_end_inside_a_c_library;
  static_cast<PackedBytes*>(data)->bytes.append(static_cast<const char*>(block), size);
  return static_cast<la_ssize_t>(size);
}

}  // namespace

Result<std::string> write_archive(Invocation& call, const std::vector<ArchiveEntry>& entries,
                                  ArchiveFormat format, ArchiveFilter filter) {
  PackedBytes sink;  // before the archive, which writes its end here when a script is stopped half-way
  std::unique_ptr<archive, int (*)(archive*)> out(archive_write_new(), archive_write_free);
  switch (filter) {
    case ArchiveFilter::gzip:
      archive_write_add_filter_gzip(out.get());
      archive_write_set_filter_option(out.get(), "gzip", "timestamp", nullptr);
      break;
    case ArchiveFilter::bzip2: archive_write_add_filter_bzip2(out.get()); break;
    case ArchiveFilter::xz: archive_write_add_filter_xz(out.get()); break;
    case ArchiveFilter::zstd: archive_write_add_filter_zstd(out.get()); break;
    default: archive_write_add_filter_none(out.get());
  }
  if (format == ArchiveFormat::zip)
    archive_write_set_format_zip(out.get());
  else
    archive_write_set_format_gnutar(out.get());
  archive_write_set_bytes_per_block(
      out.get(), filter == ArchiveFilter::none && format == ArchiveFormat::tar ? 10240 : 0);
  if (archive_write_open(out.get(), &sink, nullptr, collect, nullptr) != ARCHIVE_OK)
    return fail(Code::internal, "cannot write archive");
  for (const ArchiveEntry& e : entries) {
    std::unique_ptr<archive_entry, void (*)(archive_entry*)> row(archive_entry_new(), archive_entry_free);
    archive_entry_set_pathname(row.get(), e.name.c_str());
    archive_entry_set_perm(row.get(), static_cast<__LA_MODE_T>(e.mode));
    unsigned kind = e.type == vfs::Type::directory ? AE_IFDIR
                    : e.type == vfs::Type::symlink ? AE_IFLNK
                    : e.type == vfs::Type::fifo    ? AE_IFIFO
                                                   : AE_IFREG;
    archive_entry_set_filetype(row.get(), kind);
    if (e.type == vfs::Type::symlink) archive_entry_set_symlink(row.get(), e.target.c_str());
    if (!e.hard_link.empty()) archive_entry_set_hardlink(row.get(), e.hard_link.c_str());
    archive_entry_set_uid(row.get(), e.uid);
    archive_entry_set_gid(row.get(), e.gid);
    archive_entry_set_uname(row.get(), e.user.c_str());
    archive_entry_set_gname(row.get(), e.group.c_str());
    auto seconds = std::chrono::duration_cast<std::chrono::seconds>(e.modified.time_since_epoch()).count();
    archive_entry_set_mtime(row.get(), seconds, 0);
    bool has_content = e.type == vfs::Type::file && e.hard_link.empty();
    archive_entry_set_size(row.get(), has_content ? static_cast<la_int64_t>(e.content.size()) : 0);
    if (archive_write_header(out.get(), row.get()) < ARCHIVE_WARN)
      return fail(Code::invalid_argument,
                  archive_error_string(out.get()) ? archive_error_string(out.get()) : "cannot write entry");
    if (has_content && !e.content.empty()) archive_write_data(out.get(), e.content.data(), e.content.size());
    call.charge(e.content.size() / 8 + 16);
  }
  archive_write_close(out.get());
  return std::move(sink.bytes);
}

Result<void> read_archive(Invocation& call, std::string_view data,
                          const std::function<bool(ArchiveEntry&)>& each) {
  std::unique_ptr<archive, int (*)(archive*)> in(archive_read_new(), archive_read_free);
  archive_read_support_filter_gzip(in.get());
  archive_read_support_filter_bzip2(in.get());
  archive_read_support_filter_xz(in.get());
  archive_read_support_filter_zstd(in.get());
  archive_read_support_format_tar(in.get());
  archive_read_support_format_gnutar(in.get());
  archive_read_support_format_zip(in.get());
  archive_read_support_format_cpio(in.get());
  archive_read_support_format_empty(in.get());
  auto why = [&] {
    const char* text = archive_error_string(in.get());
    return std::string(text ? text : "damaged archive");
  };
  if (archive_read_open_memory(in.get(), data.data(), data.size()) != ARCHIVE_OK)
    return fail(Code::invalid_argument, why());
  std::size_t entries = 0;
  std::uint64_t total = 0;
  archive_entry* row = nullptr;
  while (true) {
    int status = archive_read_next_header(in.get(), &row);
    if (status == ARCHIVE_EOF) return {};
    if (status < ARCHIVE_WARN) return fail(Code::invalid_argument, why());
    if (++entries > call.limits().archive_entries) call.stop(Limit::archive_entries);
    ArchiveEntry e;
    const char* name = archive_entry_pathname(row);
    e.name = name ? name : "";
    e.type = archive_entry_filetype(row) == AE_IFDIR   ? vfs::Type::directory
             : archive_entry_filetype(row) == AE_IFLNK ? vfs::Type::symlink
             : archive_entry_filetype(row) == AE_IFIFO ? vfs::Type::fifo
                                                       : vfs::Type::file;
    if (const char* target = archive_entry_symlink(row)) e.target = target;
    if (const char* target = archive_entry_hardlink(row)) e.hard_link = target;
    e.mode = static_cast<std::uint32_t>(archive_entry_perm(row)) & 07777;
    e.uid = static_cast<std::uint32_t>(archive_entry_uid(row));
    e.gid = static_cast<std::uint32_t>(archive_entry_gid(row));
    if (const char* user = archive_entry_uname(row)) e.user = user;
    if (const char* group = archive_entry_gname(row)) e.group = group;
    e.modified = WallTime(std::chrono::seconds(archive_entry_mtime(row)));
    char block[65536];
    while (e.type == vfs::Type::file && e.hard_link.empty()) {
      la_ssize_t got = archive_read_data(in.get(), block, sizeof block);
      if (got < 0) return fail(Code::invalid_argument, why());
      if (got == 0) break;
      e.content.append(block, static_cast<std::size_t>(got));
      total += static_cast<std::uint64_t>(got);
      call.charge(static_cast<std::uint64_t>(got) / 8 + 1);
      check_unpacked(call, total, data.size());
    }
    e.size = e.content.size();
    call.charge(16);
    if (!each(e)) return {};
  }
}

}  // namespace atl::shell
