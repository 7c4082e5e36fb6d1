#include <fmt/format.h>

#include "cli/command.h"
#include "cli/daemon_client.h"
#include "cli/settings.h"
#include "config/checked.h"
#include "daemon/data_directory.h"
#include "net/http.h"

// What was consumed, as the running service tells it.
namespace atl::cli {
namespace {

struct UsageFlags {
  SettingFlags settings;
  std::string tenant = "default", by = "day", format = "csv", from, to, key, session;
  bool json = false;
};

Result<std::string> ask(const UsageFlags& flags) {
  const config::Configuration configuration = TRY(flags.settings.load());
  const std::string directory = TRY(daemon::existing_data_directory(configuration));
  auto service = DaemonClient::find(directory);
  if (!service)
    return fail(Code::unavailable, "no service runs for this data directory; start one with 'atoll serve'");
  std::string target = "/api/usage?format=" + net::percent_encode(flags.json ? "json" : flags.format);
  for (const auto& [name, value] :
       {std::pair("tenant", &flags.tenant), std::pair("by", &flags.by), std::pair("from", &flags.from),
        std::pair("to", &flags.to), std::pair("key_id", &flags.key), std::pair("session_id", &flags.session)})
    if (!value->empty()) target += fmt::format("&{}={}", name, net::percent_encode(*value));
  return service->text("GET", target);
}

}  // namespace

Action define_usage(Command& top) {
  Command command = top.add_command("usage", "Show what tenants, keys and sessions consumed");
  auto flags = std::make_unique<UsageFlags>();
  flags->settings.add_to(command);
  command.add_option("--tenant", flags->tenant, "whose; '*' for all").with_default_shown();
  command.add_option("--by", flags->by, "day, key, session, or several with commas").with_default_shown();
  command.add_option("--format", flags->format, "csv or json").with_default_shown();
  command.add_flag("--json", flags->json, "As JSON");
  command.add_option("--from", flags->from, "first day, such as 2026-01-31");
  command.add_option("--to", flags->to, "last day");
  command.add_option("--key", flags->key, "only of this key");
  command.add_option("--session", flags->session, "only of this session");
  return [flags = std::move(flags)] {
    auto answer = ask(*flags);
    if (!answer) return report(answer.error());
    fmt::print("{}{}", *answer, answer->ends_with('\n') ? "" : "\n");
    return flush_output() ? 0 : 1;
  };
}

}  // namespace atl::cli
