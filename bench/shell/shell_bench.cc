// Answers the requests of bench/shell/run: one JSON line in, one out. The shell lives through all scripts, on
// a filesystem that holds a copy of the directory given as the argument.

#include <fmt/format.h>
#include <malloc.h>
#include <time.h>

#include <algorithm>
#include <boost/json.hpp>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <memory>
#include <vector>

#include "shell/shell.h"

namespace {

namespace json = boost::json;
namespace host = std::filesystem;
using Clock = std::chrono::steady_clock;

double microseconds(Clock::duration spent) {
  return std::chrono::duration<double, std::micro>(spent).count();
}

void load(atl::vfs::FileSystem& fs, const host::path& from, const std::string& to) {
  for (const auto& entry : host::directory_iterator(from)) {
    std::string path = to + "/" + entry.path().filename().string();
    if (entry.is_directory()) {
      load(fs, entry.path(), path);
      continue;
    }
    std::ifstream in(entry.path(), std::ios::binary);
    std::string text((std::istreambuf_iterator<char>(in)), {});
    (void)fs.write(atl::vfs::Path::posix(path).value(), text);
  }
}

// Many shells alive at once, each with its own filesystem: time and heap of one.
json::object create(std::size_t count) {
  struct Place {
    std::unique_ptr<atl::vfs::VirtualFileSystem> fs;
    std::unique_ptr<atl::shell::SandboxShell> shell;
  };
  atl::vfs::Snapshot base = atl::shell::base_snapshot();
  std::vector<Place> alive;
  alive.reserve(count);
  std::size_t before = mallinfo2().uordblks + mallinfo2().hblkhd;
  auto begin = Clock::now();
  for (std::size_t i = 0; i < count; ++i) {
    Place place;
    place.fs = std::make_unique<atl::vfs::VirtualFileSystem>(base);
    place.shell = std::make_unique<atl::shell::SandboxShell>(*place.fs);
    alive.push_back(std::move(place));
  }
  double spent = microseconds(Clock::now() - begin) / static_cast<double>(count);
  std::size_t after = mallinfo2().uordblks + mallinfo2().hblkhd;
  return {{"create_us", spent},
          {"bytes", static_cast<double>(after - before) / static_cast<double>(count)},
          {"alive", count}};
}

double cpu_milliseconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) / 1e6;
}

// The best of as many runs as fit into `least` milliseconds, at least one.
json::object run(atl::shell::SandboxShell& shell, std::string_view script, double least) {
  double best = 1e12, best_cpu = 1e12, spent = 0;
  std::string out;
  do {
    double cpu = cpu_milliseconds();
    auto start = Clock::now();
    atl::shell::Executed done = shell.execute(script);
    double wall = microseconds(Clock::now() - start) / 1000;
    best_cpu = std::min(best_cpu, cpu_milliseconds() - cpu);
    best = std::min(best, wall);
    spent += wall;
    out = std::move(done.out);
  } while (spent < least);
  return {{"ms", best}, {"cpu_ms", best_cpu}, {"out", out}};
}

// How far the process's peak of resident memory rises while a script runs.
json::object memory(atl::shell::SandboxShell& shell, std::string_view script) {
  auto status = [](std::string_view field) {
    std::ifstream in("/proc/self/status");
    std::string line;
    while (std::getline(in, line))
      if (line.starts_with(field)) return std::strtod(line.c_str() + field.size() + 1, nullptr) * 1024;
    return 0.0;
  };
  malloc_trim(0);
  std::ofstream("/proc/self/clear_refs") << "5";  // the peak starts anew
  double before = status("VmRSS");
  shell.execute(script);
  return {{"bytes", status("VmHWM") - before}};
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    fmt::print(stderr, "usage: shell_bench DIRECTORY\n");
    return 2;
  }
  atl::vfs::VirtualFileSystem fs(atl::shell::base_snapshot());
  load(fs, argv[1], "/home/user");
  atl::shell::SandboxShell shell(fs);
  std::string line;
  while (std::getline(std::cin, line)) {
    json::object request = json::parse(line).as_object();
    json::object answer;
    if (request.contains("create"))
      answer = create(static_cast<std::size_t>(request["create"].as_int64()));
    else if (request.contains("memory"))
      answer = memory(shell, request["memory"].as_string());
    else
      answer = run(shell, request["script"].as_string(), request["least"].to_number<double>());
    std::cout << json::serialize(answer) << std::endl;
  }
  return 0;
}
