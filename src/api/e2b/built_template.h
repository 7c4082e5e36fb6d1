#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"

namespace atl::api::e2b {

// What sandboxes made from a template get beside its files. Kept as JSON: in the template's document, and in
// the attributes of sandboxes and snapshots, so that what is made from those gets it too.
struct TemplateSettings {
  std::string environment = "base";
  std::string provider;                 // empty: the service's default
  std::string user, working_directory;  // of processes; empty: the environment's
  std::map<std::string, std::string> env;
  std::string start_command, ready_command;
  std::optional<std::int64_t> cpu_count, memory_mb, disk_mb;  // unset: the environment's limits

  std::string to_json() const;
  static Result<TemplateSettings> from_json(std::string_view text);
  bool operator==(const TemplateSettings&) const = default;
};

// A template that a client built: its builds and which tag names which. Kept as JSON in the store.
struct BuiltTemplate {
  struct Build {
    std::vector<std::string> tags;
    WallTime created_at{};
    std::string status = "waiting";   // waiting, ready, error: what a restart remembers
    std::string reason, reason_step;  // of an error
    std::string snapshot;             // empty: the environment as it is
    TemplateSettings settings;
    std::int64_t free_disk_mb = 0;  // asked for beside what the steps wrote
  };
  std::string id, name;
  bool is_public = false;  // every tenant may make sandboxes from it; only its own changes it
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
