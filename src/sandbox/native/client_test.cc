#include "sandbox/native/client.h"

#include <gtest/gtest.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>

#include "os/message.h"

namespace atl::sandbox::native {
namespace {

class SpawnerClientTest : public testing::Test {
 protected:
  using Answered = std::optional<Result<SpawnerClient::Answer>>;
  void SetUp() override {
    auto pair = os::socket_pair(os::SocketKind::packets);
    ASSERT_TRUE(pair);
    spawner_ = std::move(pair->second);
    client_ = std::make_shared<SpawnerClient>(loop_.get_executor(), std::move(pair->first));
    client_->start([](const std::string&, const std::string&) {}, [this] { ++losses_; });
  }
  void ask(Verb verb, Answered& answered) {
    boost::asio::co_spawn(loop_, client_->call(Request{.verb = verb}),
                          [&](std::exception_ptr, Result<SpawnerClient::Answer> answer) { answered.emplace(std::move(answer)); });
  }
  // The spawner's side: takes one request and answers it.
  void serve_one() {
    const auto message = os::receive_message(spawner_.get());
    ASSERT_TRUE(message);
    const auto request = decode_request(message->bytes);
    ASSERT_TRUE(request);
    ASSERT_TRUE(os::send_message(spawner_.get(), encode(Reply{.verb = request->verb, .token = request->token})));
  }

  boost::asio::io_context loop_;
  os::Fd spawner_;
  std::shared_ptr<SpawnerClient> client_;
  int losses_ = 0;
};

TEST_F(SpawnerClientTest, LastWordsAreHeardByWhoeverWaitsForThem) {
  Answered last, late;
  ask(Verb::shut_down, last);
  loop_.poll_one();
  serve_one();
  spawner_.reset();
  // Its words are there and not yet read when somebody else finds nobody to ask.
  ask(Verb::discard, late);
  loop_.poll();
  ASSERT_TRUE(last && late);
  EXPECT_TRUE(*last) << last->error().message();
  ASSERT_FALSE(*late);
  EXPECT_EQ(late->error().message(), "the spawner is gone");
  EXPECT_EQ(losses_, 1);
  EXPECT_FALSE(client_->is_open());
}

TEST_F(SpawnerClientTest, LastWordsAreHeardFromOneThatHeardNotAll) {
  Answered last;
  ask(Verb::shut_down, last);
  loop_.poll_one();
  serve_one();
  client_->tell(Request{.verb = Verb::destroy});
  spawner_.reset();
  loop_.poll();
  ASSERT_TRUE(last);
  EXPECT_TRUE(*last) << last->error().message();
  EXPECT_EQ(losses_, 1);
}

TEST_F(SpawnerClientTest, CallsUnderWayFailWithItsEnd) {
  Answered answered;
  ask(Verb::create, answered);
  loop_.poll();
  EXPECT_TRUE(client_->is_waiting());
  spawner_.reset();
  loop_.restart();
  loop_.poll();
  ASSERT_TRUE(answered);
  EXPECT_FALSE(*answered);
  EXPECT_EQ(losses_, 1);
}

TEST_F(SpawnerClientTest, NonsenseEndsIt) {
  Answered answered;
  ask(Verb::create, answered);
  loop_.poll();
  ASSERT_TRUE(os::send_message(spawner_.get(), "nonsense"));
  loop_.restart();
  loop_.poll();
  ASSERT_TRUE(answered);
  EXPECT_FALSE(*answered);
  EXPECT_EQ(losses_, 1);
}

}  // namespace
}  // namespace atl::sandbox::native
