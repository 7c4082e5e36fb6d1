#include "registry/parse.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json/parse.hpp>
#include <cctype>

#include "base/bytes.h"
#include "base/json.h"
#include "config/node_json.h"
#include "tools/builtins.h"
#include "tools/tool.h"

namespace atl::tools {
namespace {

namespace bj = boost::json;
using config::Node;

constexpr std::size_t kDescriptionMax = 4096;
constexpr std::size_t kArgumentsMax = 256;
constexpr std::size_t kTagsMax = 64, kTagMax = 64, kExamplesMax = 64;

Result<bj::value> json_of(const Node& node) {
  auto parsed = json::parse(config::to_json(node));
  if (!parsed) return fail(node.error("cannot be written as JSON"));
  return std::move(*parsed);
}

// The complaint of a schema stands where the schema begins; its own words name the place inside.
Result<Schema> schema_in(const Node& root, std::string_view key) {
  const Node* node = root.find(key);
  if (node == nullptr || node->is_null()) return Schema();
  auto compiled = Schema::compile(TRY(json_of(*node)));
  if (!compiled) return fail(node->error(fmt::format("'{}': {}", key, compiled.error().message())));
  return std::move(*compiled);
}

Result<std::string> name_in(const Node& root) {
  std::string name = TRY(root.require<std::string>("name"));
  if (!is_tool_name(name))
    return fail(root.find("name")->error(
        "a tool's name has letters, digits, '_' and '-', at most 64, and begins with a letter"));
  return name;
}

Result<CommandRun> command_in(const Node& node) {
  TRY(node.expect(config::Kind::sequence));
  CommandRun run{TRY(node.as<std::vector<std::string>>())};
  if (run.argv.empty() || run.argv.front().empty() || run.argv.front().starts_with("{{"))
    return fail(node.error("'command' is a list of a program and its arguments; the program is fixed"));
  if (run.argv.size() > kArgumentsMax)
    return fail(node.error(fmt::format("'command' has more than {} words", kArgumentsMax)));
  return run;
}

Result<CodeRun> code_in(const Node& node, const Node& run) {
  CodeRun code{.code = TRY(node.as<std::string>())};
  if (code.code.empty()) return fail(node.error("'code' is empty"));
  if (const Node* language = run.find("language")) {
    const auto parsed = sandbox::parse_language(language->text());
    if (!parsed || *parsed == sandbox::Language::java || *parsed == sandbox::Language::r)
      return fail(language->error("'language' is python, javascript, typescript, deno or shell"));
    code.language = *parsed;
  }
  const std::string which = TRY(run.get_or<std::string>("interpreter", "fresh"));
  if (which != "fresh" && which != "session")
    return fail(run.find("interpreter")->error("'interpreter' is 'fresh' or 'session'"));
  code.stateless = which == "fresh";
  return code;
}

Result<HttpRun> http_in(const Node& node) {
  TRY(node.expect(config::Kind::map));
  TRY(node.check_keys({"method", "url", "headers", "body"}));
  HttpRun http{.method = TRY(node.get_or<std::string>("method", "GET")),
               .url = TRY(node.require<std::string>("url"))};
  constexpr std::string_view kMethods[] = {"GET", "POST", "PUT", "PATCH", "DELETE", "HEAD"};
  if (std::ranges::find(kMethods, http.method) == std::end(kMethods))
    return fail(node.find("method")->error("'method' is GET, POST, PUT, PATCH, DELETE or HEAD"));
  const bool is_fixed = http.url.starts_with("http://") || http.url.starts_with("https://");
  if (!is_fixed && http.url != "{{url}}")
    return fail(node.find("url")->error(
        "'url' begins with http:// or https://, or is '{{url}}' to take it from the input"));
  for (auto& [name, value] : TRY((node.get_or<std::map<std::string, std::string>>("headers", {}))))
    http.headers.emplace_back(name, value);
  const std::string body = TRY(node.get_or<std::string>("body", "none"));
  if (body != "none" && body != "input") return fail(node.find("body")->error("'body' is 'none' or 'input'"));
  http.send_input = body == "input";
  return http;
}

Result<BuiltinRun> builtin_in(const Node& node) {
  BuiltinRun run{TRY(node.as<std::string>())};
  if (!is_builtin(run.name)) return fail(node.error(fmt::format("no built-in is called '{}'", run.name)));
  return run;
}

Result<PluginRun> plugin_in(const Node& node, Author author) {
  if (author == Author::tenant)
    return fail(node.error("a plugin is the operator's to declare, in a file of the registry"));
  PluginRun run{TRY(node.as<std::string>())};
  if (run.library.empty() || run.library.find('/') != std::string::npos || run.library.starts_with('.'))
    return fail(node.error("'plugin' is the file name of a shared object in one of 'tools.plugins'"));
  return run;
}

Result<ClientRun> client_in(const Node& node, const Node& run) {
  if (!TRY(node.as<bool>())) return fail(node.error("'client' is true, or left out"));
  for (const std::string_view key : {"sandbox", "environment"})
    if (const Node* stray = run.find(key))
      return fail(stray->error(fmt::format("'{}' means nothing to a tool that runs in no sandbox", key)));
  return ClientRun();
}

Result<void> read_run(const Node& root, Author author, Tool& tool) {
  const Node* node = root.find("run");
  if (node == nullptr) return fail(root.error("'run' is missing: {command: [...]}, {code: ...} or the like"));
  TRY(node->check_keys({"command", "code", "language", "interpreter", "http", "builtin", "plugin", "client",
                        "sandbox", "environment"}));
  int kinds = 0;
  for (const std::string_view key : {"command", "code", "http", "builtin", "plugin", "client"})
    kinds += node->find(key) != nullptr ? 1 : 0;
  if (kinds != 1)
    return fail(node->error("'run' has exactly one of command, code, http, builtin, plugin and client"));
  if (const Node* command = node->find("command")) tool.run = TRY(command_in(*command));
  if (const Node* code = node->find("code")) tool.run = TRY(code_in(*code, *node));
  if (const Node* http = node->find("http")) tool.run = TRY(http_in(*http));
  if (const Node* builtin = node->find("builtin")) tool.run = TRY(builtin_in(*builtin));
  if (const Node* plugin = node->find("plugin")) tool.run = TRY(plugin_in(*plugin, author));
  if (const Node* client = node->find("client")) tool.run = TRY(client_in(*client, *node));
  if (node->find("code") == nullptr)
    for (const std::string_view key : {"language", "interpreter"})
      if (const Node* stray = node->find(key))
        return fail(stray->error(fmt::format("'{}' belongs to 'code'", key)));
  const std::string place = TRY(node->get_or<std::string>("sandbox", "session"));
  if (place != "session" && place != "fresh")
    return fail(node->find("sandbox")->error("'sandbox' is 'session' or 'fresh'"));
  tool.place = place == "fresh" || node->find("plugin") != nullptr ? Place::fresh : Place::session;
  tool.environment = TRY(node->get_or<std::string>("environment", ""));
  if (!tool.environment.empty() && tool.place == Place::session)
    return fail(node->find("environment")->error("only 'sandbox: fresh' has an environment of its own"));
  return {};
}

Result<void> read_network(const Node& root, Author author, Tool& tool) {
  if (const Node* network = root.find("network"); network != nullptr && !network->is_null()) {
    TRY(network->expect(config::Kind::map));
    TRY(network->check_keys({"allow"}));
    tool.network = TRY(network->get_or<std::vector<std::string>>("allow", {}));
  }
  if (author == Author::tenant && tool.place == Place::fresh && !tool.network.empty())
    return fail(root.find("network")->error(
        "a tenant's tool has no network of its own: let it run in the session ('sandbox: session')"));
  const Node* secrets = root.find("secrets");
  if (secrets == nullptr || secrets->is_null()) return {};
  TRY(secrets->expect(config::Kind::map));
  if (tool.place != Place::fresh)
    return fail(secrets->error(
        "'secrets' need 'sandbox: fresh' in 'run': in a shared sandbox every program would use them"));
  for (const config::Member& host : secrets->members()) {
    tool.secret_headers[host.key] = TRY((host.value.as<std::map<std::string, std::string>>()));
    if (std::ranges::find(tool.network, host.key) == tool.network.end())
      return fail(host.value.error(fmt::format("'{}' is not among 'allow' of 'network'", host.key)));
  }
  return {};
}

Result<std::vector<std::string>> tags_in(const Node& root) {
  auto tags = TRY(root.get_or<std::vector<std::string>>("tags", {}));
  const bool is_long = std::ranges::any_of(tags, [](const std::string& tag) { return tag.size() > kTagMax; });
  if (tags.size() > kTagsMax || is_long)
    return fail(root.find("tags")->error(
        fmt::format("a tool has at most {} tags of at most {} bytes", kTagsMax, kTagMax)));
  return tags;
}

Result<void> check_example(const Schema& schema, const Node& where, const bj::value& value,
                           std::size_t& steps) {
  const auto checked = schema.check(value, steps);
  if (!checked) return fail(where.error(fmt::format("the example {}", checked.error().message())));
  if (!*checked) return {};
  return fail(where.error(fmt::format("the example does not fit the tool's own schema: '{}' {}",
                                      (*checked)->pointer, (*checked)->message)));
}

// All examples together may cost as much as one call.
Result<void> read_examples(const Node& root, Tool& tool) {
  const Node* examples = root.find("examples");
  if (examples == nullptr || examples->is_null()) return {};
  TRY(examples->expect(config::Kind::sequence));
  if (examples->items().size() > kExamplesMax)
    return fail(examples->error(fmt::format("a tool has at most {} examples", kExamplesMax)));
  std::size_t steps = SchemaBounds{}.steps_max;
  for (const Node& item : examples->items()) {
    TRY(item.check_keys({"input", "output"}));
    Example example;
    const Node* input = item.find("input");
    if (input == nullptr) return fail(item.error("an example has an 'input'"));
    example.input = TRY(json_of(*input));
    TRY(check_example(tool.input, *input, example.input, steps));
    if (const Node* output = item.find("output")) {
      example.output = TRY(json_of(*output));
      TRY(check_example(tool.output, *output, *example.output, steps));
    }
    tool.examples.push_back(std::move(example));
  }
  return {};
}

}  // namespace

bool is_tool_name(std::string_view name) {
  return !name.empty() && name.size() <= 64 && std::isalpha(static_cast<unsigned char>(name.front())) != 0 &&
         std::ranges::all_of(name,
                             [](unsigned char c) { return std::isalnum(c) != 0 || c == '_' || c == '-'; });
}

Result<Tool> parse_tool(const config::Document& document, Author author) {
  const Node& root = document.root;
  TRY(root.expect(config::Kind::map));
  TRY(root.check_keys({"name", "description", "input", "output", "run", "limits", "policy", "network",
                       "secrets", "idempotent", "pure", "read_only", "timeout_seconds", "version", "tags",
                       "examples"}));
  Tool tool;
  tool.name = TRY(name_in(root));
  tool.description = TRY(root.require<std::string>("description"));
  if (tool.description.size() > kDescriptionMax)
    return fail(root.find("description")->error(fmt::format("over {} bytes", kDescriptionMax)));
  tool.input = TRY(schema_in(root, "input"));
  tool.output = TRY(schema_in(root, "output"));
  TRY(read_run(root, author, tool));
  TRY(read_network(root, author, tool));
  if (const Node* limits = root.find("limits")) tool.limits = TRY(registry::parse_limits(*limits));
  if (const auto seconds = TRY(root.get<double>("timeout_seconds")))
    tool.limits.wall_time = std::chrono::milliseconds(static_cast<std::int64_t>(*seconds * 1000));
  tool.policy = TRY(root.get_or<std::string>("policy", ""));
  tool.idempotent = TRY(root.get_or<bool>("idempotent", false));
  tool.pure = TRY(root.get_or<bool>("pure", false));
  tool.read_only = TRY(root.get_or<bool>("read_only", false));
  tool.tags = TRY(tags_in(root));
  TRY(read_examples(root, tool));
  tool.digest = "sha256:" + sha256_hex(config::to_json(root));
  tool.where = root.where();
  return tool;
}

}  // namespace atl::tools
