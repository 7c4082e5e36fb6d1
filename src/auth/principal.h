#pragma once

#include <cstdint>
#include <string>

namespace atl::auth {

// What a key may do. One role today; others take their place here and in allowed().
enum class Role : std::uint8_t { owner };

// Who is asking. A tenant sees its own sessions and nothing else, not even that others exist.
struct Principal {
  std::string key_id;  // "key_..."; empty for the process itself (atoll run, reconciliation)
  std::string tenant;
  Role role = Role::owner;

  bool operator==(const Principal&) const = default;
};

}  // namespace atl::auth
