#pragma once

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/ids.h"
#include "os/file.h"
#include "os/spawn.h"
#include "sandbox/docker/docker.h"
#include "sandbox/docker/seccomp_profile.h"
#include "sandbox/native/filter.h"

// For tests: real engines in directories of their own, started once for the test program and stopped at its
// end.
namespace atl::sandbox::docker {

class TestEngine {
 public:
  enum class Kind { docker, podman };
  // Started at the first call; null if this machine cannot run one, with the reason in missing().
  static TestEngine* get(Kind kind) {
    static std::unique_ptr<TestEngine> engines[2];
    static bool was_tried[2] = {};
    const auto index = static_cast<std::size_t>(kind);
    if (!std::exchange(was_tried[index], true)) {
      auto made = std::unique_ptr<TestEngine>(new TestEngine(kind));
      if (made->start()) engines[index] = std::move(made);
    }
    return engines[index].get();
  }
  static const char* missing() {
    return "no such engine can be started here: Debian's docker.io or podman, and root, are needed";
  }

  ~TestEngine() {
    stop();
    // Whatever containers have mounted.
    std::ifstream mounts("/proc/self/mounts");
    std::vector<std::string> below;
    for (std::string device, where, rest; mounts >> device >> where && std::getline(mounts, rest);)
      if (where.starts_with(directory_)) below.push_back(where);
    for (auto one = below.rbegin(); one != below.rend(); ++one) ::umount2(one->c_str(), MNT_DETACH);
    std::error_code ignored;
    std::filesystem::remove_all(directory_, ignored);
  }

  std::string socket() const { return directory_ + "/engine.sock"; }
  const std::string& directory() const { return directory_; }
  pid_t pid() const { return child_.pid; }

  // Options with directories of their own below the engine's.
  DockerOptions options() const {
    DockerOptions options;
    options.engine = *parse_engine_address("unix://" + socket(), "the test");
    options.run_directory = directory_ + "/run-" + random_word(6);
    options.snapshot_directory = "/tmp";
    options.installation = random_word(12);
    options.default_image = "atoll-test:latest";
    options.seccomp_profile = seccomp_profile(native::allowed_system_calls(), native::refused_system_calls());
    return options;
  }

  bool start() {
    if (::geteuid() != 0 || !spawn_engine()) return false;
    for (int round = 0; round < 300; ++round) {
      if (probe(*parse_engine_address("unix://" + socket(), "the test"), std::chrono::seconds(10)))
        return import();
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
    return false;
  }
  void stop() {
    if (child_.pid <= 0) return;
    ::kill(child_.pid, SIGTERM);
    ::waitpid(child_.pid, nullptr, 0);
    child_ = {};
  }
  // What a command line of the test says: curl and so on.
  static int run(const std::string& command) { return std::system(command.c_str()); }
  // Containers with that label, in any state.
  int count(const std::string& label) const {
    const std::string file = directory_ + "/count";
    run("curl -s --unix-socket " + socket() +
        " -G http://d/v1.41/containers/json -d all=1 --data-urlencode 'filters={\"label\":[\"" + label +
        "\"]}' | grep -o '\"Id\"' | wc -l > " + file);
    int found = -1;
    std::ifstream(file) >> found;
    return found;
  }

 private:
  explicit TestEngine(Kind kind) : kind_(kind), directory_("/tmp/atoll-engine-" + random_word(8)) {
    std::filesystem::create_directories(directory_);
  }

  bool spawn_engine() {
    os::SpawnOptions options;
    const os::Fd log = os::open((directory_ + "/log").c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600).value();
    options.output = options.error = log.get();
    options.environment = {"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
                           "HOME=" + directory_, "CONTAINERS_CONF=" + directory_ + "/containers.conf"};
    if (kind_ == Kind::docker) {
      options.program = "/usr/sbin/dockerd";
      options.arguments = {"--data-root",
                           directory_ + "/data",
                           "--exec-root",
                           directory_ + "/exec",
                           "--pidfile",
                           directory_ + "/pid",
                           "-H",
                           "unix://" + socket(),
                           "--bridge=none",
                           "--iptables=false",
                           "--ip6tables=false",
                           "--ip-forward=false",
                           "--ip-masq=false"};
    } else {
      options.program = "/usr/bin/podman";
      std::ofstream(directory_ + "/containers.conf")
          << "[containers]\ndefault_ulimits=[\"nofile=16384:16384\",\"nproc=16384:16384\"]\nlog_driver=\"k8s-"
             "file\"\n"
             "[engine]\ncgroup_manager=\"cgroupfs\"\nevents_logger=\"file\"\nruntime=\"runc\"\n";
      options.arguments = {
          "--root", directory_ + "/data", "--runroot", directory_ + "/exec", "system", "service", "--time",
          "0",      "unix://" + socket()};
    }
    if (!os::exists(options.program)) return false;
    auto child = os::spawn(options);
    if (!child) return false;
    child_ = std::move(*child);
    return true;
  }

  // The image is made once for all test programs of this build.
  bool import() {
    const std::string cache = std::string(ATOLL_TEST_CACHE) + "/docker-image";
    if (!os::exists(cache + "/image.tar") &&
        run("flock /tmp/atoll-test-image.lock sh -c 'test -e " + cache + "/image.tar || { mkdir -p " + cache +
            " && " + ATOLL_TEST_IMAGE + " " + cache + "; }'") != 0)
      return false;
    return run("curl -sf --unix-socket " + socket() +
               " -X POST -H 'Content-Type: application/x-tar' --data-binary @" + cache +
               "/image.tar "
               "'http://d/v1.41/images/create?fromSrc=-&repo=atoll-test&tag=latest&changes=USER%20user&"
               "changes=WORKDIR%20/home/user&changes=CMD%20bash' > /dev/null") == 0;
  }

  Kind kind_;
  std::string directory_;
  os::Child child_;
};

}  // namespace atl::sandbox::docker
