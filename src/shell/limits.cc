#include "shell/limits.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <optional>
#include <variant>

namespace atl::shell {

namespace {

enum class LimitUnit : std::uint8_t { count, bytes, seconds };

struct LimitRow {
  Limit limit;  // none: a setting of another limit
  std::string_view name;
  std::string_view what;
  LimitUnit unit;
  std::variant<std::uint64_t Limits::*, std::uint32_t Limits::*, Duration Limits::*> member;
};

constexpr std::array limit_rows = {
    LimitRow{Limit::script_bytes, "script_bytes", "size of a script", LimitUnit::bytes,
             &Limits::script_bytes},
    LimitRow{Limit::tokens, "tokens", "tokens", LimitUnit::count, &Limits::tokens},
    LimitRow{Limit::nesting, "nesting", "nesting", LimitUnit::count, &Limits::nesting},
    LimitRow{Limit::commands, "commands", "commands", LimitUnit::count, &Limits::commands},
    LimitRow{Limit::iterations, "iterations", "loop iterations", LimitUnit::count, &Limits::iterations},
    LimitRow{Limit::work, "work", "work", LimitUnit::count, &Limits::work},
    LimitRow{Limit::output_bytes, "output_bytes", "output", LimitUnit::bytes, &Limits::output_bytes},
    LimitRow{Limit::expansion_bytes, "expansion_bytes", "size of a word", LimitUnit::bytes,
             &Limits::expansion_bytes},
    LimitRow{Limit::expansion_fields, "expansion_fields", "fields of a command", LimitUnit::count,
             &Limits::expansion_fields},
    LimitRow{Limit::brace_items, "brace_items", "brace expansion", LimitUnit::count, &Limits::brace_items},
    LimitRow{Limit::glob_entries, "glob_entries", "names looked at by a pattern", LimitUnit::count,
             &Limits::glob_entries},
    LimitRow{Limit::memory_bytes, "memory_bytes", "memory", LimitUnit::bytes, &Limits::memory_bytes},
    LimitRow{Limit::call_depth, "call_depth", "recursion", LimitUnit::count, &Limits::call_depth},
    LimitRow{Limit::subshell_depth, "subshell_depth", "nested subshells", LimitUnit::count,
             &Limits::subshell_depth},
    LimitRow{Limit::processes, "processes", "processes", LimitUnit::count, &Limits::processes},
    LimitRow{Limit::descriptors, "descriptors", "descriptors", LimitUnit::count, &Limits::descriptors},
    LimitRow{Limit::regex_bytes, "regex_bytes", "memory of a regular expression", LimitUnit::bytes,
             &Limits::regex_bytes},
    LimitRow{Limit::regex_steps, "regex_steps", "steps of a regular expression", LimitUnit::count,
             &Limits::regex_steps},
    LimitRow{Limit::archive_entries, "archive_entries", "entries of an archive", LimitUnit::count,
             &Limits::archive_entries},
    LimitRow{Limit::archive_bytes, "archive_bytes", "unpacked size of an archive", LimitUnit::bytes,
             &Limits::archive_bytes},
    LimitRow{Limit::archive_ratio, "archive_ratio", "unpacked to packed size of an archive", LimitUnit::count,
             &Limits::archive_ratio},
    LimitRow{Limit::none, "archive_free_bytes", "size from which the ratio counts", LimitUnit::bytes,
             &Limits::archive_free_bytes},
    LimitRow{Limit::wall_time, "wall_time", "wall time", LimitUnit::seconds, &Limits::wall_time},
    LimitRow{Limit::cpu_time, "cpu_time", "cpu time", LimitUnit::seconds, &Limits::cpu_time},
};

const LimitRow* row_of(Limit limit) {
  for (const LimitRow& row : limit_rows)
    if (row.limit == limit && limit != Limit::none) return &row;
  return nullptr;
}

std::string limit_value(const LimitRow& row, const Limits& limits) {
  return std::visit(
      [&](auto member) -> std::string {
        if constexpr (std::is_same_v<decltype(member), Duration Limits::*>)
          return fmt::format("{} s", std::chrono::duration<double>(limits.*member).count());
        else
          return fmt::format("{}{}", limits.*member, row.unit == LimitUnit::bytes ? " bytes" : "");
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
  const LimitRow* row = row_of(limit);
  return row ? row->name : "none";
}

std::string describe(Limit limit, const Limits& limits) {
  if (limit == Limit::deadlock) return "deadlock: every process waits for another";
  if (limit == Limit::defect) return "internal error";
  const LimitRow* row = row_of(limit);
  return row ? fmt::format("{} ({})", row->what, limit_value(*row, limits)) : "none";
}

std::string message_of(Limit limit, const Limits& limits) {
  if (limit == Limit::none || limit >= Limit::deadlock) return describe(limit, limits);
  return fmt::format("limit reached: {}; raise {} to allow more", describe(limit, limits), name_of(limit));
}

Result<void> set_limit(Limits& limits, std::string_view name, std::string_view value) {
  for (const LimitRow& row : limit_rows) {
    if (row.name != name) continue;
    return std::visit(
        [&](auto member) -> Result<void> {
          using Member = std::remove_reference_t<decltype(limits.*member)>;
          if constexpr (std::is_same_v<Member, Duration>) {
            auto seconds = number<double>(value);
            if (!seconds || !(*seconds > 0) || *seconds > 1e9)
              return fail(Code::invalid_argument,
                          fmt::format("limit {}: '{}' is not a time in seconds", name, value));
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
  for (const LimitRow& row : limit_rows) names += fmt::format("{}{}", names.empty() ? "" : ", ", row.name);
  return fail(Code::invalid_argument, fmt::format("there is no limit '{}'; there are {}", name, names));
}

}  // namespace atl::shell
