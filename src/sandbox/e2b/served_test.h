#pragma once

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>

#include "sandbox/e2b/e2b.h"

// For tests: this build's own daemon in another process, as the service that runs sandboxes for us.
namespace atl::sandbox::e2b {

class Served {
 public:
  static constexpr const char* kKey = "e2b_00112233445566778899aabbccddeeff00112233";

  // One for all tests of a program; it ends with the program.
  static Result<std::string> url() {
    static Served one;
    if (!one.url_.empty()) return one.url_;
    return fail(Code::unavailable, "the daemon did not start: " + one.program_ + " (build the target atoll)");
  }

  static Result<std::unique_ptr<Provider>> provider(boost::asio::any_io_executor executor,
                                                    E2bOptions options = {}) {
    options.api_url = options.sandbox_url = TRY(url());
    options.installation = "test" + std::to_string(::getpid());
    options.key = [](std::string) -> Task<std::string> { co_return std::string(kKey); };
    return make(std::move(executor), std::move(options));
  }

  ~Served() {
    if (pid_ > 0) {
      ::kill(pid_, SIGTERM);
      ::waitpid(pid_, nullptr, 0);
    }
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }

 private:
  Served() {
    program_ = std::filesystem::canonical("/proc/self/exe").parent_path().parent_path() / "atoll";
    char name[] = "/tmp/atoll-served-XXXXXX";
    folder_ = ::mkdtemp(name);
    const std::string data = folder_ + "/data", told = folder_ + "/out", errors = folder_ + "/err";
    const pid_t parent = ::getpid();
    pid_ = ::fork();
    if (pid_ == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGTERM);
      if (::getppid() != parent) ::_exit(1);
      ::setenv("ATOLL_API_KEY", kKey, 1);
      if (std::freopen(told.c_str(), "w", stdout) == nullptr ||
          std::freopen(errors.c_str(), "w", stderr) == nullptr)
        ::_exit(1);
      ::execl(program_.c_str(), "atoll", "serve", "--listen", "127.0.0.1:0", "--data", data.c_str(), "--set",
              "native.pool=0", "--set", "e2b.pool=2", nullptr);
      ::_exit(127);
    }
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(120);
    while (std::chrono::steady_clock::now() < deadline && ::waitpid(pid_, nullptr, WNOHANG) == 0) {
      std::stringstream text;
      text << std::ifstream(told).rdbuf();
      const std::string said = text.str();
      const std::size_t at = said.find("ready on http://");
      if (at != std::string::npos && said.find('\n', at) != std::string::npos) {
        const std::size_t begin = at + 9;
        url_ = said.substr(begin, said.find_first_of(" ,\n", begin) - begin);
        return;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
  }

  std::string program_, folder_, url_;
  pid_t pid_ = -1;
};

}  // namespace atl::sandbox::e2b
