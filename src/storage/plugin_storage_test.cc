// What a plugin may do wrong, and what then happens to those who use it.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>

#include <filesystem>
#include <thread>

#include "storage/plugin_server.h"
#include "storage/servers_test.h"
#include "vfs/batch_format.h"
#include "vfs/entry_makers_test.h"
#include "vfs/wire.h"

namespace atl::storage {
namespace {

using testing::HasSubstr;
using vfs::file;

TEST(PluginStorage, NobodyListens) {
  const auto opened = PluginStorage::open({.socket = "/nonexistent/s"}, "a");
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code(), Code::unavailable);
}

TEST(PluginStorage, APluginThatCannotBeLoaded) {
  vfs::TemporaryDirectory place;
  PluginServerOptions options{.library = "/nonexistent.so", .storage = "", .socket = place.path() + "/s"};
  EXPECT_THAT(serve_plugin(options).error().message(), HasSubstr("cannot be loaded"));
  options.library = ATOLL_TEST_PLUGIN;
  options.storage = "none";
  EXPECT_THAT(serve_plugin(options).error().message(), HasSubstr("has no storage 'none'"));
  options.storage = "";
  EXPECT_THAT(serve_plugin(options).error().message(), HasSubstr("has no storage ''")) << "it has several";
  options.storage = "memory";
  options.socket = "/nonexistent/s";
  EXPECT_FALSE(serve_plugin(options));
  options.socket = "/" + std::string(200, 'x');
  EXPECT_THAT(serve_plugin(options).error().message(), HasSubstr("too long"));
  options.library = ATOLL_NEWER_PLUGIN;
  EXPECT_THAT(serve_plugin(options).error().message(),
              HasSubstr("built for interface 2, this program has 1"));
  options.library = ATOLL_EMPTY_PLUGIN;
  EXPECT_THAT(serve_plugin(options).error().message(), HasSubstr("has no storage 'memory'"));
  options.library = "libm.so.6";
  EXPECT_THAT(serve_plugin(options).error().message(), HasSubstr("does not export atoll_storage_plugin()"));
}

TEST(PluginStorage, WhatItRefusesIsToldInItsWords) {
  PluginProcess process("refuser");
  const auto refused = PluginStorage::open(process.options(), "refused");
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message(), HasSubstr("not this one"));
  const auto storage = PluginStorage::open(process.options(), "a").value();
  const auto set = storage->set(file("/f", "x"));
  ASSERT_FALSE(set);
  EXPECT_EQ(set.error().code(), Code::provider_failed);
  EXPECT_THAT(set.error().message(), HasSubstr("the moon is full"));
  EXPECT_EQ(storage->count().value(), 0U);
}

TEST(PluginStorage, ACrashFailsTheCallAndTheNextProcessGoesOn) {
  PluginProcess process("crasher");
  const auto storage = PluginStorage::open(process.options(), "a").value();
  EXPECT_EQ(storage->set(file("/f", "x")).error().code(), Code::unavailable);
  EXPECT_TRUE(WIFSIGNALED(process.wait()));
  EXPECT_EQ(storage->get_all().error().code(), Code::unavailable);
  process.start();
  EXPECT_EQ(storage->get_all().value().size(), 0U);
}

TEST(PluginStorage, AHangEndsTheProcess) {
  PluginProcess process("hanger");
  const auto storage = PluginStorage::open(process.options(), "a").value();
  EXPECT_EQ(storage->set(file("/f", "x")).error().code(), Code::unavailable);
  const int status = process.wait();
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 71) << status;
}

TEST(PluginStorage, ALieIsDataLoss) {
  PluginProcess process("liar");
  const auto opened = PluginStorage::open(process.options(), "a");
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code(), Code::data_loss);
}

TEST(PluginStorage, SpacesAreApartAndCanBeRemoved) {
  PluginProcess process("memory");
  const auto first = PluginStorage::open(process.options(), "a/1").value();
  ASSERT_TRUE(first->set(file("/f", std::string(3 << 20, 'x'))));
  EXPECT_EQ(PluginStorage::open(process.options(), "a/2").value()->count().value(), 0U);
  EXPECT_EQ(PluginStorage::open(process.options(), "a/1").value()->get(vfs::p("/f")).value()->content.size(),
            3U << 20);
  ASSERT_TRUE(PluginStorage::discard(process.options(), "a/1"));
  EXPECT_EQ(PluginStorage::open(process.options(), "a/1").value()->count().value(), 0U);
}

