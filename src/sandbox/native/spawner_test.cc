// A daemon that was taken over, as an ordinary user, and what it can make the spawner do.
#include "sandbox/native/spawner.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <grp.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <functional>
#include <random>
#include <thread>

#include "base/ids.h"
#include "guest/program.h"
#include "os/file.h"
#include "os/fork.h"
#include "os/message.h"
#include "sandbox/native/spawner_protocol.h"

namespace atl::sandbox::native {
namespace {

constexpr uid_t kOrdinary = 54321;

// What the child finds out goes to the test as text; empty is good.
class Talk {
 public:
  explicit Talk(int socket) : socket_(socket) {}
  Reply ask(Request request, int beside = -1, std::vector<os::Fd>* fds = nullptr) {
    request.token = ++token_;
    if (!os::send_message(socket_, encode(request), std::span(&beside, beside >= 0 ? 1 : 0))) return lost();
    return answer(fds);
  }
  Reply answer(std::vector<os::Fd>* fds = nullptr) {
    for (;;) {
      auto message = os::receive_message(socket_);
      if (!message || message->bytes.empty()) return lost();
      auto reply = decode_reply(message->bytes);
      if (!reply) return lost();
      if (reply->token != token_) continue;
      if (fds != nullptr) *fds = std::move(message->fds);
      return std::move(*reply);
    }
  }
  void say(std::string_view bytes) { (void)os::send_message(socket_, bytes); }
  void expect(bool good, const std::string& what) {
    if (!good) complaints_ += what + "\n";
  }
  void expect_refused(const Reply& reply, Code code, const std::string& what) {
    expect(reply.error && reply.error->code() == code,
           what + ": " + (reply.error ? reply.error->message() : "was done"));
  }
  const std::string& complaints() const { return complaints_; }

 private:
  static Reply lost() {
    Reply reply;
    reply.error = Error(Code::unavailable, "the spawner is gone");
    return reply;
  }
  int socket_;
  std::uint64_t token_ = 0;
  std::string complaints_;
};

class SpawnerTest : public testing::Test {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "needs root";
    for (const char* name : {"/data/layers/one/bin", "/data/snapshots/old/root", "/data/snapshots/old/usr",
                             "/data/volumes/v", "/data/run", "/outside/root", "/outside/usr"})
      ASSERT_TRUE(os::make_directories(base_ + name));
    ASSERT_TRUE(os::write_file(base_ + "/outside/kept", "kept"));
    // As with run_as: the user's but for what belongs to sandboxes.
    ASSERT_EQ(::chown((base_ + "/data").c_str(), kOrdinary, kOrdinary), 0);
    for (const char* name : {"/data/volumes", "/data/volumes/v", "/data/snapshots"})
      ASSERT_EQ(::chown((base_ + name).c_str(), kOrdinary, kOrdinary), 0);
    SpawnerOptions options;
    options.guest_program = guest::program();
    options.run_directory = base_ + "/data/run";
    options.cgroup_parent = "atoll-test-" + random_word(10);
    options.image_directory = base_ + "/data/sandboxes";
    options.orphan_time = std::chrono::seconds(0);
    options.zygote.enabled = false;
    options.roots.layers = {base_ + "/data/layers"};
    options.roots.snapshots = {base_ + "/data/snapshots"};
    options.roots.mounts = {{.path = base_ + "/data/volumes", .writable = true},
                            {.path = base_ + "/outside/usr"}};
    options.roots.trusted.emplace();
    auto socket = start_spawner(options);
    ASSERT_TRUE(socket) << socket.error().message();
    socket_ = std::move(*socket);
    base_mode();
  }
  void base_mode() { ASSERT_EQ(::chmod(base_.c_str(), 0755), 0); }
  void TearDown() override {
    if (socket_.is_open()) {
      Talk talk(socket_.get());
      const Reply gone = talk.ask(Request{.ask = ask::ShutDown{}});
      EXPECT_FALSE(gone.error) << gone.error->message();
    }
    std::filesystem::remove_all(base_);
  }
  // As the ordinary user, in a process of its own.
  std::string as_ordinary(const std::function<void(Talk&)>& body) {
    int pipe[2];
    if (::pipe(pipe) < 0) return "no pipe";
    const pid_t child = os::fork_alone();
    if (child == 0) {
      Talk talk(socket_.get());
      const bool dropped = ::setgroups(0, nullptr) == 0 &&
                           ::setresgid(kOrdinary, kOrdinary, kOrdinary) == 0 &&
                           ::setresuid(kOrdinary, kOrdinary, kOrdinary) == 0;
      talk.expect(dropped, "could not become the user");
      if (dropped) body(talk);
      (void)os::write_all(pipe[1], talk.complaints());
      ::_exit(0);
    }
    ::close(pipe[1]);
    std::string said;
    char buffer[4096];
    for (ssize_t n; (n = ::read(pipe[0], buffer, sizeof buffer)) > 0;)
      said.append(buffer, static_cast<std::size_t>(n));
    ::close(pipe[0]);
    int status = 0;
    ::waitpid(child, &status, 0);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) said += "the process ended badly\n";
    return said;
  }
  static Request create(const std::function<void(Spec&)>& change = nullptr) {
    Spec spec;
    spec.id = new_sandbox_id();
    const std::string name = spec.id;
    if (change) change(spec);
    return Request{.name = name, .ask = ask::Create{std::move(spec)}};
  }
  static Request named(Ask ask, const std::string& name) {
    return Request{.name = name, .ask = std::move(ask)};
  }

