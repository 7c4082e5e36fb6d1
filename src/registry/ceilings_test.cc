#include "registry/ceilings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

namespace atl::registry {
namespace {

using testing::HasSubstr;

// One of everything, each far beyond any machine.
LimitsPatch everything(double scale) {
  LimitsPatch patch;
  patch.memory_bytes = static_cast<std::uint64_t>(scale) << 20;
  patch.cpu_cores = scale;
  patch.wall_time = patch.cpu_time = std::chrono::seconds(static_cast<std::int64_t>(scale));
  patch.processes_max = patch.open_files_max = static_cast<std::uint32_t>(scale);
  patch.disk_bytes = patch.output_bytes = patch.io_bytes_per_second = static_cast<std::uint64_t>(scale) << 20;
  patch.inodes_max = static_cast<std::uint64_t>(scale);
  return patch;
}

TEST(Ceilings, EveryLimitHasOneAndIsRefusedAboveIt) {
  for (const std::string_view name : limit_names()) {
    const Ceilings one{{std::string(name), {10, "the operator's limits.max." + std::string(name)}}};
    EXPECT_TRUE(check(everything(10), one)) << name;
    EXPECT_TRUE(check({}, one)) << name;
    const auto refused = check(everything(11), one);
    ASSERT_FALSE(refused) << name;
    EXPECT_EQ(refused.error().code(), Code::invalid_argument);
    EXPECT_EQ(refused.error().field(), "limits." + std::string(name));
    EXPECT_THAT(refused.error().message(), HasSubstr(std::string(name) + " is at most 10, not 11"));
    EXPECT_THAT(refused.error().message(), HasSubstr("limits.max." + std::string(name)));
  }
}

TEST(Ceilings, WhatNobodyAskedForIsCut) {
  sandbox::Limits limits;
  apply(everything(100), limits);
  Ceilings all;
  for (const std::string_view name : limit_names()) all[std::string(name)] = {10, "so"};
  clamp(limits, all);
  sandbox::Limits wanted;
  apply(everything(10), wanted);
  EXPECT_EQ(limits, wanted);
  // As fast as it goes is more than any number.
  limits.io_bytes_per_second = 0;
  clamp(limits, all);
  EXPECT_EQ(limits.io_bytes_per_second, 10U << 20);
  sandbox::Limits untouched, same;
  clamp(untouched, {});
  EXPECT_EQ(untouched, same);
}

TEST(Ceilings, AMachineHasWhatItHas) {
  const Ceilings machine = machine_ceilings("/tmp");
  ASSERT_TRUE(machine.contains("memory_mb") && machine.contains("cpu_cores") && machine.contains("disk_mb"));
  EXPECT_EQ(machine.at("cpu_cores").most, static_cast<double>(::sysconf(_SC_NPROCESSORS_ONLN)));
  LimitsPatch absurd;
  absurd.memory_bytes = 16ULL << 40;
  EXPECT_FALSE(check(absurd, machine));
  absurd = {};
  absurd.cpu_cores = 1024;
  EXPECT_FALSE(check(absurd, machine));
  EXPECT_FALSE(machine_ceilings("/nonexistent").contains("disk_mb"));
}

}  // namespace
}  // namespace atl::registry
