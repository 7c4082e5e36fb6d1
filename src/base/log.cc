#include "base/log.h"

#include <unistd.h>

#include <atomic>
#include <string>

#include "base/clock.h"
#include "base/json.h"

namespace atl::log {
namespace {

std::atomic<Level> threshold{Level::info};

std::string_view word_of(Level level) {
  switch (level) {
    case Level::debug: return "debug";
    case Level::info: return "info";
    case Level::warn: return "warn";
    case Level::error: return "error";
    case Level::off: return "off";
  }
  std::unreachable();
}

void append_member(std::string& line, std::string_view name, std::string_view value) {
  line += line.empty() ? '{' : ',';
  json::append_quoted(line, name);
  line += ':';
  json::append_quoted(line, value);
}

}  // namespace

void set_level(Level level) {
  threshold.store(level, std::memory_order_relaxed);
}

bool set_level(std::string_view word) {
  for (const auto level : {Level::debug, Level::info, Level::warn, Level::error, Level::off}) {
    if (word_of(level) == word) {
      set_level(level);
      return true;
    }
  }
  return false;
}

std::string_view level() {
  return word_of(threshold.load(std::memory_order_relaxed));
}

void write(Level level, std::string_view message, std::initializer_list<Field> fields) {
  if (level < threshold.load(std::memory_order_relaxed) || level == Level::off) return;
  std::string line;
  append_member(line, "time", to_rfc3339(Clock::machine().now()));
  append_member(line, "level", word_of(level));
  append_member(line, "message", message);
  for (const auto& [name, value] : fields) append_member(line, name, value);
  line += "}\n";
  // One write call a line: lines of several threads do not mix, and a full pipe loses a line, not half of
  // one.
  if (::write(STDERR_FILENO, line.data(), line.size()) < 0) return;
}

}  // namespace atl::log
