#pragma once

#include <fmt/format.h>

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

namespace atl::log {

enum class Level { debug, info, warn, error, off };

// One JSON object a line on standard error: {"time","level","message", fields...}. Safe from every thread.
// A field's value is text; secrets do not belong in any of them.
using Field = std::pair<std::string_view, std::string>;

// For the whole process. What is below the level costs a comparison.
void set_level(Level level);
// False if the word names no level.
bool set_level(std::string_view word);

// The word of the level that is in force.
std::string_view level();

// Never fails: a line that cannot be written is lost.
void write(Level level, std::string_view message, std::initializer_list<Field> fields = {});

inline void debug(std::string_view message, std::initializer_list<Field> fields = {}) {
  write(Level::debug, message, fields);
}
inline void info(std::string_view message, std::initializer_list<Field> fields = {}) {
  write(Level::info, message, fields);
}
inline void warn(std::string_view message, std::initializer_list<Field> fields = {}) {
  write(Level::warn, message, fields);
}
inline void error(std::string_view message, std::initializer_list<Field> fields = {}) {
  write(Level::error, message, fields);
}

}  // namespace atl::log
