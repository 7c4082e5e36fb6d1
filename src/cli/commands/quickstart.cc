#include <fmt/format.h>

#include "cli/answer.h"
#include "cli/commands/session.h"
#include "cli/interruption.h"
#include "cli/table.h"
#include "config/checked.h"

// The first lines that a new service is tried with, typed for you.
namespace atl::cli {
namespace {

namespace bj = boost::json;

void show_line(const std::string& line) {
  fmt::print("{} {}\n", painted("$", Tone::dim, paint_of_output()),
             painted(line, Tone::strong, paint_of_output()));
  (void)std::fflush(stdout);
}

Result<void> execute_line(const Remote& remote, const std::stop_token& interruption, const std::string& id,
                          const std::string& code) {
  if (interruption.stop_requested()) return fail(Code::canceled, "interrupted");
  show_line(fmt::format("atoll session exec {} '{}'", id, code));
  const bj::value done = TRY(remote.json("POST", session_target(id, "/execute"), bj::object{{"code", code}}));
  fmt::print("{}", text_at(done, "stdout"));
  if (text_at(done, "status") == "success") return {};
  return fail(Code::provider_failed, fmt::format("the code ended with {}: {}", text_at(done, "status"),
                                                 config::shown(text_at(done, "stderr"), 400)));
}

Result<void> try_out(const Remote& remote, const std::stop_token& interruption,
                     std::vector<std::string>& made) {
  show_line("atoll session create");
  made.push_back(text_at(TRY(remote.json("POST", "/api/sessions", bj::object())), "session_id"));
  const std::string id = made.back();
  fmt::print("{}\n", id);
  TRY(execute_line(remote, interruption, id, "x = 6 * 7"));
  TRY(execute_line(remote, interruption, id, "print(x)"));
  show_line(fmt::format("atoll session fork {}", id));
  const bj::value fork = TRY(remote.json("POST", session_target(id, "/fork"), bj::object()));
  made.push_back(text_at(fork, "session_id"));
  fmt::print("{}\n", made.back());
  return execute_line(remote, interruption, made.back(), "print(\"the copy knows x =\", x)");
}

Result<int> quickstart(const ConnectionFlags& connection) {
  const Remote remote = TRY(Remote::open(connection));
  std::vector<std::string> made;
  const Interruption interruption(true);
  auto tried = try_out(remote, interruption.token(), made);
  // Nothing stays, however far it came.
  if (!made.empty()) show_line(fmt::format("atoll session rm {}", fmt::join(made, " ")));
  for (const std::string& id : made)
    if (auto ended = remote.json("DELETE", session_target(id)); !ended && tried)
      tried = fail(std::move(ended).error());
  TRY(tried);
  fmt::print("\nIt works. `atoll help session` has the rest; `atoll top` shows what runs.\n");
  return 0;
}

}  // namespace

Action define_quickstart(Command& top) {
  Command command = top.add_command("quickstart", "Try a running service: a session, a variable, a fork");
  auto connection = std::make_unique<ConnectionFlags>();
  connection->add_to(command);
  return [connection = std::move(connection)] {
    auto status = quickstart(*connection);
    if (!status) return report(status.error());
    return flush_output() ? *status : 1;
  };
}

}  // namespace atl::cli
