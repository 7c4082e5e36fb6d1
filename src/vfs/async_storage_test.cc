#include "vfs/async_storage.h"

#include <gtest/gtest.h>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <latch>

#include "vfs/memory_storage.h"
#include "vfs/wrapper_storage.h"

namespace atl::vfs {
namespace {

namespace asio = boost::asio;

Path p(std::string_view text) {
  return Path::posix(text).value();
}

FileEntry file(std::string_view path, std::string_view bytes) {
  FileEntry entry;
  entry.path = p(path);
  entry.content = Content(bytes);
  return entry;
}

Task<int> use_everything(AsyncFileStorage& storage) {
  std::vector<FileEntry> entries{file("/a", "1"), file("/ab", "2")};
  CO_CHECK(co_await storage.set_many(std::move(entries)));
  FileEntry one = file("/c", "3");
  CO_CHECK(co_await storage.set(std::move(one)));
  Path a = p("/a"), root;
  CO_TRY(auto got, co_await storage.get(a));
  EXPECT_EQ(got->content.str(), "1");
  CO_TRY(bool there, co_await storage.exists(a));
  EXPECT_TRUE(there);
  CO_TRY(auto all, co_await storage.all_paths());
  EXPECT_EQ(all.size(), 3U);
  std::string prefix = "/a";
  CO_TRY(auto some, co_await storage.paths_by_prefix(prefix));
  EXPECT_EQ(some.size(), 2U);
  CO_TRY(auto below, co_await storage.children(root));
  EXPECT_EQ(below.size(), 3U);
  CO_TRY(bool removed, co_await storage.remove(a));
  EXPECT_TRUE(removed);
  CO_TRY(auto count, co_await storage.count());
  EXPECT_EQ(count, 2U);
  CO_TRY(auto entries_left, co_await storage.get_all());
  EXPECT_EQ(entries_left.size(), 2U);
  Batch batch;
  batch.removals.push_back(p("/c"));
  CO_CHECK(co_await storage.apply(std::move(batch)));
  CO_CHECK(co_await storage.clear());
  CO_TRY(auto none, co_await storage.count());
  co_return static_cast<int>(none);
}

TEST(AsyncStorage, DoesWhatTheStorageDoes) {
  asio::io_context loop;
  asio::thread_pool pool(2);
  auto storage = make_async(std::make_shared<MemoryStorage>(), pool);
  int ended = 0;
  asio::co_spawn(loop, use_everything(*storage), [&](std::exception_ptr thrown, Result<int> result) {
    EXPECT_FALSE(thrown);
    EXPECT_EQ(result.value_or(-1), 0);
    ++ended;
  });
  loop.run();
  EXPECT_EQ(ended, 1);
}

TEST(AsyncStorage, PassesErrorsOn) {
  asio::io_context loop;
  asio::thread_pool pool(1);
  auto storage = make_async(std::make_shared<ReadOnlyStorage>(std::make_shared<MemoryStorage>()), pool);
  Code code = Code::internal;
  asio::co_spawn(loop, storage->clear(),
                 [&](std::exception_ptr, Result<void> result) { code = result.error().code(); });
  loop.run();
  EXPECT_EQ(code, Code::read_only);
}

// A storage that answers only when it is let go.
class SlowStorage final : public FileStorage {
 public:
  std::latch started{1}, go{1};
  Result<std::optional<FileEntry>> get(const Path&) const override { return std::nullopt; }
  Result<void> apply(const Batch&) override { return {}; }
  Result<std::vector<Path>> paths_by_prefix(std::string_view) const override { return std::vector<Path>(); }
  Result<std::vector<Path>> children(const Path&) const override { return std::vector<Path>(); }
  Result<std::vector<FileEntry>> get_all() const override { return std::vector<FileEntry>(); }
  Result<std::uint64_t> count() const override { return 0; }
  Result<void> clear() override {
    started.count_down();
    go.wait();
    return {};
  }
};

TEST(AsyncStorage, EndsAtOnceWhenCanceled) {
  asio::io_context loop;
  asio::thread_pool pool(1);
  auto slow = std::make_shared<SlowStorage>();
  auto storage = make_async(slow, pool);
  asio::cancellation_signal signal;
  Code code = Code::internal;
  asio::co_spawn(
      loop, storage->clear(),
      asio::bind_cancellation_slot(signal.slot(), [&](std::exception_ptr thrown, Result<void> result) {
        EXPECT_FALSE(thrown);
        code = result ? Code::internal : result.error().code();
      }));
  asio::post(loop, [&] {
    slow->started.wait();
    signal.emit(asio::cancellation_type::terminal);
  });
  auto guard = asio::make_work_guard(loop);
  while (code == Code::internal && loop.run_one_for(std::chrono::seconds(5)) > 0) {
  }
  EXPECT_EQ(code, Code::canceled);
  slow->go.count_down();
  pool.join();
  guard.reset();
  loop.run();
}

}  // namespace
}  // namespace atl::vfs
