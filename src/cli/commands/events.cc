#include <fmt/format.h>

#include <chrono>
#include <thread>

#include "base/json.h"
#include "cli/answer.h"
#include "cli/commands/session.h"
#include "cli/table.h"
#include "config/checked.h"

// What happens in a service, as it happens.
namespace atl::cli {
namespace {

namespace bj = boost::json;

constexpr int kReconnects = 60;

struct EventFlags {
  ConnectionFlags connection;
  bool json = false;
  std::string since, limit;
  std::vector<std::string> types;
};

std::string line_of(const ServerEvent& event, const bj::value& data) {
  std::string time = text_at(data, "time");
  if (time.empty()) time = text_at(data, "at");
  std::string facts;
  if (data.is_object())
    for (const auto& [name, value] : data.as_object()) {
      if (name == "time" || name == "at" || name == "id" || name == "type") continue;
      const std::string shown = value.is_string() ? std::string(value.as_string()) : bj::serialize(value);
      facts += fmt::format(" {}={}", std::string_view(name), config::shown(shown, 120));
    }
  return fmt::format("{}  {}{}\n",
                     painted(time.empty() ? "-" : local_time(time), Tone::dim, paint_of_output()),
                     painted(config::shown(event.name), Tone::strong, paint_of_output()), facts);
}

Result<int> follow(const EventFlags& flags) {
  const Remote remote = TRY(Remote::open(flags.connection));
  std::int64_t left =
      flags.limit.empty() ? -1 : TRY(config::Checked("--limit", flags.limit).whole_number(1, 1'000'000'000));
  std::string last = flags.since;
  int tries = 0;
  bool over = false;
  const auto each = [&](const ServerEvent& event) -> Result<Remote::Next> {
    tries = 0;
    if (!event.id.empty()) last = event.id;
    // "session" takes "session.created" as well.
    const auto meant = [&](const std::string& type) {
      return event.name == type || event.name.starts_with(type + ".");
    };
    if (!flags.types.empty() && std::ranges::none_of(flags.types, meant)) return Remote::Next::go_on;
    const bj::value data = TRY(json::parse(event.data));
    const int status = print(
        flags.json ? bj::serialize(bj::object{{"id", event.id}, {"event", event.name}, {"data", data}}) + "\n"
                   : line_of(event, data));
    over = status != 0 || --left == 0;
    return over ? Remote::Next::end : Remote::Next::go_on;
  };
  while (true) {
    RemoteCall call{.method = "GET", .target = "/api/events", .body = {}, .headers = {}};
    if (!last.empty()) call.headers.emplace_back("Last-Event-ID", last);
    auto done = remote.events(std::move(call), each);
    if (over) return 0;
    // A stream that breaks off is taken up where it was; nothing in between is missed.
    const bool broke_off = !done && done.error().code() == Code::data_loss;
    if (!done && !broke_off && !row(done.error().code()).retryable) return fail(std::move(done).error());
    if (++tries >= kReconnects || (!done && last == flags.since))
      return fail(done ? Error(Code::unavailable, "the service ends the stream again and again")
                       : std::move(done).error());
    std::this_thread::sleep_for(std::chrono::seconds(1));
  }
}

}  // namespace

Action define_events(Command& top) {
  Command command = top.add_command("events", "Print what happens in a service, as it happens");
  auto flags = std::make_unique<EventFlags>();
  flags->connection.add_to(command);
  command.add_flag("--json", flags->json, "A line of JSON for each event");
  command.add_option("--since", flags->since, "Begin behind the event with this id");
  command
      .add_option("--type", flags->types,
                  "Only of this type, such as limit.hit, or of a noun, such as session; may be repeated")
      .one_value_each();
  command.add_option("--limit", flags->limit, "End after so many").value("NUMBER");
  return [flags = std::move(flags)] {
    auto status = follow(*flags);
    return status ? *status : report(status.error());
  };
}

}  // namespace atl::cli
