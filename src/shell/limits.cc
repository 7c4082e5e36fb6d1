#include "shell/limits.h"

#include <fmt/format.h>

namespace atl::shell {

namespace {

std::string seconds(Duration time) {
  return fmt::format("{} s", std::chrono::duration<double>(time).count());
}

std::string bytes(std::string_view what, std::uint64_t most) {
  return fmt::format("{} ({} bytes)", what, most);
}

std::string count(std::string_view what, std::uint64_t most) {
  return fmt::format("{} ({})", what, most);
}

}  // namespace

std::string describe(Limit limit, const Limits& limits) {
  switch (limit) {
    case Limit::none:
      return "none";
    case Limit::script_bytes:
      return bytes("size of a script", limits.script_bytes);
    case Limit::tokens:
      return count("tokens", limits.tokens);
    case Limit::nesting:
      return count("nesting", limits.nesting);
    case Limit::commands:
      return count("commands", limits.commands);
    case Limit::iterations:
      return count("loop iterations", limits.iterations);
    case Limit::work:
      return count("work", limits.work);
    case Limit::output_bytes:
      return bytes("output", limits.output_bytes);
    case Limit::expansion_bytes:
      return bytes("size of a word", limits.expansion_bytes);
    case Limit::expansion_fields:
      return count("fields of a command", limits.expansion_fields);
    case Limit::brace_items:
      return count("brace expansion", limits.brace_items);
    case Limit::glob_entries:
      return count("names looked at by a pattern", limits.glob_entries);
    case Limit::memory_bytes:
      return bytes("memory", limits.memory_bytes);
    case Limit::call_depth:
      return count("recursion", limits.call_depth);
    case Limit::subshell_depth:
      return count("nested subshells", limits.subshell_depth);
    case Limit::processes:
      return count("processes", limits.processes);
    case Limit::descriptors:
      return count("descriptors", limits.descriptors);
    case Limit::regex:
      return count("steps of a regular expression", limits.regex_steps);
    case Limit::archive_entries:
      return count("entries of an archive", limits.archive_entries);
    case Limit::archive_bytes:
      return bytes("unpacked size of an archive", limits.archive_bytes);
    case Limit::archive_ratio:
      return count("unpacked to packed size of an archive", limits.archive_ratio);
    case Limit::wall_time:
      return fmt::format("wall time ({})", seconds(limits.wall_time));
    case Limit::cpu_time:
      return fmt::format("cpu time ({})", seconds(limits.cpu_time));
    case Limit::deadlock:
      return "deadlock: every process waits for another";
  }
  return {};
}

}  // namespace atl::shell