TEST(PluginStorage, OneWithoutWordsIsStillUnderstood) {
  PluginProcess process("wordless");
  const auto said = [](const Error& error) {
    EXPECT_EQ(error.code(), Code::provider_failed);
    return error.message();
  };
  EXPECT_THAT(said(PluginStorage::open(process.options(), "a").error()), HasSubstr("refuses: open failed"));
  EXPECT_THAT(said(PluginStorage::open(process.options(), "opens").error()),
              HasSubstr("refuses: load failed"));
  EXPECT_THAT(said(PluginStorage::discard(process.options(), "a").error()),
              HasSubstr("refuses: discard failed"));
}

TEST(PluginStorage, ItsOwnWayToDiscardIsUsed) {
  PluginProcess process("discarder");
  ASSERT_TRUE(PluginStorage::open(process.options(), "a").value()->set(file("/f", "x")));
  ASSERT_TRUE(PluginStorage::discard(process.options(), "a"));
  EXPECT_EQ(PluginStorage::open(process.options(), "a").value()->count().value(), 0U);
  EXPECT_THAT(PluginStorage::discard(process.options(), "kept").error().message(),
              HasSubstr("this one stays"));
}

TEST(PluginStorage, AnOperatorsWordsOpenAndDiscardASpace) {
  vfs::TemporaryDirectory place;
  const vfs::StorageKind kind = plugin_kind(place.path());
  const vfs::StorageOptions options{{"library", "libx.so"}, {"path", "/data/notes"}};
  EXPECT_EQ(kind.open(options, "a").error().code(), Code::unavailable) << "its process does not run";
  EXPECT_EQ(kind.discard(options, "a").error().code(), Code::unavailable);
  PluginProcess process("memory");
  const std::string socket = plugin_socket(place.path(), "/data/notes");
  EXPECT_NE(socket, plugin_socket(place.path(), "/data/other"));
  std::filesystem::create_directories(std::filesystem::path(socket).parent_path());
  std::filesystem::create_symlink(process.options().socket, socket);
  ASSERT_TRUE(kind.open(options, "a").value()->set(file("/f", "x")));
  EXPECT_EQ(kind.open(options, "a").value()->count().value(), 1U);
  ASSERT_TRUE(kind.discard(options, "a"));
  EXPECT_EQ(kind.open(options, "a").value()->count().value(), 0U);
  EXPECT_EQ(PluginStorage::open({.socket = "/" + std::string(200, 'x')}, "a").error().code(),
            Code::unsupported);
}

// Each session has a connection; their number binds neither threads nor descriptors of the plugin's process.
TEST(PluginStorage, ManyMayUseOneAtATime) {
  PluginProcess process("memory");
  std::vector<std::unique_ptr<PluginStorage>> all;
  for (int i = 0; i < 600; ++i)
    all.push_back(PluginStorage::open(process.options(), "m/" + std::to_string(i)).value());
  EXPECT_LE(process.threads(), 8U);
  EXPECT_LE(process.descriptors(), 300U);
  // The oldest were closed by the plugin's process: they connect anew and notice nothing.
  for (int round = 0; round < 2; ++round)
    for (std::size_t i = 0; i < all.size(); i += 50) {
      const auto set = all[i]->set(file("/f", std::to_string(i + round)));
      ASSERT_TRUE(set) << i << ": " << set.error().message();
      EXPECT_EQ(all[i]->get_all().value().size(), 1U);
    }
}