  const std::string base_ = "/var/tmp/atoll-spawner-test-" + random_word(10);
  os::Fd socket_;
};

TEST_F(SpawnerTest, NothingOutsideItsRootsIsReadOrMounted) {
  const auto said = as_ordinary([&](Talk& talk) {
    const std::string data = base_ + "/data";
    ::symlink((base_ + "/outside").c_str(), (data + "/snapshots/link").c_str());
    ::symlink("/etc", (data + "/volumes/etc").c_str());
    for (const std::string& path :
         {std::string("/"), std::string("/etc"), base_ + "/outside", data, data + "/layers/../../outside",
          data + "/snapshots/link", data + "/snapshots/old/.."}) {
      talk.expect_refused(talk.ask(create([&](Spec& spec) { spec.layers = {path}; })),
                          Code::permission_denied, "layer " + path);
      const Reply snapshot = talk.ask(create([&](Spec& spec) { spec.snapshot = path; }));
      talk.expect(snapshot.error.has_value(), "snapshot " + path);
      const Reply mount = talk.ask(create([&](Spec& spec) { spec.host_mounts = {{path, "/mnt/x", false}}; }));
      talk.expect(mount.error.has_value(), "mount " + path);
    }
    const Reply link = talk.ask(create([&](Spec& spec) {
      spec.host_mounts = {{data + "/volumes/etc", "/mnt/x", false}};
    }));
    talk.expect(link.error.has_value(), "a link in the volumes");
    talk.expect_refused(talk.ask(create([&](Spec& spec) {
      spec.host_mounts = {{base_ + "/outside/usr", "/mnt/x", true}};
    })),
                        Code::permission_denied, "a read-only mount, writable");
    const Reply good = talk.ask(create([&](Spec& spec) {
      spec.host_mounts = {{data + "/volumes/v", "/mnt/x", true}};
    }));
    talk.expect(!good.error, "a volume: " + (good.error ? good.error->message() : ""));
    talk.expect(!talk.ask(named(ask::Destroy{}, good.name)).error, "its end");
  });
  EXPECT_EQ(said, "");
}

