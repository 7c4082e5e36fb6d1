#include <atoll/config_manager.h>
#include <atoll/lifecycle.h>
#include <atoll/tools.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "service.h"

// ToolRegistry, ConfigManager and Lifecycle under the designs' names.
namespace service {
namespace {

class DesignsTest : public ServiceTest {
 protected:
  DesignsTest() {
    std::string pattern = (std::filesystem::temp_directory_path() / "atoll-designs-XXXXXX").string();
    directory = ::mkdtemp(pattern.data());
  }
  ~DesignsTest() override { std::filesystem::remove_all(directory); }
  std::string file(const std::string& name, const std::string& text) {
    std::ofstream(directory + "/" + name) << text;
    return directory + "/" + name;
  }
  std::string directory;
};

struct Upper : ToolBase {
  Upper() {
    name = "upper";
    description = "Says it in capitals.";
    tags = {"text"};
  }
  Json call(const Json& in) override {
    if (in["text"] == Json("none")) throw std::runtime_error("there is nothing to say");
    if (in["text"] == Json("odd")) throw 5;
    if (in["text"] == Json("much")) return Json(std::string(5'000'000, 'x'));
    progress(1, 2, "read");
    std::string text = in["text"].as_string();
    for (char& c : text) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    return Json::object({{"text", text}});
  }
};

TEST_F(DesignsTest, ToolsThatCannotBeDeclared) {
  ToolRegistry registry;
  auto wrong = std::make_unique<Upper>();
  wrong->name = "no name";
  EXPECT_THROW(registry.add(std::move(wrong)), ConfigurationError);
  auto silent = std::make_unique<Upper>();
  silent->description = "";
  EXPECT_THROW(registry.add(std::move(silent)), ConfigurationError);
  registry.add(std::make_unique<Upper>());
  EXPECT_THROW(registry.add(std::make_unique<Upper>()), ConfigurationError);
  EXPECT_NO_THROW(registry.add(std::make_unique<Upper>(), ToolRegistry::Replace::yes));
  EXPECT_THROW(registry.call("none"), ConfigurationError);
  EXPECT_THROW(registry.describe("another"), ConfigurationError);
}

TEST_F(DesignsTest, ToolsHereAndServed) {
  ToolRegistry registry;
  registry.add(std::make_unique<Upper>());
  EXPECT_EQ(registry.names(), std::vector<std::string>{"upper"});
  EXPECT_EQ(registry.call("upper", Json::object({{"text", "a"}}))["text"].as_string(), "A");
  EXPECT_EQ(registry.describe("openai")[0]["function"]["name"].as_string(), "upper");
  EXPECT_TRUE(registry.describe("anthropic")[0]["input_schema"].is_object());
  EXPECT_TRUE(registry.describe("mcp")[0]["inputSchema"].is_object());
  std::istringstream in(R"({"text":"b"})"), broken("{");
  std::ostringstream out, err;
  EXPECT_EQ(registry.serve("upper", in, out, err), 0);
  EXPECT_EQ(out.str(), "{\"text\":\"B\"}\n");
  EXPECT_EQ(registry.serve("upper", broken, out, err), 1);
  EXPECT_NE(err.str().find(R"({"progress":1,"total":2,"message":"read"})"), std::string::npos) << err.str();
  EXPECT_FALSE(err.str().ends_with("\"read\"}\n"));
  EXPECT_EQ(registry.publish(client, "/bin/true"), std::vector<std::string>{"upper"});
  EXPECT_EQ(client.get_json("/api/tools/upper")["tags"][0].as_string(), "text");
  client.remove_tool("upper");
  EXPECT_TRUE(registry.remove("upper"));
  EXPECT_FALSE(registry.remove("upper"));
}

TEST_F(DesignsTest, NothingToServe) {
  ToolRegistry registry;
  EXPECT_THROW(registry.serve(client, {}), ConfigurationError);
  registry.add(std::make_unique<Upper>());
  EXPECT_THROW(registry.serve(client, {}, {.workers = 0}), ConfigurationError);
  EXPECT_THROW(registry.serve(client, {}), NotFoundError);  // not published
  EXPECT_THROW(client.finish_tool_call("call_none", 1), NotFoundError);
  EXPECT_THROW(client.fail_tool_call("call_none", "E", "x"), NotFoundError);
  EXPECT_THROW(client.tell_tool_progress("call_none", {1, 2, "x"}), NotFoundError);
  EXPECT_THROW(client.next_tool_call({}, Milliseconds(0)), InvalidArgumentError);
}

// Serves the tool of this file from another thread while it lives.
class Serving {
 public:
  explicit Serving(SandboxClient client) : client_(std::move(client)) {
    registry_.add(std::make_unique<Upper>());
    EXPECT_EQ(registry_.publish_served(client_), std::vector<std::string>{"upper"});
    ServeOptions options;
    options.workers = 2;
    options.wait = Milliseconds(300);
    thread_ =
        std::thread([this, options] { answered = registry_.serve(client_, stop_.get_token(), options); });
  }
  ~Serving() {
    finish();
    client_.remove_tool("upper");
  }
  void finish() {
    stop_.request_stop();
    if (thread_.joinable()) thread_.join();
  }
  std::size_t answered = 0;

