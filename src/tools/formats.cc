#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "tools/tool_registry.h"

namespace atl::tools {
namespace {

namespace bj = boost::json;

constexpr std::array<std::string_view, 5> kNotAtTheTop = {"anyOf", "oneOf", "allOf", "not", "enum"};

// All three foreign formats want the schema of an object, also for a tool that takes anything, and the APIs
// of models refuse a whole request for one combination at the top of one schema. What is left out here is
// checked all the same when the tool is called.
bj::value object_schema(const Schema& schema) {
  const auto* document = schema.document().if_object();
  if (document == nullptr) return bj::object{{"type", "object"}};
  bj::object shown;
  const bj::value* type = document->if_contains("type");
  const auto* types = type == nullptr ? nullptr : type->if_array();
  if (type == nullptr || (types != nullptr && std::ranges::find(*types, "object") != types->end()))
    shown["type"] = "object";
  for (const auto& member : *document)
    if (std::ranges::find(kNotAtTheTop, std::string_view(member.key())) == kNotAtTheTop.end())
      shown.insert(member);  // unless it is there
  return shown;
}

std::string_view run_word(const Run& run) {
  struct Words {
    std::string_view operator()(const CommandRun&) const { return "command"; }
    std::string_view operator()(const CodeRun&) const { return "code"; }
    std::string_view operator()(const HttpRun&) const { return "http"; }
    std::string_view operator()(const BuiltinRun&) const { return "builtin"; }
    std::string_view operator()(const PluginRun&) const { return "plugin"; }
    std::string_view operator()(const ClientRun&) const { return "client"; }
  };
  return std::visit(Words(), run);
}

bj::object own_form(const Tool& tool) {
  bj::array network, tags, examples;
  for (const std::string& host : tool.network) network.push_back(bj::value(host));
  for (const std::string& tag : tool.tags) tags.push_back(bj::value(tag));
  for (const Example& example : tool.examples) {
    bj::object one{{"input", example.input}};
    if (example.output) one["output"] = *example.output;
    examples.push_back(std::move(one));
  }
  return {{"name", tool.name},
          {"description", tool.description},
          {"kind", run_word(tool.run)},
          {"sandbox", tool.place == Place::fresh ? "fresh" : "session"},
          {"input", tool.input.document()},
          {"output", tool.output.document()},
          {"network", std::move(network)},
          {"idempotent", tool.idempotent},
          {"pure", tool.pure},
          {"read_only", tool.read_only},
          {"tags", std::move(tags)},
          {"examples", std::move(examples)},
          {"digest", tool.digest}};
}

bj::object mcp_form(const Tool& tool) {
  bj::object form{{"name", tool.name},
                  {"description", tool.description},
                  {"inputSchema", object_schema(tool.input)},
                  {"annotations", bj::object{{"readOnlyHint", tool.read_only},
                                             {"destructiveHint", !tool.read_only},
                                             {"idempotentHint", tool.idempotent || tool.read_only},
                                             {"openWorldHint", !tool.network.empty()}}}};
  // MCP's structured results are objects.
  if (const auto* output = tool.output.document().if_object())
    if (const bj::value* type = output->if_contains("type"); type != nullptr && *type == "object")
      form["outputSchema"] = *output;
  return form;
}

}  // namespace

Result<Format> parse_format(std::string_view word) {
  if (word.empty() || word == "atoll") return Format::atoll;
  if (word == "openai") return Format::openai;
  if (word == "anthropic") return Format::anthropic;
  if (word == "mcp") return Format::mcp;
  return fail(
      Error(Code::invalid_argument, "'format' is openai, anthropic, mcp or atoll").with_field("format"));
}

bj::object exported(const Tool& tool, Format format) {
  switch (format) {
    case Format::atoll: return own_form(tool);
    case Format::openai:
      return {{"type", "function"},
              {"function", bj::object{{"name", tool.name},
                                      {"description", tool.description},
                                      {"parameters", object_schema(tool.input)}}}};
    case Format::anthropic:
      return {{"name", tool.name},
              {"description", tool.description},
              {"input_schema", object_schema(tool.input)}};
    case Format::mcp: return mcp_form(tool);
  }
  return {};
}

}  // namespace atl::tools
