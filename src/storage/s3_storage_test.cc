// What a server of S3's protocol may say, several writers, and the log that is put together.
#include "storage/s3_storage.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <mutex>
#include <thread>

#include "os/fd.h"
#include "storage/servers_test.h"
#include "vfs/batch_format.h"
#include "vfs/entry_makers_test.h"

namespace atl::storage {
namespace {

using testing::HasSubstr;
using vfs::file;

TEST(S3Client, RefusesAddressesThatAreNone) {
  for (const char* endpoint : {"", "s3.example.org", "ftp://a", "http://", "https://a/b", "http://u@a"})
    EXPECT_EQ(S3Client::make({.endpoint = endpoint, .bucket = "b"}).error().code(), Code::invalid_argument)
        << endpoint;
  EXPECT_EQ(S3Client::make({.endpoint = "http://a", .bucket = "a/b"}).error().code(), Code::invalid_argument);
}

TEST(S3Client, NobodyAnswers) {
  const auto client = S3Client::make({.endpoint = "http://127.0.0.1:1", .bucket = "b"}).value();
  EXPECT_EQ(client->get("x").error().code(), Code::unavailable);
  EXPECT_EQ(client->put_new("x", "").error().code(), Code::unavailable);
}

// Answers what it is told to, one answer for each request and the last one for ever, and keeps what was
// asked.
class ScriptedServer {
 public:
  explicit ScriptedServer(std::vector<std::string> answers) : answers_(std::move(answers)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    // JUSTIFICATION: these calls take every kind of address as the general one.
    auto* general = reinterpret_cast<sockaddr*>(&address);
    EXPECT_EQ(::bind(listener_.get(), general, size), 0);
    EXPECT_EQ(::listen(listener_.get(), 16), 0);
    ::getsockname(listener_.get(), general, &size);
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this] { serve(); });
  }
  ~ScriptedServer() {
    ::shutdown(listener_.get(), SHUT_RDWR);
    thread_.join();
  }
  ScriptedServer(const ScriptedServer&) = delete;
  ScriptedServer& operator=(const ScriptedServer&) = delete;

  S3Address address() const {
    return {.endpoint = fmt::format("http://127.0.0.1:{}", port_),
            .bucket = "b",
            .access_key = "k",
            .secret_key = "s"};
  }
  std::unique_ptr<S3Client> client() const { return S3Client::make(address()).value(); }
  // The first lines of the requests so far.
  std::vector<std::string> asked() const {
    const std::lock_guard hold(lock_);
    return asked_;
  }

