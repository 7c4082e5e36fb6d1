#include <fmt/format.h>

#include "cli/answer.h"
#include "cli/command.h"
#include "cli/remote.h"
#include "net/http.h"

// What was consumed, as the running service tells it.
namespace atl::cli {
namespace {

struct UsageFlags {
  ConnectionFlags connection;
  std::string tenant, by = "day", format = "csv", from, to, key, session;
  bool json = false;
};

Result<std::string> ask(const UsageFlags& flags) {
  const Remote service = TRY(Remote::open(flags.connection));
  std::string target = "/api/usage?format=" + net::percent_encode(flags.json ? "json" : flags.format);
  for (const auto& [name, value] :
       {std::pair("tenant", &flags.tenant), std::pair("by", &flags.by), std::pair("from", &flags.from),
        std::pair("to", &flags.to), std::pair("key_id", &flags.key), std::pair("session_id", &flags.session)})
    if (!value->empty()) target += fmt::format("&{}={}", name, net::percent_encode(*value));
  return service.text({.method = "GET", .target = std::move(target), .body = {}, .headers = {}});
}

}  // namespace

Action define_usage(Command& top) {
  Command command = top.add_command("usage", "Show what tenants, keys and sessions consumed");
  auto flags = std::make_unique<UsageFlags>();
  flags->connection.add_to(command);
  command.add_option("--tenant", flags->tenant, "whose, instead of the key's own; '*' for all");
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
    fmt::print("{}{}", shown_lines(*answer), answer->ends_with('\n') ? "" : "\n");
    return flush_output() ? 0 : 1;
  };
}

}  // namespace atl::cli
