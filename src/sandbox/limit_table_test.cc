#include "sandbox/limit_table.h"

#include <gtest/gtest.h>

#include <set>

namespace atl::sandbox {
namespace {

using namespace std::chrono_literals;

const LimitRow& row_of(std::string_view name) {
  for (const LimitRow& row : kLimits)
    if (row.name == name) return row;
  ADD_FAILURE() << name;
  return kLimits.front();
}

// Every row leads to a member of its own, in the limits and in the patch.
TEST(LimitTableTest, EveryRowChangesOneMemberOfItsOwn) {
  std::set<std::string_view> names, stored;
  for (const LimitRow& row : kLimits) {
    EXPECT_TRUE(names.insert(row.name).second) << row.name;
    EXPECT_TRUE(stored.insert(row.stored_name).second) << row.stored_name;
    EXPECT_LT(row.least, row.most) << row.name;
    LimitsPatch patch;
    set_amount(patch, row, 64);
    EXPECT_EQ(amount(patch, row), 64) << row.name;
    Limits limits;
    apply(patch, limits);
    for (const LimitRow& other : kLimits) {
      if (other.name == row.name) {
        EXPECT_EQ(amount(limits, other), 64) << row.name;
      } else {
        EXPECT_EQ(amount(patch, other), std::nullopt) << row.name << " set " << other.name;
        EXPECT_EQ(amount(limits, other), amount(Limits{}, other)) << row.name << " changed " << other.name;
      }
    }
  }
  // A member of the struct without a row would make these differ: everything is set to something else than
  // its default.
  LimitsPatch all;
  for (const LimitRow& row : kLimits) set_amount(all, row, 64);
  Limits changed;
  apply(all, changed);
  EXPECT_EQ(changed, (Limits{.memory_bytes = 64 << 20,
                             .cpu_cores = 64,
                             .wall_time = 64s,
                             .cpu_time = 64s,
                             .processes_max = 64,
                             .disk_bytes = 64 << 20,
                             .inodes_max = 64,
                             .open_files_max = 64,
                             .output_bytes = 64 << 20,
                             .io_bytes_per_second = 64 << 20}));
}

TEST(LimitTableTest, UnitsAreTheClients) {
  LimitsPatch patch;
  set_amount(patch, row_of("memory_mb"), 0.5);
  set_amount(patch, row_of("execution_time_seconds"), 0.0105);
  set_amount(patch, row_of("cpu_cores"), 0.25);
  EXPECT_EQ(patch.memory_bytes, 512U << 10);
  EXPECT_EQ(patch.wall_time, 11ms);
  EXPECT_EQ(patch.cpu_cores, 0.25);
}

TEST(LimitTableTest, WhatIsSetReplaces) {
  LimitsPatch over{.memory_bytes = 1, .cpu_time = 2ms}, into{.memory_bytes = 7, .disk_bytes = 3};
  merge(over, into);
  EXPECT_EQ(into, (LimitsPatch{.memory_bytes = 1, .cpu_time = 2ms, .disk_bytes = 3}));
}

TEST(LimitTableTest, LoweringCutsWhatIsMoreAndWhatIsUnlimited) {
  Limits limits{.memory_bytes = 100 << 20, .wall_time = 5s};
  lower(limits, row_of("memory_mb"), 200);
  EXPECT_EQ(limits.memory_bytes, 100U << 20);
  lower(limits, row_of("memory_mb"), 10);
  EXPECT_EQ(limits.memory_bytes, 10U << 20);
  lower(limits, row_of("execution_time_seconds"), 2.5);
  EXPECT_EQ(limits.wall_time, 2500ms);
  lower(limits, row_of("cpu_time_seconds"), 1);
  EXPECT_EQ(limits.cpu_time, std::nullopt);
  ASSERT_EQ(limits.io_bytes_per_second, 0U);
  lower(limits, row_of("io_mb_per_second"), 3);
  EXPECT_EQ(limits.io_bytes_per_second, 3U << 20);
}

TEST(LimitTableTest, OnlyLimitsOfTheSandboxTellSandboxesApart) {
  EXPECT_TRUE(bind_sandbox_alike({.wall_time = 1s, .output_bytes = 1}, {.wall_time = 2s, .output_bytes = 2}));
  EXPECT_FALSE(bind_sandbox_alike({.inodes_max = 1000}, {.inodes_max = 1001}));
  EXPECT_FALSE(bind_sandbox_alike({}, {.io_bytes_per_second = 1}));
}

}  // namespace
}  // namespace atl::sandbox