 private:
  void serve() {
    for (std::size_t number = 0;; ++number) {
      const os::Fd one(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
      if (!one.is_open()) return;
      const std::string request = request_on(one.get());
      {
        const std::lock_guard hold(lock_);
        asked_.push_back(request.substr(0, request.find(" HTTP/")));
      }
      const std::string& answer = answers_[std::min(number, answers_.size() - 1)];
      ::send(one.get(), answer.data(), answer.size(), MSG_NOSIGNAL);
    }
  }

  // Whole: what is left unread when a connection is closed would take the answer with it.
  static std::string request_on(int socket) {
    std::string request;
    std::size_t size = std::string::npos;
    char block[4096];
    while (request.size() < size) {
      const ssize_t got = ::recv(socket, block, sizeof block, 0);
      if (got <= 0) break;
      request.append(block, static_cast<std::size_t>(got));
      const std::size_t end = request.find("\r\n\r\n");
      if (size != std::string::npos || end == std::string::npos) continue;
      const std::size_t length = request.find("Content-Length: ");
      size = end + 4 + (length < end ? std::stoul(request.substr(length + 16)) : 0);
    }
    return request;
  }

  std::vector<std::string> answers_;
  mutable std::mutex lock_;
  std::vector<std::string> asked_;
  os::Fd listener_{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  std::uint16_t port_ = 0;
  std::thread thread_;
};

std::string answer(int status, const std::string& body = "") {
  return fmt::format("HTTP/1.1 {} X\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{}", status,
                     body.size(), body);
}

TEST(S3Client, EveryRefusalHasItsCode) {
  const std::pair<int, Code> cases[] = {{404, Code::not_found},       {401, Code::unauthenticated},
                                        {403, Code::unauthenticated}, {409, Code::already_exists},
                                        {412, Code::already_exists},  {400, Code::unavailable},
                                        {301, Code::unavailable}};
  for (const auto& [status, code] : cases) {
    const ScriptedServer server({answer(status, "<Error><Code>NotOurs</Code></Error>")});
    const auto got = server.client()->get("x");
    ASSERT_FALSE(got);
    EXPECT_EQ(got.error().code(), code) << status;
    EXPECT_THAT(got.error().detail(), HasSubstr("NotOurs")) << "the server's own words are for the log";
    EXPECT_THAT(got.error().message(), testing::Not(HasSubstr("NotOurs")));
    EXPECT_EQ(server.asked().size(), 1U) << "said once";
  }
}

TEST(S3Client, ABusyServerIsAskedAgainAndThenGivenUp) {
  const ScriptedServer full({answer(507)});
  EXPECT_EQ(full.client()->put("x", "y").error().code(), Code::no_space);
  EXPECT_EQ(full.asked().size(), 4U);
  const ScriptedServer tired({answer(503), answer(429), answer(200, "bytes")});
  EXPECT_EQ(tired.client()->get("x").value(), "bytes");
  EXPECT_EQ(tired.asked().size(), 3U);
  const ScriptedServer angry({answer(500)});
  EXPECT_EQ(angry.client()->remove("x").error().code(), Code::unavailable);
}

// A change whose answer was lost may have been made: only what means the same twice is said again.
TEST(S3Client, AnAnswerThatIsLostIsAskedForOnlyWhereThatIsHarmless) {
  const ScriptedServer silent({""});
  EXPECT_EQ(silent.client()->put_new("x", "y").error().code(), Code::unavailable);
  EXPECT_EQ(silent.asked().size(), 1U);
  const ScriptedServer once({"", answer(200)});
  EXPECT_TRUE(once.client()->put("x", "y"));
  EXPECT_EQ(once.asked().size(), 2U);
  const ScriptedServer garbage({"this is not HTTP\r\n\r\n"});
  EXPECT_EQ(garbage.client()->get("x").error().code(), Code::unavailable);
  const ScriptedServer cut({"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nshort"});
  EXPECT_EQ(cut.client()->get("x").error().code(), Code::unavailable);
}

TEST(S3Client, ListsAreReadAsFarAsTheyAreTold) {
  const ScriptedServer pages(
      {answer(200,
              "<R><Key>p/b</Key><Size>2</Size><NextContinuationToken>a&amp;b=</NextContinuationToken></R>"),
       answer(200, "<R><Key>p/a&amp;c</Key><Size>x</Size><Key>p/cut")});
  const auto listed = pages.client()->list("p/").value();
  ASSERT_EQ(listed.size(), 2U);
  EXPECT_EQ(listed[0].name, "p/a&c") << "in byte order";
  EXPECT_EQ(listed[0].size, 0U);
  EXPECT_EQ(listed[1].size, 2U);
  EXPECT_EQ(pages.asked().at(1), "GET /b?continuation-token=a%26b%3D&list-type=2&prefix=p%2F");
  const ScriptedServer nothing({answer(200, "no XML at all")});
  EXPECT_TRUE(nothing.client()->list("p/").value().empty());
  const ScriptedServer away({answer(404)});
  EXPECT_EQ(away.client()->list("p/").error().code(), Code::not_found);
}

TEST(S3Storage, WhatIsNoObjectOfOursIsPassedOver) {
  const ScriptedServer server({answer(200,
                                      "<R><Key>p/log/zzzzzzzzzzzzzzzz</Key><Key>p/log/1</Key><Key>p/base/"
                                      "000000000000000g</Key><Key>p/x</Key></R>")});
  EXPECT_EQ(S3Storage::open(server.client(), "p").value()->count().value(), 0U);
}

// Another daemon puts the log together again and again between our look at it and our reading.
TEST(S3Storage, ALogThatIsAlwaysGoneIsGivenUp) {
  std::vector<std::string> answers;
  for (int i = 0; i < 5; ++i) {
    answers.push_back(answer(200, "<R><Key>p/log/0000000000000001</Key><Size>1</Size></R>"));
    answers.push_back(answer(404));
  }
  const ScriptedServer server(answers);
  EXPECT_EQ(S3Storage::open(server.client(), "p").error().code(), Code::not_found);
  EXPECT_EQ(server.asked().size(), 10U);
}

TEST(S3Storage, AChangeIsKeptOnlyIfAllOfItIsKnown) {
  const std::string none = answer(200, "<R></R>"),
                    newer = answer(200, "<R><Key>p/base/0000000000000009</Key></R>");
  // put_new, a look for a newer base: there is one, so the object is removed again.
  const ScriptedServer server({none, answer(200), newer, answer(204)});
  const auto storage = S3Storage::open(server.client(), "p").value();
  EXPECT_EQ(storage->set(file("/a", "1")).error().code(), Code::conflict);
  EXPECT_EQ(server.asked().back(), "DELETE /b/p/log/0000000000000001");
  EXPECT_EQ(storage->count().value(), 0U);
  const ScriptedServer refuses({none, answer(403)});
  const auto other = S3Storage::open(refuses.client(), "p").value();
  EXPECT_EQ(other->set(file("/a", "1")).error().code(), Code::unauthenticated);
}

// A server that lets two daemons overwrite each other's changes is told of in the log, and works for one.
TEST(S3Storage, AServerWithoutConditionsIsUsable) {
  const std::string none = answer(200, "<R></R>");
  const ScriptedServer server({none, answer(200), answer(200), none});
  const S3Address at = server.address();
  const vfs::StorageOptions options{
      {"endpoint", at.endpoint}, {"bucket", at.bucket}, {"access_key", "k"}, {"secret_key", "s"}};
  EXPECT_TRUE(s3_kind().open(options, "a"));
  EXPECT_EQ(server.asked().at(2), "PUT /b/atoll/.conditional");
  EXPECT_TRUE(s3_kind().open(options, "a")) << "asked once";
  EXPECT_EQ(server.asked().size(), 4U);
}

TEST(BatchFormat, DamageIsSeen) {
  vfs::Batch batch;
  batch.removals = {vfs::p("/gone")};
  batch.entries = {vfs::directory("/d"), file("/d/f", "bytes")};
  const std::string bytes = vfs::encode_batch(batch);
  const auto read = vfs::decode_batch(bytes).value();
  EXPECT_EQ(read.removals.front().str(), "/gone");
  EXPECT_EQ(read.entries.back().content.str(), "bytes");
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    std::string other = bytes;
    other[i] = static_cast<char>(other[i] ^ 1);
    EXPECT_EQ(vfs::decode_batch(other).error().code(), Code::data_loss) << i;
    EXPECT_EQ(vfs::decode_batch(bytes.substr(0, i)).error().code(), Code::data_loss) << i;
  }
}

class S3StorageTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!S3Server::is_there()) GTEST_SKIP() << "no S3 server from PyPI";
    // One for all tests; each has a place of its own.
    static S3Server shared;
    server_ = &shared;
    place_ = std::string("p/") + testing::UnitTest::GetInstance()->current_test_info()->name();
  }
  std::unique_ptr<S3Storage> open() { return S3Storage::open(server_->client(), place_).value(); }
  S3Server* server_ = nullptr;
  std::string place_;
};

