#include "sandbox/native/rootless.h"

namespace atl::sandbox::native {

IdMap rootless_ids(const Privileges& privileges) {
  if (privileges.has_one_id()) return {.first = 0, .count = 1, .inside = 1000};
  return {.first = 1, .count = privileges.ids, .inside = 0};
}

IdMap rootless_layer_ids(const Privileges& privileges, std::string_view user) {
  if (!privileges.has_one_id()) return {.first = 0, .count = privileges.ids + 1, .inside = 0};
  const bool root = user.empty() || user == "root" || user == "0";
  return {.first = 0, .count = 1, .inside = root ? 0U : 1000U};
}

}  // namespace atl::sandbox::native
