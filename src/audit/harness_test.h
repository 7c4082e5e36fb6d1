#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include "audit/log.h"
#include "audit/pages.h"
#include "audit/verify.h"
#include "os/directory_test.h"

// What the tests of this room share.
namespace atl::audit {

inline Entry entry_of(std::string action, std::string object, std::string tenant = "default") {
  Entry entry;
  entry.actor = {"key_1", "admin", std::move(tenant), "127.0.0.1", "req-1"};
  entry.action = std::move(action);
  entry.object = std::move(object);
  return entry;
}

inline std::vector<std::string> lines_of(const std::string& path) {
  std::ifstream file(path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

inline void write_lines(const std::string& path, const std::vector<std::string>& lines) {
  std::ofstream file(path, std::ios::trunc);
  for (const std::string& line : lines) file << line << '\n';
}

template <class T>
Result<T> wait(Task<T> task) {
  boost::asio::io_context loop;
  std::optional<Result<T>> result;
  boost::asio::co_spawn(loop, std::move(task),
                        [&](std::exception_ptr, Result<T> value) { result.emplace(std::move(value)); });
  loop.run();
  return std::move(*result);
}

class LogTest : public testing::Test {
 protected:
  LogTest() {
    options_.data = directory_.path();
    options_.clock = &clock_;
    options_.segment_bytes = 2000;
  }

  std::shared_ptr<Log> open() {
    auto log = Log::open(options_);
    EXPECT_TRUE(log) << (log ? "" : log.error().message());
    return log ? *log : nullptr;
  }
  // A closed log with `count` entries beside those of start and stop.
  void fill(int count) {
    const auto log = open();
    for (int i = 0; i < count; ++i)
      ASSERT_TRUE(
          log->append(entry_of(i % 3 == 0 ? "file.read" : "file.write", "ses_1:/f" + std::to_string(i))));
    log->close();
  }
  Verdict check(VerifyOptions how = {}) {
    how.data = directory_.path();
    auto verdict = verify(how);
    EXPECT_TRUE(verdict) << (verdict ? "" : verdict.error().message());
    return verdict ? *verdict : Verdict{};
  }
  std::vector<Segment> segments() { return list_segments(paths().segments); }
  Paths paths() const { return Paths(directory_.path()); }
  std::vector<std::string> all_lines() {
    std::vector<std::string> all;
    for (const Segment& segment : segments())
      for (std::string& line : lines_of(segment.path)) all.push_back(std::move(line));
    return all;
  }
  std::vector<StoredEntry> all_entries() {
    std::vector<StoredEntry> all;
    for (const std::string& line : all_lines()) {
      auto stored = parse_line(line);
      EXPECT_TRUE(stored) << line;
      if (stored) all.push_back(std::move(*stored));
    }
    return all;
  }

  os::TestDirectory directory_;
  ManualClock clock_;
  Options options_;
};

}  // namespace atl::audit