TEST_F(S3StorageTest, ObjectsAreListedInPages) {
  const auto client = server_->client();
  EXPECT_EQ(client->get("none").error().code(), Code::not_found);
  EXPECT_TRUE(client->remove("none"));
  for (int i = 0; i < 1005; ++i) ASSERT_TRUE(client->put(fmt::format("many/{:05}", i), "x"));
  const auto listed = client->list("many/").value();
  ASSERT_EQ(listed.size(), 1005U);
  EXPECT_EQ(listed.back().name, "many/01004");
  EXPECT_EQ(listed.back().size, 1U);
  auto stranger = server_->address();
  stranger.secret_key = "wrong";
  EXPECT_EQ(S3Client::make(stranger).value()->get("many/00000").error().code(), Code::unauthenticated);
  auto elsewhere = server_->address();
  elsewhere.bucket = "nobodys";
  EXPECT_EQ(S3Client::make(elsewhere).value()->put("x", "").error().code(), Code::not_found);
}

TEST_F(S3StorageTest, TheSecondOfTwoWritersIsToldAndSeesTheFirst) {
  const auto one = open(), other = open();
  ASSERT_TRUE(one->set(file("/a", "1")));
  EXPECT_EQ(other->set(file("/b", "2")).error().code(), Code::conflict);
  EXPECT_EQ(other->count().value(), 0U);
  EXPECT_EQ(other->get_all().value().size(), 1U);
  ASSERT_TRUE(other->set(file("/b", "2")));
  EXPECT_EQ(one->get_all().value().size(), 2U);
}

