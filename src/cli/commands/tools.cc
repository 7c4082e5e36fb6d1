#include <fmt/format.h>
#include <fmt/ranges.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/json/serialize.hpp>
#include <filesystem>

#include "cli/answer.h"
#include "cli/command.h"
#include "cli/output_file.h"
#include "cli/remote.h"
#include "cli/table.h"
#include "cli/temporary_place.h"
#include "cli/tool_templates.h"
#include "config/checked.h"
#include "daemon/toolkit.h"
#include "egress/machine.h"
#include "net/http.h"
#include "os/file.h"
#include "registry/registry.h"
#include "sandbox/native/native.h"
#include "session/local_service.h"
#include "store/store.h"
#include "tools/reserved_names.h"
#include "tools/tool_executor.h"

// For authors of tools: what there is, a file to begin with, and the examples of a tool run for real.
namespace atl::cli {
namespace {

namespace asio = boost::asio;

struct ToolsFlags {
  ConnectionFlags connection;
  std::string name, format, kind = "command", directory = ".";
  std::vector<std::string> names;
  bool json = false;
};

struct Opened {
  std::unique_ptr<config::Configuration> configuration;
  std::unique_ptr<registry::Registry> registry;
  std::unique_ptr<tools::ToolRegistry> tools;
};

Result<Opened> open_tools(const ToolsFlags& flags) {
  Opened opened;
  opened.configuration = std::make_unique<config::Configuration>(TRY(flags.connection.settings().load()));
  opened.registry = std::make_unique<registry::Registry>(
      TRY(registry::Registry::load(opened.configuration->text("registry"))));
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

// The tools that the caller sees at a service, in this form.
Result<boost::json::array> ask_service(const ToolsFlags& flags, const std::string& format) {
  const Remote service = TRY(Remote::open(flags.connection));
  const std::string form = format.empty() ? "" : "?format=" + net::percent_encode(format);
  return list_at(TRY(service.json("GET", "/api/tools" + form)), "tools");
}

Result<int> list_of_service(const ToolsFlags& flags) {
  const boost::json::array tools = TRY(ask_service(flags, flags.format));
  if (flags.json || !flags.format.empty()) {
    fmt::print("{}\n", boost::json::serialize(tools));
    return 0;
  }
  Table table({{"NAME"}, {"DESCRIPTION"}});
  for (const boost::json::value& tool : tools)
    table.add({{text_at(tool, "name")}, {config::shown(text_at(tool, "description"), 90)}});
  fmt::print("{}", table.text(paint_of_output()));
  return 0;
}

Result<int> show_of_service(const ToolsFlags& flags) {
  if (flags.format.empty() || flags.format == "atoll") {
    const Remote service = TRY(Remote::open(flags.connection));
    const auto tool = TRY(service.json("GET", "/api/tools/" + net::percent_encode(flags.name)));
    fmt::print("{}\n", shown_on_terminal(boost::json::serialize(tool)));
    return 0;
  }
  for (const boost::json::value& tool : TRY(ask_service(flags, flags.format))) {
    if (text_at(tool, "name") != flags.name && text_at(member(tool, "function"), "name") != flags.name)
      continue;
    fmt::print("{}\n", shown_on_terminal(boost::json::serialize(tool)));
    return 0;
  }
  return fail(Code::not_found,
              fmt::format("NAME: no tool is called '{}' there; `atoll tools list` lists them",
                          config::shown(flags.name)));
}

Result<int> list(const ToolsFlags& flags) {
  if (flags.connection.name_a_service()) return list_of_service(flags);
  const Opened opened = TRY(open_tools(flags));
  if (flags.json || !flags.format.empty()) {
    const tools::Format format = TRY(tools::parse_format(flags.format));
    boost::json::array all;
    for (const tools::ToolPtr& tool : opened.tools->list("default")) all.push_back(exported(*tool, format));
    fmt::print("{}\n", boost::json::serialize(all));
    return 0;
  }
  Table table({{"NAME"}, {"DESCRIPTION"}});
  for (const tools::ToolPtr& tool : opened.tools->list("default"))
    table.add({{tool->name}, {config::shown(tool->description, 90)}});
  fmt::print("{}", table.text(paint_of_output()));
  return 0;
}

Result<int> show(const ToolsFlags& flags) {
  if (flags.connection.name_a_service()) return show_of_service(flags);
  const Opened opened = TRY(open_tools(flags));
  const tools::ToolPtr tool = TRY(find_tool(opened, flags.name));
  const tools::Format format = TRY(tools::parse_format(flags.format));
  fmt::print("{}\n", boost::json::serialize(exported(*tool, format)));
  return 0;
}

Result<void> write_new(const std::string& path, const std::string& text) {
  TRY(os::make_directories(std::filesystem::path(path).parent_path().string(), 0755));
  OutputFile out = TRY(OutputFile::open("NAME", path));
  TRY(os::write_all(out.fd(), text));
  return out.finish();
}

Result<int> make_new(const ToolsFlags& flags) {
  if (!tools::is_tool_name(flags.name))
    return fail(
        config::Checked("NAME", flags.name)
            .wrong("is no name of a tool", "use letters, digits, '_' and '-', a letter first, at most 64"));
  if (tools::is_reserved_name(flags.name))
    return fail(config::Checked("NAME", flags.name)
                    .wrong("is the name of a tool that every client has", "choose another"));
  TRY(config::Checked("--kind", flags.kind).choice(tool_template_kinds()));
  const std::vector<ToolFile> files = tool_files(flags.kind, flags.name);
  const auto path_of = [&](const ToolFile& file) { return fmt::format("{}/{}", flags.directory, file.path); };
  std::error_code failed;
  const auto is_there = [&](const ToolFile& file) { return std::filesystem::exists(path_of(file), failed); };
  for (const ToolFile& file : files)
    if (!file.shared && is_there(file))
      return fail(Code::already_exists,
                  fmt::format("'{}' is there already; choose another name", path_of(file)));
  boost::json::array written;
  for (const ToolFile& file : files) {
    if (file.shared && is_there(file)) continue;
    TRY(write_new(path_of(file), file.text));
    written.emplace_back(path_of(file));
    if (!flags.json) fmt::print("{}\n", path_of(file));
  }
  if (flags.json)
    fmt::print("{}\n", boost::json::serialize(boost::json::object{{"files", std::move(written)}}));
  else
    fmt::print("{}", next_steps(flags.kind, flags.name));
  return 0;
}

// The examples of one tool, in a sandbox of their own. Gives how many failed.
Task<int> run_examples(session::Service& service, tools::ToolExecutor& executor, tools::ToolPtr tool,
                       boost::json::array* told) {
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
    if (told != nullptr)
      told->push_back(boost::json::object{
          {"tool", tool->name}, {"example", i + 1}, {"passed", problem.empty()}, {"problem", problem}});
    else
      fmt::print("{:<5} {} example {}{}{}\n", problem.empty() ? "ok" : "FAIL", tool->name, i + 1,
                 problem.empty() ? "" : ": ", problem);
  }
  if (tool->examples.empty() && told == nullptr) fmt::print("none  {} has no examples\n", tool->name);
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
  const TemporaryPlace place = TRY(TemporaryPlace::make("atoll-tools"));
  tools::ToolExecutor::Options options;
  options.plugin_directories = opened.configuration->list("tools.plugins");
  options.plugin_host = place.path() + "/plugin-host";
  for (std::string& directory : TRY(daemon::plugin_mounts(*opened.configuration, place.path())))
    native.spawner.roots.mounts.push_back({.path = std::move(directory)});
  // Before the store: the spawner is forked off a process without threads.
  const auto provider = TRY(sandbox::native::start(loop.get_executor(), std::move(native)));
  const auto store = TRY(store::Store::open_in_memory());
  session::LocalService::Dependencies dependencies{
      .executor = loop.get_executor(), .store = store.get(), .registry = opened.registry.get()};
  dependencies.providers = {provider.get()};
  dependencies.clock = &Clock::machine();
  session::LocalService service(std::move(dependencies), {});
  tools::ToolExecutor executor(loop.get_executor(), &service, opened.tools.get(), &Clock::machine(),
                               std::move(options));
  Result<int> failed = 0;
  boost::json::array told;
  const auto body = [&]() -> asio::awaitable<void> {
    auto started = co_await service.start();
    if (!started) failed = fail(started.error());
    for (std::size_t i = 0; failed && i < wanted.size(); ++i) {
      auto one = co_await run_examples(service, executor, wanted[i], flags.json ? &told : nullptr);
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
  if (flags.json) fmt::print("{}\n", boost::json::serialize(boost::json::object{{"examples", told}}));
  return *failed == 0 ? 0 : 1;
}

}  // namespace

Action define_tools(Command& top) {
  Command command = top.add_command("tools", "List, show, begin and test tools");
  auto flags = std::make_unique<ToolsFlags>();
  flags->connection.add_to(command);
  command.require_command();
  using Body = Result<int> (*)(const ToolsFlags&);
  std::vector<std::pair<Command, Body>> bodies;
  const auto add = [&](const char* word, const char* about, Body body) {
    Command sub = command.add_command(word, about);
    bodies.emplace_back(sub, body);
    return sub;
  };
  Command listing = add("list", "List the tools of the registry, or of the service that --url names", list);
  listing.add_option("--format", flags->format, "As JSON in the form of openai, anthropic, mcp or atoll");
  listing.add_flag("--json", flags->json, "As JSON in the form of atoll, unless --format says another");
  Command showing = add("show", "Show one tool as JSON", show);
  showing.add_option("NAME", flags->name, "Its name").required();
  showing.add_option("--format", flags->format, "openai, anthropic, mcp or atoll");
  showing.add_flag("--json", flags->json, "It always is JSON");
  Command making = add("new", "Write a file to begin a tool with", make_new);
  making.add_option("NAME", flags->name, "Its name").required();
  making.add_option("--kind", flags->kind, fmt::format("{}", fmt::join(tool_template_kinds(), ", ")))
      .with_default_shown();
  making.add_option("--directory", flags->directory, "Where to").with_default_shown();
  making.add_flag("--json", flags->json, "The files that were written, as JSON");
  Command testing = add("test", "Run the examples of tools in a fresh sandbox, without a daemon", test);
  testing.add_option("NAME", flags->names, "Which; all if none is named");
  testing.add_flag("--json", flags->json, "As JSON");
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
