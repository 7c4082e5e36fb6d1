#include <fmt/format.h>
#include <unistd.h>

#include "cli/answer.h"
#include "cli/command.h"
#include "cli/remote.h"
#include "cli/table.h"
#include "net/http.h"

// What was consumed, as the running service tells it.
namespace atl::cli {
namespace {

struct UsageFlags {
  ConnectionFlags connection;
  std::string tenant, by = "day", format, from, to, key, session;
  bool json = false;
};

Result<std::string> ask(const UsageFlags& flags, const std::string& format) {
  const Remote service = TRY(Remote::open(flags.connection));
  std::string target = "/api/usage?format=" + net::percent_encode(format);
  for (const auto& [name, value] :
       {std::pair("tenant", &flags.tenant), std::pair("by", &flags.by), std::pair("from", &flags.from),
        std::pair("to", &flags.to), std::pair("key_id", &flags.key), std::pair("session_id", &flags.session)})
    if (!value->empty()) target += fmt::format("&{}={}", name, net::percent_encode(*value));
  return service.text({.method = "GET", .target = std::move(target), .body = {}, .headers = {}});
}

std::string usage_table(const boost::json::value& answer) {
  Table table({{"DAY"},
               {"TENANT"},
               {"KEY"},
               {"SESSION"},
               {"EXECUTIONS", Table::Align::right},
               {"CPU", Table::Align::right},
               {"TIME", Table::Align::right},
               {"SENT", Table::Align::right}});
  for (const boost::json::value& row : list_at(answer, "usage"))
    table.add({{text_at(row, "day")},
               {text_at(row, "tenant")},
               {text_at(row, "key_id")},
               {text_at(row, "session_id")},
               {fmt::format("{:.0f}", number_at(row, "executions"))},
               {fmt::format("{:.3f}s", number_at(row, "cpu_seconds"))},
               {fmt::format("{:.3f}s", number_at(row, "wall_seconds"))},
               {short_bytes(static_cast<std::uint64_t>(number_at(row, "egress_bytes")))}});
  return table.text(paint_of_output());
}

// For people a table, for programs CSV; --format says otherwise.
Result<void> show_usage(const UsageFlags& flags) {
  std::string format = flags.json ? "json" : flags.format;
  if (format.empty()) format = ::isatty(STDOUT_FILENO) == 1 ? "table" : "csv";
  if (format == "table") {
    const std::string answer = TRY(ask(flags, "json"));
    const boost::json::value rows = TRY(parse_answer(answer));
    fmt::print("{}", usage_table(rows));
    return {};
  }
  std::string answer = TRY(ask(flags, format));
  std::erase(answer, '\r');
  fmt::print("{}{}", shown_on_terminal(answer), answer.ends_with('\n') ? "" : "\n");
  return {};
}

}  // namespace

Action define_usage(Command& top) {
  Command command = top.add_command("usage", "Show what tenants, keys and sessions consumed");
  auto flags = std::make_unique<UsageFlags>();
  flags->connection.add_to(command);
  command.add_option("--tenant", flags->tenant, "whose, instead of the key's own; '*' for all");
  command.add_option("--by", flags->by, "day, key, session, or several with commas").with_default_shown();
  command.add_option("--format", flags->format,
                     "csv, json or table (default: table on a terminal, else csv)");
  command.add_flag("--json", flags->json, "As JSON");
  command.add_option("--from", flags->from, "first day, such as 2026-01-31");
  command.add_option("--to", flags->to, "last day");
  command.add_option("--key", flags->key, "only of this key");
  command.add_option("--session", flags->session, "only of this session");
  return [flags = std::move(flags)] {
    if (auto done = show_usage(*flags); !done) return report(done.error());
    return flush_output() ? 0 : 1;
  };
}

}  // namespace atl::cli
