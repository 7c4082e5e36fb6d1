#include "shell/commands/sqlite/heap.h"

#include <time.h>

#include <utility>

namespace atl::shell::sqlite {

namespace {

thread_local Files* files_now = nullptr;
thread_local const Zone* zone_now = nullptr;
sqlite3_mem_methods plain{};

void* allocate(int size) {
  void* memory = plain.xMalloc(size);
  if (!memory || !files_now || files_now->charge(0, plain.xSize(memory))) return memory;
  plain.xFree(memory);
  return nullptr;
}

void release(void* memory) {
  if (memory && files_now) files_now->charge(0, -static_cast<std::int64_t>(plain.xSize(memory)));
  plain.xFree(memory);
}

void* change(void* memory, int size) {
  int before = plain.xSize(memory);
  if (files_now && size > before && !files_now->charge(0, size - before)) return nullptr;
  void* changed = plain.xRealloc(memory, size);
  if (changed && files_now && size < before) files_now->charge(0, static_cast<std::int64_t>(size) - before);
  return changed;
}

// Fields of a time_t in the zone of the script; of whoever else uses SQLite in this process, as before.
int local_time(const void* moment, void* fields) {
  const auto& when = *static_cast<const time_t*>(moment);
  auto& out = *static_cast<tm*>(fields);
  if (!zone_now) return ::localtime_r(&when, &out) ? 0 : 1;
  CivilTime civil = to_civil(when, *zone_now);
  out = {};
  out.tm_year = static_cast<int>(civil.year - 1900);
  out.tm_mon = civil.month - 1;
  out.tm_mday = civil.day;
  out.tm_hour = civil.hour;
  out.tm_min = civil.minute;
  out.tm_sec = civil.second;
  return 0;
}

// SQLite takes another allocator only before its first use in the process, so this cannot wait for a script.
bool install() {
  if (sqlite3_config(SQLITE_CONFIG_GETMALLOC, &plain) != SQLITE_OK || !plain.xMalloc) return false;
  sqlite3_mem_methods charged = plain;
  charged.xMalloc = allocate;
  charged.xFree = release;
  charged.xRealloc = change;
  if (sqlite3_config(SQLITE_CONFIG_MALLOC, &charged) != SQLITE_OK) return false;
  constexpr int with_function = 2;
  return sqlite3_test_control(SQLITE_TESTCTRL_LOCALTIME_FAULT, with_function, local_time) == SQLITE_OK;
}

const bool installed = install();

}  // namespace

Turn::Turn(Files& files, const Zone* zone)
    : outer_files_(std::exchange(files_now, &files)), outer_zone_(std::exchange(zone_now, zone)) {}

Turn::~Turn() {
  files_now = outer_files_;
  zone_now = outer_zone_;
}

bool Turn::possible() {
  return installed;
}

}  // namespace atl::shell::sqlite
