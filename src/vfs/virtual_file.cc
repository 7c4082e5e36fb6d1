#include "vfs/virtual_file.h"

#include <fmt/format.h>

#include <algorithm>

#include "vfs/entries.h"
#include "vfs/file_storage.h"
#include "vfs/virtual_edit.h"

namespace atl::vfs {

using tree::DirNode;
using tree::FileNode;
using tree::Kind;
using tree::Located;
using tree::Node;
using tree::Ref;

// ---- the table of open files ----

Result<VirtualFileSystem::OpenInode*> VirtualFileSystem::open_locked(const Path& path,
                                                                     const OpenOptions& options) {
  Located where;
  Follow follow = options.create && options.exclusive ? Follow::no : options.follow;
  auto found = tree::locate(state_, path.str(), follow, where);
  bool make_parent = options.create && options.parents == Parents::create;
  if (!found && !(found.error() == Code::not_found && make_parent)) return refuse(found.error(), path.str());
  bool writes = options.write || options.append;
  if (found && where.file != nullptr) {
    if (options.create && options.exclusive) return refuse(Code::already_exists, path.str());
    if (tree::is_directory(*where.file)) return refuse(Code::is_a_directory, path.str());
    if (where.file->kind == Kind::symlink) return refuse(Code::loop, path.str());
    if (where.file->kind == Kind::fifo)
      return fail(Code::invalid_argument, fmt::format("{}: is not a regular file", path.str()));
    if (options.truncate && writes && size_of(*where.file) > 0) TRY(write_existing(where, Content(), false));
  } else {
    if (!options.create) return refuse(Code::not_found, path.str());
    WriteOptions fresh;
    fresh.mode = options.mode;
    fresh.parents = options.parents;
    TRY(write_locked(path, Content(), fresh));
  }
  Located opened;
  TRY(locate(path.str(), Follow::yes, opened));
  if (!open_) open_ = std::make_unique<OpenInodes>();
  auto& slot = (*open_)[opened.file->inode];
  if (!slot)
    slot = std::make_unique<OpenInode>(OpenInode{opened.file->inode, std::string(opened.path), {}, 0});
  ++slot->handles;
  return slot.get();
}

Result<std::unique_ptr<File>> VirtualFileSystem::open(const Path& path, const OpenOptions& options) {
  OpenInode* open = nullptr;
  auto operation = [&]() -> Result<void> {
    open = TRY(open_locked(path, options));
    return {};
  };
  if (auto done = change(operation); !done) {
    if (open != nullptr) {
      std::unique_lock lock(lock_);
      close_inode(*open);
    }
    return fail(std::move(done).error());
  }
  return std::make_unique<VirtualFile>(*this, *open, options);
}

void VirtualFileSystem::close_inode(OpenInode& open) {
  if (--open.handles > 0) return;
  if (open.orphan) orphan_bytes_ -= size_of(*open.orphan);
  open_->erase(open.inode);
}

// The file as it is now; null only if it vanished without our knowledge, which would be a defect.
const Node* VirtualFileSystem::node_of(const OpenInode& open) const {
  if (open.orphan) return open.orphan.get();
  if (state_.links) {
    if (const Node* file = tree::find_entry(*state_.links, tree::link_key(open.inode))) return file;
  }
  return tree::find(state_, open.path, Follow::no);
}

namespace {

// The node at `path` below `top`, which stands at `top_path`.
const Node* node_below(const Node& top, std::string_view top_path, std::string_view path) {
  const Node* node = &top;
  std::string_view rest = path.substr(top_path.size());
  for (auto name = next_component(rest); !name.empty(); name = next_component(rest)) {
    if (node == nullptr || !tree::is_directory(*node)) return nullptr;
    node = tree::find_entry(static_cast<const DirNode&>(*node), name);
  }
  return node;
}

bool is_at_or_below(std::string_view path, std::string_view top) {
  return path.starts_with(top) && (path.size() == top.size() || path[top.size()] == '/');
}

}  // namespace

void VirtualFileSystem::orphan(const Removed& removed) {
  if (!open_ || open_->empty()) return;
  auto adopt = [&](OpenInode& open, const Node& node) {
    // JUSTIFICATION: own() copies the node before any change.
    open.orphan = Ref<Node>::share(const_cast<Node*>(&node));
    orphan_bytes_ += size_of(node);
  };
  for (auto& [inode, open] : *open_) {
    if (open->orphan) continue;
    for (const auto& link : removed.last_links)
      if (!open->orphan && link->kind != Kind::link && link->inode == inode) adopt(*open, *link);
    if (open->orphan || !removed.top || !is_at_or_below(open->path, removed.path)) continue;
    const Node* node = node_below(*removed.top, removed.path, open->path);
    if (node != nullptr && node->inode == inode && node->kind == Kind::file) adopt(*open, *node);
  }
}

void VirtualFileSystem::orphan_everything(const tree::State& old) {
  if (!open_) return;
  for (auto& [inode, open] : *open_) {
    if (open->orphan) continue;
    const Node* node = old.links ? tree::find_entry(*old.links, tree::link_key(inode)) : nullptr;
    if (node == nullptr) node = tree::find(old, open->path, Follow::no);
    if (node == nullptr) continue;
    // JUSTIFICATION: own() copies the node before any change.
    open->orphan = Ref<Node>::share(const_cast<Node*>(node));
    orphan_bytes_ += size_of(*node);
  }
}

void VirtualFileSystem::move_names(std::string_view from, std::string_view to) {
  if (!open_ || open_->empty()) return;
  // Links on the way to the old name are followed as before the move, since only the last component moved.
  Located there;
  if (!tree::locate(state_, to, Follow::no, there)) return;
  Located parent;
  std::string_view from_parent = from.substr(0, from.rfind('/'));
  if (!tree::locate(state_, from_parent.empty() ? "/" : from_parent, Follow::yes, parent)) return;
  std::string old_path(parent.path == "/" ? "" : parent.path);
  old_path.append(from.substr(from.rfind('/')));
  for (auto& [inode, open] : *open_) {
    if (open->orphan || !is_at_or_below(open->path, old_path)) continue;
    const Node* old_node = tree::find(state_, open->path, Follow::no);
    if (old_node != nullptr && old_node->inode == inode) continue;
    open->path = std::string(there.path) + open->path.substr(old_path.size());
  }
}

// ---- storage ----

Result<std::unique_ptr<VirtualFileSystem>> VirtualFileSystem::open(std::shared_ptr<FileStorage> storage,
                                                                   const VirtualOptions& options) {
  auto fs = std::make_unique<VirtualFileSystem>(options);
  fs->behind_ = std::make_unique<Behind>();
  fs->behind_->storage = std::move(storage);
  fs->state_ = TRY(fs->load());
  fs->behind_->synced = fs->state_;
  return fs;
}

std::unique_lock<std::mutex> VirtualFileSystem::lock_behind() const {
  return behind_ == nullptr ? std::unique_lock<std::mutex>() : std::unique_lock(behind_->writer);
}

// What the storage holds, with our root.
Result<tree::State> VirtualFileSystem::load() const {
  auto entries = TRY(behind_->storage->get_all());
  tree::State state = empty_state();
  state.root->mode = state_.root->mode;
  state.root->uid = uid_;
  state.root->gid = gid_;
  state.root->created = state.root->modified = state.root->changed = state.root->accessed = now();
  state.next_inode = state_.next_inode;
  TRY(add_entries(state, entries));
  return state;
}

Result<void> VirtualFileSystem::reload() {
  if (behind_ == nullptr) return {};
  TRY(sync());
  tree::State old;
  auto behind = lock_behind();
  auto fresh = TRY(load());
  std::unique_lock lock(lock_);
  old = state_;
  state_ = fresh;
  behind_->synced = fresh;
  ++version_;
  orphan_everything(old);
  return {};
}

Result<void> VirtualFileSystem::persist(const tree::State& next) {
  Batch batch;
  for (Change& change : diff_exactly(Snapshot(behind_->synced), Snapshot(next))) {
    if (change.path.is_root()) continue;
    if (change.kind == ChangeKind::removed) {
      batch.removals.push_back(std::move(change.path));
    } else {
      const Node* node = tree::find(next, change.path.str(), Follow::no);
      batch.entries.push_back(entry_of(*node, change.path));
    }
  }
  std::ranges::reverse(batch.removals);  // what is below goes first
  if (!batch.empty()) TRY(behind_->storage->apply(batch));
  behind_->synced = next;
  return {};
}

void VirtualFileSystem::follow_storage(const Error& failure) {
  if (failure.code() != Code::conflict) return;
  auto fresh = load();
  if (!fresh) return;  // the next call fails in the same way and tries this again
  const tree::State old = state_;
  state_ = *fresh;
  behind_->synced = *fresh;
  ++version_;
  orphan_everything(old);
}

Result<void> VirtualFileSystem::sync() {
  if (behind_ == nullptr) return {};
  auto behind = lock_behind();
  Result<void> done = persist(snapshot().state());
  if (!done) {
    const std::unique_lock lock(lock_);
    follow_storage(done.error());
  }
  return done;
}

// ---- changing an open file ----

template <class F>
Result<void> VirtualFileSystem::edit_open(OpenInode& open, std::uint64_t new_size, F&& change_content) {
  const Node* node = node_of(open);
  if (node == nullptr) return fail(Code::internal, "an open file lost its node");
  std::uint64_t old_size = size_of(*node);
  TRY(check_room(new_size > old_size ? new_size - old_size : 0, 0));
  auto apply = [&](Node& target) {
    change_content(static_cast<FileNode&>(target).content);
    stamp(target, now());
  };
  ++version_;
  if (open.orphan) {
    apply(tree::own(open.orphan.slot()));
    orphan_bytes_ += size_of(*open.orphan) - old_size;
    return {};
  }
  if (state_.links && tree::find_entry(*state_.links, tree::link_key(open.inode)) != nullptr) {
    apply(tree::own_linked_file(state_, open.inode));
    state_.links->bytes += new_size - old_size;
    return {};
  }
  Located where;
  TRY(locate(open.path, Follow::no, where));
  edit(where, apply);
  return {};
}

Result<void> VirtualFile::check(bool allowed, std::string_view what) const {
  if (open_ == nullptr) return fail(Code::conflict, "the file is closed");
  if (!allowed) return fail(Code::permission_denied, fmt::format("the file is not open for {}", what));
  return {};
}

VirtualFile::~VirtualFile() {
  if (open_ != nullptr) (void)close();
}

Result<std::size_t> VirtualFile::read_at(std::uint64_t offset, std::span<char> out) {
  TRY(check(options_.read, "reading"));
  std::shared_lock lock(fs_.lock_);
  const Node* node = fs_.node_of(*open_);
  if (node == nullptr) return fail(Code::internal, "an open file lost its node");
  return static_cast<const FileNode*>(node)->content.read(offset, out);
}

Result<std::size_t> VirtualFile::read(std::span<char> out) {
  auto count = TRY(read_at(position_, out));
  position_ += count;
  return count;
}

Result<void> VirtualFile::write_at(std::uint64_t offset, std::string_view bytes) {
  TRY(check(options_.write || options_.append, "writing"));
  if (bytes.empty()) return {};
  auto behind = fs_.lock_behind();
  std::unique_lock lock(fs_.lock_);
  const Node* node = fs_.node_of(*open_);
  if (node == nullptr) return fail(Code::internal, "an open file lost its node");
  if (offset + bytes.size() < offset) return refuse(Code::too_large, "file");
  std::uint64_t new_size = std::max(size_of(*node), offset + bytes.size());
  return fs_.edit_open(*open_, new_size, [&](Content& content) { content.write(offset, bytes); });
}

Result<void> VirtualFile::write(std::string_view bytes) {
  if (!options_.append) {
    TRY(write_at(position_, bytes));
    position_ += bytes.size();
    return {};
  }
  TRY(check(true, "writing"));
  auto behind = fs_.lock_behind();
  std::unique_lock lock(fs_.lock_);
  const Node* node = fs_.node_of(*open_);
  if (node == nullptr) return fail(Code::internal, "an open file lost its node");
  std::uint64_t end = size_of(*node) + bytes.size();
  if (!bytes.empty()) TRY(fs_.edit_open(*open_, end, [&](Content& content) { content.append(bytes); }));
  position_ = end;
  return {};
}

Result<std::uint64_t> VirtualFile::seek(std::int64_t offset, Whence whence) {
  std::uint64_t base = whence == Whence::start ? 0 : whence == Whence::current ? position_ : TRY(stat()).size;
  std::int64_t target = 0;
  if (__builtin_add_overflow(static_cast<std::int64_t>(base), offset, &target) || target < 0)
    return fail(Code::invalid_argument, "cannot seek there");
  position_ = static_cast<std::uint64_t>(target);
  return position_;
}

Result<void> VirtualFile::truncate(std::uint64_t size) {
  TRY(check(options_.write || options_.append, "writing"));
  auto behind = fs_.lock_behind();
  std::unique_lock lock(fs_.lock_);
  return fs_.edit_open(*open_, size, [&](Content& content) { content.resize(size); });
}

Result<Content> VirtualFile::content() const {
  TRY(check(options_.read, "reading"));
  std::shared_lock lock(fs_.lock_);
  const Node* node = fs_.node_of(*open_);
  if (node == nullptr) return fail(Code::internal, "an open file lost its node");
  return static_cast<const FileNode*>(node)->content;
}

Result<Stat> VirtualFile::stat() const {
  TRY(check(true, ""));
  std::shared_lock lock(fs_.lock_);
  const Node* node = fs_.node_of(*open_);
  if (node == nullptr) return fail(Code::internal, "an open file lost its node");
  Stat out = stat_of(*node);
  if (open_->orphan) out.links = 0;
  return out;
}

Result<void> VirtualFile::flush() {
  TRY(check(true, ""));
  return fs_.sync();
}

Result<void> VirtualFile::close() {
  TRY(check(true, ""));
  bool wrote = options_.write || options_.append;
  auto kept = wrote ? fs_.sync() : Result<void>();
  std::unique_lock lock(fs_.lock_);
  fs_.close_inode(*open_);
  open_ = nullptr;
  return kept;
}

}  // namespace atl::vfs
