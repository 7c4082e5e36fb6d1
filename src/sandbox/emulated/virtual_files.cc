#include "sandbox/emulated/virtual_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <optional>

namespace atl::sandbox::emulated {
namespace {

using vfs::Follow;
using vfs::Path;

FileType type_of(vfs::Type type) {
  switch (type) {
    case vfs::Type::file: return FileType::file;
    case vfs::Type::directory: return FileType::directory;
    case vfs::Type::symlink: return FileType::symlink;
    case vfs::Type::fifo: return FileType::other;
  }
  return FileType::unknown;
}

std::string user_name(std::uint32_t id) {
  return id == 0 ? "root" : id == 1000 ? "user" : std::to_string(id);
}

Result<std::uint32_t> user_id(const std::string& name) {
  if (name.empty() || name == "user") return 1000;
  if (name == "root") return 0;
  return fail(Error(Code::invalid_argument, fmt::format("no user {}", name)).with_field("user"));
}

Result<Path> parse(const std::string& path) {
  if (!path.starts_with('/'))
    return fail(Error(Code::invalid_argument, "the path must be absolute").with_field("path"));
  return Path::posix(path);
}

Result<FileInfo> info_of(const vfs::FileSystem& fs, const Path& path) {
  auto stat = TRY(fs.stat(path, Follow::no));
  FileInfo info;
  info.name = path.is_root() ? "/" : std::string(path.name());
  info.path = path.str();
  info.type = type_of(stat.type);
  info.size = stat.size;
  info.mode = info.link_mode = stat.mode;
  info.uid = stat.uid;
  info.gid = stat.gid;
  info.owner = user_name(stat.uid);
  info.group = user_name(stat.gid);
  info.modified_at = stat.modified;
  // Like E2B's agent: a link is described by what it leads to, its own mode is kept aside.
  if (stat.is_symlink()) {
    if (auto target = fs.real_path(path)) info.target = target->str();
    if (auto there = fs.find(path)) {
      info.target_type = type_of(there->type);
      info.mode = there->mode;
      info.size = there->size;
    }
  }
  return info;
}

class Reader final : public FileReader {
 public:
  Reader(FileInfo info, vfs::Content content, std::uint64_t from, std::uint64_t to)
      : info_(std::move(info)), content_(std::move(content)), at_(from), end_(to) {}
  const FileInfo& info() const override { return info_; }
  Task<std::string> next() override {
    auto count = static_cast<std::size_t>(std::min<std::uint64_t>(64 * 1024, end_ - std::min(at_, end_)));
    std::string bytes = content_.substr(at_, count);
    at_ += bytes.size();
    co_return bytes;
  }

 private:
  FileInfo info_;
  vfs::Content content_;
  std::uint64_t at_, end_;
};

// Writes in place. Contents are shared, so that what the file held before costs nothing to keep until the
// end.
class Writer final : public FileWriter {
 public:
  struct Target {
    Path path;                           // as it was asked for
    Path place;                          // without links
    std::optional<vfs::Content> before;  // unset: the file was made for this
  };
  Writer(std::shared_ptr<vfs::FileSystem> fs, Target target, std::unique_ptr<vfs::File> file)
      : fs_(std::move(fs)), target_(std::move(target)), file_(std::move(file)) {}
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;
  ~Writer() override {
    if (!finished_) take_back();
  }
  Task<void> write(std::string bytes) override {
    if (finished_) co_return fail(Code::conflict, "the file is finished");
    co_return file_->write(bytes);
  }
  Task<FileInfo> finish() override {
    CO_CHECK(file_->close());
    finished_ = true;
    co_return info_of(*fs_, target_.path);
  }

 private:
  // Only if the name still leads to the same file.
  void take_back() {
    const auto mine = file_->stat();
    const auto there = fs_->find(target_.place, Follow::no);
    if (!mine || !there || there->inode != mine->inode) return;
    file_.reset();
    if (target_.before)
      (void)fs_->write(target_.place, std::move(*target_.before));
    else
      (void)fs_->remove_file(target_.place);
  }

  std::shared_ptr<vfs::FileSystem> fs_;
  Target target_;
  std::unique_ptr<vfs::File> file_;
  bool finished_ = false;
};

// Looks at the versions of its parts from time to time and compares when one moved.
class Watcher final : public Watch {
 public:
  Watcher(boost::asio::any_io_executor executor, std::vector<VirtualTree::Part> parts, bool deep)
      : timer_(std::move(executor)), deep_(deep) {
    for (VirtualTree::Part& part : parts) {
      // Parts that are mounted below the directory are seen by recursive watches only.
      if (!deep && !part.prefix.empty()) continue;
      vfs::Snapshot seen = part.fs->snapshot();
      const std::uint64_t version = part.fs->version();
      watched_.push_back({std::move(part), std::move(seen), version});
    }
  }

