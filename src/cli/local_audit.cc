#include "cli/local_audit.h"

#include <fmt/format.h>
#include <unistd.h>

namespace atl::cli {

Result<LocalAudit> LocalAudit::begin(const std::string& data, std::string action, std::string object,
                                     std::string tenant) {
  audit::Options options;
  options.data = data;
  const auto log = TRY(audit::Log::open(std::move(options)));
  audit::Entry entry;
  entry.actor = {fmt::format("uid:{}", ::getuid()), {}, std::move(tenant), "local", {}};
  entry.action = std::move(action);
  entry.object = std::move(object);
  return LocalAudit(TRY(log->begin(audit::Kind::change, std::move(entry))));
}

}  // namespace atl::cli
