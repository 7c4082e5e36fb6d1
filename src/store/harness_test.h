#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <filesystem>
#include <optional>
#include <string>

#include "store/store.h"

// What the tests of this room share.
namespace atl::store {

class Folder {
 public:
  Folder() {
    char name[] = "/tmp/atoll-store-XXXXXX";
    path_ = ::mkdtemp(name);
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// The loop outlives every store: whoever brings a result back may still be about to let go of it.
inline boost::asio::io_context& test_loop() {
  static boost::asio::io_context loop;
  return loop;
}

template <class T>
Result<T> wait(Task<T> task) {
  boost::asio::io_context& loop = test_loop();
  std::optional<Result<T>> result;
  boost::asio::co_spawn(loop, std::move(task), [&](std::exception_ptr thrown, Result<T> value) {
    EXPECT_EQ(thrown, nullptr);
    result.emplace(std::move(value));
  });
  loop.restart();
  loop.run();
  return std::move(*result);
}

inline SessionRow session(std::string id, std::string tenant = "default") {
  SessionRow row;
  row.session_id = "ses_" + id;
  row.sandbox_id = "i" + id;
  row.incarnation = row.sandbox_id;
  row.tenant = std::move(tenant);
  row.state = "running";
  row.created_at = row.last_used_at = from_unix_micros(1'000'000);
  row.limits = row.isolation = row.env = row.metadata = row.attributes = "{}";
  return row;
}

inline RecordRow record(std::string id, std::string session_id = "ses_a") {
  RecordRow row;
  row.record_id = std::move(id);
  row.session_id = std::move(session_id);
  row.tenant = "default";
  row.type = "python";
  row.status = "admitted";
  row.code = "print('" + row.record_id + "')";
  row.admitted_at = from_unix_micros(5'000'000);
  return row;
}

inline RecordRow ended(RecordRow row, std::string status = "success") {
  row.status = std::move(status);
  row.finished_at = from_unix_micros(6'000'000);
  row.usage = "{}";
  row.artifacts = "[]";
  return row;
}

}  // namespace atl::store
