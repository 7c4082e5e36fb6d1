#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <filesystem>
#include <optional>

#include "session/fake_provider_test.h"
#include "session/local_service.h"

// A service over the provider for tests, on a store of its own.
namespace atl::session {

namespace asio = boost::asio;

class ServiceTest : public testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/atoll-session-XXXXXX";
    folder_ = ::mkdtemp(name);
    auto registry = registry::Registry::load("");
    ASSERT_TRUE(registry) << registry.error().message();
    registry_ = std::make_unique<registry::Registry>(std::move(*registry));
    open();
  }
  // The first is the default. Asked once a service is opened.
  virtual Providers providers() { return {&provider_}; }
  void open() {
    store_ = *store::Store::open(folder_);
    blobs_ = *store::Blobs::open(folder_ + "/artifacts");
    LocalService::Dependencies dependencies{loop_.get_executor(), store_.get(), blobs_.get(), registry_.get(),
                                            providers(),          clock_,       observer_};
    dependencies.controller = controller_;
    dependencies.inventory = inventory_;
    ServiceOptions options;
    options.default_provider = (*dependencies.providers.begin())->name();
    options.snapshot_directory = folder_ + "/snapshots";
    options.execution.text_kept_bytes = 1000;
    options.to_disk_after = to_disk_after_;
    options.idle_after = idle_after_;
    options.running_per_tenant = running_per_tenant_;
    options.sandboxes_max = sandboxes_max_;
    options.ceilings = ceilings_;
    options.keeping = keeping_;
    service_ = std::make_unique<LocalService>(std::move(dependencies), std::move(options));
  }
  void TearDown() override {
    if (service_) (void)wait(service_->shut_down("test"));
    loop_.run_for(std::chrono::milliseconds(5));
    service_.reset();
    std::filesystem::remove_all(folder_);
  }

  template <class T>
  Result<T> wait(Task<T> task) {
    std::optional<Result<T>> result;
    asio::co_spawn(loop_, std::move(task), [&](std::exception_ptr thrown, Result<T> value) {
      EXPECT_EQ(thrown, nullptr);
      result.emplace(std::move(value));
    });
    loop_.restart();
    while (!result && loop_.run_one_for(std::chrono::seconds(20)) > 0) {
    }
    if (!result) return fail(Code::deadline_exceeded, "the test waited in vain");
    return std::move(*result);
  }
  // Runs the loop until it is so; false after a time that only a defect needs.
  template <class Condition>
  bool until(Condition condition) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (!condition() && std::chrono::steady_clock::now() < deadline) {
      loop_.restart();
      loop_.run_one_for(std::chrono::milliseconds(20));
    }
    return condition();
  }
  void let_pass(std::chrono::milliseconds time) {
    loop_.restart();
    loop_.run_for(time);
  }
  Session create(CreateRequest request = {}) {
    auto made = wait(service_->create(ann_, std::move(request)));
    EXPECT_TRUE(made) << made.error().message();
    return made.value_or(Session{});
  }
  ExecutionRecord run(const Session& session, std::string code) {
    auto record = wait(service_->run(ann_, session.session_id, {.code = std::move(code)}));
    EXPECT_TRUE(record) << record.error().message();
    return record.value_or(ExecutionRecord{});
  }

  asio::io_context loop_;
  std::string folder_;
  std::unique_ptr<registry::Registry> registry_;
  Observer* observer_ = nullptr;
  quota::ResourceController* controller_ = nullptr;
  quota::Inventory* inventory_ = nullptr;
  Clock* clock_ = &Clock::machine();  // before open(), as what follows
  std::chrono::milliseconds to_disk_after_{0}, idle_after_{0};
  std::uint32_t running_per_tenant_ = 0, sandboxes_max_ = 0;
  registry::Ceilings ceilings_;  // these two likewise
  Keeping keeping_;
  fake::FakeProvider provider_{loop_.get_executor()};
  std::unique_ptr<store::Store> store_;
  std::unique_ptr<store::Blobs> blobs_;
  std::unique_ptr<LocalService> service_;
  const Principal ann_{"key_ann", "one"};
  const Principal bob_{"key_bob", "two"};
};

}  // namespace atl::session
