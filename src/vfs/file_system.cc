#include "vfs/file_system.h"

#include <fmt/format.h>

#include <algorithm>

namespace atl::vfs {

void Listing::reserve(std::size_t entries, std::size_t name_bytes) {
  rows_.reserve(entries);
  names_.reserve(name_bytes);
}

void Listing::add(std::string_view name, Type type, std::uint64_t inode) {
  rows_.push_back(
      {static_cast<std::uint32_t>(names_.size()), static_cast<std::uint8_t>(name.size()), type, inode});
  names_ += name;
}

void Listing::sort() {
  std::ranges::sort(rows_, [this](const Row& a, const Row& b) {
    std::string_view names = names_;
    return names.substr(a.offset, a.length) < names.substr(b.offset, b.length);
  });
}

Result<void> FileSystem::write(const Path& path, std::string_view bytes, const WriteOptions& options) {
  return write(path, Content(bytes), options);
}

bool FileSystem::is_file(const Path& path) const {
  auto found = find(path);
  return found && found->is_file();
}

bool FileSystem::is_directory(const Path& path) const {
  auto found = find(path);
  return found && found->is_directory();
}

Result<FileEntry> FileSystem::entry(const Path& path) const {
  auto info = TRY(stat(path, Follow::no));
  FileEntry out;
  out.path = path;
  out.type = info.type;
  if (info.type == Type::file) out.content = TRY(read(path));
  if (info.type == Type::symlink) out.content = Content(TRY(read_link(path)));
  out.mode = info.mode;
  out.uid = info.uid;
  out.gid = info.gid;
  out.created_at = info.created;
  out.modified_at = info.modified;
  out.changed_at = info.changed;
  out.accessed_at = info.accessed.value_or(info.modified);
  out.inode = info.inode;
  out.links = info.links;
  return out;
}

Result<std::vector<std::string>> FileSystem::list_names(const Path& directory) const {
  auto listing = TRY(list(directory));
  std::vector<std::string> names;
  names.reserve(listing.size());
  for (auto item : listing) names.emplace_back(item.name);
  return names;
}

Result<std::vector<FileEntry>> FileSystem::list_entries(const Path& directory) const {
  auto listing = TRY(list(directory));
  std::vector<FileEntry> entries;
  entries.reserve(listing.size());
  for (auto item : listing) {
    auto path = TRY(directory.child(item.name));
    auto found = entry(path);
    // Gone since the list was made: then it is not in the directory.
    if (!found && found.error().code() == Code::not_found) continue;
    if (!found) return fail(std::move(found).error());
    entries.push_back(std::move(*found));
  }
  return entries;
}

Result<std::string> FileSystem::read_bytes(const Path& path) const {
  return TRY(read(path)).str();
}

Result<std::string> FileSystem::read_text(const Path& path, Encoding encoding) const {
  auto content = TRY(read(path));
  if (content.is_flat()) return TRY_CONTEXT(path.str(), decode(content.flat(), encoding));
  return TRY_CONTEXT(path.str(), decode(content.str(), encoding));
}

Result<std::vector<std::string>> FileSystem::read_lines(const Path& path, Encoding encoding) const {
  return split_lines(TRY(read_text(path, encoding)));
}

Result<void> FileSystem::write_text(const Path& path, std::string_view text, Encoding encoding,
                                    ByteOrderMark mark) {
  auto bytes = TRY_CONTEXT(path.str(), encode(text, encoding, mark));
  return write(path, bytes);
}

Result<void> FileSystem::write_lines(const Path& path, std::span<const std::string> lines,
                                     Encoding encoding) {
  std::string text;
  for (const auto& line : lines) text.append(line).append("\n");
  return write_text(path, text, encoding);
}

Result<void> FileSystem::append(const Path& path, std::string_view bytes) {
  WriteOptions options;
  options.append = true;
  return write(path, bytes, options);
}

Result<std::unique_ptr<File>> FileSystem::open_read(const Path& path) {
  return open(path, OpenOptions{});
}

Result<std::unique_ptr<File>> FileSystem::open_write(const Path& path, bool append) {
  OpenOptions options;
  options.read = false;
  options.write = options.create = true;
  options.append = append;
  options.truncate = !append;
  options.parents = Parents::create;
  return open(path, options);
}

Result<void> FileSystem::remove(const Path& path) {
  auto info = TRY(stat(path, Follow::no));
  return info.is_directory() ? remove_directory(path) : remove_file(path);
}

Result<void> FileSystem::touch(const Path& path, std::uint32_t mode) {
  if (!exists(path)) {
    WriteOptions options;
    options.mode = mode;
    options.append = true;  // nothing is lost if another made it meanwhile
    return write(path, std::string_view(), options);
  }
  auto now = Clock::machine().now();
  return set_times(path, {now, now});
}

Result<Path> resolve(const FileSystem& fs, const Path& base, std::string_view text) {
  Path here = text.starts_with('/') ? Path() : base;
  if (text.find("..") == std::string_view::npos) return here.join(text);
  while (true) {
    auto component = next_component(text);
    if (component.empty()) return here;
    if (component == "..") {
      auto real = TRY(fs.real_path(here));
      if (!fs.is_directory(real))
        return fail(Code::not_a_directory, fmt::format("{}: Not a directory", here.str()));
      here = real.parent();
    } else {
      here = TRY(here.join(component));
    }
  }
}

std::string_view strerror(Code code) {
  switch (code) {
    case Code::not_found: return "No such file or directory";
    case Code::already_exists: return "File exists";
    case Code::not_a_directory: return "Not a directory";
    case Code::is_a_directory: return "Is a directory";
    case Code::not_empty: return "Directory not empty";
    case Code::loop: return "Too many levels of symbolic links";
    case Code::no_space: return "No space left on device";
    case Code::read_only: return "Read-only file system";
    case Code::too_large: return "File name too long";
    case Code::permission_denied: return "Operation not permitted";
    case Code::unsupported: return "Operation not supported";
    case Code::conflict: return "Device or resource busy";
    case Code::invalid_argument: return "Invalid argument";
    case Code::resource_exhausted: return "Cannot allocate memory";
    default: return "Input/output error";
  }
}

std::unexpected<Error> refuse(Code code, std::string_view path) {
  return fail(code, fmt::format("{}: {}", path, strerror(code)));
}

}  // namespace atl::vfs
