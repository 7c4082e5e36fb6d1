#include <fmt/format.h>
#include <unistd.h>

#include <boost/json.hpp>
#include <chrono>
#include <thread>

#include "cli/command.h"
#include "cli/daemon_client.h"
#include "cli/settings.h"
#include "config/checked.h"
#include "daemon/data_directory.h"

// What can be found, and the index behind it, as the running service tells it.
namespace atl::cli {
namespace {

namespace bj = boost::json;

struct SearchFlags {
  SettingFlags settings;
  std::string query, collection;
  std::vector<std::string> kinds;
  std::string limit = "10";
  bool json = false;
};

Result<DaemonClient> service_of(const SettingFlags& settings) {
  const config::Configuration configuration = TRY(settings.load());
  const std::string directory = TRY(daemon::existing_data_directory(configuration));
  auto service = DaemonClient::find(directory);
  if (!service)
    return fail(Code::unavailable, "no service runs for this data directory; start one with 'atoll serve'");
  return std::move(*service);
}

std::string text_at(const bj::object& object, std::string_view name) {
  const auto* value = object.if_contains(name);
  return value != nullptr && value->is_string() ? std::string(value->get_string()) : std::string();
}

Result<void> search(const SearchFlags& flags) {
  DaemonClient service = TRY(service_of(flags.settings));
  const std::int64_t limit = TRY(config::Checked("--limit", flags.limit).whole_number(1, 100));
  bj::object body{{"query", flags.query}, {"limit", limit}};
  std::string target = "/api/index/search";
  if (!flags.collection.empty()) {
    if (!flags.kinds.empty())
      return fail(Error(Code::invalid_argument, "points of a collection have no kinds").with_field("--kind"));
    target = fmt::format("/api/index/collections/{}/search", flags.collection);
  } else if (!flags.kinds.empty()) {
    bj::array kinds;
    for (const std::string& kind : flags.kinds) kinds.push_back(bj::value(kind));
    body["kinds"] = std::move(kinds);
  }
  const bj::value answer = TRY(service.call("POST", target, body));
  if (flags.json) {
    fmt::print("{}\n", bj::serialize(answer));
    return {};
  }
  const bj::object& found = answer.as_object();
  fmt::print("{:<10} {:<28} {:>5}  {}\n", "KIND", "ID", "SCORE", "TITLE");
  for (const bj::value& hit : found.at("hits").as_array()) {
    const bj::object& row = hit.as_object();
    fmt::print("{:<10} {:<28} {:>5.2f}  {}\n", text_at(row, "kind"), config::shown(text_at(row, "id"), 60),
               row.at("score").to_number<double>(), config::shown(text_at(row, "title"), 60));
  }
  if (const std::string why = text_at(found, "reason"); !why.empty())
    fmt::print(stderr, "atoll: something was left out: {}\n", why);
  return {};
}

void print_state(const bj::object& state) {
  fmt::print("vectors: {}, relations: {}, model: {} ({} numbers)\n", text_at(state, "backend"),
             text_at(state, "graph_backend"), text_at(state, "model"),
             state.at("dimension").to_number<std::int64_t>());
  if (const std::string why = text_at(state, "reason"); !why.empty()) fmt::print("degraded: {}\n", why);
  if (const std::string doing = text_at(state, "doing"); !doing.empty())
    fmt::print("{}: {} of {}\n", doing, state.at("done").to_number<std::int64_t>(),
               state.at("total").to_number<std::int64_t>());
}

Result<void> show_index(const SearchFlags& flags) {
  DaemonClient service = TRY(service_of(flags.settings));
  const bj::value answer = TRY(service.call("GET", "/api/index"));
  if (flags.json)
    fmt::print("{}\n", bj::serialize(answer));
  else
    print_state(answer.as_object());
  return {};
}

// A line that is written over on a terminal, a line every few seconds elsewhere.
Result<void> rebuild_index(const SearchFlags& flags) {
  using namespace std::chrono_literals;
  DaemonClient service = TRY(service_of(flags.settings));
  bj::value answer = TRY(service.call("POST", "/api/index/rebuild"));
  const bool is_terminal = ::isatty(STDERR_FILENO) == 1;
  std::string shown;
  while (true) {
    const bj::object& state = answer.as_object();
    const std::string doing = text_at(state, "doing");
    if (doing.empty()) break;
    std::string line = fmt::format("{}: {} of {}", doing, state.at("done").to_number<std::int64_t>(),
                                   state.at("total").to_number<std::int64_t>());
    if (line != shown && is_terminal) fmt::print(stderr, "\r\033[K{}", line);
    if (line != shown && !is_terminal) fmt::print(stderr, "{}\n", line);
    shown = std::move(line);
    std::this_thread::sleep_for(is_terminal ? 200ms : 1000ms);
    answer = TRY(service.call("GET", "/api/index"));
  }
  if (is_terminal && !shown.empty()) fmt::print(stderr, "\n");
  if (const std::string why = text_at(answer.as_object(), "failure"); !why.empty())
    return fail(Code::internal, "the index was not rebuilt: " + why);
  fmt::print("rebuilt\n");
  if (const std::string why = text_at(answer.as_object(), "reason"); !why.empty())
    fmt::print(stderr, "atoll: still degraded: {}\n", why);
  return {};
}

}  // namespace

Action define_search(Command& top) {
  Command command = top.add_command("search", "Find tools, skills, executions and documents by meaning");
  auto flags = std::make_unique<SearchFlags>();
  flags->settings.add_to(command);
  command.add_option("QUERY", flags->query, "what is looked for, in words").required();
  command.add_option("--kind", flags->kinds, "only these: tool, skill, prompt, agent, execution, artifact");
  command.add_option("--collection", flags->collection, "in this collection of the tenant 'default'");
  command.add_option("--limit", flags->limit, "at most so many, 1 to 100").with_default_shown();
  command.add_flag("--json", flags->json, "As JSON");
  return [flags = std::move(flags)] {
    if (auto done = search(*flags); !done) return report(done.error());
    return flush_output() ? 0 : 1;
  };
}

Action define_index(Command& top) {
  Command command = top.add_command("index", "Look at the index behind search, or make it anew");
  auto flags = std::make_unique<SearchFlags>();
  flags->settings.add_to(command);
  command.require_command();
  Command showing = command.add_command("show", "Backends, model, and what goes on");
  showing.add_flag("--json", flags->json, "As JSON");
  Command rebuilding = command.add_command(
      "rebuild", "Make words, vectors and relations anew from the stored documents; searches go on");
  return [flags = std::move(flags), showing, rebuilding] {
    auto done = rebuilding.was_chosen() ? rebuild_index(*flags) : show_index(*flags);
    if (!done) return report(done.error());
    return flush_output() ? 0 : 1;
  };
}

}  // namespace atl::cli
