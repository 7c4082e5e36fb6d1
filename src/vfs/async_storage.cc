#include "vfs/async_storage.h"

#include <atomic>
#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace atl::vfs {
namespace {

namespace asio = boost::asio;

// One call on its way. finish() runs on the caller's executor only, for the answer or for the cancellation,
// whichever comes first; the worker only reads `done`.
template <class T, class Handler>
struct Call {
  explicit Call(Handler h) : handler(std::move(h)) {}
  void finish(Result<T> result) {
    if (done.exchange(true)) return;
    auto slot = asio::get_associated_cancellation_slot(handler);
    slot.clear();
    auto answer = std::make_shared<Result<T>>(std::move(result));
    std::move(handler)(std::move(answer));
  }
  Handler handler;
  std::atomic<bool> done{false};
};

// Runs `work` on `pool` and comes back to the caller's executor.
template <class T, class F>
Task<T> run_on(asio::thread_pool& pool, F work) {
  auto executor = co_await asio::this_coro::executor;
  bool throws = co_await asio::this_coro::throw_if_cancelled();
  co_await asio::this_coro::throw_if_cancelled(false);
  auto state = co_await asio::this_coro::cancellation_state;
  auto initiate = [&pool, executor, work = std::move(work)](auto handler) mutable {
    using TheCall = Call<T, std::decay_t<decltype(handler)>>;
    auto call = std::make_shared<TheCall>(std::move(handler));
    auto slot = asio::get_associated_cancellation_slot(call->handler);
    if (slot.is_connected()) {
      slot.assign([call, executor](asio::cancellation_type) {
        // Not from inside the signal: the handler may destroy what emits it.
        asio::post(executor, [call] { call->finish(fail(Code::canceled, "canceled")); });
      });
    }
    asio::post(pool, [call, executor, work = std::move(work)]() mutable {
      if (call->done) return;
      auto result = std::make_shared<Result<T>>(work());
      asio::post(executor, [call, result] { call->finish(std::move(*result)); });
    });
  };
  using Signature = void(std::shared_ptr<Result<T>>);
  std::shared_ptr<Result<T>> answer;
  if (state.cancelled() == asio::cancellation_type::none)
    answer = co_await asio::async_initiate<const asio::use_awaitable_t<>, Signature>(initiate,
                                                                                     asio::use_awaitable);
  co_await asio::this_coro::throw_if_cancelled(throws);
  if (answer == nullptr) co_return fail(Code::canceled, "canceled");
  co_return std::move(*answer);
}

class PoolStorage final : public AsyncFileStorage {
 public:
  PoolStorage(std::shared_ptr<FileStorage> storage, asio::thread_pool& pool)
      : storage_(std::move(storage)), pool_(pool) {}

  Task<std::optional<FileEntry>> get(Path path) override {
    return run_on<std::optional<FileEntry>>(pool_,
                                            [s = storage_, path = std::move(path)] { return s->get(path); });
  }
  Task<void> set(FileEntry entry) override {
    return run_on<void>(pool_, [s = storage_, entry = std::move(entry)] { return s->set(entry); });
  }
  Task<bool> remove(Path path) override {
    return run_on<bool>(pool_, [s = storage_, path = std::move(path)] { return s->remove(path); });
  }
  Task<bool> exists(Path path) override {
    return run_on<bool>(pool_, [s = storage_, path = std::move(path)] { return s->exists(path); });
  }
  Task<std::vector<Path>> all_paths() override {
    return run_on<std::vector<Path>>(pool_, [s = storage_] { return s->all_paths(); });
  }
  Task<std::vector<Path>> paths_by_prefix(std::string prefix) override {
    return run_on<std::vector<Path>>(
        pool_, [s = storage_, prefix = std::move(prefix)] { return s->paths_by_prefix(prefix); });
  }
  Task<std::vector<Path>> children(Path directory) override {
    return run_on<std::vector<Path>>(
        pool_, [s = storage_, directory = std::move(directory)] { return s->children(directory); });
  }
  Task<void> clear() override {
    return run_on<void>(pool_, [s = storage_] { return s->clear(); });
  }
  Task<std::uint64_t> count() override {
    return run_on<std::uint64_t>(pool_, [s = storage_] { return s->count(); });
  }
  Task<std::vector<FileEntry>> get_all() override {
    return run_on<std::vector<FileEntry>>(pool_, [s = storage_] { return s->get_all(); });
  }
  Task<void> set_many(std::vector<FileEntry> entries) override {
    return run_on<void>(pool_, [s = storage_, entries = std::move(entries)] { return s->set_many(entries); });
  }
  Task<void> apply(Batch batch) override {
    return run_on<void>(pool_, [s = storage_, batch = std::move(batch)] { return s->apply(batch); });
  }

 private:
  std::shared_ptr<FileStorage> storage_;
  asio::thread_pool& pool_;
};

}  // namespace

std::unique_ptr<AsyncFileStorage> make_async(std::shared_ptr<FileStorage> storage,
                                             boost::asio::thread_pool& pool) {
  return std::make_unique<PoolStorage>(std::move(storage), pool);
}

}  // namespace atl::vfs