  Task<std::vector<WatchEvent>> next() override {
    co_await boost::asio::this_coro::throw_if_cancelled(false);
    const auto state = co_await boost::asio::this_coro::cancellation_state;
    while (true) {
      auto events = take();
      if (!events.empty()) co_return events;
      timer_.expires_after(std::chrono::milliseconds(20));
      co_await timer_.async_wait(boost::asio::as_tuple(boost::asio::use_awaitable));
      if (state.cancelled() != boost::asio::cancellation_type::none)
        co_return fail(Code::canceled, "canceled");
    }
  }
  Task<std::vector<WatchEvent>> poll() override { co_return take(); }

 private:
  struct Watched {
    VirtualTree::Part part;
    vfs::Snapshot seen;
    std::uint64_t version = 0;
  };

  std::vector<WatchEvent> take() {
    std::vector<WatchEvent> events;
    for (Watched& one : watched_) take_of(one, events);
    return events;
  }

  void take_of(Watched& one, std::vector<WatchEvent>& events) const {
    const VirtualTree::Part& part = one.part;
    if (part.fs->version() == one.version) return;
    one.version = part.fs->version();
    auto now = part.fs->snapshot();
    for (const vfs::Change& change : vfs::diff(one.seen, now)) {
      if (!change.path.is_child_of(part.inside)) continue;
      if (!deep_ && change.path.parent() != part.inside) continue;
      bool directory = change.type == vfs::Type::directory;
      // inotify does not report a directory whose entries changed as written.
      if (change.kind == vfs::ChangeKind::changed && directory) continue;
      auto type = change.kind == vfs::ChangeKind::added     ? WatchEventType::create
                  : change.kind == vfs::ChangeKind::removed ? WatchEventType::remove
                                                            : WatchEventType::write;
      std::string name = part.prefix + change.path.relative_to(part.inside).str().substr(1);
      events.push_back({type, name});
      // A new file with bytes was also written.
      if (type == WatchEventType::create && !directory) events.push_back({WatchEventType::write, name});
    }
    one.seen = now;
  }