TEST_F(S3StorageTest, ALongLogIsPutTogether) {
  const auto late = open();
  ASSERT_TRUE(late->set(file("/late", "0")));
  const auto storage = open();
  for (int i = 0; i < 130; ++i)
    ASSERT_TRUE(storage->set(file("/f" + std::to_string(i % 7), std::to_string(i))));
  const auto objects = server_->client()->list(place_ + "/").value();
  EXPECT_LT(objects.size(), 40U);
  EXPECT_EQ(open()->get(vfs::p("/f3")).value()->content.str(), "129");
  // Its number is free again, and still its change is refused.
  EXPECT_EQ(late->set(file("/late", "1")).error().code(), Code::conflict);
  EXPECT_EQ(open()->get(vfs::p("/late")).value()->content.str(), "0");
  ASSERT_TRUE(S3Storage::discard(*server_->client(), place_));
  EXPECT_EQ(open()->count().value(), 0U);
}

TEST_F(S3StorageTest, WhatIsMissingOrDamagedIsDataLoss) {
  const auto storage = open();
  for (const char* path : {"/a", "/b", "/c"}) ASSERT_TRUE(storage->set(file(path, "x")));
  const auto client = server_->client();
  ASSERT_TRUE(client->put(place_ + "/log/0000000000000002", "nonsense"));
  EXPECT_EQ(storage->get_all().error().code(), Code::data_loss);
  ASSERT_TRUE(client->remove(place_ + "/log/0000000000000002"));
  EXPECT_EQ(storage->get_all().error().code(), Code::data_loss);
}

TEST_F(S3StorageTest, AServerThatIsGoneChangesNothing) {
  S3Server own;
  const auto storage = S3Storage::open(own.client(), place_).value();
  ASSERT_TRUE(storage->set(file("/a", "1")));
  own.end();
  EXPECT_EQ(storage->set(file("/b", "2")).error().code(), Code::unavailable);
  EXPECT_EQ(storage->count().value(), 1U);
}

TEST_F(S3StorageTest, AnOperatorsWordsOpenAndDiscardASpace) {
  const vfs::StorageKind kind = s3_kind();
  const S3Address at = server_->address();
  vfs::StorageOptions options{{"endpoint", at.endpoint},     {"bucket", at.bucket},
                              {"access_key", at.access_key}, {"prefix", "deep/er"},
                              {"secret_key", at.secret_key}, {"region", "eu-west-1"}};
  ASSERT_TRUE(kind.open(options, "acme/%shared").value()->set(file("/a", "1")));
  EXPECT_EQ(kind.open(options, "acme/%shared").value()->count().value(), 1U);
  EXPECT_EQ(kind.open(options, "acme/ses_1").value()->count().value(), 0U);
  ASSERT_TRUE(kind.discard(options, "acme/%shared"));
  EXPECT_EQ(kind.open(options, "acme/%shared").value()->count().value(), 0U);
  options["endpoint"] = "nowhere";
  EXPECT_THAT(kind.open(options, "a").error().message(), HasSubstr("'endpoint'"));
}

}  // namespace
}  // namespace atl::storage
