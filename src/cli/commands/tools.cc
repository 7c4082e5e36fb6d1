#include <fmt/format.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/json/serialize.hpp>

#include "cli/command.h"
#include "cli/output_file.h"
#include "cli/settings.h"
#include "config/checked.h"
#include "egress/machine.h"
#include "os/file.h"
#include "registry/registry.h"
#include "sandbox/native/native.h"
#include "session/local_service.h"
#include "store/store.h"
#include "tools/tool_executor.h"

// For authors of tools: what there is, a file to begin with, and the examples of a tool run for real.
namespace atl::cli {
namespace {

namespace asio = boost::asio;

struct ToolsFlags {
  SettingFlags settings;
  std::string name, format, kind = "command", directory = ".";
  std::vector<std::string> names;
  bool json = false;
};

struct Opened {
  std::unique_ptr<registry::Registry> registry;
  std::unique_ptr<tools::ToolRegistry> tools;
};

Result<Opened> open_tools(const ToolsFlags& flags) {
  const config::Configuration configuration = TRY(flags.settings.load());
  Opened opened;
  opened.registry =
      std::make_unique<registry::Registry>(TRY(registry::Registry::load(configuration.text("registry"))));
  opened.tools = TRY(tools::ToolRegistry::open(opened.registry.get()));
  return opened;
}

Result<tools::ToolPtr> find_tool(const Opened& opened, const std::string& name) {
  tools::ToolPtr tool = opened.tools->find("default", name);
  if (tool == nullptr)
    return fail(Code::not_found, fmt::format("NAME: no tool is called '{}'; `atoll tools list` lists them",
                                             config::shown(name)));
  return tool;
}

Result<int> list(const ToolsFlags& flags) {
  const Opened opened = TRY(open_tools(flags));
  if (flags.json || !flags.format.empty()) {
    const tools::Format format = TRY(tools::parse_format(flags.format));
    boost::json::array all;
    for (const tools::ToolPtr& tool : opened.tools->list("default")) all.push_back(exported(*tool, format));
    fmt::print("{}\n", boost::json::serialize(all));
    return 0;
  }
  fmt::print("{:<24} {}\n", "NAME", "DESCRIPTION");
  for (const tools::ToolPtr& tool : opened.tools->list("default"))
    fmt::print("{:<24} {}\n", tool->name, config::shown(tool->description, 90));
  return 0;
}

Result<int> show(const ToolsFlags& flags) {
  const Opened opened = TRY(open_tools(flags));
  const tools::ToolPtr tool = TRY(find_tool(opened, flags.name));
  const tools::Format format = TRY(tools::parse_format(flags.format));
  fmt::print("{}\n", boost::json::serialize(exported(*tool, format)));
  return 0;
}

constexpr std::string_view kNewCommand = R"yaml(name: NAME
description: Say in one sentence what it does; a model reads this.
input:
  type: object
  properties:
    text: {type: string}
  required: [text]
  additionalProperties: false
output:
  type: object
  properties:
    length: {type: integer}
  required: [length]
run:
  command: [python3, -c, "import json, sys; print(json.dumps({'length': len(json.load(sys.stdin)['text'])}))"]
timeout_seconds: 30
examples:
  - {input: {text: abc}, output: {length: 3}}
)yaml";

constexpr std::string_view kNewCode = R"yaml(name: NAME
description: Say in one sentence what it does; a model reads this.
input:
  type: object
  properties:
    text: {type: string}
  required: [text]
  additionalProperties: false
output:
  type: object
  properties:
    length: {type: integer}
  required: [length]
run:
  language: python
  code: |
    print(json.dumps({"length": len(tool_input["text"])}))
timeout_seconds: 30
examples:
  - {input: {text: abc}, output: {length: 3}}
)yaml";

Result<int> make_new(const ToolsFlags& flags) {
  if (!tools::is_tool_name(flags.name))
    return fail(
        config::Checked("NAME", flags.name)
            .wrong("is no name of a tool", "use letters, digits, '_' and '-', a letter first, at most 64"));
  constexpr std::array<std::string_view, 2> kKinds = {"command", "code"};
  TRY(config::Checked("--kind", flags.kind).choice(kKinds));
  std::string text(flags.kind == "code" ? kNewCode : kNewCommand);
  text.replace(text.find("NAME"), 4, flags.name);
  const std::string path = fmt::format("{}/{}.yaml", flags.directory, flags.name);
  if (auto there = os::read_file(path); there)
    return fail(Code::already_exists, fmt::format("'{}' is there already; choose another name", path));
  OutputFile out = TRY(OutputFile::open("NAME", path));
  TRY(os::write_all(out.fd(), text));
  TRY(out.finish());
  fmt::print("{}\nPut it into tools/ of your registry directory, then: atoll tools test {}\n", path,
             flags.name);
  return 0;
}

