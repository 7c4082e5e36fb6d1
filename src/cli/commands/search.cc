#include <fmt/format.h>
#include <unistd.h>

#include <boost/json.hpp>
#include <chrono>
#include <optional>
#include <thread>

#include "cli/answer.h"
#include "cli/command.h"
#include "cli/interruption.h"
#include "cli/progress.h"
#include "cli/remote.h"
#include "cli/table.h"
#include "config/checked.h"
#include "net/http.h"

// What can be found, and the index behind it, as the running service tells it.
namespace atl::cli {
namespace {

namespace bj = boost::json;

struct SearchFlags {
  ConnectionFlags connection;
  std::string query, collection;
  std::vector<std::string> kinds;
  std::string limit = "10";
  bool json = false;
};

Result<void> search(const SearchFlags& flags) {
  const Remote service = TRY(Remote::open(flags.connection));
  const std::int64_t limit = TRY(config::Checked("--limit", flags.limit).whole_number(1, 100));
  bj::object body{{"query", flags.query}, {"limit", limit}};
  std::string target = "/api/index/search";
  if (!flags.collection.empty()) {
    if (!flags.kinds.empty())
      return fail(Error(Code::invalid_argument, "points of a collection have no kinds").with_field("--kind"));
    target = fmt::format("/api/index/collections/{}/search", net::percent_encode(flags.collection));
  } else if (!flags.kinds.empty()) {
    bj::array kinds;
    for (const std::string& kind : flags.kinds) kinds.push_back(bj::value(kind));
    body["kinds"] = std::move(kinds);
  }
  const bj::value answer = TRY(service.json("POST", target, body));
  if (flags.json) {
    fmt::print("{}\n", bj::serialize(answer));
    return {};
  }
  Table table({{"KIND"}, {"ID"}, {"SCORE", Table::Align::right}, {"TITLE"}});
  for (const bj::value& hit : list_at(answer, "hits"))
    table.add({{config::shown(text_at(hit, "kind"), 10), Tone::dim},
               {config::shown(text_at(hit, "id"), 60)},
               {fmt::format("{:.2f}", number_at(hit, "score"))},
               {config::shown(text_at(hit, "title"), 60)}});
  fmt::print("{}", table.text(paint_of_output()));
  if (const std::string why = text_at(answer, "reason"); !why.empty())
    fmt::print(stderr, "atoll: something was left out: {}\n", config::shown(why, 400));
  return {};
}

std::string shown_at(const bj::value& state, std::string_view name) {
  constexpr std::size_t kLongest = 400;
  return config::shown(text_at(state, name), kLongest);
}

// What goes on, as one line; empty if nothing does.
std::string progress_of(const bj::value& state) {
  const std::string doing = shown_at(state, "doing");
  if (doing.empty()) return doing;
  return fmt::format("{}: {:.0f} of {:.0f}", doing, number_at(state, "done"), number_at(state, "total"));
}

void print_state(const bj::value& state) {
  fmt::print("vectors: {}, relations: {}, model: {} ({:.0f} numbers)\n", shown_at(state, "backend"),
             shown_at(state, "graph_backend"), shown_at(state, "model"), number_at(state, "dimension"));
  if (const std::string why = shown_at(state, "reason"); !why.empty()) fmt::print("degraded: {}\n", why);
  if (const std::string line = progress_of(state); !line.empty()) fmt::print("{}\n", line);
  if (const std::string why = shown_at(state, "failure"); !why.empty()) fmt::print("failure: {}\n", why);
}

Result<void> show_index(const SearchFlags& flags) {
  const Remote service = TRY(Remote::open(flags.connection));
  const bj::value answer = TRY(service.json("GET", "/api/index"));
  if (flags.json)
    fmt::print("{}\n", bj::serialize(answer));
  else
    print_state(answer);
  return {};
}

// A bar on a terminal, one for each thing that is made; a line every second elsewhere.
Result<void> follow_rebuild(const Remote& service, bj::value& answer, const std::stop_token& stop) {
  using namespace std::chrono_literals;
  const bool is_terminal = ::isatty(STDERR_FILENO) == 1;
  std::string shown, doing;
  std::optional<Progress> bar;
  while (true) {
    std::string line = progress_of(answer);
    if (line.empty()) return {};
    if (std::string now = shown_at(answer, "doing"); now != doing) {
      doing = std::move(now);
      bar.emplace(doing, Counting::things);
    }
    bar->moved(static_cast<std::uint64_t>(number_at(answer, "done")),
               static_cast<std::uint64_t>(number_at(answer, "total")));
    if (line != shown && !is_terminal) fmt::print(stderr, "{}\n", line);
    shown = std::move(line);
    for (auto waited = 0ms; waited < (is_terminal ? 200ms : 1000ms); waited += 50ms) {
      if (stop.stop_requested())
        return fail(Code::canceled,
                    "interrupted; the service goes on rebuilding, `atoll index show` tells how far it is");
      std::this_thread::sleep_for(50ms);
    }
    answer = TRY(service.json("GET", "/api/index"));
  }
}

Result<void> rebuild_index(const SearchFlags& flags) {
  const Remote service = TRY(Remote::open(flags.connection));
  bj::value answer = TRY(service.json("POST", "/api/index/rebuild"));
  const Interruption interruption(true);
  TRY(follow_rebuild(service, answer, interruption.token()));
  if (const std::string why = shown_at(answer, "failure"); !why.empty())
    return fail(Code::internal, "the index was not rebuilt: " + why);
  if (flags.json)
    fmt::print("{}\n", bj::serialize(answer));
  else
    fmt::print("rebuilt\n");
  if (const std::string why = shown_at(answer, "reason"); !why.empty())
    fmt::print(stderr, "atoll: still degraded: {}\n", why);
  return {};
}

}  // namespace

Action define_search(Command& top) {
  Command command = top.add_command("search", "Find tools, skills, executions and documents by meaning");
  auto flags = std::make_unique<SearchFlags>();
  flags->connection.add_to(command);
  command.add_option("QUERY", flags->query, "what is looked for, in words").required();
  command
      .add_option("--kind", flags->kinds,
                  "only this kind: tool, skill, prompt, agent, execution, artifact; may be repeated")
      .one_value_each();
  command.add_option("--collection", flags->collection, "in this collection of yours");
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
  flags->connection.add_to(command);
  command.require_command();
  Command showing = command.add_command("show", "Backends, model, and what goes on");
  showing.add_flag("--json", flags->json, "As JSON");
  Command rebuilding = command.add_command(
      "rebuild", "Make words, vectors and relations anew from the stored documents; searches go on");
  rebuilding.add_flag("--json", flags->json, "The state afterwards, as JSON");
  return [flags = std::move(flags), showing, rebuilding] {
    auto done = rebuilding.was_chosen() ? rebuild_index(*flags) : show_index(*flags);
    if (!done) return report(done.error());
    return flush_output() ? 0 : 1;
  };
}

}  // namespace atl::cli