TEST_F(SpawnerTest, NothingOutsideItsRootsIsWrittenOrRemoved) {
  const auto said = as_ordinary([&](Talk& talk) {
    const std::string data = base_ + "/data";
    ::symlink((base_ + "/outside").c_str(), (data + "/snapshots/link").c_str());
    const Reply box = talk.ask(create());
    talk.expect(!box.error, "a sandbox");
    for (const std::string& path :
         {std::string("/etc"), base_ + "/outside", base_ + "/outside/root", data + "/snapshots",
          data + "/snapshots/", data + "/snapshots/link/root", data + "/snapshots/../../outside",
          data + "/layers/one", data + "/volumes/v", data + "/run", std::string("outside")}) {
      talk.expect(talk.ask(named(ask::Discard{path}, "")).error.has_value(), "discard " + path);
      talk.expect(talk.ask(named(ask::Measure{path}, "")).error.has_value(), "measure " + path);
      talk.expect(talk.ask(named(ask::OpenInterpreters{path}, "")).error.has_value(), "open in " + path);
      talk.expect(talk.ask(named(ask::DiscardInterpreters{path}, "")).error.has_value(),
                  "discard in " + path);
      talk.expect(talk.ask(named(ask::Snapshot{path + "/new"}, box.name)).error.has_value() ||
                      path.ends_with("/snapshots") || path.ends_with("/snapshots/"),
                  "snapshot into " + path);
      talk.expect(talk.ask(named(ask::Checkpoint{.directory = path}, box.name)).error.has_value(),
                  "capture to " + path);
    }
    // The link itself may go; what it leads to stays.
    talk.expect(!talk.ask(named(ask::Discard{data + "/snapshots/link"}, "")).error, "discard the link");
    talk.expect(!talk.ask(named(ask::Snapshot{data + "/snapshots/mine"}, box.name)).error, "a snapshot");
    talk.expect(!talk.ask(named(ask::Discard{data + "/snapshots/mine"}, "")).error, "its removal");
    (void)talk.ask(named(ask::Destroy{}, box.name));
  });
  EXPECT_EQ(said, "");
  EXPECT_EQ(os::read_file(base_ + "/outside/kept").value_or("gone"), "kept");
  EXPECT_TRUE(os::exists(base_ + "/outside/root"));
  EXPECT_FALSE(os::exists(base_ + "/outside/new"));
  EXPECT_TRUE(os::exists(base_ + "/data/layers/one/bin"));
  EXPECT_TRUE(os::exists(base_ + "/data/volumes/v"));
}

// The memory of interpreters lies in files of root's, and a service that is an ordinary user goes on from
// them.
TEST_F(SpawnerTest, InterpretersAreGivenOutOfCheckpointsOnly) {
  const std::string snapshots = base_ + "/data/snapshots/", kernels = std::string("/") + kCheckpointName;
  for (const char* name : {"parked", "empty", "linked", "users", "open", "pipe", "shared"})
    ASSERT_TRUE(os::make_directories(snapshots + name, 0700));
  ASSERT_TRUE(os::write_file(snapshots + "parked" + kernels, "memory"));
  ASSERT_EQ(::chmod((snapshots + "parked" + kernels).c_str(), 0600), 0);
  const std::string outside = base_ + "/outside/kept";
  ASSERT_EQ(::symlink(outside.c_str(), (snapshots + "linked" + kernels).c_str()), 0);
  for (const char* name : {"users", "open", "shared"})
    ASSERT_EQ(::link(outside.c_str(), (snapshots + name + kernels).c_str()), 0);
  ASSERT_EQ(::chown((snapshots + "users").c_str(), kOrdinary, kOrdinary), 0);
  ASSERT_EQ(::chmod((snapshots + "open").c_str(), 0777), 0);
  ASSERT_EQ(::mkfifo((snapshots + "pipe" + kernels).c_str(), 0600), 0);
  const auto said = as_ordinary([&](Talk& talk) {
    std::vector<os::Fd> fds;
    const Reply parked = talk.ask(named(ask::OpenInterpreters{snapshots + "parked"}, ""), -1, &fds);
    talk.expect(!parked.error && fds.size() == 1, "the file of a checkpoint");
    if (fds.size() != 1) return;
    char bytes[16] = {};
    talk.expect(::read(fds[0].get(), bytes, sizeof bytes) == 6, "its bytes");
    talk.expect(::write(fds[0].get(), "x", 1) < 0, "it can be written");
    talk.expect(::open(fmt::format("/proc/self/fd/{}", fds[0].get()).c_str(), O_RDWR) < 0,
                "it can be opened to be written");
    talk.expect_refused(talk.ask(named(ask::OpenInterpreters{snapshots + "empty"}, "")), Code::not_found,
                        "a checkpoint without interpreters");
    for (const char* name : {"users", "open", "pipe", "shared"})
      talk.expect_refused(talk.ask(named(ask::OpenInterpreters{snapshots + name}, "")),
                          Code::permission_denied, name);
    talk.expect(talk.ask(named(ask::OpenInterpreters{snapshots + "linked"}, "")).error.has_value(), "a link");
    for (const char* name : {"parked", "empty", "linked", "parked"})
      talk.expect(!talk.ask(named(ask::DiscardInterpreters{snapshots + name}, "")).error,
                  std::string("discard those of ") + name);
  });
  EXPECT_EQ(said, "");
  EXPECT_FALSE(os::exists(snapshots + "parked" + kernels));
  EXPECT_TRUE(os::exists(snapshots + "parked"));
  EXPECT_EQ(os::read_file(outside).value_or("gone"), "kept");
}

