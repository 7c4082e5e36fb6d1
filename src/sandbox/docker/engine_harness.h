#pragma once

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <boost/json.hpp>
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
  // The same engine as if it were on another machine: over TCP, behind TLS, for those whom its authority
  // knows.
  std::string remote() const { return "tcp://127.0.0.1:" + std::to_string(port_); }
  std::string certificates() const { return directory_ + "/certificates"; }
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

  DockerOptions remote_options() const {
    DockerOptions options = this->options();
    Surroundings nothing;
    nothing.variable = [](const char*) { return std::nullopt; };
    options.engine = find_engine({remote(), certificates()}, nothing).value();
    return options;
  }

  bool start() {
    if (::geteuid() != 0 || !make_certificates() || !spawn_engine()) return false;
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
  // What the engine answers to a GET.
  boost::json::value ask(const std::string& target) const {
    const std::string file = directory_ + "/answer";
    run("curl -s --unix-socket " + socket() + " 'http://d/v1.41" + target + "' > " + file);
    return boost::json::parse(*os::read_file(file));
  }
  bool tag(const std::string& image, const std::string& repository, const std::string& name) const {
    return run("curl -sf -X POST --unix-socket " + socket() + " 'http://d/v1.41/images/" + image +
               "/tag?repo=" + repository + "&tag=" + name + "'") == 0;
  }
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

  // An authority, the engine's certificate and ours, as Docker's documentation makes them.
  bool make_certificates() {
    if (kind_ != Kind::docker || port_ != 0) return true;
    port_ = free_port();
    std::filesystem::create_directories(certificates());
    const std::string sign = "openssl x509 -req -days 2 -CA ca.pem -CAkey ca-key.pem -CAcreateserial -in ";
    return run("cd " + certificates() +
               " && { openssl ecparam -name prime256v1 -genkey -noout -out ca-key.pem"
               " && openssl req -x509 -new -key ca-key.pem -days 2 -subj /CN=authority -out ca.pem"
               " && for who in server client; do openssl req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1"
               " -nodes -keyout $who-key.pem -subj /CN=$who -out $who.csr || exit 1; done"
               " && echo subjectAltName=IP:127.0.0.1 > server.ext"
               " && echo extendedKeyUsage=clientAuth > client.ext && " +
               sign + "server.csr -extfile server.ext -out server.pem && " + sign +
               "client.csr -extfile client.ext -out cert.pem && mv client-key.pem key.pem; } 2> log") == 0;
  }
  static int free_port() {
    const os::Fd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET, address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    ::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), size);
    ::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&address), &size);
    return ntohs(address.sin_port);
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
                           "-H",
                           remote(),
                           "--tlsverify",
                           "--tlscacert=" + certificates() + "/ca.pem",
                           "--tlscert=" + certificates() + "/server.pem",
                           "--tlskey=" + certificates() + "/server-key.pem",
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
  int port_ = 0;
  os::Child child_;
};

}  // namespace atl::sandbox::docker
