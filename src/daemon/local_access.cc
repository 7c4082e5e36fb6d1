#include "daemon/local_access.h"

#include <unistd.h>

#include <boost/json.hpp>

#include "base/json.h"
#include "os/file.h"

namespace atl::daemon {
namespace {

std::string path_in(const std::string& directory) {
  return directory + "/daemon.json";
}

}  // namespace

Result<void> write_local_access(const std::string& directory, const LocalAccess& access) {
  const boost::json::object object{{"address", access.address}, {"key", access.key}};
  // An older file may have had other rights.
  remove_local_access(directory);
  return os::write_file(path_in(directory), boost::json::serialize(object) + "\n", 0600);
}

std::optional<LocalAccess> read_local_access(const std::string& directory) {
  const auto text = os::read_file(path_in(directory));
  if (!text) return std::nullopt;
  const auto parsed = json::parse(*text);
  if (!parsed || !parsed->is_object()) return std::nullopt;
  const auto* address = parsed->as_object().if_contains("address");
  const auto* key = parsed->as_object().if_contains("key");
  if (address == nullptr || key == nullptr || !address->is_string() || !key->is_string()) return std::nullopt;
  return LocalAccess{std::string(address->as_string()), std::string(key->as_string())};
}

void remove_local_access(const std::string& directory) {
  ::unlink(path_in(directory).c_str());
}

}  // namespace atl::daemon