// The user owns the directory of snapshots, and changes what is in it while the spawner works there.
TEST_F(SpawnerTest, NoRaceLeadsOutside) {
  const auto said = as_ordinary([&](Talk& talk) {
    const std::string snapshots = base_ + "/data/snapshots", a = snapshots + "/a", b = snapshots + "/b";
    std::atomic<bool> over = false;
    std::thread swapper([&] {
      while (!over) {
        ::mkdir(a.c_str(), 0755), ::mkdir((a + "/root").c_str(), 0755), ::mkdir((a + "/usr").c_str(), 0755);
        ::rename(a.c_str(), b.c_str());
        ::symlink((base_ + "/outside").c_str(), a.c_str());
        ::unlink(a.c_str());
        ::rename(b.c_str(), a.c_str());
      }
    });
    for (int i = 0; i < 150; ++i) {
      (void)talk.ask(named(ask::Discard{a + "/root"}, ""));
      (void)talk.ask(named(ask::Discard{a + "/kept"}, ""));
      (void)talk.ask(named(ask::Discard{a}, ""));
    }
    over = true;
    swapper.join();
  });
  EXPECT_EQ(said, "");
  EXPECT_EQ(os::read_file(base_ + "/outside/kept").value_or("gone"), "kept");
  EXPECT_TRUE(os::exists(base_ + "/outside/root"));
}

TEST_F(SpawnerTest, LayersAreTrustedByWordOfTheStartOnly) {
  const auto said = as_ordinary([&](Talk& talk) {
    // Without a zygote it is a sandbox as any; with one, code of these layers would run with power over the
    // machine.
    const Reply box = talk.ask(create([&](Spec& spec) {
      spec.layers = {base_ + "/data/layers/one"}, spec.trusted_layers = true, spec.preimport = {"evil"};
    }));
    if (box.error) return;
    talk.expect(talk.ask(named(ask::ForkInterpreter{"root", "/"}, box.name)).error.has_value(),
                "an interpreter of untrusted layers was forked from a zygote");
    (void)talk.ask(named(ask::Destroy{}, box.name));
  });
  EXPECT_EQ(said, "");
}

TEST_F(SpawnerTest, WhatIsNobodysIsNotTouched) {
  const auto said = as_ordinary([&](Talk& talk) {
    const std::string place = base_ + "/data/snapshots/x";
    const Ask all[] = {ask::Destroy{},
                       ask::Freeze{},
                       ask::Thaw{},
                       ask::Adopt{},
                       ask::ForkInterpreter{},
                       ask::Snapshot{place},
                       ask::Checkpoint{.directory = place}};
    for (const Ask& ask : all) {
      const Request request = named(ask, "somebody");
      talk.expect_refused(talk.ask(request), Code::not_found,
                          fmt::format("verb {}", static_cast<int>(request.verb())));
    }
    const Reply one = talk.ask(create()), two = talk.ask(create());
    talk.expect(!one.error && !two.error, "two sandboxes");
    talk.expect_refused(talk.ask(named(ask::Rename{two.name}, one.name)), Code::already_exists,
                        "another's name");
    // Numbers of processes are those inside: the host's mean nothing.
    ask::Checkpoint checkpoint{.directory = base_ + "/data/snapshots/c"};
    for (const std::uint32_t pid :
         {1U, two.as<answers::Sandbox>().pid, static_cast<std::uint32_t>(::getpid())})
      checkpoint.interpreters.push_back(
          {.id = "k", .user = "root", .directory = "/", .pid = pid, .forked_pid = pid});
    const Reply taken = talk.ask(named(checkpoint, one.name));
    talk.expect(taken.as<answers::Checkpoint>().carried.empty(),
                "a process was copied that is no interpreter");
    // A pipe would never answer, and a device is no file of interpreters.
    int pipe[2];
    talk.expect(::pipe(pipe) == 0, "a pipe");
    CheckpointedInterpreter interpreter{
        .id = "k", .directory = "/", .user = "user", .zygote = "z", .layout = 1, .pid = 5, .control = 60};
    const Request revive = named(ask::Revive{0, interpreter}, one.name);
    talk.expect_refused(talk.ask(revive, pipe[0]), Code::invalid_argument, "a pipe of interpreters");
    talk.expect(talk.ask(revive).error.has_value(), "interpreters without a file");
    for (const Reply& box : {one, two})
      talk.expect(!talk.ask(named(ask::Destroy{}, box.name)).error, "an end");
  });
  EXPECT_EQ(said, "");
}

