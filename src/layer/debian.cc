#include "layer/debian.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <sstream>
#include <thread>

#include "layer/extract.h"
#include "os/file.h"
#include "os/pipe.h"
#include "os/spawn.h"

namespace atl::layer {
namespace {

// Documents, translations and package lists: nothing that a program needs.
constexpr const char* kLeftOut[] = {"/usr/share/doc/*", "/usr/share/man/*", "/usr/share/info/*",
                                    "/usr/share/locale/*", "/usr/share/lintian/*"};

bool names_suite(const std::string& line, const std::string& suite) {
  std::istringstream words(line);
  for (std::string word; words >> word;) {
    if (word.starts_with('#')) return false;
    if (word == suite || word.starts_with(suite + "-")) return true;
  }
  return false;
}

std::string variable(const char* name, const char* otherwise) {
  const char* value = std::getenv(name);
  return value == nullptr ? otherwise : value;
}

// Proxies of the machine, which apt reads from its environment or from its own configuration.
std::vector<std::string> environment_for(const Draft& draft, std::int64_t epoch) {
  std::vector<std::string> environment{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
                                       "LC_ALL=C.UTF-8", "TMPDIR=" + draft.room_path() + "/tmp",
                                       fmt::format("SOURCE_DATE_EPOCH={}", epoch)};
  for (const char* name : {"http_proxy", "https_proxy", "ftp_proxy", "no_proxy"})
    if (const std::string value = variable(name, ""); !value.empty())
      environment.push_back(fmt::format("{}={}", name, value));
  return environment;
}

std::vector<std::string> arguments_for(const Recipe& recipe, const std::string& suite,
                                       const std::vector<std::string>& sources, const BuildOptions& options) {
  // A build that is killed takes the program with it.
  std::vector<std::string> arguments{
      "--pdeathsig",  "TERM",     options.debian_program, "--mode=root", "--variant=minbase",
      "--format=tar", "--verbose"};
  arguments.push_back(fmt::format("--include={}", fmt::join(recipe.packages, ",")));
  for (const char* pattern : kLeftOut) arguments.push_back(fmt::format("--dpkgopt=path-exclude={}", pattern));
  arguments.emplace_back("--dpkgopt=path-include=/usr/share/locale/locale.alias");
  // Packages with alternatives put links to their man pages there, and fail if they cannot.
  arguments.emplace_back(
      R"(--essential-hook=for section in 1 2 3 4 5 6 7 8; do mkdir -p "$1/usr/share/man/man$section"; done)");
  // What the machine says about proxies and transports; its sources are given below.
  const std::string parts = options.apt_directory + "/apt.conf.d";
  std::error_code none;
  std::set<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(parts, none)) files.insert(entry.path());
  if (os::exists(options.apt_directory + "/apt.conf")) files.insert(options.apt_directory + "/apt.conf");
  for (const std::string& file : files) {
    auto text = os::read_file(file);
    if (!text || text->find("Acquire") == std::string::npos || text->find("Post-Invoke") != std::string::npos)
      continue;
    arguments.push_back("--aptopt=" + file);
  }
  arguments.push_back(suite);
  arguments.emplace_back("-");
  arguments.insert(arguments.end(), sources.begin(), sources.end());
  return arguments;
}

// The program's words, line by line, until it closes them.
void relay_lines(int fd, DebianWords& words) {
  std::string pending, block(4096, '\0');
  for (;;) {
    const ssize_t got = ::read(fd, block.data(), block.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return;
    pending.append(block, 0, static_cast<std::size_t>(got));
    for (std::size_t end = pending.find_first_of("\r\n"); end != std::string::npos;
         end = pending.find_first_of("\r\n")) {
      words.hear(pending.substr(0, end));
      pending.erase(0, end + 1);
    }
  }
}

// What the program took over from this machine: mirrors and proxies, which may hold passwords, and its names.
Result<void> forget_machine(int tree) {
  auto apt = os::open_beneath(tree, "etc/apt", O_RDONLY | O_DIRECTORY);
  if (apt) {
    for (const char* name :
         {"sources.list", "auth.conf", "auth.conf.d", "sources.list.d", "apt.conf.d/99mmdebstrap"})
      TRY(os::remove_tree(apt->get(), name));
    if (::mkdirat(apt->get(), "sources.list.d", 0755) < 0)
      return fail(errno_error(errno, "unpack into a layer"));
  }
  auto etc = os::open_beneath(tree, "etc", O_RDONLY | O_DIRECTORY);
  if (!etc) return {};
  for (const char* name : {"resolv.conf", "hostname"}) TRY(os::remove_tree(etc->get(), name));
  TRY(os::write_file_at(etc->get(), "resolv.conf", ""));
  return os::write_file_at(etc->get(), "hostname", "sandbox\n");
}

constexpr std::size_t kCausesMax = 3;
constexpr std::size_t kStride = 25;  // packages from one word about them to the next

// The word behind a beginning; empty if the line does not begin so.
std::string word_after(const std::string& line, std::string_view beginning) {
  if (!line.starts_with(beginning)) return {};
  const std::string rest = line.substr(beginning.size());
  return rest.substr(0, rest.find_first_of(" ("));
}

}  // namespace

void DebianWords::hear(const std::string& line) {
  if (line.starts_with("I: ")) return say("mmdebstrap: " + line.substr(3));
  if (const std::size_t at = line.find(" newly installed,"); at != std::string::npos) {
    const std::size_t start = line.find_last_of(' ', at - 1) + 1;
    wanted_ = static_cast<std::size_t>(std::strtoul(line.c_str() + start, nullptr, 10));
    unpacked_ = set_up_ = 0;
    ++stage_;
  }
  if (!word_after(line, "Unpacking ").empty()) return count(unpacked_, "unpacked");
  if (!word_after(line, "Setting up ").empty()) return count(set_up_, "set up");
  if (std::string package = word_after(line, "dpkg: error processing package "); !package.empty()) {
    if (package_.empty()) package_ = std::move(package);
    return say("dpkg: " + line.substr(6));
  }
  if (line.starts_with("E: ")) {
    say("mmdebstrap: " + line.substr(3));
    // The program tells the failures of those that it called by their whole command line.
    if (line.find(" failed: ") == std::string::npos || last_.empty()) last_ = line.substr(3);
    if (line.starts_with("E: Unable to locate") || line.starts_with("E: Package ")) note(line.substr(3));
    return;
  }
  if (line.find(": error: ") != std::string::npos || line.starts_with("Err:") ||
      line.starts_with("dpkg: error"))
    note(line);
}

void DebianWords::note(const std::string& cause) {
  if (causes_.size() < kCausesMax && std::ranges::find(causes_, cause) == causes_.end())
    causes_.push_back(cause);
  say(cause);
}

void DebianWords::count(std::size_t& counter, std::string_view deed) {
  ++counter;
  // Packages that every Debian has come first, and take less of the time than all the others.
  if (const std::size_t all = 2 * wanted_, done = std::min(all, unpacked_ + set_up_); counted_ && all > 0) {
    const double share = static_cast<double>(done) / static_cast<double>(all);
    constexpr double kFirst = 0.3;
    counted_(stage_ <= 1 ? share * kFirst : kFirst + share * (1 - kFirst), done / 2, wanted_);
  }
  if (counter % kStride == 0 || counter == wanted_)
    say(wanted_ >= counter ? fmt::format("mmdebstrap: {} {} of {} packages", deed, counter, wanted_)
                           : fmt::format("mmdebstrap: {} {} packages", deed, counter));
}

std::string DebianWords::reason() const {
  std::string reason;
  if (!package_.empty()) reason += fmt::format(": package {}", package_);
  for (const std::string& cause : causes_) reason += ": " + cause;
  if (reason.empty() && !last_.empty()) reason = ": " + last_;
  return reason;
}

Result<std::vector<std::string>> sources_for(const std::string& apt_directory, const std::string& suite) {
  std::set<std::string> candidates;
  std::error_code none;
  for (const auto& entry : std::filesystem::directory_iterator(apt_directory + "/sources.list.d", none)) {
    const auto extension = entry.path().extension();
    if (extension == ".list" || extension == ".sources") candidates.insert(entry.path());
  }
  if (os::exists(apt_directory + "/sources.list")) candidates.insert(apt_directory + "/sources.list");
  std::vector<std::string> found;
  for (const std::string& path : candidates) {
    const std::string text = TRY(os::read_file(path));
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
      const bool one_line = line.starts_with("deb ") || line.starts_with("deb\t");
      if ((one_line || line.starts_with("Suites:")) && names_suite(line, suite)) {
        found.push_back(path);
        break;
      }
    }
  }
  if (found.empty())
    return fail(Code::not_found, fmt::format("this machine's apt has no source for Debian's '{}'", suite));
  return found;
}

