#include "session/handover.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "session/service_harness_test.h"

namespace atl::session {
namespace {

using testing::HasSubstr;

class HandoverTest : public ServiceTest {
 protected:
  // Another service on the same store, which does not have the provider.
  void open_without_provider() {
    ASSERT_TRUE(wait(service_->shut_down("test")));
    service_.reset();
    store_.reset();
    store_ = *store::Store::open(folder_);
    LocalService::Dependencies dependencies{.executor = loop_.get_executor(),
                                            .store = store_.get(),
                                            .blobs = blobs_.get(),
                                            .registry = registry_.get(),
                                            .clock = clock_};
    ServiceOptions options;
    options.snapshot_directory = folder_ + "/snapshots";
    service_ = std::make_unique<LocalService>(std::move(dependencies), std::move(options));
    ASSERT_TRUE(wait(service_->start()));
  }
};

TEST_F(HandoverTest, ASessionWhoseProviderIsGoneCanBeReadAndEndedButNotResumed) {
  ASSERT_TRUE(wait(service_->start()));
  const std::string id = create().session_id;
  ASSERT_TRUE(wait(service_->pause(ann_, id, {.on_disk = true})));
  open_without_provider();
  const auto read = wait(service_->get(ann_, id));
  ASSERT_TRUE(read) << read.error().message();
  EXPECT_EQ(read->state, State::paused);
  const auto resumed = wait(service_->resume(ann_, id, std::nullopt));
  ASSERT_FALSE(resumed);
  EXPECT_EQ(resumed.error().code(), Code::unavailable);
  EXPECT_THAT(resumed.error().message(), HasSubstr("is not here"));
  NetworkRequest network;
  network.mode = sandbox::Network::egress;
  EXPECT_EQ(wait(service_->update_network(ann_, id, network)).error().code(), Code::unsupported);
  EXPECT_EQ(wait(service_->get(ann_, id))->state, State::paused);
  const auto ended = wait(service_->destroy(ann_, id));
  ASSERT_TRUE(ended) << ended.error().message();
  EXPECT_EQ(ended->state, State::stopped);
}

}  // namespace
}  // namespace atl::session
