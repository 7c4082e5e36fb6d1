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
  EXPECT_FALSE(err.str().empty());
  EXPECT_EQ(registry.publish(client, "/bin/true"), std::vector<std::string>{"upper"});
  EXPECT_EQ(client.get_json("/api/tools/upper")["tags"][0].as_string(), "text");
  client.remove_tool("upper");
  EXPECT_TRUE(registry.remove("upper"));
  EXPECT_FALSE(registry.remove("upper"));
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
