#include "sandbox/native/spawner_protocol.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <random>

namespace atl::sandbox::native {
namespace {

Request good_create() {
  Spec spec;
  spec.id = "box";
  spec.layers = {"/layers/a", "/layers/b"};
  spec.snapshot = "/snapshots/s";
  spec.preimport = {"json", "os.path"};
  spec.env = {{"A", "1"}};
  spec.host_mounts = {{"/volumes/v", "/data", true, MountIds::inside}};
  return Request{.token = 7, .name = "box", .ask = ask::Create{std::move(spec)}};
}

Request good_revive() {
  CheckpointedInterpreter interpreter{
      .id = "k", .directory = "/", .user = "user", .zygote = "abc", .layout = 5, .pid = 12, .control = 60};
  interpreter.extent = Extent::whole;
  return Request{.token = 8, .name = "box", .ask = ask::Revive{1, std::move(interpreter)}};
}

Request good_checkpoint() {
  ask::Checkpoint checkpoint{.directory = "/snapshots/t"};
  checkpoint.interpreters = {{.id = "k", .user = "user", .directory = "/", .pid = 12, .forked_pid = 12}};
  checkpoint.known = {1, 2, 3};
  return Request{.token = 9, .name = "box", .ask = std::move(checkpoint)};
}

template <class T>
T& of(Request& request) {
  return std::get<T>(request.ask);
}
Spec& spec_of(Request& request) {
  return of<ask::Create>(request).spec;
}

TEST(SpawnerProtocol, ComesBackAsItWent) {
  auto create = decode_request(encode(good_create()));
  ASSERT_TRUE(create) << create.error().message();
  EXPECT_EQ(spec_of(*create).layers.size(), 2U);
  EXPECT_EQ(spec_of(*create).host_mounts.front().ids, MountIds::inside);
  auto revive = decode_request(encode(good_revive()));
  ASSERT_TRUE(revive) << revive.error().message();
  EXPECT_EQ(of<ask::Revive>(*revive).interpreter.layout, 5U);
  EXPECT_EQ(of<ask::Revive>(*revive).interpreter.extent, Extent::whole);
  EXPECT_EQ(of<ask::Revive>(*revive).interpreter.control, 60);
  auto checkpoint = decode_request(encode(good_checkpoint()));
  ASSERT_TRUE(checkpoint) << checkpoint.error().message();
  EXPECT_EQ(of<ask::Checkpoint>(*checkpoint).known.size(), 3U);
  EXPECT_EQ(of<ask::Checkpoint>(*checkpoint).directory, "/snapshots/t");
}

// Every verb is one type, and every type comes back as itself.
TEST(SpawnerProtocol, EveryVerbComesBackAsItself) {
  Spec spec;
  spec.id = "box";
  const Ask all[] = {ask::Hello{},
                     ask::List{},
                     ask::Create{spec},
                     ask::Adopt{},
                     ask::Destroy{},
                     ask::Freeze{},
                     ask::Thaw{},
                     ask::Rename{"other"},
                     ask::Snapshot{"/s"},
                     ask::Discard{"/s"},
                     ask::Measure{"/s"},
                     ask::OpenInterpreters{"/s"},
                     ask::DiscardInterpreters{"/s"},
                     ask::ShutDown{},
                     ask::ForkInterpreter{"user", "/"},
                     std::move(good_checkpoint().ask),
                     std::move(good_revive().ask),
                     ask::SecondConnection{},
                     ask::OpenVolume{"/v", 1 << 20, 100},
                     ask::CloseVolume{"/v"}};
  static_assert(std::size(all) == std::variant_size_v<Ask>);
  for (const Ask& ask : all) {
    const Request said{.token = 3, .name = "box", .ask = ask};
    const auto heard = decode_request(encode(said));
    ASSERT_TRUE(heard) << heard.error().message();
    EXPECT_EQ(heard->verb(), said.verb());
    EXPECT_EQ(heard->ask.index(), ask.index());
    EXPECT_EQ(encode(*heard), encode(said));
  }
}

// A daemon asks a spawner of another version two things: they stay as they are, byte for byte.
TEST(SpawnerProtocol, WhatOtherVersionsUnderstandStays) {
  const std::string token("\5\0\0\0\0\0\0\0", 8), empty(4, '\0');
  EXPECT_EQ(encode(Request{.token = 5, .name = {}, .ask = ask::Hello{}}),
            std::string(1, 0) + token + empty + empty);
  EXPECT_EQ(encode(Request{.token = 5, .name = {}, .ask = ask::ShutDown{}}),
            std::string(1, 11) + token + empty + empty);
}

// Each is a request that was good but for one thing.
TEST(SpawnerProtocol, WhatNoSandboxCanBeIsRefusedByField) {
  const std::pair<const char*, std::function<void(Request&)>> cases[] = {
      {"name", [](Request& r) { r.name = spec_of(r).id = "a/b"; }},
      {"name", [](Request& r) { r.name = spec_of(r).id = ""; }},
      {"name", [](Request& r) { r.name = spec_of(r).id = std::string(161, 'x'); }},
      {"name", [](Request& r) { r.name = spec_of(r).id = std::string("a\0b", 3); }},
      {"spec.id", [](Request& r) { spec_of(r).id = "other"; }},
      {"limits.cpu_cores",
       [](Request& r) { spec_of(r).limits.cpu_cores = std::numeric_limits<double>::quiet_NaN(); }},
      {"limits.cpu_cores",
       [](Request& r) { spec_of(r).limits.cpu_cores = std::numeric_limits<double>::infinity(); }},
      {"limits.cpu_cores", [](Request& r) { spec_of(r).limits.cpu_cores = -1; }},
      {"limits.memory_bytes", [](Request& r) { spec_of(r).limits.memory_bytes = UINT64_MAX; }},
      {"limits.disk_bytes", [](Request& r) { spec_of(r).limits.disk_bytes = UINT64_MAX; }},
      {"limits.inodes_max", [](Request& r) { spec_of(r).limits.inodes_max = 0; }},
      {"limits.inodes_max", [](Request& r) { spec_of(r).limits.inodes_max = UINT64_MAX; }},
      {"limits.processes_max", [](Request& r) { spec_of(r).limits.processes_max = UINT32_MAX; }},
      {"limits.open_files_max", [](Request& r) { spec_of(r).limits.open_files_max = 0; }},
      {"limits.open_files_max", [](Request& r) { spec_of(r).limits.open_files_max = UINT32_MAX; }},
      {"layers", [](Request& r) { spec_of(r).layers.assign(24, "/layers/a"); }},
      {"layers", [](Request& r) { spec_of(r).layers = {std::string("/a\0b", 4)}; }},
      {"layers", [](Request& r) { spec_of(r).layers = {std::string(5000, 'x')}; }},
      {"snapshot", [](Request& r) { spec_of(r).snapshot = ""; }},
      {"preimport", [](Request& r) { spec_of(r).preimport = {"os; import pty"}; }},
      {"preimport", [](Request& r) { spec_of(r).preimport = {".x"}; }},
      {"preimport", [](Request& r) { spec_of(r).preimport.assign(65, "x"); }},
      {"hostname", [](Request& r) { spec_of(r).hostname = "a\nb"; }},
      {"user", [](Request& r) { spec_of(r).user = std::string(300, 'u'); }},
      {"host_mounts", [](Request& r) { spec_of(r).host_mounts.front().host_path = std::string("/v\0", 3); }},
      {"host_mounts", [](Request& r) { spec_of(r).host_mounts.front().guest_path = "relative"; }},
      {"host_mounts",
       [](Request& r) {
         spec_of(r).host_mounts.assign(65, {"/volumes/v", "/data", false});
       }},
      {"required_walls", [](Request& r) { spec_of(r).required_walls = {"a b"}; }},
  };
  for (const auto& [field, spoil] : cases) {
    Request request = good_create();
    spoil(request);
    const auto decoded = decode_request(encode(request));
    ASSERT_FALSE(decoded) << field;
    EXPECT_EQ(decoded.error().code(), Code::invalid_argument) << field;
    EXPECT_EQ(decoded.error().field(), field);
  }
}

TEST(SpawnerProtocol, OtherRequestsAreLookedAtToo) {
  const auto spoiled = [](Request request, const std::function<void(Request&)>& spoil) {
    spoil(request);
    return decode_request(encode(request)).has_value();
  };
  EXPECT_FALSE(spoiled(good_revive(), [](Request& r) { of<ask::Revive>(r).interpreter.pid = 0; }));
  EXPECT_FALSE(spoiled(good_revive(), [](Request& r) { of<ask::Revive>(r).interpreter.pid = -4; }));
  EXPECT_FALSE(spoiled(good_revive(), [](Request& r) { of<ask::Revive>(r).interpreter.control = -1; }));
  EXPECT_FALSE(spoiled(good_revive(),
                       [](Request& r) { of<ask::Revive>(r).interpreter.zygote = std::string(100, 'z'); }));
  EXPECT_FALSE(decode_request(encode(good_revive()) + std::string("\4\0\0\0late", 8)));
  EXPECT_FALSE(spoiled(good_checkpoint(), [](Request& r) { of<ask::Checkpoint>(r).directory = ""; }));
  EXPECT_FALSE(
      spoiled(good_checkpoint(), [](Request& r) { of<ask::Checkpoint>(r).interpreters.front().pid = 0; }));
  EXPECT_FALSE(spoiled(good_checkpoint(), [](Request& r) {
    auto& interpreters = of<ask::Checkpoint>(r).interpreters;
    interpreters.resize(257, interpreters.front());
  }));
  EXPECT_FALSE(decode_request(encode(Request{.ask = ask::Discard{}})));
  EXPECT_FALSE(decode_request(encode(Request{.ask = ask::CloseVolume{}})));
  const Request volume{.ask = ask::OpenVolume{"/volumes/v", 1 << 30, 1000}};
  EXPECT_TRUE(decode_request(encode(volume)));
  EXPECT_FALSE(spoiled(volume, [](Request& r) { of<ask::OpenVolume>(r).bytes = 0; }));
  EXPECT_FALSE(spoiled(volume, [](Request& r) { of<ask::OpenVolume>(r).inodes = UINT64_MAX; }));
  EXPECT_FALSE(decode_request(encode(Request{.name = "box", .ask = ask::Rename{}})));
  // Numbers that can be asked for by nobody, and one that only the spawner says.
  for (const int verb : {6, 200, static_cast<int>(Verb::ended), static_cast<int>(Verb::files_written),
                         static_cast<int>(Verb::zygotes)}) {
    std::string bytes = encode(good_checkpoint());
    bytes[0] = static_cast<char>(verb);
    const auto decoded = decode_request(bytes);
    ASSERT_FALSE(decoded) << verb;
    EXPECT_EQ(decoded.error().code(), Code::invalid_argument);
  }
}

TEST(SpawnerProtocol, ListsAndNumbersAreNotCutToFit) {
  Request request = good_checkpoint();
  of<ask::Checkpoint>(request).known.assign(17000, 1);
  EXPECT_FALSE(decode_request(encode(request)));
  std::string bytes = encode(good_revive());
  EXPECT_EQ(*token_of(bytes), 8U);
  EXPECT_FALSE(token_of("abc"));
  EXPECT_FALSE(decode_request(bytes + "x"));
}

// What the other side has of a reply, if nothing was spoiled on the way.
template <class T>
T answered(Verb verb, T answer) {
  const auto decoded = decode_reply(encode(Reply{.verb = verb, .token = 3, .name = "box", .answer = answer}));
  EXPECT_TRUE(decoded);
  if (!decoded) return {};
  EXPECT_EQ(decoded->verb, verb);
  EXPECT_EQ(decoded->token, 3U);
  EXPECT_EQ(decoded->name, "box");
  EXPECT_TRUE(std::holds_alternative<T>(decoded->answer));
  return decoded->template as<T>();
}

TEST(SpawnerProtocol, AReplyThatIsCutOrTooLongIsRefused) {
  const std::string bytes = encode(Reply{.verb = Verb::measure, .answer = answers::Size{7}});
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    const auto decoded = decode_reply(bytes.substr(0, length));
    ASSERT_FALSE(decoded) << length;
    EXPECT_EQ(decoded.error().code(), Code::internal);
  }
  EXPECT_FALSE(decode_reply(bytes + "x"));
}

TEST(SpawnerProtocol, AFailedReplyHasItsErrorAndAnEmptyAnswer) {
  const Reply failed{.verb = Verb::create, .token = 4, .error = Error(Code::not_found, "no such layer")};
  const auto decoded = decode_reply(encode(failed));
  ASSERT_TRUE(decoded);
  ASSERT_TRUE(decoded->error);
  EXPECT_EQ(decoded->error->code(), Code::not_found);
  EXPECT_EQ(decoded->error->message(), "no such layer");
  EXPECT_TRUE(decoded->as<answers::Sandbox>().group.empty());
  // The size says which image will not come.
  const Reply image{.verb = Verb::image_made,
                    .error = Error(Code::resource_exhausted, "full"),
                    .answer = answers::Image{1 << 20, 512}};
  EXPECT_EQ(decode_reply(encode(image))->as<answers::Image>().inodes, 512U);
}

TEST(SpawnerProtocol, AReplyOfAnotherKindGivesAnEmptyAnswer) {
  const auto decoded = decode_reply(encode(Reply{.verb = Verb::measure, .answer = answers::Size{7}}));
  ASSERT_TRUE(decoded);
  EXPECT_EQ(decoded->as<answers::Interpreter>().pid, 0U);
}

TEST(SpawnerProtocol, EveryKindOfAnswerArrivesWhole) {
  const Isolation isolation{.walls = {{"seccomp", "a filter"}}, .missing = {{"cgroup", "not mounted"}}};
  const auto hello = answered(
      Verb::hello,
      answers::Hello{
          .version = 8, .pid = 12, .parent_group = "atoll", .isolation = isolation, .names = {"one", "two"}});
  EXPECT_EQ(hello.version, 8U);
  EXPECT_EQ(hello.pid, 12U);
  EXPECT_EQ(hello.parent_group, "atoll");
  EXPECT_EQ(hello.names, (std::vector<std::string>{"one", "two"}));
  ASSERT_EQ(hello.isolation.missing.size(), 1U);
  EXPECT_EQ(hello.isolation.missing[0].name, "cgroup");
  Spec spec;
  spec.id = "box";
  const auto sandbox = answered(
      Verb::adopt,
      answers::Sandbox{.group = "g", .pid = 99, .isolation = isolation, .frozen = true, .spec = spec});
  EXPECT_EQ(sandbox.group, "g");
  EXPECT_EQ(sandbox.pid, 99U);
  EXPECT_TRUE(sandbox.frozen);
  ASSERT_TRUE(sandbox.spec);
  EXPECT_EQ(sandbox.spec->id, "box");
  EXPECT_FALSE(answered(Verb::create, answers::Sandbox{.group = "g"}).spec);
  EXPECT_EQ(answered(Verb::revive, answers::Interpreter{5}).pid, 5U);
  const auto checkpoint = answered(Verb::checkpoint, answers::Checkpoint{{"k"}, {"a server"}, 1500});
  EXPECT_EQ(checkpoint.carried, std::vector<std::string>{"k"});
  EXPECT_EQ(checkpoint.left_behind, std::vector<std::string>{"a server"});
  EXPECT_EQ(checkpoint.micros, 1500U);
  EXPECT_EQ(answered(Verb::measure, answers::Size{1ULL << 40}).bytes, 1ULL << 40);
  EXPECT_EQ(answered(Verb::ended, answers::Ended{"out of memory"}).why, "out of memory");
  EXPECT_EQ(answered(Verb::zygotes, answers::Zygotes{"it ended"}).away, "it ended");
  EXPECT_EQ(answered(Verb::hello, answers::Hello{.zygotes_away = "it ended"}).zygotes_away, "it ended");
}

// Whatever comes, it is a request or an error.
TEST(SpawnerProtocol, NoiseIsHarmless) {
  std::mt19937 random(11);
  const std::string seeds[] = {encode(good_create()), encode(good_revive()), encode(good_checkpoint())};
  for (int round = 0; round < 30'000; ++round) {
    std::string bytes = seeds[random() % std::size(seeds)];
    for (unsigned flips = 1 + random() % 6; flips > 0; --flips)
      bytes[random() % bytes.size()] = static_cast<char>(random());
    if (random() % 4 == 0) bytes.resize(random() % bytes.size());
    (void)decode_request(bytes);
    (void)decode_reply(bytes);
  }
}

}  // namespace
}  // namespace atl::sandbox::native