// The examples of one tool, in a sandbox of their own. Gives how many failed.
Task<int> run_examples(session::Service& service, tools::ToolExecutor& executor, tools::ToolPtr tool) {
  const auth::Principal who{"", "default"};
  session::CreateRequest create;
  CO_TRY(const session::Session session, co_await service.create(who, std::move(create)));
  int failed = 0;
  for (std::size_t i = 0; i < tool->examples.size(); ++i) {
    tools::ToolRequest request{session.session_id, tool->name, tool->examples[i].input, std::nullopt};
    const auto result = co_await executor.call(who, std::move(request));
    std::string problem;
    if (!result) {
      problem = result.error().message();
    } else if (result->status != session::Status::success) {
      problem = fmt::format("{}: {} {}", to_string(result->status), result->error, result->error_value);
    } else if (const auto& wanted = tool->examples[i].output;
               wanted && !tools::same_json(*wanted, result->output)) {
      problem = fmt::format("gave {}, expected {}", boost::json::serialize(result->output),
                            boost::json::serialize(*wanted));
    }
    failed += problem.empty() ? 0 : 1;
    fmt::print("{:<5} {} example {}{}{}\n", problem.empty() ? "ok" : "FAIL", tool->name, i + 1,
               problem.empty() ? "" : ": ", problem);
  }
  if (tool->examples.empty()) fmt::print("none  {} has no examples\n", tool->name);
  CO_CHECK(co_await service.destroy(who, session.session_id));
  co_return failed;
}

Result<int> test(const ToolsFlags& flags) {
  const Opened opened = TRY(open_tools(flags));
  std::vector<tools::ToolPtr> wanted;
  for (const std::string& name : flags.names) wanted.push_back(TRY(find_tool(opened, name)));
  if (wanted.empty()) wanted = opened.tools->list("default");
  asio::io_context loop;
  sandbox::native::NativeOptions native;
  native.spawner.slots_ready = 0;
  // Before the store: the spawner is forked off a process without threads.
  const auto provider = TRY(sandbox::native::start(loop.get_executor(), std::move(native)));
  const auto store = TRY(store::Store::open_in_memory());
  session::LocalService::Dependencies dependencies{
      .executor = loop.get_executor(), .store = store.get(), .registry = opened.registry.get()};
  dependencies.providers = {provider.get()};
  dependencies.clock = &Clock::machine();
  session::LocalService service(std::move(dependencies), {});
  tools::ToolExecutor executor(loop.get_executor(), &service, opened.tools.get(), &Clock::machine(), {});
  Result<int> failed = 0;
  const auto body = [&]() -> asio::awaitable<void> {
    auto started = co_await service.start();
    if (!started) failed = fail(started.error());
    for (std::size_t i = 0; failed && i < wanted.size(); ++i) {
      auto one = co_await run_examples(service, executor, wanted[i]);
      if (one) {
        failed = *failed + *one;
      } else {
        failed = fail(one.error());
      }
    }
    (void)co_await service.shut_down("the tests ended");
    (void)co_await provider->shut_down();
    loop.stop();
  };
  asio::co_spawn(loop, body, asio::detached);
  loop.run();
  if (!failed) return fail(failed.error());
  return *failed == 0 ? 0 : 1;
}

}  // namespace

Action define_tools(Command& top) {
  Command command = top.add_command("tools", "List, show, begin and test tools");
  auto flags = std::make_unique<ToolsFlags>();
  flags->settings.add_to(command);
  command.require_command();
  using Body = Result<int> (*)(const ToolsFlags&);
  std::vector<std::pair<Command, Body>> bodies;
  const auto add = [&](const char* word, const char* about, Body body) {
    Command sub = command.add_command(word, about);
    bodies.emplace_back(sub, body);
    return sub;
  };
  Command listing = add("list", "List the tools of the registry", list);
  listing.add_option("--format", flags->format, "As JSON in the form of openai, anthropic, mcp or atoll");
  listing.add_flag("--json", flags->json, "As JSON in the form of atoll, unless --format says another");
  Command showing = add("show", "Show one tool as JSON", show);
  showing.add_option("NAME", flags->name, "Its name").required();
  showing.add_option("--format", flags->format, "openai, anthropic, mcp or atoll");
  showing.add_flag("--json", flags->json, "It always is JSON");
  Command making = add("new", "Write a file to begin a tool with", make_new);
  making.add_option("NAME", flags->name, "Its name").required();
  making.add_option("--kind", flags->kind, "command or code").with_default_shown();
  making.add_option("--directory", flags->directory, "Where to").with_default_shown();
  Command testing = add("test", "Run the examples of tools in a fresh sandbox, without a daemon", test);
  testing.add_option("NAME", flags->names, "Which; all if none is named");
  return [flags = std::move(flags), bodies = std::move(bodies)] {
    int status = 0;
    for (const auto& [sub, body] : bodies) {
      if (!sub.was_chosen()) continue;
      const auto done = body(*flags);
      if (!done) return report(done.error());
      status = *done;
    }
    return flush_output() ? status : 1;
  };
}

}  // namespace atl::cli