Result<std::string> machine_suite() {
  const std::string text = TRY(os::read_file("/etc/os-release"));
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with("VERSION_CODENAME=")) return line.substr(17);
  return fail(Code::unsupported,
              "this machine does not say which release of Debian it is: name a suite in the recipe");
}

Result<void> make_debian(const Recipe& recipe, const std::string& suite,
                         const std::vector<std::string>& sources, Draft& draft, Owners owners,
                         Interrupt& interrupt, const BuildOptions& options, const Positioned& moved) {
  if (!os::exists(options.debian_program))
    return fail(Code::unsupported,
                "mmdebstrap is not installed: scripts/setup environments, or apt-get install mmdebstrap");
  if (owners != Owners::kept)
    return fail(Code::permission_denied, "building from packages needs root: owners of files must be kept");
  TRY(os::make_directory(draft.room_path() + "/tmp", 0755));
  os::Pipe archive = TRY(os::pipe());
  os::Pipe words = TRY(os::pipe());
  os::SpawnOptions program;
  program.program = "/usr/bin/setpriv";
  program.arguments = arguments_for(recipe, suite, sources, options);
  program.environment = environment_for(draft, options.epoch);
  program.output = archive.write.get();
  program.error = words.write.get();
  const os::Child child = TRY_CONTEXT("start mmdebstrap", os::spawn(program));
  archive.write.reset();
  words.write.reset();
  interrupt.on_raise([pid = child.pid] { ::kill(-pid, SIGTERM); });
  DebianWords heard(options.progress, [&](double share, std::size_t done, std::size_t all) {
    if (!moved) return;
    moved({.layer = 0, .layers = recipe.steps.size() + 1, .share = share, .done = done, .all = all});
  });
  std::thread reader([&] { relay_lines(words.read.get(), heard); });
  auto extracted = extract(archive.read.get(), draft.tree(), owners, Whiteouts::none, ArchiveLimits{});
  archive.read.reset();
  if (!extracted) ::kill(-child.pid, SIGTERM);
  const auto exit = os::pidfd_wait(child.pidfd.get());
  interrupt.on_raise({});
  reader.join();
  TRY(interrupt.check());
  if (!exit) return fail(exit.error());
  if (exit->code != 0 || exit->signal != 0)
    return fail(Code::unavailable, "mmdebstrap failed" + heard.reason());
  if (!extracted) return fail(std::move(extracted).error());
  return forget_machine(draft.tree());
}

}  // namespace atl::layer
