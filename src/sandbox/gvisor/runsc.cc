#include "sandbox/gvisor/runsc.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <sstream>

#include "os/fd.h"
#include "os/process.h"
#include "os/spawn.h"

namespace atl::sandbox::gvisor {
namespace {

constexpr std::size_t kAnswerMax = 64U << 10;
constexpr const char* kRemedy =
    "install it (Debian: apt-get install runsc) or name it in the setting provider.gvisor.runsc";

bool is_program(const std::string& path) {
  return ::access(path.c_str(), X_OK) == 0;
}

Result<std::string> locate(const std::string& name) {
  if (name.find('/') != std::string::npos) {
    if (is_program(name)) return name;
    return fail(Code::unsupported, fmt::format("there is no program {}: {}", name, kRemedy));
  }
  const char* const variable = std::getenv("PATH");
  std::istringstream places(variable != nullptr ? variable : "/usr/local/bin:/usr/bin:/bin");
  for (std::string place; std::getline(places, place, ':');)
    if (const std::string path = place + "/" + name; !place.empty() && is_program(path)) return path;
  return fail(Code::unsupported, fmt::format("there is no program {} in PATH: {}", name, kRemedy));
}

// A file without a name, so that a program that outlives its parent cannot hold up whoever reads.
Result<os::Fd> scratch_file() {
  const int fd = ::memfd_create("runsc", MFD_CLOEXEC);
  if (fd < 0) return fail(errno_error(errno, "make a scratch file"));
  return os::Fd(fd);
}

std::string content_of(const os::Fd& file) {
  std::string text(kAnswerMax, '\0');
  const ssize_t got = ::pread(file.get(), text.data(), text.size(), 0);
  text.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  return text;
}

}  // namespace

Result<void> run_command(const Command& command) {
  os::SpawnOptions options;
  options.program = command.program;
  options.arguments = command.arguments;
  options.environment = {"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/"};
  options.input = command.input, options.output = command.output, options.error = command.error;
  const os::Child child = TRY(os::spawn(options));
  pollfd ended{child.pidfd.get(), POLLIN, 0};
  const auto until = std::chrono::steady_clock::now() + command.patience;
  for (;;) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(until - std::chrono::steady_clock::now());
    const int ready = ::poll(&ended, 1, left.count() > 0 ? static_cast<int>(left.count()) : 0);
    if (ready > 0) break;
    if (ready < 0 && errno == EINTR) continue;
    ::kill(-child.pid, SIGKILL);
    (void)os::pidfd_wait(child.pidfd.get());
    return fail(Code::deadline_exceeded,
                fmt::format("{} did not end within {} s", command.program, command.patience.count() / 1000));
  }
  const os::Exit exit = TRY(os::pidfd_wait(child.pidfd.get()));
  if (exit.signal == 0 && exit.code == 0) return {};
  return fail(Code::provider_failed,
              exit.signal != 0 ? fmt::format("{} was ended by signal {}", command.program, exit.signal)
                               : fmt::format("{} ended with {}", command.program, exit.code));
}

Result<std::string> ask_command(Command command) {
  const os::Fd out = TRY(scratch_file()), error = TRY(scratch_file());
  command.output = out.get(), command.error = error.get();
  if (auto done = run_command(command); !done)
    return fail(std::move(done).error().with_detail(content_of(error)));
  std::string answer = content_of(out);
  // Some versions of runsc answer questions there.
  return answer.empty() ? content_of(error) : answer;
}

Result<Runsc> find_runsc(const std::string& setting) {
  Runsc runsc;
  runsc.program = TRY(locate(setting.empty() ? "runsc" : setting));
  const auto ask = [&](const char* argument) {
    return ask_command(
        {.program = runsc.program, .arguments = {argument}, .patience = std::chrono::milliseconds(10'000)});
  };
  auto version = ask("--version");
  if (!version || !version->starts_with("runsc version "))
    return fail(Code::unsupported,
                fmt::format("{} is not gVisor's runsc: {}", runsc.program,
                            version ? "it does not say its version" : version.error().message()));
  const std::size_t start = std::string_view("runsc version ").size();
  runsc.version = version->substr(start, version->find('\n') - start);
  const std::string flags = TRY(ask("flags"));
  runsc.leaves_running = flags.find("systrap") != std::string::npos;
  runsc.platform = runsc.leaves_running ? "systrap" : "ptrace";
  return runsc;
}

}  // namespace atl::sandbox::gvisor
