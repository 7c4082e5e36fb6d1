#include "sandbox/docker/container_config.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "sandbox/docker/archive.h"
#include "sandbox/docker/broker.h"
#include "sandbox/docker/engine.h"
#include "sandbox/docker/seccomp_profile.h"
#include "sandbox/docker/spec_note.h"

namespace atl::sandbox::docker {
namespace {

namespace bj = boost::json;

ContainerPlan plan() {
  ContainerPlan plan;
  plan.image.id = "sha256:1";
  plan.hostname = "sandbox";
  plan.session = "ses_1", plan.sandbox = "one", plan.installation = "here", plan.generation = "g";
  plan.guest_file = "/data/guest";
  plan.seccomp_profile = "{}";
  return plan;
}

// What an engine says about a container that is as it was asked for.
bj::value inspected() {
  const bj::value config = container_config(plan());
  bj::object host = config.at("HostConfig").as_object();
  host["CapAdd"] = nullptr;
  return bj::object{{"HostConfig", host}, {"State", bj::object{{"Pid", 1}}}};
}

TEST(ImageTest, NamesThatAreNoneAreRefused) {
  for (const char* name : {"", "a b", "../x", "x?y", "x&tag=1", "x\ny", "x%2f"})
    EXPECT_EQ(check_image(name, {}).error().code(), Code::invalid_argument) << name;
  EXPECT_TRUE(check_image("python:3.13-slim", {}));
  EXPECT_TRUE(check_image("host:5000/team/name@sha256:0123", {}));
}

TEST(ImageTest, OnlyWhatThePatternsAllow) {
  const std::vector<std::string> patterns = {"python:*", "team/*"};
  EXPECT_TRUE(check_image("python:3.13", patterns));
  EXPECT_TRUE(check_image("team/tool:1", patterns));
  const auto refused = check_image("debian:12", patterns);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), Code::permission_denied);
  EXPECT_EQ(refused.error().field(), "image");
}

TEST(ContainerConfigTest, IsHardened) {
  const bj::value config = container_config(plan());
  const bj::object& host = config.at("HostConfig").as_object();
  EXPECT_EQ(host.at("NetworkMode").as_string(), "none");
  EXPECT_FALSE(host.at("Privileged").as_bool());
  EXPECT_EQ(host.at("CapDrop"), (bj::array{"ALL"}));
  EXPECT_FALSE(host.contains("CapAdd"));
  EXPECT_FALSE(host.contains("Binds"));
  EXPECT_FALSE(host.contains("Devices"));
  EXPECT_EQ(host.at("SecurityOpt"), (bj::array{"no-new-privileges", "seccomp={}"}));
  ASSERT_EQ(host.at("Mounts").as_array().size(), 1U);
  EXPECT_TRUE(host.at("Mounts").at(0).at("ReadOnly").as_bool());
  EXPECT_EQ(host.at("Memory"), host.at("MemorySwap"));
  EXPECT_EQ(config.at("Labels").at("atoll.session").as_string(), "ses_1");
}

TEST(ReadBackTest, AMissingHardWallIsAFailure) {
  const auto broken = [](const char* key, bj::value value) {
    bj::value seen = inspected();
    seen.at("HostConfig").as_object()[key] = std::move(value);
    return read_back(plan(), seen, std::nullopt);
  };
  EXPECT_EQ(broken("Privileged", true).error().code(), Code::provider_failed);
  EXPECT_FALSE(broken("NetworkMode", "host"));
  EXPECT_FALSE(broken("CapAdd", bj::array{"SYS_ADMIN"}));
  EXPECT_FALSE(broken("CapDrop", nullptr));
  EXPECT_FALSE(broken("SecurityOpt", bj::array{"seccomp={}"}));
  EXPECT_TRUE(read_back(plan(), inspected(), std::nullopt));
}

TEST(ReadBackTest, TheKernelsWordGoesBeforeTheEngines) {
  KernelFacts kernel;
  kernel.status =
      "Uid:\t0\t0\t0\t0\nCapEff:\t0000000000000000\nCapBnd:\t0000000000000000\nNoNewPrivs:\t1\nSeccomp:\t2\n";
  const auto weak = [&](const char* from, const char* to) {
    KernelFacts changed = kernel;
    changed.status.replace(changed.status.find(from), std::string_view(from).size(), to);
    return read_back(plan(), inspected(), changed);
  };
  EXPECT_FALSE(weak("NoNewPrivs:\t1", "NoNewPrivs:\t0"));
  EXPECT_FALSE(weak("Seccomp:\t2", "Seccomp:\t0"));
  EXPECT_FALSE(weak("CapBnd:\t0000000000000000", "CapBnd:\t00000000a80425fb"));
  // The engine says that limits are set, and the kernel knows of none.
  const auto seen = read_back(plan(), inspected(), kernel);
  ASSERT_TRUE(seen) << seen.error().message();
  const auto lacks = [&](const char* name) {
    return std::ranges::any_of(seen->missing, [&](const Wall& wall) { return wall.name == name; });
  };
  EXPECT_TRUE(lacks("memory_limit"));
  EXPECT_TRUE(lacks("cpu_limit"));
  EXPECT_TRUE(lacks("task_limit"));
  EXPECT_TRUE(lacks("disk_limit"));
  EXPECT_TRUE(lacks("user_namespace"));
}