// The plugin's process does not believe whoever connects to it.
class RawClient {
 public:
  explicit RawClient(const std::string& path) : socket_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path.copy(address.sun_path, sizeof address.sun_path - 1);
    // JUSTIFICATION: connect() takes every kind of address as the general one.
    EXPECT_EQ(::connect(socket_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  }
  // The answer's kind and words.
  std::pair<FrameKind, std::string> ask(FrameKind kind, std::string_view body) {
    EXPECT_TRUE(send_frame(socket_.get(), kind, body, std::chrono::seconds(5)));
    auto frame = receive_frame(socket_.get(), std::chrono::seconds(5));
    EXPECT_TRUE(frame && *frame);
    return frame && *frame ? std::pair((*frame)->kind, (*frame)->body)
                           : std::pair(FrameKind::open, std::string());
  }
  int get() const { return socket_.get(); }

 private:
  os::Fd socket_;
};

TEST(PluginServer, OneThatSendsHalfAQuestionHoldsUpNobody) {
  PluginProcess process("memory");
  const auto storage = PluginStorage::open(process.options(), "a").value();
  std::vector<RawClient> slow;
  for (int i = 0; i < 3; ++i) {
    slow.emplace_back(process.options().socket);
    ASSERT_EQ(::send(slow.back().get(), "\x05\0", 2, 0), 2);
  }
  EXPECT_TRUE(storage->set(file("/f", "x")));
}

TEST(PluginServer, QuestionsThatAreNone) {
  PluginProcess process("memory");
  RawClient client(process.options().socket);
  const auto refused = [&](FrameKind kind, std::string_view body) {
    const auto [answer, words] = client.ask(kind, body);
    EXPECT_EQ(answer, FrameKind::refused);
    return words;
  };
  EXPECT_EQ(refused(FrameKind::done, ""), "no such question");
  EXPECT_EQ(refused(static_cast<FrameKind>(200), "x"), "no such question");
  EXPECT_EQ(refused(FrameKind::load, ""), "no space is open");
  EXPECT_EQ(refused(FrameKind::apply, ""), "no space is open");
  EXPECT_EQ(refused(FrameKind::open, "refused"), "not this one");
  EXPECT_EQ(client.ask(FrameKind::open, "a").first, FrameKind::done);
  EXPECT_EQ(client.ask(FrameKind::open, "b").first, FrameKind::done) << "another one instead";
  EXPECT_NE(refused(FrameKind::apply, "garbage"), "");
  EXPECT_EQ(client.ask(FrameKind::load, "").first, FrameKind::done) << "it goes on";
  // A length that nobody would send ends this connection and no other.
  RawClient other(process.options().socket);
  ASSERT_EQ(::send(other.get(), "\xff\xff\xff\xff\x01", 5, 0), 5);
  const auto end = receive_frame(other.get(), std::chrono::seconds(5));
  EXPECT_TRUE(!end || !*end);
  EXPECT_EQ(client.ask(FrameKind::load, "").first, FrameKind::done);
}

// Nor does the daemon believe the plugin's process: this one answers what it is told to, once per connection.
class LyingProcess {
 public:
  explicit LyingProcess(std::vector<std::string> answers) : answers_(std::move(answers)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    socket().copy(address.sun_path, sizeof address.sun_path - 1);
    // JUSTIFICATION: bind() takes every kind of address as the general one.
    EXPECT_EQ(::bind(listener_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    EXPECT_EQ(::listen(listener_.get(), 8), 0);
    thread_ = std::thread([this] { serve(); });
  }
  ~LyingProcess() {
    ::shutdown(listener_.get(), SHUT_RDWR);
    thread_.join();
  }
  LyingProcess(const LyingProcess&) = delete;
  LyingProcess& operator=(const LyingProcess&) = delete;
  std::string socket() const { return place_.path() + "/s"; }
  PluginStorage::Options options() const {
    return {.socket = socket(), .call_max = std::chrono::milliseconds(300)};
  }

 private:
  void serve() {
    while (true) {
      const os::Fd one(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
      if (!one.is_open()) return;
      for (const std::string& answer : answers_) {
        if (const auto asked = receive_frame(one.get(), std::chrono::seconds(5)); !asked || !*asked) break;
        ::send(one.get(), answer.data(), answer.size(), MSG_NOSIGNAL);
      }
      // "" keeps silent until the other side has had enough.
      if (answers_.back().empty()) (void)receive_frame(one.get(), std::chrono::seconds(5));
    }
  }

  vfs::TemporaryDirectory place_;
  std::vector<std::string> answers_;
  os::Fd listener_{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  std::thread thread_;
};

std::string frame(FrameKind kind, const std::string& body = "") {
  std::string text{static_cast<char>(body.size()), 0, 0, 0, static_cast<char>(kind)};
  return text + body;
}

TEST(PluginStorage, AProcessThatLiesFailsTheCall) {
  const std::string done = frame(FrameKind::done);
  const auto opened = [](std::vector<std::string> answers) {
    const LyingProcess process(std::move(answers));
    const auto storage = PluginStorage::open(process.options(), "a");
    return storage ? "opened" : std::string(to_string(storage.error().code()));
  };
  EXPECT_EQ(opened({done, done}), "opened");
  EXPECT_EQ(opened({frame(FrameKind::entry, "x")}), "provider_failed") << "nobody asked for entries";
  EXPECT_EQ(opened({frame(FrameKind::apply)}), "provider_failed");
  EXPECT_EQ(opened({done, frame(FrameKind::open)}), "provider_failed");
  EXPECT_EQ(opened({done, frame(FrameKind::entry, "x") + done}), "data_loss");
  EXPECT_EQ(opened({done, std::string("\xff\xff\xff\x7f\x0a", 5)}), "unavailable")
      << "a frame without an end";
  EXPECT_EQ(opened({done, std::string("\x05\0\0\0\x0b"
                                      "ab",
                                      7)}),
            "unavailable")
      << "closed within a frame";
  EXPECT_EQ(opened({done}), "unavailable") << "closed instead of an answer";
  EXPECT_EQ(opened({done, ""}), "unavailable") << "silence";
  EXPECT_EQ(opened({frame(FrameKind::refused, "no\xff")}), "provider_failed");
}

TEST(PluginStorage, EntriesWithoutAnEndAreGivenUp) {
  std::string key, entry = vfs::encode_entry(file("/f", "x"));
  vfs::put_bytes(key, "/f");
  std::string many = frame(FrameKind::done);
  for (int i = 0; i < 100; ++i) many.insert(0, frame(FrameKind::entry, key + entry));
  const LyingProcess process({frame(FrameKind::done), many});
  EXPECT_TRUE(PluginStorage::open(process.options(), "a"));
  PluginStorage::Options bounded = process.options();
  bounded.load_max = 1'000;
  const auto refused = PluginStorage::open(bounded, "a");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), Code::unavailable);
  EXPECT_NE(refused.error().message().find("more than 1000 bytes"), std::string::npos);
}

TEST(PluginStorage, AnAnswerToAChangeHasNoEntries) {
  const std::string done = frame(FrameKind::done);
  const LyingProcess process({done, done, frame(FrameKind::entry, "x")});
  const auto storage = PluginStorage::open(process.options(), "a").value();
  EXPECT_EQ(storage->set(file("/f", "x")).error().code(), Code::provider_failed);
  EXPECT_EQ(storage->count().value(), 0U) << "what was not kept is not there";
}

TEST(PluginProtocol, ASideThatDoesNotReadOrIsGone) {
  int ends[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
  const os::Fd mine(ends[0]);
  os::Fd theirs(ends[1]);
  const auto soon = std::chrono::milliseconds(100);
  const std::string large(8 << 20, 'x');
  const auto slow = send_frame(mine.get(), FrameKind::apply, large, soon);
  ASSERT_FALSE(slow);
  EXPECT_THAT(slow.error().message(), HasSubstr("in time"));
  theirs.reset();
  EXPECT_THAT(send_frame(mine.get(), FrameKind::apply, "x", soon).error().message(), HasSubstr("is gone"));
  EXPECT_THAT(receive_frame(mine.get(), soon).error().message(), HasSubstr("is gone"))
      << "what was sent is lost";
  const os::Fd other(::open("/dev/null", O_RDWR | O_CLOEXEC));
  EXPECT_FALSE(receive_frame(other.get(), soon)) << "no socket at all";
  EXPECT_FALSE(send_frame(other.get(), FrameKind::done, "", soon));
}

TEST(PluginProtocol, FramesThatCannotBe) {
  int ends[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
  const os::Fd mine(ends[0]), theirs(ends[1]);
  const auto soon = std::chrono::milliseconds(200);
  EXPECT_EQ(receive_frame(mine.get(), soon).error().code(), Code::unavailable);  // too slow
  ASSERT_EQ(::send(theirs.get(), "\xff\xff\xff\xff\x01", 5, 0), 5);
  EXPECT_EQ(receive_frame(mine.get(), soon).error().code(), Code::unavailable);  // too long
  ASSERT_EQ(::send(theirs.get(),
                   "\x05\x00\x00\x00\x01"
                   "ab",
                   7, 0),
            7);
  ::shutdown(theirs.get(), SHUT_WR);
  EXPECT_EQ(receive_frame(mine.get(), soon).error().code(), Code::unavailable);  // cut off
  const auto end = receive_frame(mine.get(), soon);
  ASSERT_TRUE(end);
  EXPECT_FALSE(*end);
}

}  // namespace
}  // namespace atl::storage
