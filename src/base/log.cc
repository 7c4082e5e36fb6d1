#include "base/log.h"

#include <unistd.h>

#include <atomic>
#include <string>

#include "base/clock.h"
#include "base/json.h"
#include "base/log_subject.h"

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

bool is_on(Level level) {
  return level >= threshold.load(std::memory_order_relaxed) && level != Level::off;
}

void write(Level level, std::string_view message, std::initializer_list<Field> fields) {
  write(level, Subject{}, message, fields);
}

void write(Level level, const Subject& about, std::string_view message, std::initializer_list<Field> fields) {
  if (!is_on(level)) return;
  std::string line;
  append_member(line, "time", to_rfc3339(Clock::machine().now()));
  append_member(line, "level", word_of(level));
  append_member(line, "message", message);
  if (about.trace.is_valid()) append_member(line, "trace_id", trace::to_hex(about.trace.trace_id));
  if (!about.tenant.empty()) append_member(line, "tenant", about.tenant);
  if (!about.session_id.empty()) append_member(line, "session_id", about.session_id);
  for (const auto& [name, value] : fields) append_member(line, name, value);
  line += "}\n";
  // One write call a line: lines of several threads do not mix, and a full pipe loses a line, not half of
  // one.
  if (::write(STDERR_FILENO, line.data(), line.size()) < 0) return;
}

}  // namespace atl::log
