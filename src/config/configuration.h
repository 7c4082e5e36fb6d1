#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace atl::config {

// A map is NAME=VALUE pairs with commas between them; in a file it may be a map of YAML.
enum class ValueType : std::uint8_t {
  text,
  boolean,
  integer,
  bytes,
  duration,
  list,
  map,
  document,  // in a file any YAML; elsewhere the same as JSON on one line
};

// One thing an operator may decide. `key` is its place in the file ("tls.certificate"); the environment
// variable is ATOLL_ and the key in capitals with '_' for '.' ("ATOLL_TLS_CERTIFICATE").
struct Setting {
  std::string_view key;
  ValueType type;
  std::string_view default_text;
  std::string_view help;
  bool secret = false;  // shown as "(set)"
};

// The one table; a new setting is one line in configuration.cc.
std::span<const Setting> settings();
std::string environment_name(std::string_view key);

struct Value {
  std::string text;    // a list or map is joined with commas
  std::string origin;  // "default", "/etc/atoll/config.yaml:3", "environment ATOLL_LISTEN", "--listen"
};

// Where values may come from, in order of growing priority.
struct Sources {
  std::string file;                                // empty: none
  std::map<std::string, std::string> environment;  // only names that start with ATOLL_ are looked at
  std::map<std::string, std::string> flags;        // key to text
  std::map<std::string, std::string> spelled;      // key to the flag that gave it; else it was --set
};

// Every setting with its value and origin. Values were checked against their types when it was made, so
// reading does not fail; asking for a key that is not in the table, or as another type, ends the process (a
// defect of ours).
class Configuration {
 public:
  // Unknown keys and wrong types are Code::invalid_argument with file, line and a hint.
  static Result<Configuration> load(const Sources& sources);

  const std::string& text(std::string_view key) const { return value(key).text; }
  bool boolean(std::string_view key) const;
  std::int64_t integer(std::string_view key) const;
  std::uint64_t bytes(std::string_view key) const;
  std::chrono::milliseconds duration(std::string_view key) const;
  std::vector<std::string> list(std::string_view key) const;
  std::map<std::string, std::string> map(std::string_view key) const;
  const Value& value(std::string_view key) const;
  const std::map<std::string, Value, std::less<>>& values() const { return values_; }
  // Variables that look like ours but are not: worth a word to the operator, not a refusal.
  const std::vector<std::string>& warnings() const { return warnings_; }

 private:
  std::map<std::string, Value, std::less<>> values_;
  std::vector<std::string> warnings_;
};

// The variables of this process that start with ATOLL_.
std::map<std::string, std::string> atoll_environment();
// --config, else ATOLL_CONFIG, else the first that exists of $XDG_CONFIG_HOME/atoll/config.yaml and
// /etc/atoll/config.yaml, else empty.
std::string find_file(const std::string& flag);
// The same with these variables instead of the process's.
std::string find_file(const std::string& flag, const std::map<std::string, std::string>& variables);
// $XDG_DATA_HOME/atoll, else ~/.local/share/atoll, else /var/lib/atoll.
std::string default_data_directory();

}  // namespace atl::config
