#include "shell/commands/sqlite/files.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <new>
#include <random>

#include "shell/runner.h"

namespace atl::shell::sqlite {

namespace {

// What SQLite calls a file. SQLite owns the memory: open() constructs into it, close() destroys.
struct Handle : sqlite3_file {
  explicit Handle(Files& files) : sqlite3_file{}, owner(files) {}

  Files& owner;
  std::unique_ptr<vfs::File> file;  // null: a temporary one, in `memory`
  std::string memory;
  std::optional<vfs::Path> remove_at_close;
  std::uint64_t inode = 0;
  int lock = SQLITE_LOCK_NONE;

  FileLock& locks() { return owner.call().runner().machine().file_locks[inode]; }
};

Handle& handle(sqlite3_file* file) {
  return *static_cast<Handle*>(file);
}

int unlock(sqlite3_file* file, int level) {
  Handle& h = handle(file);
  if (level >= h.lock || !h.file) return SQLITE_OK;
  FileLock& locks = h.locks();
  if (h.lock >= SQLITE_LOCK_RESERVED && level < SQLITE_LOCK_RESERVED)
    locks.reserved = locks.exclusive = false;
  if (level == SQLITE_LOCK_NONE) --locks.shared;
  if (locks.shared == 0) h.owner.call().runner().machine().file_locks.erase(h.inode);
  h.lock = level;
  return SQLITE_OK;
}

int lock(sqlite3_file* file, int level) {
  Handle& h = handle(file);
  if (level <= h.lock || !h.file) return SQLITE_OK;
  FileLock& locks = h.locks();
  bool mine = h.lock >= SQLITE_LOCK_RESERVED;
  // SQLite's protocol: many readers (shared), one of which may prepare to write (reserved), and writes when
  // it is alone (exclusive).
  if (h.lock == SQLITE_LOCK_NONE) {
    if (locks.exclusive) return SQLITE_BUSY;
    ++locks.shared;
    h.lock = SQLITE_LOCK_SHARED;
  }
  if (level >= SQLITE_LOCK_RESERVED && !mine) {
    if (locks.reserved) return SQLITE_BUSY;
    locks.reserved = true;
    h.lock = SQLITE_LOCK_RESERVED;
  }
  if (level >= SQLITE_LOCK_PENDING) {
    if (locks.shared > 1) return SQLITE_BUSY;
    locks.exclusive = true;
  }
  h.lock = level;
  return SQLITE_OK;
}

int check_reserved(sqlite3_file* file, int* answer) {
  Handle& h = handle(file);
  *answer = h.file && h.locks().reserved ? 1 : 0;
  return SQLITE_OK;
}

int close(sqlite3_file* file) {
  Handle& h = handle(file);
  unlock(file, SQLITE_LOCK_NONE);
  h.owner.charge(0, -static_cast<std::int64_t>(h.memory.size()));
  if (h.remove_at_close) (void)h.owner.call().fs().remove_file(*h.remove_at_close);
  h.~Handle();
  return SQLITE_OK;
}

int read(sqlite3_file* file, void* to, int amount, sqlite3_int64 offset) {
  Handle& h = handle(file);
  auto size = static_cast<std::size_t>(amount);
  auto from = static_cast<std::uint64_t>(offset);
  std::span<char> out(static_cast<char*>(to), size);
  std::size_t got = 0;
  if (!h.file) {
    if (from < h.memory.size()) got = h.memory.copy(out.data(), size, from);
  } else {
    auto read = h.file->read_at(from, out);
    if (!read) return SQLITE_IOERR_READ;
    got = *read;
  }
  if (!h.owner.charge(size / 16 + 1)) return SQLITE_IOERR_READ;
  if (got == size) return SQLITE_OK;
  // SQLite demands zeros behind a short read.
  std::memset(out.data() + got, 0, size - got);
  return SQLITE_IOERR_SHORT_READ;
}

int write(sqlite3_file* file, const void* from, int amount, sqlite3_int64 offset) {
  Handle& h = handle(file);
  std::string_view bytes(static_cast<const char*>(from), static_cast<std::size_t>(amount));
  auto at = static_cast<std::uint64_t>(offset);
  if (h.file) {
    if (!h.owner.charge(bytes.size() / 16 + 1)) return SQLITE_IOERR_WRITE;
    auto written = h.file->write_at(at, bytes);
    if (written) return SQLITE_OK;
    return written.error().code() == Code::no_space ? SQLITE_FULL : SQLITE_IOERR_WRITE;
  }
  std::size_t end = at + bytes.size();
  if (end > h.memory.size()) {
    if (!h.owner.charge(1, static_cast<std::int64_t>(end - h.memory.size()))) return SQLITE_FULL;
    h.memory.resize(end);
  }
  bytes.copy(h.memory.data() + at, bytes.size());
  return SQLITE_OK;
}

int truncate(sqlite3_file* file, sqlite3_int64 size) {
  Handle& h = handle(file);
  if (h.file) return h.file->truncate(static_cast<std::uint64_t>(size)) ? SQLITE_OK : SQLITE_IOERR_TRUNCATE;
  auto wanted = std::min(h.memory.size(), static_cast<std::size_t>(size));
  h.owner.charge(0, -static_cast<std::int64_t>(h.memory.size() - wanted));
  h.memory.resize(wanted);
  return SQLITE_OK;
}

// Files are in memory: what is written is there.
int sync(sqlite3_file*, int) {
  return SQLITE_OK;
}

int size(sqlite3_file* file, sqlite3_int64* out) {
  Handle& h = handle(file);
  *out = static_cast<sqlite3_int64>(h.memory.size());
  if (!h.file) return SQLITE_OK;
  auto stat = h.file->stat();
  if (!stat) return SQLITE_IOERR_FSTAT;
  *out = static_cast<sqlite3_int64>(stat->size);
  return SQLITE_OK;
}

int control(sqlite3_file*, int, void*) {
  return SQLITE_NOTFOUND;
}
int sector_size(sqlite3_file*) {
  return 4096;
}
int traits(sqlite3_file*) {
  return 0;
}

constexpr sqlite3_io_methods kMethods = [] {
  sqlite3_io_methods out{};
  out.iVersion = 1;
  out.xClose = close;
  out.xRead = read;
  out.xWrite = write;
  out.xTruncate = truncate;
  out.xSync = sync;
  out.xFileSize = size;
  out.xLock = lock;
  out.xUnlock = unlock;
  out.xCheckReservedLock = check_reserved;
  out.xFileControl = control;
  out.xSectorSize = sector_size;
  out.xDeviceCharacteristics = traits;
  return out;
}();

Files& files(sqlite3_vfs* vfs) {
  return *static_cast<Files*>(vfs->pAppData);
}

int open(sqlite3_vfs* vfs, const char* name, sqlite3_file* file, int flags, int* out_flags) {
  Files& owner = files(vfs);
  file->pMethods = nullptr;  // nothing to close unless we succeed
  auto* h = new (file) Handle(owner);
  auto refuse = [h](int code) {
    h->~Handle();
    return code;
  };
  if (name) {
    auto path = vfs::Path::posix(name);
    if (!path) return refuse(SQLITE_CANTOPEN);
    vfs::OpenOptions options;
    options.write = (flags & SQLITE_OPEN_READWRITE) != 0;
    options.create = (flags & SQLITE_OPEN_CREATE) != 0;
    options.mode = 0666 & ~owner.call().umask();
    auto opened = owner.call().fs().open(*path, options);
    if (!opened) return refuse(SQLITE_CANTOPEN);
    h->file = std::move(*opened);
    if (auto stat = h->file->stat()) h->inode = stat->inode;
    if (flags & SQLITE_OPEN_DELETEONCLOSE) h->remove_at_close = *path;
  }
  if (out_flags) *out_flags = flags;
  h->pMethods = &kMethods;
  return SQLITE_OK;
}

int remove(sqlite3_vfs* vfs, const char* name, int) {
  auto path = vfs::Path::posix(name);
  auto removed = path ? files(vfs).call().fs().remove_file(*path) : Result<void>(fail(path.error()));
  if (removed) return SQLITE_OK;
  return removed.error().code() == Code::not_found ? SQLITE_IOERR_DELETE_NOENT : SQLITE_IOERR_DELETE;
}

int access(sqlite3_vfs* vfs, const char* name, int, int* answer) {
  auto path = vfs::Path::posix(name);
  auto stat = path ? files(vfs).call().fs().find(*path) : std::nullopt;
  *answer = stat && !stat->is_directory() ? 1 : 0;
  return SQLITE_OK;
}

int full_path(sqlite3_vfs* vfs, const char* name, int room, char* out) {
  auto path = files(vfs).call().resolve(name);
  if (!path) return SQLITE_CANTOPEN;
  std::string text = path->str();
  if (text.size() >= static_cast<std::size_t>(room)) return SQLITE_CANTOPEN;
  std::memcpy(out, text.c_str(), text.size() + 1);
  return SQLITE_OK;
}

void* no_library(sqlite3_vfs*, const char*) {
  return nullptr;
}
void no_reason(sqlite3_vfs*, int room, char* out) {
  sqlite3_snprintf(room, out, "extensions cannot be loaded");
}
void (*no_symbol(sqlite3_vfs*, void*, const char*))() {
  return nullptr;
}
void no_close(sqlite3_vfs*, void*) {}

int randomness(sqlite3_vfs*, int count, char* out) {
  std::random_device source;
  for (int i = 0; i < count; ++i) out[i] = static_cast<char>(source());
  return count;
}

// Sleeping would hold up all fibers; a busy database is reported at once.
int no_sleep(sqlite3_vfs*, int) {
  return 0;
}

int current_time(sqlite3_vfs* vfs, double* out) {
  auto since = std::chrono::duration<double>(files(vfs).call().now().time_since_epoch()).count();
  // The Julian day of 1 January 1970.
  *out = 2440587.5 + since / 86400.0;
  return SQLITE_OK;
}

int last_error(sqlite3_vfs*, int, char*) {
  return 0;
}

}  // namespace

Files::Files(Invocation& call) : call_(call) {
  // SQLite finds it by this name, so no two that live at once may share one.
  static std::atomic<std::uint64_t> counter{0};
  name_ = fmt::format("atoll-shell-{}", counter.fetch_add(1));
  vfs_.iVersion = 1;
  vfs_.szOsFile = sizeof(Handle);
  vfs_.mxPathname = 4096;
  vfs_.zName = name_.c_str();
  vfs_.pAppData = this;
  vfs_.xOpen = open;
  vfs_.xDelete = remove;
  vfs_.xAccess = access;
  vfs_.xFullPathname = full_path;
  vfs_.xDlOpen = no_library;
  vfs_.xDlError = no_reason;
  vfs_.xDlSym = no_symbol;
  vfs_.xDlClose = no_close;
  vfs_.xRandomness = randomness;
  vfs_.xSleep = no_sleep;
  vfs_.xCurrentTime = current_time;
  vfs_.xGetLastError = last_error;
  sqlite3_vfs_register(&vfs_, 0);
}

Files::~Files() {
  sqlite3_vfs_unregister(&vfs_);
}

bool Files::charge(std::uint64_t work, std::int64_t memory) noexcept {
  if (memory < 0) call_.charge_memory(memory);  // giving back never throws
  if (stopped_) return false;
  try {
    if (work) call_.charge(work);
    if (memory > 0) call_.charge_memory(memory);
    return true;
    // SQLite is C: exceptions must not pass through it. rethrow() throws when its frames are gone.
  } catch (...) {
    stopped_ = std::current_exception();
    return false;
  }
}

void Files::rethrow() {
  if (stopped_) std::rethrow_exception(std::exchange(stopped_, nullptr));
}

}  // namespace atl::shell::sqlite
