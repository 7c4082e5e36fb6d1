#include "sandbox/native/client.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

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
    boost::asio::co_spawn(loop_, client_->call(some(verb)),
                          [&](std::exception_ptr, Result<SpawnerClient::Answer> answer) {
                            answered.emplace(std::move(answer));
                          });
  }
  // A valid request of that verb.
  static Request some(Verb verb) {
    Request request{.name = "box", .ask = ask::ShutDown{}};
    if (verb == Verb::discard) request.ask = ask::Discard{"/some/place"};
    if (verb == Verb::create) {
      Spec spec;
      spec.id = "box";
      request.ask = ask::Create{std::move(spec)};
    }
    return request;
  }
  // The spawner's side: takes one request and answers it.
  void serve_one() {
    const auto message = os::receive_message(spawner_.get());
    ASSERT_TRUE(message);
    const auto request = decode_request(message->bytes);
    ASSERT_TRUE(request);
    ASSERT_TRUE(
        os::send_message(spawner_.get(), encode(Reply{.verb = request->verb(), .token = request->token})));
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
  // The answer has arrived and is not yet read when another caller finds the socket closed.
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
  client_->tell(Request{.ask = ask::Destroy{}});
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

TEST_F(SpawnerClientTest, HearsOfZygotesWithoutAsking) {
  EXPECT_EQ(client_->zygotes_away(), "");
  const auto say = [&](std::string away) {
    ASSERT_TRUE(os::send_message(
        spawner_.get(), encode(Reply{.verb = Verb::zygotes, .answer = answers::Zygotes{std::move(away)}})));
    loop_.restart();
    loop_.poll();
  };
  say("the zygote ended");
  EXPECT_EQ(client_->zygotes_away(), "the zygote ended");
  // It is no answer to anybody who waits.
  Answered answered;
  ask(Verb::discard, answered);
  say("");
  EXPECT_FALSE(answered);
  EXPECT_EQ(client_->zygotes_away(), "");
  EXPECT_TRUE(client_->is_open());
}

// A daemon that was started again asks nobody else.
TEST_F(SpawnerClientTest, HearsOfZygotesInTheGreeting) {
  ASSERT_TRUE(os::send_message(
      spawner_.get(), encode(Reply{.verb = Verb::hello,
                                   .token = 1,
                                   .answer = answers::Hello{.zygotes_away = "a module started a thread"}})));
  ASSERT_TRUE(client_->call_now(Request{.ask = ask::Hello{}}));
  EXPECT_EQ(client_->zygotes_away(), "a module started a thread");
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

// The spawner's side of a client that has a spare connection.
class SecondConnectionTest : public SpawnerClientTest {
 protected:
  void SetUp() override {
    auto first = os::socket_pair(os::SocketKind::packets), second = os::socket_pair(os::SocketKind::packets);
    ASSERT_TRUE(first && second);
    spawner_ = std::move(first->second), other_ = std::move(second->second);
    client_ = std::make_shared<SpawnerClient>(loop_.get_executor(), std::move(first->first));
    const int theirs = second->first.get();
    ASSERT_TRUE(os::send_message(spawner_.get(), encode(Reply{.verb = Verb::second_connection, .token = 1}),
                                 {&theirs, 1}));
    ASSERT_TRUE(client_->add_spare());
    ASSERT_EQ(heard(spawner_).verb(), Verb::second_connection);
    client_->start([](const std::string&, const std::string&) {}, [this] { ++losses_; },
                   [this](const SpawnerClient::Names& names) { found_ = names; });
  }
  static Request heard(const os::Fd& socket) {
    const auto message = os::receive_message(socket.get(), os::Wait::no);
    const auto request = message ? decode_request(message->bytes)
                                 : Result<Request>(fail(Code::unavailable, "nothing was said"));
    EXPECT_TRUE(request) << request.error().message();
    return request ? *request : Request{};
  }
  void turn() {
    loop_.restart();
    loop_.poll();
  }
  void ask_for(Request request, Answered& answered) {
    boost::asio::co_spawn(loop_, client_->call(std::move(request)),
                          [&](std::exception_ptr, Result<SpawnerClient::Answer> answer) {
                            answered.emplace(std::move(answer));
                          });
    turn();
  }

  os::Fd other_;
  std::optional<SpawnerClient::Names> found_;
};

TEST_F(SecondConnectionTest, TakesOverWhenTheConnectionIsLost) {
  Answered create, destroy;
  ask_for(some(Verb::create), create);
  ask_for(Request{.name = "old", .ask = ask::Destroy{}}, destroy);
  spawner_.reset();
  turn();
  EXPECT_EQ(losses_, 0);
  EXPECT_TRUE(client_->is_open());
  // Requests under way are not repeated, except those that have no effect the second time.
  ASSERT_TRUE(create);
  ASSERT_FALSE(*create);
  EXPECT_EQ(create->error().code(), Code::unavailable);
  EXPECT_FALSE(destroy);
  const Request hello = heard(other_), line = heard(other_), again = heard(other_);
  EXPECT_EQ(hello.verb(), Verb::hello);
  EXPECT_EQ(line.verb(), Verb::second_connection);
  EXPECT_EQ(again.verb(), Verb::destroy);
  Reply there{.verb = Verb::hello, .token = hello.token};
  const std::vector<std::string> names{"box", "old"};
  there.answer = answers::Hello{.names = names};
  ASSERT_TRUE(os::send_message(other_.get(), encode(there)));
  ASSERT_TRUE(os::send_message(other_.get(), encode(Reply{.verb = Verb::destroy, .token = again.token})));
  turn();
  ASSERT_TRUE(found_);
  EXPECT_EQ(*found_, names);
  ASSERT_TRUE(destroy);
  EXPECT_TRUE(*destroy);
}

TEST_F(SecondConnectionTest, NonsenseCostsAConnectionAndNotTheSpawner) {
  ASSERT_TRUE(os::send_message(spawner_.get(), "nonsense"));
  turn();
  EXPECT_EQ(losses_, 0);
  EXPECT_EQ(heard(other_).verb(), Verb::hello);
}

TEST_F(SecondConnectionTest, ASpawnerThatIsGoneIsLostAtOnce) {
  Answered destroy;
  ask_for(Request{.name = "old", .ask = ask::Destroy{}}, destroy);
  spawner_.reset(), other_.reset();
  turn();
  turn();
  EXPECT_EQ(losses_, 1);
  EXPECT_FALSE(client_->is_open());
  ASSERT_TRUE(destroy);
  EXPECT_EQ(destroy->error().code(), Code::provider_failed);
}

TEST_F(SecondConnectionTest, WhatCannotBeReceivedIsEndedAndTheCallFailsAlone) {
  Answered create, other;
  ask_for(some(Verb::create), create);
  const Request asked = heard(spawner_);
  const int fds[] = {other_.get(), other_.get(), other_.get()};
  ASSERT_TRUE(os::send_message(
      spawner_.get(), encode(Reply{.verb = Verb::create, .token = asked.token, .name = "box"}), fds));
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const int next = ::dup(0);
  ::close(next);
  const rlimit tight{static_cast<rlim_t>(next) + 1, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &tight), 0);
  turn();
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  ASSERT_TRUE(create);
  ASSERT_FALSE(*create);
  EXPECT_EQ(create->error().code(), Code::resource_exhausted);
  const Request end = heard(spawner_);
  EXPECT_EQ(end.verb(), Verb::destroy);
  EXPECT_EQ(end.name, "box");
  EXPECT_EQ(losses_, 0);
}

// The caller of this create was told that it failed.
TEST_F(SecondConnectionTest, WhatNobodyWaitsForIsEnded) {
  ASSERT_TRUE(
      os::send_message(spawner_.get(), encode(Reply{.verb = Verb::create, .token = 999, .name = "late"})));
  turn();
  const Request end = heard(spawner_);
  EXPECT_EQ(end.verb(), Verb::destroy);
  EXPECT_EQ(end.name, "late");
}

}  // namespace
}  // namespace atl::sandbox::native