TEST_F(SpawnerTest, GarbageIsAnsweredOrIgnoredAndHurtsNobody) {
  const auto said = as_ordinary([&](Talk& talk) {
    std::vector<os::Fd> held;
    const Reply box = talk.ask(create(), -1, &held);
    talk.expect(!box.error && held.size() == 3, "a sandbox");
    std::mt19937 random(5);
    const std::string seed = encode(create([&](Spec& spec) { spec.layers = {base_ + "/data/layers/one"}; }));
    for (int i = 0; i < 300; ++i) {
      std::string bytes = i % 3 == 0 ? std::string(random() % 200 + 1, static_cast<char>(random())) : seed;
      // Its first byte stays a create's: others would be heard as what they say, shut_down among them.
      for (int flips = 0; flips < 4; ++flips) bytes[random() % bytes.size()] = static_cast<char>(random());
      bytes[0] = static_cast<char>(i % 5 == 0 ? 200 : static_cast<int>(Verb::create));
      talk.say(bytes);
    }
    const Reply hello = talk.ask(Request{.ask = ask::Hello{}});
    talk.expect(!hello.error, "it is gone");
    const auto names = hello.as<answers::Hello>().names;
    talk.expect(std::ranges::find(names, box.name) != names.end(), "the sandbox is gone");
    for (const std::string& name : names) (void)talk.ask(named(ask::Destroy{}, name));
  });
  EXPECT_EQ(said, "");
}