TEST(SeccompProfileTest, NamesWhatIsAllowedAndWhatIsNot) {
  const char* const allowed[] = {"read", "write"};
  const char* const refused[] = {"bpf"};
  const bj::value profile = bj::parse(seccomp_profile(allowed, refused));
  EXPECT_EQ(profile.at("defaultAction").as_string(), "SCMP_ACT_ERRNO");
  const std::string text = bj::serialize(profile);
  EXPECT_NE(text.find("\"read\""), std::string::npos);
  EXPECT_NE(text.find("{\"names\":[\"bpf\"],\"action\":\"SCMP_ACT_ERRNO\",\"errnoRet\":1}"),
            std::string::npos);
  EXPECT_NE(text.find("{\"names\":[\"clone3\"],\"action\":\"SCMP_ACT_ERRNO\",\"errnoRet\":38}"),
            std::string::npos);
}

TEST(ReadBackTest, ARootlessEngineMapsIdsAndMaySetNoLimits) {
  ContainerPlan rootless = plan();
  rootless.is_rootless = true, rootless.engine_sets_limits = false;
  const auto has = [](const std::vector<Wall>& walls, const char* name) {
    return std::ranges::any_of(walls, [&](const Wall& wall) { return wall.name == name; });
  };
  const auto seen = read_back(rootless, inspected(), std::nullopt);
  ASSERT_TRUE(seen) << seen.error().message();
  for (const char* name : {"memory_limit", "swap_limit", "cpu_limit", "task_limit"})
    EXPECT_TRUE(has(seen->missing, name)) << name << ": the engine's word is worth nothing here";
  EXPECT_TRUE(has(seen->walls, "user_namespace"));
  KernelFacts kernel;
  kernel.status =
      "Uid:\t0\t0\t0\t0\nCapEff:\t0000000000000000\nCapBnd:\t0000000000000000\nNoNewPrivs:\t1\nSeccomp:\t2\n";
  kernel.ids = "         0       1000          1\n         1     100000      65536\n";
  EXPECT_TRUE(has(read_back(plan(), inspected(), kernel)->walls, "user_namespace"));
  kernel.ids = "         0          0 4294967295\n";
  EXPECT_TRUE(has(read_back(plan(), inspected(), kernel)->missing, "user_namespace"));
  EngineFacts facts;
  facts.is_rootless = true, facts.cgroups = "1";
  EXPECT_FALSE(facts.sets_limits());
  facts.cgroups = "2";
  EXPECT_TRUE(facts.sets_limits());
}

TEST(EngineFactsTest, WhatContainersWillLackIsToldBeforeThereIsOne) {
  EngineFacts facts{
      .kind = "docker", .version = "27.1", .api = "1.41", .storage = "overlay2", .cgroups = "2"};
  EXPECT_TRUE(isolation_of(facts).missing.empty());
  EXPECT_EQ(isolation_of(facts).walls.at(0).value,
            "docker 27.1, API 1.41, storage overlay2, control groups version 2");
  facts.is_rootless = true;
  EXPECT_TRUE(isolation_of(facts).missing.empty()) << "version 2 lets a user set limits";
  EXPECT_TRUE(isolation_of(facts).walls.at(0).value.ends_with(", rootless"));
  facts.cgroups = "1", facts.warnings = {"No swap limit support"};
  const Isolation lacking = isolation_of(facts);
  ASSERT_EQ(lacking.missing.size(), 2U);
  EXPECT_EQ(lacking.missing[0].value, "No swap limit support");
  EXPECT_EQ(lacking.missing[1].name, "limits");
}

TEST(ArchiveTest, IsATar) {
  const ArchivedFile files[] = {{"guest", "program", 0555}};
  const std::string archive = archive_of(files);
  EXPECT_EQ(archive.size(), 512U * 4);
  EXPECT_TRUE(archive.starts_with("guest"));
  EXPECT_EQ(archive.substr(512, 7), "program");
  EXPECT_EQ(archive.substr(124, 11), "00000000007");
}

TEST(SpecNoteTest, ComesBackAsItWas) {
  Spec spec;
  spec.id = "one", spec.image = "python:3", spec.session_id = "ses_1", spec.user = "app";
  spec.working_directory = "/srv", spec.env = {{"A", "b"}}, spec.network = Network::egress;
  spec.limits.memory_bytes = 64U << 20, spec.limits.processes_max = 9, spec.limits.cpu_cores = 0.5;
  const Spec back = spec_of(to_json(spec));
  EXPECT_EQ(back.id, spec.id);
  EXPECT_EQ(back.image, spec.image);
  EXPECT_EQ(back.session_id, spec.session_id);
  EXPECT_EQ(back.user, spec.user);
  EXPECT_EQ(back.env, spec.env);
  EXPECT_EQ(back.network, spec.network);
  EXPECT_EQ(back.limits, spec.limits);
  EXPECT_EQ(spec_of(bj::value()).hostname, Spec().hostname);
}

TEST(StorageTest, OnlyTheDriversWordMeansThatThereAreNoQuotas) {
  EXPECT_TRUE(blames_storage(
      Error(Code::provider_failed,
            "--storage-opt is supported only for overlay over xfs with 'pquota' mount option")));
  EXPECT_TRUE(blames_storage(Error(Code::provider_failed, "Storage option is not supported for vfs")));
  EXPECT_FALSE(blames_storage(Error(Code::provider_failed, "the engine refused (500): broken on purpose")));
}

}  // namespace
}  // namespace atl::sandbox::docker
