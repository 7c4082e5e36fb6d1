#include "storage/servers_test.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>

#include <chrono>
#include <cstdio>
#include <fstream>
#include <thread>

#include "storage/plugin_server.h"

namespace atl::storage {
namespace {

// What scripts/s3-server prints with --python: a Python that has the server, or nothing.
const std::string& server_python() {
  static const std::string path = [] {
    std::string text;
    std::FILE* pipe = ::popen("scripts/s3-server --python 2>/dev/null", "r");
    for (int c = std::fgetc(pipe); c != EOF && c != '\n'; c = std::fgetc(pipe)) text += static_cast<char>(c);
    ::pclose(pipe);
    return text;
  }();
  return path;
}

void wait_until(const std::function<bool()>& is_so) {
  for (int attempt = 0; attempt < 1500 && !is_so(); ++attempt)
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
}

}  // namespace

bool S3Server::is_there() {
  return !server_python().empty();
}

S3Server::S3Server() {
  const std::string told = directory_.path() + "/port";
  pid_ = ::fork();
  if (pid_ == 0) {
    const int null = ::open("/dev/null", O_RDWR);
    ::dup2(null, 1);
    ::dup2(null, 2);
    ::execl("scripts/s3-server", "scripts/s3-server", told.c_str(), nullptr);
    ::_exit(127);
  }
  std::string port;
  wait_until([&] {
    std::ifstream in(told);
    return static_cast<bool>(std::getline(in, port));
  });
  endpoint_ = "http://127.0.0.1:" + port;
}

S3Server::~S3Server() {
  end();
}

void S3Server::end() {
  if (pid_ < 0) return;
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
  pid_ = -1;
}

S3Address S3Server::address() const {
  return {.endpoint = endpoint_, .bucket = "atoll", .access_key = "test", .secret_key = "secret"};
}

std::unique_ptr<S3Client> S3Server::client() const {
  return S3Client::make(address()).value();
}

PluginProcess::PluginProcess(std::string storage)
    : storage_(std::move(storage)), socket_(directory_.path() + "/s") {
  start();
}

PluginProcess::~PluginProcess() {
  if (pid_ < 0) return;
  ::kill(pid_, SIGTERM);
  ::waitpid(pid_, nullptr, 0);
}

void PluginProcess::start() {
  ::unlink(socket_.c_str());
  pid_ = ::fork();
  if (pid_ == 0) {
    // One thread waits for the end, so that the process leaves by _exit(), which counts what it ran.
    sigset_t end;
    ::sigemptyset(&end);
    ::sigaddset(&end, SIGTERM);
    ::pthread_sigmask(SIG_BLOCK, &end, nullptr);
    std::thread([end] {
      int which = 0;
      ::sigwait(&end, &which);
      ::_exit(0);
    }).detach();
    const auto served = serve_plugin({.library = ATOLL_TEST_PLUGIN,
                                      .storage = storage_,
                                      .socket = socket_,
                                      .directory = directory_.path(),
                                      .call_max = std::chrono::milliseconds(500)});
    ::_exit(served ? 0 : 2);
  }
  wait_until([&] { return ::access(socket_.c_str(), F_OK) == 0; });
}

int PluginProcess::wait() {
  int status = 0;
  ::waitpid(std::exchange(pid_, -1), &status, 0);
  return status;
}

}  // namespace atl::storage
