#include "layer/store.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdlib>
#include <set>
#include <sstream>

#include "base/ids.h"
#include "layer/documents.h"
#include "layer/walk.h"
#include "os/file.h"

namespace atl::layer {
namespace {

// A root filesystem is mounted from at most this many layers; a snapshot needs one more.
constexpr std::size_t kStackLayersMax = 22;

// Where a process stands in time: a number that no other process with the same id has. Zero: there is none.
std::uint64_t process_started(pid_t pid) {
  auto text = os::read_file(fmt::format("/proc/{}/stat", pid));
  if (!text) return 0;
  // The name, in parentheses, may hold anything; the 20th field after it is the start time.
  const std::size_t name_end = text->rfind(')');
  if (name_end == std::string::npos) return 0;
  std::istringstream fields(text->substr(name_end + 1));
  std::string field;
  for (int i = 0; i < 20; ++i) fields >> field;
  return std::strtoull(field.c_str(), nullptr, 10);
}

bool in_force(const Reference& reference) {
  if (reference.process == 0) return true;
  return reference.process_started != 0 && process_started(reference.process) == reference.process_started;
}

Result<void> sync_directory(int fd, Durability durability) {
  if (durability == Durability::synced && ::fsync(fd) < 0) return fail(errno_error(errno, "store a layer"));
  return {};
}

Error unknown_layer(const std::string& digest) {
  return {Code::not_found, fmt::format("there is no layer {}", digest)};
}

}  // namespace

bool is_name(std::string_view text) {
  return !text.empty() && text.size() <= 64 && text.front() != '.' &&
         std::ranges::all_of(
             text, [](unsigned char c) { return std::isalnum(c) != 0 || c == '-' || c == '_' || c == '.'; });
}

Draft::~Draft() {
  if (path_.empty() || !directory_.is_open()) return;
  (void)os::remove_tree(AT_FDCWD, path_);
}

Claim::~Claim() {
  if (store_ != nullptr) (void)store_->release(holder_);
}

Store::Store(std::string directory, Durability durability)
    : directory_(std::move(directory)),
      durability_(durability),
      owners_(::geteuid() == 0 ? Owners::kept : Owners::mine) {}

Result<std::unique_ptr<Store>> Store::open(std::string directory, Durability durability) {
  std::unique_ptr<Store> store(new Store(std::move(directory), durability));
  TRY_CONTEXT("open the layer store", store->prepare());
  TRY_CONTEXT("sweep the layer store", store->sweep());
  return store;
}

Result<void> Store::prepare() {
  TRY(os::make_directories(directory_, 0700));
  // What is inside belongs to sandboxes, set-uid programs included, so no other user may enter.
  if (::chmod(directory_.c_str(), 0700) < 0) return fail(errno_error(errno, "protect the layer store"));
  // A service that gave up root still reads stacks and refers to layers, in a directory that only it and root
  // can reach.
  const auto folder = [&](const char* name, mode_t mode) -> Result<os::Fd> {
    const std::string path = directory_ + "/" + name;
    TRY(os::make_directory(path, mode));
    os::Fd made = TRY(os::open(path.c_str(), O_RDONLY | O_DIRECTORY));
    (void)::fchmod(made.get(), mode);  // its maker did, if it is not ours
    return made;
  };
  trees_ = TRY(folder("trees", 0755));
  stacks_ = TRY(folder("stacks", 0755));
  references_ = TRY(folder("references", 0777));
  cache_ = TRY(folder("cache", 0755));
  incoming_ = TRY(folder("incoming", 0755));
  const os::Fd file = TRY(os::open((directory_ + "/lock").c_str(), O_RDWR | O_CREAT, 0666));
  (void)::fchmod(file.get(), 0666);
  return {};
}

// Whoever works in a directory of incoming/ holds the lock on its file "lock" while alive.
Result<void> Store::sweep() {
  const os::Fd held = TRY(lock());
  for (const std::string& name : TRY(names_in(incoming_.get()))) {
    auto file = os::open_at(incoming_.get(), (name + "/lock").c_str(), O_RDWR);
    if (file && ::flock(file->get(), LOCK_EX | LOCK_NB) < 0) continue;
    TRY(os::remove_tree(incoming_.get(), name));
  }
  for (const std::string& name : TRY(names_in(references_.get()))) {
    if (name.starts_with('.')) {
      ::unlinkat(references_.get(), name.c_str(), 0);
      continue;
    }
    auto text = os::read_file_at(references_.get(), name.c_str());
    if (!text) continue;
    auto reference = read_reference(*text);
    if (reference && !in_force(*reference)) ::unlinkat(references_.get(), name.c_str(), 0);
  }
  for (const int folder : {stacks_.get(), cache_.get()})
    for (const std::string& name : TRY(names_in(folder)))
      if (name.starts_with('.')) ::unlinkat(folder, name.c_str(), 0);
  return {};
}

// One lock for every change of names; held for moments, never while bytes are copied.
Result<os::Fd> Store::lock() const {
  os::Fd file = TRY_CONTEXT("lock of the layer store", os::open((directory_ + "/lock").c_str(), O_RDWR));
  while (::flock(file.get(), LOCK_EX) < 0)
    if (errno != EINTR) return fail(errno_error(errno, "lock the layer store"));
  return file;
}

Result<Draft> Store::draft() {
  // Under the lock, so that no sweep sees the directory before its own lock is held.
  const os::Fd held = TRY(lock());
  Draft draft;
  draft.path_ = fmt::format("{}/incoming/{}", directory_, random_word(16));
  TRY(os::make_directory(draft.path_, 0700));
  draft.directory_ = TRY(os::open(draft.path_.c_str(), O_RDONLY | O_DIRECTORY));
  draft.lock_ = TRY(os::open_at(draft.directory_.get(), "lock", O_RDWR | O_CREAT, 0600));
  if (::flock(draft.lock_.get(), LOCK_EX | LOCK_NB) < 0) return fail(errno_error(errno, "lock a draft"));
  TRY(os::make_directory(draft.tree_path(), 0755));
  draft.tree_ = TRY(os::open_at(draft.directory_.get(), "tree", O_RDONLY | O_DIRECTORY));
  return draft;
}

Result<Layer> Store::put(Draft draft, const Claim& claim) {
  const Inventory inventory = TRY_CONTEXT("read the layer", take_inventory(draft.tree(), owners_));
  const Layer layer{inventory.digest, inventory.bytes, inventory.entries};
  // Only "tree" and "layer.json" become part of the store.
  for (const std::string& name : TRY(names_in(draft.room())))
    if (name != "tree" && name != "lock") TRY(os::remove_tree(draft.room(), name));
  TRY(os::write_file_at(draft.room(), "layer.json", to_text(layer)));
  if (durability_ == Durability::synced && ::syncfs(draft.room()) < 0)
    return fail(errno_error(errno, "store a layer"));
  TRY(extend(claim, {layer.digest}));
  const os::Fd held = TRY(lock());
  if (find(layer.digest)) return layer;
  // A name without a description is the remains of something damaged.
  TRY(os::remove_tree(trees_.get(), layer.digest));
  if (::unlinkat(draft.room(), "lock", 0) < 0) return fail(errno_error(errno, "store a layer"));
  if (::renameat(AT_FDCWD, draft.path_.c_str(), trees_.get(), layer.digest.c_str()) < 0)
    return fail(errno_error(errno, "store a layer"));
  draft.path_.clear();
  TRY(sync_directory(trees_.get(), durability_));
  return layer;
}

Result<Layer> Store::find(const std::string& digest) const {
  if (!is_digest(digest)) return fail(Code::invalid_argument, "a layer is named by 64 hexadecimal digits");
  auto text = os::read_file_at(trees_.get(), (digest + "/layer.json").c_str());
  if (!text) return fail(unknown_layer(digest));
  Layer layer = TRY(read_layer(*text));
  if (layer.digest != digest) return fail(Code::data_loss, fmt::format("layer {} is damaged", digest));
  return layer;
}

Result<void> Store::verify(const std::string& digest) const {
  TRY(find(digest));
  auto tree = os::open_at(trees_.get(), (digest + "/tree").c_str(), O_RDONLY | O_DIRECTORY);
  if (!tree) return fail(Code::data_loss, fmt::format("layer {} is damaged: its tree is missing", digest));
  const Inventory inventory = TRY(take_inventory(tree->get(), owners_));
  if (inventory.digest != digest)
    return fail(Code::data_loss,
                fmt::format("layer {} is damaged: its content has the digest {}", digest, inventory.digest));
  return {};
}

std::string Store::path(const std::string& digest) const {
  return fmt::format("{}/trees/{}/tree", directory_, digest);
}

Result<std::vector<Layer>> Store::layers() const {
  std::vector<Layer> found;
  for (const std::string& name : TRY(names_in(trees_.get()))) {
    auto layer = is_digest(name) ? find(name) : Result<Layer>(fail(unknown_layer(name)));
    if (layer) found.push_back(std::move(*layer));
  }
  return found;
}

// Complete under its name or not there: written beside, then renamed.
Result<void> Store::write_document(const char* folder, const std::string& name, const std::string& text,
                                   Durability durability) {
  if (durability_ == Durability::unsynced) durability = Durability::unsynced;
  const os::Fd dir = TRY_CONTEXT("directory of the layer store",
                                 os::open((directory_ + "/" + folder).c_str(), O_RDONLY | O_DIRECTORY));
  const std::string beside = "." + random_word(16);
  {
    const os::Fd file = TRY(os::open_at(dir.get(), beside.c_str(), O_WRONLY | O_CREAT | O_EXCL, 0644));
    TRY(os::write_all(file.get(), text));
    TRY(sync_directory(file.get(), durability));
  }
  if (::renameat(dir.get(), beside.c_str(), dir.get(), name.c_str()) < 0)
    return fail(errno_error(errno, "store a description"));
  return sync_directory(dir.get(), durability);
}

Result<void> Store::save(const Stack& stack) {
  if (!is_name(stack.name))
    return fail(Error(Code::invalid_argument,
                      "a name has letters, digits, '-', '_' and '.', at most 64, and does not start with '.'")
                    .with_field("name"));
  if (stack.layers.empty()) return fail(Code::invalid_argument, "an environment needs at least one layer");
  if (stack.layers.size() > kStackLayersMax)
    return fail(Code::too_large,
                fmt::format("an environment has at most {} layers, not {}: put steps together",
                            kStackLayersMax, stack.layers.size()));
  const os::Fd held = TRY(lock());
  for (const std::string& digest : stack.layers) TRY(find(digest));
  return write_document("stacks", stack.name, to_text(stack), durability_);
}

Result<Stack> Store::stack(const std::string& name) const {
  const Error unknown(Code::not_found, fmt::format("there is no imported or built environment '{}'", name));
  if (!is_name(name)) return fail(unknown);
  auto text = os::read_file_at(stacks_.get(), name.c_str());
  if (!text) return fail(unknown);
  return read_stack(*text);
}

Result<std::vector<Stack>> Store::stacks() const {
  std::vector<Stack> found;
  for (const std::string& name : TRY(names_in(stacks_.get()))) {
    if (!is_name(name)) continue;
    auto one = stack(name);
    // Removed between the listing and now.
    if (!one && one.error().code() == Code::not_found) continue;
    if (!one) return fail(std::move(one).error().context(name));
    found.push_back(std::move(*one));
  }
  return found;
}

Result<void> Store::remove(const std::string& name) {
  TRY(stack(name));
  const os::Fd held = TRY(lock());
  for (const Reference& reference : TRY(references()))
    if (reference.stack == name)
      return fail(Code::conflict, fmt::format("'{}' is used by {}", name, reference.holder));
  if (::unlinkat(stacks_.get(), name.c_str(), 0) < 0 && errno != ENOENT)
    return fail(errno_error(errno, "remove an environment"));
  return sync_directory(stacks_.get(), durability_);
}

std::uint64_t Store::generation() const {
  struct stat info {};
  if (::fstat(stacks_.get(), &info) < 0) return 0;
  return static_cast<std::uint64_t>(info.st_mtim.tv_sec) * 1'000'000'000 +
         static_cast<std::uint64_t>(info.st_mtim.tv_nsec);
}

Result<Claim> Store::claim() {
  Claim claim(this, "work-" + random_word(16));
  // It does not outlive the process, so it need not outlive the machine.
  TRY(refer({.holder = claim.holder(), .process = ::getpid()}, Durability::unsynced));
  return claim;
}

Result<void> Store::extend(const Claim& claim, const std::vector<std::string>& layers) {
  const os::Fd held = TRY(lock());
  const std::string text =
      TRY_CONTEXT("reference to layers", os::read_file_at(references_.get(), claim.holder().c_str()));
  Reference reference = TRY(read_reference(text));
  reference.layers.insert(reference.layers.end(), layers.begin(), layers.end());
  return put_reference(reference, Durability::unsynced);
}

Result<void> Store::refer(Reference reference, Durability durability) {
  const os::Fd held = TRY(lock());
  for (const std::string& digest : reference.layers) TRY(find(digest));
  if (reference.process != 0) reference.process_started = process_started(reference.process);
  return put_reference(reference, durability);
}

Result<Reference> Store::reference(const std::string& holder) const {
  auto text = is_name(holder) ? os::read_file_at(references_.get(), holder.c_str())
                              : Result<std::string>(fail(Code::not_found, ""));
  if (!text) return fail(Code::not_found, fmt::format("{} refers to no layers", holder));
  return read_reference(*text);
}

Result<void> Store::put_reference(const Reference& reference, Durability durability) {
  if (!is_name(reference.holder)) return fail(Code::invalid_argument, "a holder has no such name");
  return write_document("references", reference.holder, to_text(reference), durability);
}

Result<void> Store::release(const std::string& holder) {
  if (is_name(holder) && ::unlinkat(references_.get(), holder.c_str(), 0) < 0 && errno != ENOENT)
    return fail(errno_error(errno, "release layers"));
  return {};
}

Result<std::vector<Reference>> Store::references() const {
  std::vector<Reference> found;
  for (const std::string& name : TRY(names_in(references_.get()))) {
    if (!is_name(name)) continue;
    auto text = os::read_file_at(references_.get(), name.c_str());
    if (!text) continue;  // released meanwhile
    Reference reference = TRY_CONTEXT(name, read_reference(*text));
    if (in_force(reference)) found.push_back(std::move(reference));
  }
  return found;
}

Result<std::vector<Layer>> Store::unused() const {
  std::set<std::string> used;
  for (const Stack& one : TRY(stacks())) used.insert(one.layers.begin(), one.layers.end());
  for (const Reference& one : TRY(references())) used.insert(one.layers.begin(), one.layers.end());
  std::vector<Layer> all = TRY(layers());
  std::erase_if(all, [&](const Layer& layer) { return used.contains(layer.digest); });
  return all;
}

Result<DiskUse> Store::collect() {
  DiskUse use;
  std::vector<std::string> doomed;
  {
    const os::Fd held = TRY(lock());
    use = TRY(disk_use());
    for (const Layer& layer : TRY(unused())) {
      // Out of sight in one step; without a lock file there, the next sweep finishes what we do not.
      std::string away = random_word(16);
      if (::renameat(trees_.get(), layer.digest.c_str(), incoming_.get(), away.c_str()) < 0)
        return fail(errno_error(errno, "remove a layer"));
      doomed.push_back(std::move(away));
    }
    for (const std::string& key : TRY(names_in(cache_.get())))
      if (!cached(key)) ::unlinkat(cache_.get(), key.c_str(), 0);
  }
  for (const std::string& name : doomed) TRY(os::remove_tree(incoming_.get(), name));
  return use;
}

Result<DiskUse> Store::disk_use() const {
  DiskUse use;
  for (const Layer& layer : TRY(layers())) {
    ++use.layers;
    use.bytes += layer.bytes;
  }
  for (const Layer& layer : TRY(unused())) {
    ++use.unused_layers;
    use.unused_bytes += layer.bytes;
  }
  return use;
}

std::optional<std::string> Store::cached(const std::string& key) const {
  if (!is_digest(key)) return std::nullopt;
  auto digest = os::read_file_at(cache_.get(), key.c_str());
  if (!digest || !is_digest(*digest) || !find(*digest)) return std::nullopt;
  return std::move(*digest);
}

Result<void> Store::cache(const std::string& key, const std::string& digest) {
  if (!is_digest(key)) return fail(Code::internal, "a cache key is a digest");
  const os::Fd held = TRY(lock());
  return write_document("cache", key, digest, durability_);
}

}  // namespace atl::layer
