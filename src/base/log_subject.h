#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

#include "base/log.h"
#include "base/trace.h"

namespace atl::log {

// Whom a line is about, as far as it is known: its members "trace_id", "tenant" and "session_id". Every line
// that belongs to a request or to a session has one.
struct Subject {
  std::string tenant, session_id;
  trace::Context trace = {};
};

// Whether lines of this level are written: for lines whose fields cost something to make.
bool is_on(Level level);

// As write() without a subject.
void write(Level level, const Subject& about, std::string_view message,
           std::initializer_list<Field> fields = {});

inline void debug(const Subject& about, std::string_view message, std::initializer_list<Field> fields = {}) {
  write(Level::debug, about, message, fields);
}
inline void info(const Subject& about, std::string_view message, std::initializer_list<Field> fields = {}) {
  write(Level::info, about, message, fields);
}
inline void warn(const Subject& about, std::string_view message, std::initializer_list<Field> fields = {}) {
  write(Level::warn, about, message, fields);
}
inline void error(const Subject& about, std::string_view message, std::initializer_list<Field> fields = {}) {
  write(Level::error, about, message, fields);
}

}  // namespace atl::log
