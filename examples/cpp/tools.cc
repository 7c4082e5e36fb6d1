// A tool in C++: described for a model, called here, and published so that sessions can call it. A sandbox
// runs this very program with the arguments `tool NAME`.
#include <atoll/tools.h>

#include <fstream>
#include <iostream>
#include <sstream>

using namespace atl::client;

namespace {

struct WordCount : ToolBase {
  WordCount() {
    name = "count_words";
    description = "Counts the words of a text.";
    input = Json::parse(R"({"type":"object","properties":{"text":{"type":"string"}},"required":["text"]})");
    output =
        Json::parse(R"({"type":"object","properties":{"words":{"type":"integer"}},"required":["words"]})");
    pure = true;
  }
  Json call(const Json& in) override {
    std::istringstream text(in["text"].as_string());
    std::int64_t words = 0;
    for (std::string word; text >> word;) ++words;
    return Json::object({{"words", words}});
  }
};

}  // namespace

int main(int argc, char** argv) {
  ToolRegistry registry;
  registry.add(std::make_unique<WordCount>());
  if (argc == 3 && std::string(argv[1]) == "tool")
    return registry.serve(argv[2], std::cin, std::cout, std::cerr);

  std::cout << registry.describe("openai")[0].dump() << '\n';
  std::cout << registry.call("count_words", Json::object({{"text", "a b c"}})).dump() << '\n';

  SandboxClient client;
  Session session = client.create();
  std::ifstream self("/proc/self/exe", std::ios::binary);
  session.files().write_from("/home/user/tools", self, {.mode = 0755});
  registry.publish(client, "/home/user/tools");
  ToolResult result = session.tool("count_words", Json::object({{"text", "counted in a sandbox"}}));
  std::cout << result.status << ' ' << (result.ok() ? result.output : result.error).dump() << '\n';
  client.remove_tool("count_words");
  return result.ok() ? 0 : 1;
}
