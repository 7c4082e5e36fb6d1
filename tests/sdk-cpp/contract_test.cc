#include <algorithm>
#include <atomic>
#include <sstream>

#include "service.h"

// What the client promises, against a live daemon.
namespace service {
namespace {

struct ContractTest : ServiceTest {};

TEST_F(ContractTest, AnswersWhoItIs) {
  EXPECT_TRUE(client.healthy());
  EXPECT_FALSE(client.version().empty());
  EXPECT_TRUE(client.capabilities()["providers"].is_array());
  Answer answer = client.send({.path = "/api/whoami"});
  EXPECT_EQ(answer.status, 200);
  EXPECT_TRUE(answer.header("CONTENT-TYPE").starts_with("application/json"));
  EXPECT_EQ(answer.json().dump(), Json::parse(answer.body).dump());
}

TEST_F(ContractTest, ASessionEndsWithItsScope) {
  std::string id, kept;
  {
    Session session = client.create({.provider = "virtual", .metadata = {{"test", "scope"}}});
    id = session.id();
    Session other = client.create({.provider = "virtual"});
    kept = other.keep().id();
    Session moved = std::move(session);
    EXPECT_EQ(client.get(id).keep().state(), "running");
  }
  EXPECT_EQ(client.get(id).state(), "stopped");
  Session found = client.get(kept);
  EXPECT_EQ(found.state(), "running");
  found = client.create({.provider = "virtual"});  // ends what it was
  EXPECT_EQ(client.get(kept).state(), "stopped");
}

TEST_F(ContractTest, ListsByFilter) {
  Session a = client.create({.provider = "virtual", .metadata = {{"test", "list"}, {"n", "1"}}});
  Session b = client.create({.provider = "virtual", .metadata = {{"test", "list"}, {"n", "2"}}});
  auto both = client.list({.states = {"running"}, .metadata = {{"test", "list"}}});
  ASSERT_EQ(both.size(), 2U);
  EXPECT_EQ(both[0].session_id, a.id());
  EXPECT_TRUE(both[0].access_token.empty());
  EXPECT_EQ(client.list({.metadata = {{"test", "list"}}, .order = "desc", .limit = 1})[0].session_id, b.id());
  a.update({.metadata = Variables{{"test", "other"}}, .ttl_seconds = 100});
  EXPECT_EQ(a.info().metadata.at("test"), "other");
  EXPECT_EQ(client.list({.states = {"running"}, .metadata = {{"test", "list"}}}).size(), 1U);
}

TEST_F(ContractTest, CodeRemembers) {
  Session session = client.create();
  session.execute("x = 6 * 7");
  Execution done = session.execute("print(x)\nx + 1");
  EXPECT_EQ(done.stdout_text, "42\n");
  EXPECT_EQ(done.text(), "43");
  EXPECT_TRUE(done.ok());
  EXPECT_FALSE(done.record_id.empty());
  Execution failed = session.execute("1 / 0");
  EXPECT_EQ(failed.status, "error");
  ASSERT_TRUE(failed.error);
  EXPECT_EQ(failed.error->name, "ZeroDivisionError");
  EXPECT_THROW(failed.check(), ExecutionFailedError);
  EXPECT_EQ(session.execute("import time; time.sleep(60)", {.timeout_seconds = 0.2}).status, "timeout");
  EXPECT_EQ(session.execute("x", {.stateless = true}).status, "error");
  EXPECT_EQ(session.execute("import os; print(os.environ['A'])", {.env = {{"A", "b"}}}).stdout_text, "b\n");
}

TEST_F(ContractTest, OutputComesWhileItRuns) {
  Session session = client.create();
  std::string out, err;
  std::vector<std::string> results;
  auto here = std::this_thread::get_id();
  ExecuteOptions options;
  options.on_stdout = [&](std::string_view text) {
    EXPECT_EQ(std::this_thread::get_id(), here);
    // A callback may call the service.
    if (out.empty()) session.files().write("/home/user/go", "");
    out += text;
  };
  options.on_stderr = [&](std::string_view text) { err += text; };
  options.on_result = [&](const Result& result) { results.push_back(result.text()); };
  Execution done = session.execute(
      "import os, sys, time\nprint('one', flush=True)\n"
      "while not os.path.exists('/home/user/go'): time.sleep(0.01)\n"
      "print('two')\nprint('bad', file=sys.stderr)\n7",
      options);
  EXPECT_EQ(out, "one\ntwo\n");
  EXPECT_EQ(err, "bad\n");
  EXPECT_EQ(results, std::vector<std::string>{"7"});
  EXPECT_EQ(done.status, "success");
  EXPECT_THROW(session.execute("print(1)", {.on_stdout = [](auto) { throw std::logic_error("mine"); }}),
               std::logic_error);
}

TEST_F(ContractTest, Contexts) {
  Session session = client.create();
  Context context = session.contexts().create("python");
  session.execute("y = 1", {.context = context.id});
  EXPECT_EQ(session.execute("y").status, "error");
  EXPECT_EQ(session.execute("y", {.context = context.id}).text(), "1");
  EXPECT_GE(session.contexts().list().size(), 1U);
  session.contexts().restart(context.id);
  EXPECT_EQ(session.execute("y", {.context = context.id}).status, "error");
  session.contexts().remove(context.id);
  EXPECT_THROW(session.execute("y", {.context = context.id}), ServiceError);
}

TEST_F(ContractTest, Commands) {
  Session session = client.create();
  Commands commands = session.commands();
  Execution done = commands.run("echo out; echo err >&2; exit 3");
  EXPECT_EQ(done.stdout_text, "out\n");
  EXPECT_EQ(done.stderr_text, "err\n");
  EXPECT_EQ(done.exit_code, 3);
  EXPECT_EQ(done.status, "error");
  EXPECT_EQ(commands.run(std::vector<std::string>{"printf", "%s|", "a b", "$X"}).stdout_text, "a b|$X|");
  EXPECT_EQ(
      commands.run("cat; pwd; echo $A", {.cwd = "/tmp", .env = {{"A", "1"}}, .input = "in\n"}).stdout_text,
      "in\n/tmp\n1\n");
  std::string out, err;
  done = commands.run("echo a; echo b >&2; exit 4", {.on_stdout = [&](auto text) { out += text; },
                                                     .on_stderr = [&](auto text) { err += text; }});
  EXPECT_EQ(done.exit_code, 4);
  EXPECT_EQ(out, "a\n");
  EXPECT_EQ(err, "b\n");
  EXPECT_EQ(done.stdout_text, out);
  EXPECT_EQ(commands.run("sleep 60", {.timeout_seconds = 0.2, .on_stdout = [](auto) {}}).status, "timeout");
}

TEST_F(ContractTest, Processes) {
  Session session = client.create();
  Process cat = session.commands().start("cat; echo done", {.keep_stdin = true});
  auto running = session.commands().list();
  EXPECT_TRUE(std::ranges::any_of(running, [&](const ProcessInfo& one) { return one.pid == cat.pid(); }));
  cat.write_stdin(std::string("a\0b\n", 4));
  cat.close_stdin();
  std::string live;
  Execution done = cat.wait([&](std::string_view text) { live += text; });
  EXPECT_EQ(done.exit_code, 0);
  EXPECT_TRUE(live.ends_with("done\n")) << live;
  EXPECT_EQ(cat.wait().exit_code, 0);
  Process sleeping = session.commands().start("sleep 600");
  Process same = session.commands().connect(sleeping.pid());
  sleeping.signal("KILL");
  EXPECT_FALSE(same.wait().ok());
  EXPECT_THROW(session.commands().connect(99999), NotFoundError);
  Process killed = session.commands().start("sleep 600");
  killed.kill();
  EXPECT_FALSE(killed.wait().ok());
}

TEST_F(ContractTest, FilesAsStreams) {
  Session session = client.create({.provider = "virtual"});
  Files files = session.files();
  FileInfo written = files.write("/home/user/a/b.txt", "hello", {.mode = 0600});
  EXPECT_EQ(written.size, 5);
  EXPECT_TRUE(files.stat("/home/user/a/b.txt").mode.ends_with("600"));
  files.write("/home/user/a/b.txt", " you", {.append = true});
  EXPECT_EQ(files.read("/home/user/a/b.txt"), "hello you");
  EXPECT_EQ(files.read_range("/home/user/a/b.txt", 1, 4), "ell");
  EXPECT_EQ(files.read_range("/home/user/a/b.txt", 50, 60), "");
  EXPECT_EQ(files.read_range("/home/user/a/b.txt", 4, 4), "");
  std::string big(3'000'000, 'x');
  big += "end";
  std::istringstream in(big);
  EXPECT_EQ(files.write_from("/home/user/big", in).size, static_cast<std::int64_t>(big.size()));
  std::ostringstream out;
  EXPECT_EQ(files.read_to("/home/user/big", out), big.size());
  EXPECT_EQ(out.str(), big);
  FileWriter writer = files.open_write("/home/user/pieces");
  writer.write("one,");
  writer.write("two");
  EXPECT_EQ(writer.finish().size, 7);
  EXPECT_EQ(files.read("/home/user/pieces"), "one,two");
  files.write("/home/user/empty", "");
  EXPECT_EQ(files.read("/home/user/empty"), "");
  files.write("/home/user/data.json", "{\"a\":1}");
  EXPECT_EQ(files.read("/home/user/data.json"), "{\"a\":1}");
}

TEST_F(ContractTest, FilesInDirectories) {
  Session session = client.create({.provider = "virtual"});
  Files files = session.files();
  files.make_directory("/home/user/d/e");
  files.write("/home/user/d/\xc3\xa4 b?&#", "x");
  EXPECT_EQ(files.read("/home/user/d/\xc3\xa4 b?&#"), "x");
  EXPECT_EQ(files.list("/home/user/d").size(), 2U);
  EXPECT_GT(files.list("/home/user", 3).size(), 2U);
  files.copy("/home/user/d/\xc3\xa4 b?&#", "/home/user/c");
  EXPECT_THROW(files.copy("/home/user/c", "/home/user/d/\xc3\xa4 b?&#"), AlreadyExistsError);
  files.move("/home/user/c", "/home/user/d/\xc3\xa4 b?&#", Files::Overwrite::yes);
  EXPECT_FALSE(files.exists("/home/user/c"));
  std::string archive;
  FileReader reader = files.open_archive("/home/user/d");
  for (std::string piece; !(piece = reader.read()).empty();) archive += piece;
  EXPECT_EQ(files.unpack("/home/user/copy", archive).files, 1);
  EXPECT_EQ(files.read("/home/user/copy/\xc3\xa4 b?&#"), "x");
  files.remove("/home/user/d", Files::Tree::yes);
  EXPECT_FALSE(files.exists("/home/user/d"));
  EXPECT_TRUE(files.exists("/"));
}

TEST_F(ContractTest, Watching) {
  Session session = client.create();
  Watch watch = session.files().watch("/home/user");
  session.files().write("/home/user/new", "x");
  FileEvent event = watch.next({.timeout = Milliseconds(30'000)});
  EXPECT_EQ(event.type, "create");
  EXPECT_NE(event.name.find("new"), std::string::npos);
}

TEST_F(ContractTest, ForksSnapshotsPauses) {
  Session session = client.create();
  session.execute("x = 1");
  session.files().write("/home/user/f", "one");
  Session copy = session.fork({.metadata = {{"copy", "1"}}});
  EXPECT_EQ(copy.execute("x").text(), "1");
  EXPECT_EQ(copy.info().parent, session.id());
  Forks many = session.fork_many({.count = 2});
  EXPECT_EQ(many.sessions.size(), 2U);
  EXPECT_TRUE(many.errors.empty());
  Snapshot snapshot = session.snapshot("before");
  EXPECT_EQ(snapshot.name, "before");
  session.files().write("/home/user/f", "two");
  session.restore(snapshot.snapshot_id);
  EXPECT_EQ(session.files().read("/home/user/f"), "one");
  EXPECT_EQ(session.snapshots().size(), 1U);
  EXPECT_EQ(client.create({.snapshot = snapshot.snapshot_id}).files().read("/home/user/f"), "one");
  EXPECT_THROW(client.remove_snapshot(snapshot.snapshot_id), ConflictError);  // the session stands on it
  EXPECT_EQ(session.pause().state, "paused");
  EXPECT_EQ(client.connect(session.id()).state(), "running");
  session.pause({.to = "disk"});
  EXPECT_TRUE(session.info().on_disk);
  EXPECT_EQ(session.resume().state, "running");
}

TEST_F(ContractTest, HistoryUsageArtifacts) {
  Session session = client.create();
  session.execute("print('needle')");
  session.commands().run("false");
  auto records = session.history();
  ASSERT_EQ(records.size(), 2U);
  EXPECT_EQ(records[0].code, "print('needle')");
  EXPECT_EQ(records[0].stdout_text, "needle\n");
  EXPECT_EQ(session.history({.statuses = {"error"}}).size(), 1U);
  EXPECT_EQ(session.history({.limit = 1}).size(), 1U);
  EXPECT_EQ(client.history({.session_id = session.id(), .text = "needle"}).size(), 1U);
  EXPECT_GT(session.usage().cpu_seconds, 0);
  EXPECT_NO_THROW(session.metrics());
  EXPECT_TRUE(session.ports().empty());
  EXPECT_TRUE(session.network()["mode"].is_string());
  EXPECT_TRUE(session.artifacts().empty());
}

TEST_F(ContractTest, ToolsAndSkills) {
  Session session = client.create();
  EXPECT_FALSE(client.tools().empty());
  EXPECT_FALSE(client.tools("openai").empty());
  EXPECT_FALSE(client.skills().empty());
  Json declaration =
      Json::object({{"name", "shout"},
                    {"description", "Says it louder."},
                    {"input", Json::parse(R"({"type":"object","properties":{"text":{"type":"string"}},
                                                             "required":["text"]})")},
                    {"run", Json::object({{"language", "python"},
                                          {"code",
                                           "import json\nprint(json.dumps({'text': "
                                           "tool_input['text'].upper()}))"}})}});
  client.put_tool(declaration);
  EXPECT_EQ(session.tool("shout", Json::object({{"text", "hey"}})).output["text"].as_string(), "HEY");
  EXPECT_THROW(session.tool("shout", Json::object({{"text", 1}})), InvalidArgumentError);
  client.remove_tool("shout");
  EXPECT_THROW(session.tool("shout"), NotFoundError);
  EXPECT_THROW(session.tool("shout", Json::object(), {.on_stdout = [](auto) {}}), NotFoundError);
  EXPECT_TRUE(session.skills().empty());
  EXPECT_FALSE(session.tools().empty());
  EXPECT_TRUE(session.tools("mcp")[0]["inputSchema"].is_object());
}

TEST_F(ContractTest, AToolTellsWhatHappensWhileItRuns) {
  Session session = client.create();
  std::string out, err;
  ToolOptions options;
  options.on_stdout = [&](std::string_view text) { out += text; };
  options.on_stderr = [&](std::string_view text) { err += text; };
  ToolResult done =
      session.tool("run_command", Json::object({{"command", "echo out; echo err >&2"}}), options);
  EXPECT_TRUE(done.ok()) << done.raw.dump();
  EXPECT_EQ(out, "out\n");
  EXPECT_EQ(err, "err\n");
  options.on_stdout = [](std::string_view) { throw std::logic_error("mine"); };
  EXPECT_THROW(session.tool("run_command", Json::object({{"command", "echo 1; sleep 600"}}), options),
               std::logic_error);
  EXPECT_TRUE(wait_for([&] { return session.commands().list().empty(); }));
  ToolResult slow =
      session.tool("run_command", Json::object({{"command", "sleep 600"}}), {.timeout_seconds = 0.3});
  EXPECT_EQ(slow.status, "timeout");
}

TEST_F(ContractTest, SkillsOfATenant) {
  Session packing = client.create();
  packing.files().write("/home/user/s/greet/SKILL.md",
                        "---\nname: greet\ndescription: Says hello.\n---\nSay hello.\n");
  FileReader reader = packing.files().open_archive("/home/user/s");
  std::string archive;
  for (std::string piece; !(piece = reader.read()).empty();) archive += piece;
  EXPECT_THROW(client.add_skills("no archive"), ServiceError);
  ASSERT_EQ(client.add_skills(archive).size(), 1U);
  {
    Session session = client.create({.skills = {"greet"}});
    auto given = session.skills();
    ASSERT_EQ(given.size(), 1U);
    EXPECT_NE(session.skills_text().find("- greet: Says hello."), std::string::npos);
    EXPECT_NE(client.skills_text().find("- greet: Says hello."), std::string::npos);
    EXPECT_EQ(given[0].description, "Says hello.");
    EXPECT_NE(session.commands().run("cat " + given[0].path + "/SKILL.md").stdout_text.find("Say hello."),
              std::string::npos);
  }
  client.remove_skill("greet");
  EXPECT_THROW(client.remove_skill("greet"), NotFoundError);
}

TEST_F(ContractTest, Catalog) {
  auto named = [](const std::vector<Json>& all, const char* name) {
    return std::ranges::any_of(all, [&](const Json& one) { return one["name"] == Json(name); });
  };
  EXPECT_TRUE(named(client.environments(), "host"));
  EXPECT_NO_THROW(client.agents());
  EXPECT_THROW(client.render_prompt("none"), NotFoundError);
  auto all = [](SandboxClient used) -> Async<bool> {
    std::string version = co_await used.version_async();
    Json capabilities = co_await used.capabilities_async();
    bool healthy = co_await used.healthy_async();
    co_return healthy && !version.empty() && capabilities["providers"].is_array();
  };
  EXPECT_TRUE(all(client).get());
}

TEST_F(ContractTest, Terminals) {
  Session session = client.create();
  Terminal terminal = session.terminal({.columns = 100, .rows = 30, .cwd = "/tmp"});
  std::string seen;
  auto read_until = [&](const std::string& text) {
    while (seen.find(text) == std::string::npos) {
      std::string piece = terminal.read({.timeout = Milliseconds(60'000)});
      if (piece.empty()) return false;
      seen += piece;
    }
    return true;
  };
  terminal.send("pwd; stty size; echo o''k\n");
  EXPECT_TRUE(read_until("ok\r\n"));
  EXPECT_NE(seen.find("/tmp"), std::string::npos);
  EXPECT_NE(seen.find("30 100"), std::string::npos);
  EXPECT_FALSE(terminal.exit());
  terminal.send("exit 5\n");
  while (!terminal.read({.timeout = Milliseconds(60'000)}).empty()) {
  }
  ASSERT_TRUE(terminal.exit());
  EXPECT_EQ(terminal.exit()->exit_code, 5);
}

TEST_F(ContractTest, AVerdict) {
  Verdict verdict = client.validate("import os; os.system('rm -rf /')", "python", "strict");
  EXPECT_FALSE(verdict.allowed);
  EXPECT_FALSE(verdict.findings.empty());
  EXPECT_FALSE(verdict.findings[0].recommendation.empty());
  EXPECT_TRUE(client.validate("1 + 1", "python").allowed);
}

Async<std::string> conversation(SandboxClient client) {
  Session session = co_await client.create_async();
  co_await session.execute_async("x = 20");
  std::string live;
  ExecuteOptions options;
  options.on_stdout = [&](std::string_view text) { live += text; };
  Execution done = co_await session.execute_async("print(x + 1)\nx + 2", options);
  co_await session.files().write_async("/home/user/f", done.text());
  std::string content = co_await session.files().read_async("/home/user/f");
  CommandOptions command_options;
  command_options.on_stdout = options.on_stdout;
  Execution command = co_await session.commands().run_async("echo c", command_options);
  Process process = co_await session.commands().start_async("echo p");
  Execution ended = co_await process.wait_async();
  co_await session.end_async();
  co_return live + content + ended.stdout_text + command.status;
}

TEST_F(ContractTest, Coroutines) {
  EXPECT_EQ(conversation(client).get(), "21\nc\n22p\nsuccess");
}

TEST_F(ContractTest, CoroutinesGoOnWhereTheyAreTold) {
  std::atomic<int> hops = 0;
  ClientOptions options;
  options.resume = [&](std::function<void()> next) {
    ++hops;
    std::thread(std::move(next)).detach();
  };
  SandboxClient told(options);
  auto work = [](SandboxClient used) -> Async<std::string> {
    co_await used.get_json_async("/version");
    co_return used.version();  // blocking is allowed there
  };
  EXPECT_FALSE(work(told).get().empty());
  EXPECT_GT(hops.load(), 0);
}

}  // namespace
}  // namespace service
