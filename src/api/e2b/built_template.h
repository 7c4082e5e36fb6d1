#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"

namespace atl::api::e2b {

// A template that a client built: its builds and which tag names which. Kept as JSON in the store.
struct BuiltTemplate {
  struct Build {
    std::vector<std::string> tags;
    WallTime created_at{};
    std::string status = "waiting";  // waiting, ready, error: what a restart remembers
    std::string snapshot;
    std::string start_command;
  };
  std::string id, name;
  WallTime created_at{};
  std::map<std::string, Build> builds;

  // The newest ready build with the tag; any build if none is ready; empty if no build has it.
  std::string build_of(const std::string& tag) const;
  // Moves the tag to this build.
  void set_tag(const std::string& tag, const std::string& build_id);
  void remove_tag(const std::string& tag);

  std::string to_json() const;
  static Result<BuiltTemplate> from_json(std::string_view text);
};

}  // namespace atl::api::e2b