TEST_F(SpawnerTest, NobodyElseIsLetIn) {
  const std::string place = base_ + "/data/run";
  ASSERT_EQ(::chmod(place.c_str(), 0755), 0);
  ASSERT_EQ(::chmod((place + "/spawner.sock").c_str(), 0666), 0);
  const auto said = as_ordinary([&](Talk& talk) {
    os::Fd line(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    (place + "/spawner.sock").copy(address.sun_path, sizeof address.sun_path - 1);
    if (::connect(line.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) < 0) return;
    Talk other(line.get());
    const Reply hello = other.ask(Request{.ask = ask::Hello{}});
    talk.expect(hello.error.has_value(), "a stranger was answered");
  });
  EXPECT_EQ(said, "");
}

// The last 128 descriptors are for sandboxes that are there: a create is refused before it takes one of them.
TEST_F(SpawnerTest, NearItsLimitOfOpenFilesItMakesNoMoreAndTheOthersGoOn) {
  Talk talk(socket_.get());
  std::vector<os::Fd> fds;
  const Reply box = talk.ask(create(), -1, &fds);
  ASSERT_FALSE(box.error) << box.error->message();
  const Reply hello = talk.ask(Request{.ask = ask::Hello{}});
  const auto spawner = static_cast<pid_t>(hello.as<answers::Hello>().pid);
  const auto open_files = [&] {
    std::uint64_t highest = 0;
    for (const std::string& name :
         os::list_directory_at(AT_FDCWD, fmt::format("/proc/{}/fd", spawner).c_str()))
      highest = std::max<std::uint64_t>(highest, std::stoul(name));
    return highest;
  };
  rlimit before{};
  ASSERT_EQ(::prlimit(spawner, RLIMIT_NOFILE, nullptr, &before), 0);
  const auto allow = [&](std::uint64_t files) {
    const rlimit now{files, before.rlim_max};
    ASSERT_EQ(::prlimit(spawner, RLIMIT_NOFILE, &now, nullptr), 0);
  };
  // Well above what it has open, and yet within the reserve.
  allow(open_files() + 100);
  const Reply refused = talk.ask(create());
  ASSERT_TRUE(refused.error) << "a sandbox took of the reserve";
  EXPECT_EQ(refused.error->code(), Code::resource_exhausted);
  EXPECT_NE(refused.error->message().find("limit of open files"), std::string::npos)
      << refused.error->message();
  EXPECT_NE(refused.error->message().find("LimitNOFILE"), std::string::npos) << "what to do is said";
  // Those that are there can be looked at, paused, resumed, copied and ended.
  EXPECT_FALSE(talk.ask(Request{.ask = ask::Hello{}}).error);
  EXPECT_FALSE(talk.ask(named(ask::Freeze{}, box.name)).error);
  EXPECT_FALSE(talk.ask(named(ask::Thaw{}, box.name)).error);
  EXPECT_FALSE(talk.ask(named(ask::Snapshot{base_ + "/data/snapshots/near"}, box.name)).error);
  EXPECT_FALSE(talk.ask(named(ask::Adopt{}, box.name)).error);
  EXPECT_FALSE(talk.ask(named(ask::Destroy{}, box.name)).error);
  EXPECT_FALSE(talk.ask(named(ask::Discard{base_ + "/data/snapshots/near"}, "")).error);
  allow(before.rlim_cur);
  const Reply again = talk.ask(create());
  ASSERT_FALSE(again.error) << again.error->message();
  EXPECT_FALSE(talk.ask(named(ask::Destroy{}, again.name)).error);
}

// A daemon that takes no answers is no reason to stop: what is said to it is kept, and given when it listens.
TEST_F(SpawnerTest, ADaemonThatDoesNotListenHoldsNothingUp) {
  Talk talk(socket_.get());
  const Reply box = talk.ask(create());
  ASSERT_FALSE(box.error) << box.error->message();
  const Request hello{.token = 1000, .name = {}, .ask = ask::Hello{}};
  int said = 0;
  while (said < 4000 && os::send_message(socket_.get(), encode(hello), {}, os::Wait::no)) ++said;
  // It goes on reading although none of its answers was taken.
  for (int i = 0; i < 400 && said < 4000; ++i) {
    ::usleep(5000);
    while (said < 4000 && os::send_message(socket_.get(), encode(hello), {}, os::Wait::no)) ++said;
  }
  EXPECT_EQ(said, 4000);
  for (int i = 0; i < said; ++i) {
    auto message = os::receive_message(socket_.get());
    ASSERT_TRUE(message && !message->bytes.empty()) << i;
    EXPECT_EQ(decode_reply(message->bytes)->token, 1000U);
  }
  EXPECT_FALSE(talk.ask(named(ask::Destroy{}, box.name)).error);
}

TEST_F(SpawnerTest, AnotherLineIsGoneOnWithWhenOneIsLost) {
  std::vector<os::Fd> fds;
  std::string name;
  {
    Talk talk(socket_.get());
    const Reply box = talk.ask(create());
    ASSERT_FALSE(box.error);
    name = box.name;
    const Reply line = talk.ask(Request{.ask = ask::SecondConnection{}}, -1, &fds);
    ASSERT_FALSE(line.error);
    ASSERT_EQ(fds.size(), 1U);
  }
  socket_ = std::move(fds.front());
  Talk talk(socket_.get());
  const Reply hello = talk.ask(Request{.ask = ask::Hello{}});
  ASSERT_FALSE(hello.error) << hello.error->message();
  EXPECT_EQ(hello.as<answers::Hello>().names, std::vector<std::string>{name});
  EXPECT_FALSE(talk.ask(named(ask::Destroy{}, name)).error);
}

}  // namespace
}  // namespace atl::sandbox::native
