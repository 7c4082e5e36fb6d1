// SQLite on a disk that fails: a layer under the library refuses the n-th call, for every n that a piece of
// work makes.
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <atomic>
#include <cstring>

#include "store/entry.h"
#include "store/harness_test.h"

namespace atl::store {
namespace {

// Counts the calls that touch the disk; those from `first` to `last` (counted from 1) fail with `code`.
struct Fault {
  std::atomic<int> calls{0};
  std::atomic<int> first{0}, last{0};
  std::atomic<int> code{SQLITE_IOERR};

  bool strikes() {
    const int now = ++calls;
    return now >= first && now <= last;
  }
  void arm(int from, int to, int with) {
    code = with;
    calls = 0;
    last = to;
    first = from;
  }
  void disarm() { first = last = 0; }
};
Fault fault;

struct File {
  sqlite3_file base;
  sqlite3_file* inner;  // lies behind this struct
};

sqlite3_file* inner_of(sqlite3_file* file) {
  return reinterpret_cast<File*>(file)->inner;
}

int close_file(sqlite3_file* file) {
  sqlite3_file* inner = inner_of(file);
  return inner->pMethods != nullptr ? inner->pMethods->xClose(inner) : SQLITE_OK;
}
int read_file(sqlite3_file* file, void* to, int size, sqlite3_int64 at) {
  if (fault.strikes()) return SQLITE_IOERR_READ;
  return inner_of(file)->pMethods->xRead(inner_of(file), to, size, at);
}
int write_file(sqlite3_file* file, const void* from, int size, sqlite3_int64 at) {
  if (fault.strikes()) return fault.code;
  return inner_of(file)->pMethods->xWrite(inner_of(file), from, size, at);
}
int truncate_file(sqlite3_file* file, sqlite3_int64 size) {
  if (fault.strikes()) return SQLITE_IOERR_TRUNCATE;
  return inner_of(file)->pMethods->xTruncate(inner_of(file), size);
}
int sync_file(sqlite3_file* file, int flags) {
  if (fault.strikes()) return SQLITE_IOERR_FSYNC;
  return inner_of(file)->pMethods->xSync(inner_of(file), flags);
}
int file_size(sqlite3_file* file, sqlite3_int64* size) {
  if (fault.strikes()) return SQLITE_IOERR_FSTAT;
  return inner_of(file)->pMethods->xFileSize(inner_of(file), size);
}
int lock(sqlite3_file* file, int kind) {
  return inner_of(file)->pMethods->xLock(inner_of(file), kind);
}
int unlock(sqlite3_file* file, int kind) {
  return inner_of(file)->pMethods->xUnlock(inner_of(file), kind);
}
int check_lock(sqlite3_file* file, int* result) {
  return inner_of(file)->pMethods->xCheckReservedLock(inner_of(file), result);
}
int control(sqlite3_file* file, int what, void* with) {
  return inner_of(file)->pMethods->xFileControl(inner_of(file), what, with);
}
int sector_size(sqlite3_file* file) {
  return inner_of(file)->pMethods->xSectorSize(inner_of(file));
}
int characteristics(sqlite3_file* file) {
  return inner_of(file)->pMethods->xDeviceCharacteristics(inner_of(file));
}
int map_shared(sqlite3_file* file, int page, int size, int extend, void volatile** at) {
  if (fault.strikes()) return SQLITE_IOERR_SHMMAP;
  return inner_of(file)->pMethods->xShmMap(inner_of(file), page, size, extend, at);
}
int lock_shared(sqlite3_file* file, int offset, int count, int flags) {
  return inner_of(file)->pMethods->xShmLock(inner_of(file), offset, count, flags);
}
void barrier(sqlite3_file* file) {
  inner_of(file)->pMethods->xShmBarrier(inner_of(file));
}
int unmap_shared(sqlite3_file* file, int remove) {
  return inner_of(file)->pMethods->xShmUnmap(inner_of(file), remove);
}

constexpr sqlite3_io_methods kMethods = {
    2,           close_file, read_file,    write_file, truncate_file, sync_file,       file_size,
    lock,        unlock,     check_lock,   control,    sector_size,   characteristics, map_shared,
    lock_shared, barrier,    unmap_shared, nullptr,    nullptr};

int open_file(sqlite3_vfs* vfs, const char* name, sqlite3_file* file, int flags, int* out_flags) {
  auto* real = static_cast<sqlite3_vfs*>(vfs->pAppData);
  auto* mine = reinterpret_cast<File*>(file);
  mine->inner = reinterpret_cast<sqlite3_file*>(mine + 1);
  mine->base.pMethods = nullptr;
  if (fault.strikes()) return SQLITE_CANTOPEN;
  const int opened = real->xOpen(real, name, mine->inner, flags, out_flags);
  if (opened == SQLITE_OK) mine->base.pMethods = &kMethods;
  return opened;
}

// The layer is what connections use by default for as long as this lives.
class FaultyDisk {
 public:
  FaultyDisk() {
    sqlite3_vfs* real = sqlite3_vfs_find(nullptr);
    layer_ = *real;
    layer_.zName = "atoll-faulty";
    layer_.pAppData = real;
    layer_.szOsFile = static_cast<int>(sizeof(File)) + real->szOsFile;
    layer_.xOpen = open_file;
    real_ = real;
    sqlite3_vfs_register(&layer_, 1);
  }
  ~FaultyDisk() {
    fault.disarm();
    sqlite3_vfs_register(real_, 1);
    sqlite3_vfs_unregister(&layer_);
  }