 private:
  SandboxClient client_;
  ToolRegistry registry_;
  std::stop_source stop_;
  std::thread thread_;
};

TEST_F(DesignsTest, ThisProcessServesCalls) {
  Serving serving(client);
  Session session = client.create({.provider = "virtual"});
  std::vector<ToolProgress> told;
  ToolOptions options;
  options.on_progress = [&](const ToolProgress& progress) { told.push_back(progress); };
  ToolResult result = session.tool("upper", Json::object({{"text", "a"}}), options);
  EXPECT_TRUE(result.ok()) << result.raw.dump();
  EXPECT_EQ(result.output["text"].as_string(), "A");
  ASSERT_EQ(told.size(), 1U);
  EXPECT_EQ(told[0].progress, 1);
  EXPECT_EQ(told[0].total, 2);
  EXPECT_EQ(told[0].message, "read");
  auto failed = [&](const char* text) {
    return session.tool("upper", Json::object({{"text", text}})).error["value"].as_string();
  };
  EXPECT_EQ(failed("none"), "there is nothing to say");
  EXPECT_EQ(failed("odd"), "an exception that is no std::exception");
  EXPECT_FALSE(failed("much").empty());  // the service takes no result of that size; the server goes on
  EXPECT_EQ(session.tool("upper", Json::object({{"text", "b"}})).output["text"].as_string(), "B");
  auto with_coroutine = [](Session& used, ToolOptions how) -> Async<std::string> {
    Json input = Json::object({{"text", "c"}});  // g++ 12 wants a name for what a co_await is given
    ToolResult done = co_await used.tool_async("upper", input, how);
    co_return done.output["text"].as_string();
  };
  EXPECT_EQ(with_coroutine(session, options).get(), "C");
  EXPECT_EQ(told.size(), 2U);
  serving.finish();
  EXPECT_EQ(serving.answered, 6U);
}

TEST_F(DesignsTest, AServiceThatIsAwayIsAskedAgain) {
  // The second connection is the server's first question.
  Serving serving{SandboxClient(Faults::options())};
  Faults::cut_all();
  Faults::set(Json::array({Json::object({{"refuse", true}}), Json::object({{"refuse", true}})}));
  Session session = client.create({.provider = "virtual"});
  EXPECT_EQ(session.tool("upper", Json::object({{"text", "a"}})).output["text"].as_string(), "A");
  serving.finish();
  EXPECT_EQ(serving.answered, 1U);
  Faults::set(Json::array());
}

TEST_F(DesignsTest, ConfigurationThatIsWrong) {
  EXPECT_THROW(ConfigManager({.file = directory + "/none.yaml"}), ConfigurationError);
  try {
    ConfigManager({.file = file("a.yaml", "listen: 127.0.0.1:1\nlissten: x\n")});
    FAIL();
  } catch (const ConfigurationError& error) {
    EXPECT_NE(error.message().find("a.yaml:2"), std::string::npos) << error.message();
  }
  EXPECT_THROW(
      ConfigManager({.environment = std::map<std::string, std::string>{}, .arguments = {{"nothing", "1"}}}),
      ConfigurationError);
  EXPECT_THROW(ConfigManager({.environment = std::map<std::string, std::string>{}}).get("nothing"),
               ConfigurationError);
}

TEST_F(DesignsTest, ConfigurationKnowsItsOrigins) {
  std::string from = file("b.yaml", "listen: 127.0.0.1:1\n");
  ConfigManager config(
      {.file = from, .environment = std::map<std::string, std::string>{{"ATOLL_LISTEN", "127.0.0.1:2"}}});
  EXPECT_EQ(config.get("listen"), "127.0.0.1:2");
  EXPECT_EQ(config.origin("listen"), "environment ATOLL_LISTEN");
  ConfigManager file_only({.file = from, .environment = std::map<std::string, std::string>{}});
  EXPECT_EQ(file_only.origin("listen"), from + ":1");
  ConfigManager told({.file = from,
                      .environment = std::map<std::string, std::string>{{"ATOLL_LISTEN", "127.0.0.1:2"}},
                      .arguments = {{"listen", "127.0.0.1:3"}}});
  EXPECT_EQ(told.get("listen"), "127.0.0.1:3");
  EXPECT_NE(told.explain("listen").find("127.0.0.1:3"), std::string::npos);
  EXPECT_GT(told.values().size(), 20U);
  EXPECT_NE(told.explain().find("listen = "), std::string::npos);
}

TEST_F(DesignsTest, TheConfigurationsFileIsFound) {
  std::filesystem::create_directories(directory + "/xdg/atoll");
  std::string found = file("xdg/atoll/config.yaml", "workers: 7\n");
  std::string named = file("named.yaml", "workers: 8\n");
  std::map<std::string, std::string> variables{{"XDG_CONFIG_HOME", directory + "/xdg"},
                                               {"ATOLL_URL", "http://x"}};
  ConfigManager config({.environment = variables});
  EXPECT_EQ(config.get("workers"), "7");
  EXPECT_EQ(config.origin("workers"), found + ":1");
  EXPECT_EQ(config.file(), found);
  EXPECT_TRUE(config.warnings().empty());
  variables["ATOLL_CONFIG"] = named;
  variables["ATOLL_LISTN"] = "x";
  variables["ATOLL_API_KEY"] = "e2b_0000000000000000000000000000000000000000";
  ConfigManager other({.environment = variables});
  EXPECT_EQ(other.get("workers"), "8");
  EXPECT_EQ(other.get("api_key"), "(set)");
  ASSERT_EQ(other.warnings().size(), 1U);
  EXPECT_NE(other.warnings()[0].find("ATOLL_LISTN"), std::string::npos);
}

TEST_F(DesignsTest, LifecycleFromStartToStop) {
  Lifecycle lifecycle(directory + "/storage", directory + "/runtime", "e2b_unused");
  Started started = lifecycle.start(Json::object({{"type", "code_executor"}}), std::nullopt, "e2b");
  EXPECT_FALSE(started.sandbox_id.empty());
  EXPECT_FALSE(started.provider.empty());
  EXPECT_FALSE(started.url.empty());
  EXPECT_EQ(lifecycle.sandbox_mgr().execute_code(started.session_id, "print('Hello World')").stdout_text,
            "Hello World\n");
  EXPECT_THROW(lifecycle.stop(started.session_id, "another"), ServiceError);
  lifecycle.stop(started.session_id, started.sandbox_id);
  std::ifstream noted(directory + "/storage/sessions/" + started.session_id + ".json");
  std::stringstream text;
  text << noted.rdbuf();
  EXPECT_EQ(Json::parse(text.str())["state"].as_string(), "stopped");
  EXPECT_THROW(lifecycle.start(Json::object(), std::nullopt, "nobody"), ServiceError);
  lifecycle.sandbox_mgr().start_sandbox("mine", std::nullopt, "virtual");
  EXPECT_THROW(lifecycle.sandbox_mgr().start_sandbox("mine"), ConfigurationError);
  lifecycle.sandbox_mgr().stop_sandbox("mine");
  EXPECT_THROW(Lifecycle("/proc/nothing", directory, client), ConfigurationError);
}

}  // namespace
}  // namespace service