  boost::asio::steady_timer timer_;
  std::vector<Watched> watched_;
  bool deep_;
};

}  // namespace

Task<FileInfo> VirtualFiles::stat(std::string path, std::string user) {
  CO_CHECK(user_id(user));
  CO_TRY(auto at, parse(path));
  co_return info_of(*fs_, at);
}

Task<std::vector<FileInfo>> VirtualFiles::list(std::string path, std::uint32_t depth, ListBounds bounds,
                                               std::string user) {
  CO_CHECK(user_id(user));
  CO_TRY(auto top, parse(path));
  std::vector<FileInfo> out;
  constexpr std::size_t kEntryBytes = 64;  // what an entry has besides its names
  std::size_t bytes = 0;
  // Pre-order: what is found in a directory goes on the stack in reverse.
  std::vector<std::pair<Path, std::uint32_t>> pending;
  auto expand = [&](const Path& directory, std::uint32_t level) -> Result<void> {
    auto listing = TRY(fs_->list(directory));
    for (std::size_t i = listing.size(); i-- > 0;) {
      auto child = TRY(directory.child(listing[i].name));
      pending.emplace_back(std::move(child), level);
    }
    return {};
  };
  CO_CHECK(expand(top, 1));
  while (!pending.empty()) {
    auto [at, level] = std::move(pending.back());
    pending.pop_back();
    CO_TRY(auto info, info_of(*fs_, at));
    bool deeper = info.type == FileType::directory && level < depth;
    const std::size_t told = info.path.size() + info.name.size() + info.target.size() + kEntryBytes;
    bytes += told;
    if (bytes > bounds.bytes_max)
      co_return fail(Code::too_large,
                     fmt::format("more than {} bytes of names: list fewer levels, or a directory below",
                                 bounds.bytes_max));
    if (bounds.take) CO_CHECK(bounds.take(told + sizeof(FileInfo)));
    out.push_back(std::move(info));
    if (out.size() > bounds.entries_max)
      co_return fail(Code::too_large, fmt::format("over {} entries", bounds.entries_max));
    if (deeper) CO_CHECK(expand(at, level + 1));
  }
  co_return out;
}

Task<FileInfo> VirtualFiles::make_directory(std::string path, std::string user, Ownership) {
  CO_TRY(auto at, parse(path));
  CO_TRY(auto owner, user_id(user));
  if (fs_->exists(at)) co_return fail(Code::already_exists, fmt::format("{}: File exists", path));
  CO_CHECK(fs_->make_directory(at, 0755, vfs::Parents::create));
  CO_CHECK(fs_->set_owner(at, owner, owner));
  co_return info_of(*fs_, at);
}

// move() and copy() differ in what the filesystem is asked for alone.
Result<FileInfo> VirtualFiles::transfer(const std::string& from, const std::string& to,
                                        const std::string& user, Overwrite overwrite, Transfer act) {
  const auto source = TRY(parse(from));
  const auto target = TRY(parse(to));
  TRY(user_id(user));
  if (!target.is_root()) TRY(fs_->make_directory(target.parent(), 0755, vfs::Parents::create));
  vfs::CopyOptions options;
  options.into_directory = false;
  options.overwrite = overwrite == Overwrite::yes ? vfs::Overwrite::yes : vfs::Overwrite::no;
  return info_of(*fs_, TRY((fs_.get()->*act)(source, target, options)));
}

Task<FileInfo> VirtualFiles::move(std::string from, std::string to, std::string user, Overwrite overwrite) {
  co_return transfer(from, to, user, overwrite, &vfs::FileSystem::move);
}

Task<FileInfo> VirtualFiles::copy(std::string from, std::string to, std::string user, Overwrite overwrite) {
  co_return transfer(from, to, user, overwrite, &vfs::FileSystem::copy);
}

Task<void> VirtualFiles::remove(std::string path, Recursive recursive, std::string user) {
  CO_CHECK(user_id(user));
  CO_TRY(auto at, parse(path));
  co_return recursive == Recursive::yes ? fs_->remove_all(at) : fs_->remove(at);
}

Task<void> VirtualFiles::chmod(std::string path, std::uint32_t mode, std::string user) {
  CO_CHECK(user_id(user));
  CO_TRY(auto at, parse(path));
  co_return fs_->set_mode(at, mode);
}

Task<std::unique_ptr<FileReader>> VirtualFiles::open_read(std::string path, std::uint64_t offset,
                                                          std::optional<std::uint64_t> length,
                                                          std::string user) {
  CO_CHECK(user_id(user));
  CO_TRY(auto at, parse(path));
  CO_TRY(auto content, fs_->read(at));
  CO_TRY(auto info, info_of(*fs_, at));
  std::uint64_t from = std::min(offset, content.size());
  std::uint64_t to =
      length ? std::min(content.size(), from + std::min(*length, content.size() - from)) : content.size();
  std::unique_ptr<FileReader> reader =
      std::make_unique<Reader>(std::move(info), std::move(content), from, to);
  co_return reader;
}

Task<std::unique_ptr<FileWriter>> VirtualFiles::open_write(std::string path, WriteOptions options) {
  CO_TRY(auto at, parse(path));
  CO_TRY(auto owner, user_id(options.user));
  if (options.attributes && !options.attributes->empty())
    co_return fail(Code::unsupported, "the virtual provider keeps no extended attributes");
  vfs::OpenOptions how;
  how.read = true;  // what was there is kept
  how.write = how.create = true;
  how.append = options.append;
  how.mode = options.mode;
  how.parents = options.create_parents ? vfs::Parents::create : vfs::Parents::must_exist;
  bool fresh = !fs_->exists(at);
  CO_TRY(auto file, fs_->open(at, how));
  if (fresh) CO_CHECK(fs_->set_owner(at, owner, owner));
  Writer::Target target{.path = at, .place = fs_->real_path(at).value_or(at), .before = std::nullopt};
  if (!fresh) {
    CO_TRY(target.before, file->content());
    if (!options.append) CO_CHECK(file->truncate(0));
  }
  std::unique_ptr<FileWriter> writer = std::make_unique<Writer>(fs_, std::move(target), std::move(file));
  co_return writer;
}

Task<std::unique_ptr<Watch>> VirtualFiles::watch(std::string path, Recursive recursive, std::string user) {
  CO_CHECK(user_id(user));
  CO_TRY(auto at, parse(path));
  CO_TRY(auto real, fs_->real_path(at));
  if (!fs_->is_directory(real))
    co_return fail(Code::not_a_directory, fmt::format("{}: Not a directory", path));
  std::unique_ptr<Watch> watch =
      std::make_unique<Watcher>(executor_, tree_.parts_below(real), recursive == Recursive::yes);
  co_return watch;
}

}  // namespace atl::sandbox::emulated
