#include <fmt/format.h>

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/json.hpp>

#include "base/ids.h"
#include "cli/answer.h"
#include "cli/command.h"
#include "cli/commands/session.h"
#include "cli/remote.h"
#include "cli/settings.h"
#include "cli/table.h"
#include "config/checked.h"
#include "config/configuration.h"
#include "daemon/providers.h"
#include "sandbox/native/native.h"
#include "sandbox/native/probe.h"

namespace atl::cli {
namespace {

namespace asio = boost::asio;
namespace bj = boost::json;
using sandbox::native::Finding;

std::string mark(Finding::Grade grade) {
  const Paint paint = paint_of_output();
  switch (grade) {
    case Finding::Grade::good: return painted("ok  ", Tone::good, paint);
    case Finding::Grade::note: return painted("note", Tone::waiting, paint);
    case Finding::Grade::bad: return painted("BAD ", Tone::bad, paint);
  }
  return "";
}

std::string shown(const Finding& finding) {
  std::string text = fmt::format("{} {:<18} {}\n", mark(finding.grade), finding.subject, finding.fact);
  if (!finding.remedy.empty()) text += fmt::format("     {:<18} -> {}\n", "", finding.remedy);
  return text;
}

// What agents often ask for, looked for where they would: inside. One missing name a line.
constexpr const char* kLookFor =
    "for p in bash curl git sudo tput python3 node R jshell deno; do command -v $p >/dev/null || echo $p; "
    "done; "
    "command -v python3 >/dev/null && python3 -c '\n"
    "import importlib.util\n"
    "for name in (\"numpy\", \"pandas\", \"matplotlib\", \"sklearn\"):\n"
    "    if importlib.util.find_spec(name) is None: print(name)\n'";

struct OptionalLanguage {
  const char *program, *language, *remedy;
};
constexpr OptionalLanguage kLanguages[] = {
    {"R", "r", "apt-get install r-base-core"},
    {"jshell", "java", "apt-get install openjdk-17-jdk-headless"},
    {"deno", "deno", "atoll env build deno, or npm install --global deno"},
};

// As text. Printing can fail by an exception, which must not end a coroutine of the loop: nobody would shut
// the provider down, and the program would wait for ever.
Task<std::string> look_inside(sandbox::Sandbox& box) {
  sandbox::ProcessSpec command;
  command.argv = {"/bin/sh", "-c", kLookFor};
  CO_TRY(auto process, co_await box.start(std::move(command)));
  const auto stream = process->attach(sandbox::Replay::recent);
  std::string lacking, text;
  for (;;) {
    CO_TRY(sandbox::ProcessEvent event, co_await stream->next());
    if (std::holds_alternative<sandbox::Outcome>(event)) break;
    const auto& output = std::get<sandbox::Output>(event);
    if (output.stream == sandbox::Stream::out) lacking += output.bytes;
  }
  // Languages that an environment may do without; the recipes we ship do.
  for (const auto& [program, language, remedy] : kLanguages) {
    const std::string line = std::string(program) + "\n";
    const std::size_t at = lacking.find(line);
    if (at == std::string::npos) {
      text +=
          shown({Finding::Grade::good, fmt::format("language {}", language), "environment host has it", ""});
      continue;
    }
    lacking.erase(at, line.size());
    text += shown({Finding::Grade::note, fmt::format("language {}", language),
                   fmt::format("environment host lacks {}: kernels of this language are refused", program),
                   remedy});
  }
  std::ranges::replace(lacking, '\n', ' ');
  if (lacking.empty())
    text += shown({Finding::Grade::good, "environment host", "has what agents usually ask for", ""});
  else
    text += shown({Finding::Grade::note, "environment host", "lacks " + lacking,
                   "atoll env build base, python or node (docs/guides/environments.md)"});
  co_return text;
}

// What one sandbox showed.
struct Tried {
  std::vector<sandbox::Wall> walls, missing;
  std::string text;  // all of it for people
};

Task<Tried> try_one(sandbox::Provider& provider) {
  sandbox::Spec spec;
  spec.id = new_sandbox_id();
  CO_TRY(auto box, co_await provider.create(std::move(spec)));
  sandbox::ProcessSpec command;
  command.argv = {"true"};
  CO_TRY(auto process, co_await box->start(std::move(command)));
  CO_TRY(auto outcome, co_await process->wait());
  Tried tried{box->isolation().walls, box->isolation().missing, {}};
  std::string& text = tried.text;
  text =
      fmt::format("\nA sandbox was made, ran `true` (exit {}) and has these walls:\n", exit_status(outcome));
  for (const sandbox::Wall& wall : tried.walls)
    text += fmt::format("     {:<18} {}\n", wall.name, wall.value);
  for (const sandbox::Wall& wall : tried.missing)
    text += fmt::format("{} {:<18} not there; {}\n", mark(Finding::Grade::note), wall.name, wall.value);
  text += "\n";
  const auto looked = co_await look_inside(*box);
  text += looked ? *looked : shown({Finding::Grade::note, "environment host", looked.error().message(), ""});
  CO_CHECK(co_await box->stop());
  co_return tried;
}

// Providers that need something beside this machine's kernel. None of them is needed, so none is bad.
std::vector<Finding> optional_providers(const config::Configuration& configuration, asio::io_context& loop) {
  std::vector<Finding> found;
  const daemon::ProviderContext context{.executor = loop.get_executor(), .configuration = configuration};
  for (const daemon::OptionalProvider& one : daemon::optional_providers()) {
    const auto probed = one.probe(context);
    const std::string subject = fmt::format("provider {}", one.name);
    if (!probed) {
      found.push_back({Finding::Grade::note, subject, "does not work here", probed.error().message()});
      continue;
    }
    const std::string who = probed->walls.empty() ? "" : ": " + probed->walls.front().value;
    found.push_back({Finding::Grade::good, subject, "works" + who, ""});
    for (const sandbox::Wall& lacking : probed->missing)
      found.push_back({Finding::Grade::note, subject, "lacks " + lacking.name, lacking.value});
  }
  return found;
}

Result<Tried> try_native(asio::io_context& loop) {
  sandbox::native::NativeOptions options;
  options.spawner.slots_ready = 0;
  auto provider = TRY(sandbox::native::start(loop.get_executor(), std::move(options)));
  Result<Tried> tried = Tried();
  const auto body = [&]() -> asio::awaitable<void> {
    tried = co_await try_one(*provider);
    (void)co_await provider->shut_down();
    loop.stop();
  };
  asio::co_spawn(loop, body, asio::detached);
  loop.run();
  return tried;
}

boost::json::array json_of(const std::vector<Finding>& findings) {
  constexpr const char* grades[] = {"good", "note", "bad"};
  boost::json::array all;
  for (const Finding& one : findings)
    all.push_back(boost::json::object{{"grade", grades[static_cast<std::size_t>(one.grade)]},
                                      {"subject", one.subject},
                                      {"fact", one.fact},
                                      {"remedy", one.remedy}});
  return all;
}

boost::json::object json_of(const Result<Tried>& tried) {
  if (!tried) return {{"made", false}, {"reason", tried.error().message()}};
  const auto named = [](const std::vector<sandbox::Wall>& walls) {
    boost::json::object all;
    for (const sandbox::Wall& wall : walls) all[wall.name] = wall.value;
    return all;
  };
  return {{"made", true}, {"walls", named(tried->walls)}, {"missing", named(tried->missing)}};
}

int examine(const config::Configuration& configuration, bool as_json) {
  const std::vector<Finding> machine = sandbox::native::probe_machine();
  const bool sound =
      std::ranges::none_of(machine, [](const Finding& one) { return one.grade == Finding::Grade::bad; });
  if (!as_json)
    for (const Finding& finding : machine) fmt::print("{}", shown(finding));
  asio::io_context loop;
  const std::vector<Finding> providers = optional_providers(configuration, loop);
  if (!as_json) fmt::print("\n");
  if (!as_json)
    for (const Finding& finding : providers) fmt::print("{}", shown(finding));
  const Result<Tried> tried = try_native(loop);
  if (as_json)
    fmt::print("{}\n", boost::json::serialize(boost::json::object{{"machine", json_of(machine)},
                                                                  {"providers", json_of(providers)},
                                                                  {"sandbox", json_of(tried)}}));
  else
    fmt::print("{}", tried ? tried->text
                           : fmt::format("\nA sandbox could not be made: {}\n", tried.error().message()));
  return sound && tried ? 0 : 1;
}

struct DoctorFlags {
  ConnectionFlags connection;
  bool live = false, json = false;
};

Finding::Grade grade_of(const std::string& state) {
  if (state == "ok" || state == "off") return Finding::Grade::good;
  return state == "down" ? Finding::Grade::bad : Finding::Grade::note;
}

// One part of the service, in the words of its health.
std::string shown_part(const bj::value& part) {
  const std::string state = text_at(part, "state"), reason = text_at(part, "reason");
  const std::string since = text_at(part, "since");
  std::string fact =
      fmt::format("{} since {} ({})", state, local_time(since), short_time(seconds_since(since)));
  if (!reason.empty()) fact += ": " + config::shown(reason, 500);
  return shown(Finding{grade_of(state), config::shown(text_at(part, "name")), std::move(fact),
                       config::shown(text_at(part, "remedy"), 500)});
}

Result<int> examine_service(const DoctorFlags& flags) {
  const Remote remote = TRY(Remote::open(flags.connection));
  const auto asked = std::chrono::steady_clock::now();
  const bj::value health = TRY(remote.json("GET", "/api/health"));
  const auto took = std::chrono::steady_clock::now() - asked;
  const std::string status = text_at(health, "status");
  const int exit_status = status == "ok" ? 0 : 1;
  if (flags.json) {
    const int printed = print(bj::serialize(health) + "\n");
    return printed != 0 ? printed : exit_status;
  }
  const bj::value version = TRY(remote.json("GET", "/version"));
  std::string text =
      fmt::format("{} {:<18} {} answers in {:.1f} ms (atoll {}), as {} says\n", mark(grade_of(status)),
                  "service", remote.endpoint().url, std::chrono::duration<double, std::milli>(took).count(),
                  config::shown(text_at(version, "version")), remote.endpoint().origin);
  std::size_t unwell = 0;
  for (const bj::value& part : list_at(health, "components")) {
    text += shown_part(part);
    if (grade_of(text_at(part, "state")) != Finding::Grade::good) ++unwell;
  }
  text += unwell == 0
              ? "\nEverything is well.\n"
              : fmt::format("\nThe service is {}: it goes on without {} of its parts.\n", status, unwell);
  const int printed = print(text);
  return printed != 0 ? printed : exit_status;
}

}  // namespace

Action define_doctor(Command& top) {
  Command command =
      top.add_command("doctor", "Say what works on this machine, what does not, and how to fix it");
  auto flags = std::make_unique<DoctorFlags>();
  flags->connection.add_to(command);
  command.add_flag("--live", flags->live,
                   "Ask a running service how its parts are instead; status 1: not all well");
  command.add_flag("--json", flags->json, "As JSON");
  return [flags = std::move(flags)] {
    if (flags->live) {
      const auto status = examine_service(*flags);
      return status ? *status : report(status.error());
    }
    const auto configuration = flags->connection.settings().load();
    return configuration ? examine(*configuration, flags->json) : report(configuration.error());
  };
}

}  // namespace atl::cli
