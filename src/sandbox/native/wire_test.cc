#include "sandbox/native/wire.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <random>

namespace atl::sandbox::native {
namespace {

Request good_create() {
  Request request{.verb = Verb::create, .token = 7, .name = "box"};
  request.spec.id = "box";
  request.spec.layers = {"/layers/a", "/layers/b"};
  request.spec.snapshot = "/snapshots/s";
  request.spec.preimport = {"json", "os.path"};
  request.spec.env = {{"A", "1"}};
  request.spec.host_mounts = {{"/volumes/v", "/data", true, MountIds::inside}};
  return request;
}

Request good_revive() {
  Request request{.verb = Verb::revive, .token = 8, .name = "box"};
  request.user = "user", request.directory = "/", request.number = 1;
  request.kernel = {
      .id = "k", .directory = "/", .user = "user", .zygote = "abc", .layout = 5, .pid = 12, .control = 60};
  request.kernel.extent = Extent::whole;
  return request;
}

Request good_capture() {
  Request request{.verb = Verb::capture, .token = 9, .name = "box"};
  request.text = "/snapshots/t";
  request.capture.kernels = {{.id = "k", .user = "user", .directory = "/", .pid = 12, .born = 12}};
  request.capture.known = {1, 2, 3};
  return request;
}

TEST(Wire, ComesBackAsItWent) {
  auto create = decode_request(encode(good_create()));
  ASSERT_TRUE(create) << create.error().message();
  EXPECT_EQ(create->spec.layers.size(), 2U);
  EXPECT_EQ(create->spec.host_mounts.front().ids, MountIds::inside);
  auto revive = decode_request(encode(good_revive()));
  ASSERT_TRUE(revive) << revive.error().message();
  EXPECT_EQ(revive->kernel.layout, 5U);
  EXPECT_EQ(revive->kernel.extent, Extent::whole);
  EXPECT_EQ(revive->kernel.control, 60);
  auto capture = decode_request(encode(good_capture()));
  ASSERT_TRUE(capture) << capture.error().message();
  EXPECT_EQ(capture->capture.known.size(), 3U);
}

// Each is a request that was good but for one thing.
TEST(Wire, WhatNoSandboxCanBeIsRefusedByField) {
  const std::pair<const char*, std::function<void(Request&)>> cases[] = {
      {"name", [](Request& r) { r.name = r.spec.id = "a/b"; }},
      {"name", [](Request& r) { r.name = r.spec.id = ""; }},
      {"name", [](Request& r) { r.name = r.spec.id = std::string(161, 'x'); }},
      {"name", [](Request& r) { r.name = r.spec.id = std::string("a\0b", 3); }},
      {"spec.id", [](Request& r) { r.spec.id = "other"; }},
      {"limits.cpu_cores",
       [](Request& r) { r.spec.limits.cpu_cores = std::numeric_limits<double>::quiet_NaN(); }},
      {"limits.cpu_cores",
       [](Request& r) { r.spec.limits.cpu_cores = std::numeric_limits<double>::infinity(); }},
      {"limits.cpu_cores", [](Request& r) { r.spec.limits.cpu_cores = -1; }},
      {"limits.memory_bytes", [](Request& r) { r.spec.limits.memory_bytes = UINT64_MAX; }},
      {"limits.disk_bytes", [](Request& r) { r.spec.limits.disk_bytes = UINT64_MAX; }},
      {"limits.inodes_max", [](Request& r) { r.spec.limits.inodes_max = 0; }},
      {"limits.inodes_max", [](Request& r) { r.spec.limits.inodes_max = UINT64_MAX; }},
      {"limits.processes_max", [](Request& r) { r.spec.limits.processes_max = UINT32_MAX; }},
      {"limits.open_files_max", [](Request& r) { r.spec.limits.open_files_max = 0; }},
      {"limits.open_files_max", [](Request& r) { r.spec.limits.open_files_max = UINT32_MAX; }},
      {"layers", [](Request& r) { r.spec.layers.assign(24, "/layers/a"); }},
      {"layers", [](Request& r) { r.spec.layers = {std::string("/a\0b", 4)}; }},
      {"layers", [](Request& r) { r.spec.layers = {std::string(5000, 'x')}; }},
      {"snapshot", [](Request& r) { r.spec.snapshot = ""; }},
      {"preimport", [](Request& r) { r.spec.preimport = {"os; import pty"}; }},
      {"preimport", [](Request& r) { r.spec.preimport = {".x"}; }},
      {"preimport", [](Request& r) { r.spec.preimport.assign(65, "x"); }},
      {"hostname", [](Request& r) { r.spec.hostname = "a\nb"; }},
      {"user", [](Request& r) { r.spec.user = std::string(300, 'u'); }},
      {"host_mounts", [](Request& r) { r.spec.host_mounts.front().host_path = std::string("/v\0", 3); }},
      {"host_mounts", [](Request& r) { r.spec.host_mounts.front().guest_path = "relative"; }},
      {"host_mounts",
       [](Request& r) {
         r.spec.host_mounts.assign(65, {"/volumes/v", "/data", false});
       }},
      {"required_walls", [](Request& r) { r.spec.required_walls = {"a b"}; }},
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

TEST(Wire, OtherRequestsAreLookedAtToo) {
  const auto spoiled = [](Request request, const std::function<void(Request&)>& spoil) {
    spoil(request);
    return decode_request(encode(request)).has_value();
  };
  EXPECT_FALSE(spoiled(good_revive(), [](Request& r) { r.kernel.pid = 0; }));
  EXPECT_FALSE(spoiled(good_revive(), [](Request& r) { r.kernel.pid = -4; }));
  EXPECT_FALSE(spoiled(good_revive(), [](Request& r) { r.kernel.control = -1; }));
  EXPECT_FALSE(spoiled(good_revive(), [](Request& r) { r.kernel.zygote = std::string(100, 'z'); }));
  EXPECT_FALSE(spoiled(good_revive(), [](Request& r) { r.text = "late"; }));
  EXPECT_FALSE(spoiled(good_capture(), [](Request& r) { r.text = ""; }));
  EXPECT_FALSE(spoiled(good_capture(), [](Request& r) { r.capture.kernels.front().pid = 0; }));
  EXPECT_FALSE(
      spoiled(good_capture(), [](Request& r) { r.capture.kernels.resize(257, r.capture.kernels.front()); }));
  EXPECT_FALSE(spoiled(good_capture(), [](Request& r) { r.verb = Verb::ended; }));
  EXPECT_FALSE(decode_request(encode(Request{.verb = Verb::discard})));
  EXPECT_FALSE(decode_request(encode(Request{.verb = Verb::close_volume})));
  Request volume{.verb = Verb::open_volume};
  volume.text = "/volumes/v";
  EXPECT_TRUE(decode_request(encode(volume)));
  EXPECT_FALSE(spoiled(volume, [](Request& r) { r.spec.limits.disk_bytes = 0; }));
  EXPECT_FALSE(spoiled(volume, [](Request& r) { r.spec.limits.inodes_max = UINT64_MAX; }));
  EXPECT_FALSE(decode_request(encode(Request{.verb = Verb::rename, .name = "box"})));
  EXPECT_FALSE(decode_request(encode(Request{.verb = static_cast<Verb>(6), .name = "box"})));
  EXPECT_FALSE(decode_request(encode(Request{.verb = static_cast<Verb>(200), .name = "box"})));
}

TEST(Wire, ListsAndNumbersAreNotCutToFit) {
  Request request = good_capture();
  request.capture.known.assign(17000, 1);
  EXPECT_FALSE(decode_request(encode(request)));
  std::string bytes = encode(good_revive());
  EXPECT_EQ(*token_of(bytes), 8U);
  EXPECT_FALSE(token_of("abc"));
  EXPECT_FALSE(decode_request(bytes + "x"));
}

// Whatever comes, it is a request or an error.
TEST(Wire, NoiseIsHarmless) {
  std::mt19937 random(11);
  const std::string seeds[] = {encode(good_create()), encode(good_revive()), encode(good_capture())};
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