 private:
  sqlite3_vfs layer_{};
  sqlite3_vfs* real_;
};

// What one run was told: only what was acknowledged counts.
struct Told {
  bool session = false, admitted = false, finished = false, document = false, snapshot = false;
};

Told work(Store& store) {
  Told told;
  told.session = wait(store.put_session(session("a"))).has_value();
  told.admitted = wait(store.admit(record("exe_1"))).has_value();
  DocumentRow document{.kind = "template", .tenant = "default", .id = "t", .name = "n", .body = "{}"};
  told.document = wait(store.put_document(document)).has_value();
  SnapshotRow snapshot{.snapshot_id = "snp_1", .tenant = "default", .attributes = "{}"};
  told.snapshot = wait(store.put_snapshot(snapshot)).has_value();
  if (told.admitted) {
    const std::vector<ArtifactRow> artifacts{
        {"d1", "ses_a", "default", "exe_1", "/home/user/output/x", "text/plain", 3}};
    told.finished = wait(store.finish(ended(record("exe_1")), artifacts)).has_value();
  }
  return told;
}

// Nothing acknowledged is missing; nothing refused is there, and nothing is there by half.
void expect_told(Store& store, const Told& told, int call) {
  EXPECT_EQ(wait(store.get_session("ses_a")).has_value(), told.session) << call;
  const auto found = wait(store.get_record("default", "exe_1"));
  EXPECT_EQ(found.has_value(), told.admitted) << call;
  if (found) {
    EXPECT_EQ(found->status, told.finished ? "success" : "admitted") << call;
  }
  const auto artifacts = wait(store.list_artifacts("ses_a"));
  ASSERT_TRUE(artifacts) << call;
  EXPECT_EQ(artifacts->size(), told.finished ? 1U : 0U) << call;
  EXPECT_EQ(wait(store.get_document("template", "default", "t")).has_value(), told.document) << call;
  EXPECT_EQ(wait(store.get_snapshot("default", "snp_1")).has_value(), told.snapshot) << call;
}

class EveryCallFails : public testing::TestWithParam<std::tuple<int, bool, Durability>> {};

// The middle word: only that call, or all from then on.
INSTANTIATE_TEST_SUITE_P(Faults, EveryCallFails,
                         testing::Values(std::tuple(SQLITE_IOERR_WRITE, false, Durability::process),
                                         std::tuple(SQLITE_FULL, true, Durability::process),
                                         std::tuple(SQLITE_FULL, false, Durability::power)));

TEST_P(EveryCallFails, NothingIsHalfDoneAndNothingAcknowledgedIsLost) {
  const auto [code, for_good, durability] = GetParam();
  FaultyDisk disk;
  bool struck = true;
  int call = 1;
  for (; struck && call < 400; ++call) {
    Folder folder;
    Told told;
    {
      auto store = Store::open(folder.path(), durability);
      ASSERT_TRUE(store) << store.error().message();
      fault.arm(call, for_good ? 1 << 30 : call, code);
      told = work(**store);
      struck = fault.calls >= call;
      fault.disarm();
      expect_told(**store, told, call);
    }
    auto again = Store::open(folder.path(), durability);
    ASSERT_TRUE(again) << again.error().message();
    expect_told(**again, told, call);
  }
  EXPECT_GT(call, 5) << "the work touched no disk";
  EXPECT_FALSE(struck) << "the work never ran without a fault";
}

// Opening fails clearly or works; afterwards a good disk gives a good store.
TEST(Faults, OpeningAtEveryFailedCall) {
  FaultyDisk disk;
  bool struck = true;
  for (int call = 1; struck && call < 400; ++call) {
    Folder folder;
    fault.arm(call, call, SQLITE_IOERR_WRITE);
    auto store = Store::open(folder.path());
    struck = fault.calls >= call;
    fault.disarm();
    if (!store) {
      EXPECT_NE(store.error().message(), "") << call;
    }
    if (store) store->reset();
    auto again = Store::open(folder.path());
    ASSERT_TRUE(again) << call << again.error().message();
    EXPECT_TRUE(wait((*again)->put_session(session("a")))) << call;
  }
}

// While the database refuses, what the journal took is acknowledged, reading says what is wrong, and
// everything is there once the database takes it.
TEST(Faults, ADatabaseThatRefusesForAWhileLosesNothing) {
  FaultyDisk disk;
  Folder folder;
  auto store = *Store::open(folder.path());
  fault.arm(1, 1 << 30, SQLITE_FULL);
  for (int i = 0; i < 20; ++i) {
    const std::string id = "exe_" + std::to_string(i);
    ASSERT_TRUE(wait(store->admit(record(id))));
    ASSERT_TRUE(wait(store->finish(ended(record(id)), {})));
  }
  const auto refused = wait(store->list_records({.tenant = "default"}));
  ASSERT_FALSE(refused);
  EXPECT_TRUE(refused.error().code() == Code::no_space || refused.error().code() == Code::unavailable)
      << refused.error().message();
  EXPECT_FALSE(wait(store->put_key({.key_id = "key_1"})));
  fault.disarm();
  const auto page = wait(store->list_records({.tenant = "default", .limit = 100}));
  ASSERT_TRUE(page) << page.error().message();
  EXPECT_EQ(page->items.size(), 20U);
  for (const RecordRow& row : page->items) EXPECT_EQ(row.status, "success");
  EXPECT_TRUE(wait(store->list_keys())->empty());
}

// Closing while the database refuses leaves everything in the journal for the next start.
TEST(Faults, WhatTheDatabaseRefusedUntilTheEndWaitsForTheNextStart) {
  FaultyDisk disk;
  Folder folder;
  {
    auto store = *Store::open(folder.path());
    fault.arm(1, 1 << 30, SQLITE_IOERR_WRITE);
    ASSERT_TRUE(wait(store->admit(record("exe_1"))));
  }
  fault.disarm();
  auto store = *Store::open(folder.path());
  EXPECT_EQ(wait(store->get_record("default", "exe_1"))->status, "admitted");
}

}  // namespace
}  // namespace atl::store
