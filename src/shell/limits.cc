#include "shell/limits.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <variant>

namespace atl::shell {

namespace {

enum class Unit : std::uint8_t { count, bytes, seconds };

struct Row {
  Limit limit;  // none: a setting of another limit
  std::string_view name;
  std::string_view what;
  Unit unit;
  std::variant<std::uint64_t Limits::*, std::uint32_t Limits::*, Duration Limits::*> member;
};

constexpr std::array rows = {
    Row{Limit::script_bytes, "script_bytes", "size of a script", Unit::bytes, &Limits::script_bytes},
    Row{Limit::tokens, "tokens", "tokens", Unit::count, &Limits::tokens},
    Row{Limit::nesting, "nesting", "nesting", Unit::count, &Limits::nesting},
    Row{Limit::commands, "commands", "commands", Unit::count, &Limits::commands},
    Row{Limit::iterations, "iterations", "loop iterations", Unit::count, &Limits::iterations},
    Row{Limit::work, "work", "work", Unit::count, &Limits::work},
    Row{Limit::output_bytes, "output_bytes", "output", Unit::bytes, &Limits::output_bytes},
    Row{Limit::expansion_bytes, "expansion_bytes", "size of a word", Unit::bytes, &Limits::expansion_bytes},
    Row{Limit::expansion_fields, "expansion_fields", "fields of a command", Unit::count, &Limits::expansion_fields},
    Row{Limit::brace_items, "brace_items", "brace expansion", Unit::count, &Limits::brace_items},
    Row{Limit::glob_entries, "glob_entries", "names looked at by a pattern", Unit::count, &Limits::glob_entries},
    Row{Limit::memory_bytes, "memory_bytes", "memory", Unit::bytes, &Limits::memory_bytes},
    Row{Limit::call_depth, "call_depth", "recursion", Unit::count, &Limits::call_depth},
    Row{Limit::subshell_depth, "subshell_depth", "nested subshells", Unit::count, &Limits::subshell_depth},
    Row{Limit::processes, "processes", "processes", Unit::count, &Limits::processes},
    Row{Limit::descriptors, "descriptors", "descriptors", Unit::count, &Limits::descriptors},
    Row{Limit::regex_bytes, "regex_bytes", "memory of a regular expression", Unit::bytes, &Limits::regex_bytes},
    Row{Limit::regex_steps, "regex_steps", "steps of a regular expression", Unit::count, &Limits::regex_steps},
    Row{Limit::archive_entries, "archive_entries", "entries of an archive", Unit::count, &Limits::archive_entries},
    Row{Limit::archive_bytes, "archive_bytes", "unpacked size of an archive", Unit::bytes, &Limits::archive_bytes},
    Row{Limit::archive_ratio, "archive_ratio", "unpacked to packed size of an archive", Unit::count,
        &Limits::archive_ratio},
    Row{Limit::none, "archive_free_bytes", "size from which the ratio counts", Unit::bytes,
        &Limits::archive_free_bytes},
    Row{Limit::wall_time, "wall_time", "wall time", Unit::seconds, &Limits::wall_time},
    Row{Limit::cpu_time, "cpu_time", "cpu time", Unit::seconds, &Limits::cpu_time},
};

const Row* row_of(Limit limit) {
  for (const Row& row : rows)
    if (row.limit == limit && limit != Limit::none) return &row;
  return nullptr;
}

std::string value_of(const Row& row, const Limits& limits) {
  return std::visit(
      [&](auto member) -> std::string {
        if constexpr (std::is_same_v<decltype(member), Duration Limits::*>)
          return fmt::format("{} s", std::chrono::duration<double>(limits.*member).count());
        else
          return fmt::format("{}{}", limits.*member, row.unit == Unit::bytes ? " bytes" : "");
      },
      row.member);
}

template <class Number>
std::optional<Number> number(std::string_view text) {
  Number out{};
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return out;
}

}  // namespace

std::string_view name_of(Limit limit) {
  if (limit == Limit::deadlock) return "deadlock";
  if (limit == Limit::defect) return "defect";
  const Row* row = row_of(limit);
  return row ? row->name : "none";
}

std::string describe(Limit limit, const Limits& limits) {
  if (limit == Limit::deadlock) return "deadlock: every process waits for another";
  if (limit == Limit::defect) return "internal error";
  const Row* row = row_of(limit);
  return row ? fmt::format("{} ({})", row->what, value_of(*row, limits)) : "none";
}

std::string message_of(Limit limit, const Limits& limits) {
  if (limit == Limit::none || limit >= Limit::deadlock) return describe(limit, limits);
  return fmt::format("limit reached: {}; raise {} to allow more", describe(limit, limits), name_of(limit));
}

Result<void> set_limit(Limits& limits, std::string_view name, std::string_view value) {
  for (const Row& row : rows) {
    if (row.name != name) continue;
    return std::visit(
        [&](auto member) -> Result<void> {
          using Member = std::remove_reference_t<decltype(limits.*member)>;
          if constexpr (std::is_same_v<Member, Duration>) {
            auto seconds = number<double>(value);
            if (!seconds || !(*seconds > 0) || *seconds > 1e9)
              return fail(Code::invalid_argument, fmt::format("limit {}: '{}' is not a time in seconds", name, value));
            limits.*member = std::chrono::duration_cast<Duration>(std::chrono::duration<double>(*seconds));
          } else {
            auto count = number<Member>(value);
            if (!count)
              return fail(Code::invalid_argument,
                          fmt::format("limit {}: '{}' is not a whole number up to {}", name, value,
                                      std::numeric_limits<Member>::max()));
            limits.*member = *count;
          }
          return {};
        },
        row.member);
  }
  std::string names;
  for (const Row& row : rows) names += fmt::format("{}{}", names.empty() ? "" : ", ", row.name);
  return fail(Code::invalid_argument, fmt::format("there is no limit '{}'; there are {}", name, names));
}

}  // namespace atl::shell
