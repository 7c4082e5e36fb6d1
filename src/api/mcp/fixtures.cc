#include "api/mcp/fixtures.h"

#include <fmt/format.h>

#include "os/timer.h"

namespace atl::api::mcp {
namespace {

// One red point, and a moment of silence.
constexpr std::string_view kPoint =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC";
constexpr std::string_view kSilence = "UklGRiQAAABXQVZFZm10IBAAAAABAAEARKwAAIhYAQACABAAZGF0YQAAAAA=";

constexpr std::string_view kNothing = R"({"type":"object","properties":{}})";

struct FixtureTool {
  std::string_view name, schema;
};
constexpr FixtureTool kTools[] = {
    {"test_simple_text", kNothing},
    {"test_image_content", kNothing},
    {"test_audio_content", kNothing},
    {"test_embedded_resource", kNothing},
    {"test_multiple_content_types", kNothing},
    {"test_tool_with_logging", kNothing},
    {"test_tool_with_progress", kNothing},
    {"test_error_handling", kNothing},
    {"test_sampling", R"({"type":"object","properties":{"prompt":{"type":"string"}},"required":["prompt"]})"},
    {"test_elicitation",
     R"({"type":"object","properties":{"message":{"type":"string"}},"required":["message"]})"},
    {"test_elicitation_sep1034_defaults", kNothing},
    {"test_elicitation_sep1330_enums", kNothing},
    {"test_reconnection", kNothing},
    {"test_missing_capability", kNothing},
    {"test_streaming_elicitation", kNothing},
    {"test_logging_tool", kNothing},
    {"test_trigger_tool_change", kNothing},
    {"test_trigger_prompt_change", kNothing},
    {"test_input_required_result_elicitation", kNothing},
    {"test_input_required_result_sampling", kNothing},
    {"test_input_required_result_list_roots", kNothing},
    {"test_input_required_result_request_state", kNothing},
    {"test_input_required_result_multiple_inputs", kNothing},
    {"test_input_required_result_multi_round", kNothing},
    {"test_input_required_result_tampered_state", kNothing},
    {"test_input_required_result_capabilities", kNothing},
    {"test_x_mcp_header",
     R"({"type":"object","properties":{"region":{"type":"string","x-mcp-header":"Region"}},"required":[]})"},
    {"json_schema_2020_12_tool",
     R"({"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object",
     "$defs":{"address":{"$anchor":"addressDef","type":"object","properties":{"street":{"type":"string"},"city":{"type":"string"}}}},
     "properties":{"name":{"type":"string"},"address":{"$ref":"#/$defs/address"},"contactMethod":{"type":"string","enum":["phone","email"]},
     "phone":{"type":"string"},"email":{"type":"string"}},
     "allOf":[{"anyOf":[{"required":["phone"]},{"required":["email"]}]}],
     "if":{"properties":{"contactMethod":{"const":"phone"}},"required":["contactMethod"]},"then":{"required":["phone"]},"else":{"required":["email"]},
     "additionalProperties":false})"},
};

bj::object text_content(std::string_view text) {
  return {{"type", "text"}, {"text", text}};
}
bj::object picture_content() {
  return {{"type", "image"}, {"data", kPoint}, {"mimeType", "image/png"}};
}
bj::object resource_content(std::string_view uri, std::string_view type, std::string_view text) {
  return {{"type", "resource"}, {"resource", bj::object{{"uri", uri}, {"mimeType", type}, {"text", text}}}};
}
Reply content_reply(bj::array content) {
  return bj::object{{"content", std::move(content)}};
}
Reply text_reply(std::string_view text) {
  return content_reply({text_content(text)});
}

std::optional<Reply> fixed_reply(std::string_view name) {
  if (name == "test_simple_text") return text_reply("This is a simple text response for testing.");
  if (name == "test_image_content") return content_reply({picture_content()});
  if (name == "test_audio_content")
    return content_reply({bj::object{{"type", "audio"}, {"data", kSilence}, {"mimeType", "audio/wav"}}});
  if (name == "test_embedded_resource")
    return content_reply({resource_content("test://embedded-resource", "text/plain",
                                           "This is an embedded resource content.")});
  if (name == "test_multiple_content_types")
    return content_reply({text_content("Multiple content types test:"), picture_content(),
                          resource_content("test://mixed-content-resource", "application/json",
                                           R"({"test":"data","value":123})")});
  if (name == "test_error_handling")
    return Reply(ToolReply::error("This tool intentionally returns an error for testing").to_json());
  if (name == "json_schema_2020_12_tool" || name == "test_x_mcp_header") return text_reply("ok");
  return std::nullopt;
}

bj::object question(std::string_view method, std::string_view params) {
  return {{"method", method}, {"params", bj::parse(params)}};
}
bj::object asks_name(std::string_view message, std::string_view member) {
  bj::object properties{{member, bj::object{{"type", "string"}}}};
  bj::array required;
  required.push_back(bj::value(member));
  bj::object schema{
      {"type", "object"}, {"properties", std::move(properties)}, {"required", std::move(required)}};
  return {{"method", "elicitation/create"},
          {"params", bj::object{{"message", message}, {"requestedSchema", std::move(schema)}}}};
}
bj::object asks_consent() {
  return question("elicitation/create",
                  R"({"message":"Please confirm","requestedSchema":{"type":"object",
                  "properties":{"ok":{"type":"boolean"}},"required":["ok"]}})");
}
bj::object asks_model(std::string_view text, int tokens) {
  return question("sampling/createMessage",
                  fmt::format(R"({{"messages":[{{"role":"user","content":{{"type":"text","text":"{}"}}}}],
                  "maxTokens":{}}})",
                              text, tokens));
}
bj::object asks_roots() {
  return question("roots/list", "{}");
}

Reply input_required(bj::object questions, std::optional<std::string> state = std::nullopt) {
  bj::object result{{"resultType", "input_required"}, {"inputRequests", std::move(questions)}};
  if (state) result["requestState"] = *state;
  return result;
}

// What the client brought for one of the questions; null if it is not there or no answer at all.
const bj::object* response_in(const Call& call, std::string_view name) {
  const bj::object* responses = object_in(call.params, "inputResponses");
  return responses == nullptr ? nullptr : object_in(*responses, name);
}
std::string content_in(const bj::object& response, std::string_view member) {
  const bj::object* content = object_in(response, "content");
  return content == nullptr ? std::string() : text_in(*content, member);
}

Fault wrong_state(const Error& error) {
  return {kInvalidParams, error.message(), nullptr, 200};
}

// Rounds that a sealed state counts. Nothing: the client brought none.
Result<int> round_of(const Call& call) {
  if (!call.params.contains("requestState")) return 0;
  const bj::value state = TRY(call.unsealed(text_in(call.params, "requestState")));
  return state.is_object() ? static_cast<int>(number_in(state.get_object(), "round", 0)) : 0;
}

Reply one_question(const Call& call, std::string_view key, bj::object asked, std::string_view answer) {
  const bj::object* response = response_in(call, key);
  if (response == nullptr) return input_required({{key, std::move(asked)}});
  if (answer == "name") return text_reply(fmt::format("Hello, {}!", content_in(*response, "name")));
  return text_reply(bj::serialize(*response));
}

Reply with_state(const Call& call, bj::object questions, std::string_view done) {
  auto round = round_of(call);
  if (!round) return wrong_state(round.error());
  bool complete = *round > 0;
  for (const auto& [key, asked] : questions) complete = complete && response_in(call, key) != nullptr;
  if (complete) return text_reply(done);
  return input_required(std::move(questions), call.sealed(bj::object{{"round", 1}}));
}

Reply rounds(const Call& call) {
  auto round = round_of(call);
  if (!round) return wrong_state(round.error());
  if (*round == 2 && response_in(call, "step2") != nullptr) return text_reply("All rounds are done.");
  if (*round == 1 && response_in(call, "step1") != nullptr)
    return input_required({{"step2", asks_name("Step 2: What is your favorite color?", "color")}},
                          call.sealed(bj::object{{"round", 2}}));
  return input_required({{"step1", asks_name("Step 1: What is your name?", "name")}},
                        call.sealed(bj::object{{"round", 1}}));
}

std::optional<Reply> input_reply(const Call& call, std::string_view name) {
  constexpr std::string_view kStart = "test_input_required_result_";
  if (!name.starts_with(kStart)) return std::nullopt;
  name.remove_prefix(kStart.size());
  if (name == "elicitation")
    return one_question(call, "user_name", asks_name("What is your name?", "name"), "name");
  if (name == "sampling")
    return one_question(call, "capital_question", asks_model("What is the capital of France?", 100), "");
  if (name == "list_roots") return one_question(call, "client_roots", asks_roots(), "");
  if (name == "request_state" || name == "tampered_state")
    return with_state(call, {{"confirm", asks_consent()}}, "state-ok");
  if (name == "multiple_inputs")
    return with_state(call,
                      {{"user_name", asks_name("What is your name?", "name")},
                       {"greeting", asks_model("Generate a greeting", 50)},
                       {"client_roots", asks_roots()}},
                      "All inputs arrived.");
  if (name == "multi_round") return rounds(call);
  if (name == "capabilities") {
    bj::object questions;
    if (call.client_has("elicitation")) questions["user_name"] = asks_name("What is your name?", "name");
    if (call.client_has("sampling")) questions["greeting"] = asks_model("Generate a greeting", 50);
    if (questions.empty()) return text_reply("The client can be asked nothing.");
    return input_required(std::move(questions));
  }
  return std::nullopt;
}

Fault lacks(std::string_view capability) {
  bj::object required{{capability, bj::object()}};
  return {kMissingCapability, fmt::format("the client did not declare the capability '{}'", capability),
          bj::object{{"requiredCapabilities", std::move(required)}}, 400};
}

boost::asio::awaitable<Reply> ask_model(CallPtr call, std::string prompt) {
  if (!call->client_has("sampling")) co_return Reply(lacks("sampling"));
  bj::object text{{"type", "text"}, {"text", prompt}};
  bj::array messages;
  messages.push_back(bj::object{{"role", "user"}, {"content", std::move(text)}});
  bj::object params{{"messages", std::move(messages)}, {"maxTokens", 100}};
  auto answer = co_await call->connection->ask(call->outbox, "sampling/createMessage", std::move(params));
  if (!answer) co_return Reply(ToolReply::error(answer.error()).to_json());
  const bj::object* content = object_in(*answer, "content");
  co_return text_reply("LLM response: " + (content == nullptr ? std::string() : text_in(*content, "text")));
}

boost::asio::awaitable<Reply> ask_person(CallPtr call, std::string message, std::string schema,
                                         std::string form) {
  if (!call->client_has("elicitation")) co_return Reply(lacks("elicitation"));
  bj::object params{{"message", message}, {"requestedSchema", bj::parse(schema)}};
  auto answer = co_await call->connection->ask(call->outbox, "elicitation/create", std::move(params));
  if (!answer) co_return Reply(ToolReply::error(answer.error()).to_json());
  const bj::value* content = answer->if_contains("content");
  co_return text_reply(fmt::format("{}action={}, content={}", form, text_in(*answer, "action"),
                                   content == nullptr ? "{}" : bj::serialize(*content)));
}

constexpr std::string_view kPersonSchema =
    R"({"type":"object","properties":{"username":{"type":"string","description":"User's response"},
    "email":{"type":"string","description":"User's email address"}},"required":["username","email"]})";
constexpr std::string_view kDefaultsSchema =
    R"({"type":"object","properties":{"name":{"type":"string","default":"John Doe"},"age":{"type":"integer","default":30},
    "score":{"type":"number","default":95.5},"status":{"type":"string","enum":["active","inactive","pending"],"default":"active"},
    "verified":{"type":"boolean","default":true}},"required":[]})";
constexpr std::string_view kEnumsSchema =
    R"({"type":"object","properties":{
    "untitledSingle":{"type":"string","enum":["option1","option2","option3"]},
    "titledSingle":{"type":"string","oneOf":[{"const":"value1","title":"First Option"},{"const":"value2","title":"Second Option"},{"const":"value3","title":"Third Option"}]},
    "legacyEnum":{"type":"string","enum":["opt1","opt2","opt3"],"enumNames":["Option One","Option Two","Option Three"]},
    "untitledMulti":{"type":"array","items":{"type":"string","enum":["option1","option2","option3"]}},
    "titledMulti":{"type":"array","items":{"anyOf":[{"const":"value1","title":"First Choice"},{"const":"value2","title":"Second Choice"},{"const":"value3","title":"Third Choice"}]}}},
    "required":[]})";

boost::asio::awaitable<void> pause(const CallPtr& call, int milliseconds) {
  (void)co_await os::sleep_for(call->parts().executor, std::chrono::milliseconds(milliseconds));
}

boost::asio::awaitable<Reply> slow_steps(CallPtr call, std::string name) {
  constexpr std::string_view kWords[] = {"Tool execution started", "Tool processing data",
                                         "Tool execution completed"};
  if (call->connection != nullptr && name == "test_tool_with_logging")
    call->connection->log_level = std::min(call->connection->log_level, LogLevel::info);
  for (int step = 0; step < 3; ++step) {
    if (step > 0) co_await pause(call, 50);
    if (name == "test_tool_with_progress")
      call->progress(step * 50, 100, "");
    else
      call->log(LogLevel::info, std::string(kWords[step]));
  }
  co_return text_reply("All steps are done.");
}

}  // namespace

void append_fixture_tools(const Call& call, bj::array& tools) {
  if (call.parts().fixtures == Fixtures::off) return;
  for (const FixtureTool& one : kTools)
    tools.push_back(bj::object{{"name", one.name},
                               {"description", fmt::format("For tests of the protocol: {}", one.name)},
                               {"inputSchema", bj::parse(one.schema)}});
}

bj::value fixture_schema(const Call& call, std::string_view name) {
  if (call.parts().fixtures == Fixtures::on)
    for (const FixtureTool& one : kTools)
      if (one.name == name) return bj::parse(one.schema);
  return nullptr;
}

void append_fixture_resources(const Call& call, bj::array& resources) {
  if (call.parts().fixtures == Fixtures::off) return;
  for (const char* name : {"static-text", "static-binary", "watched-resource"})
    resources.push_back(bj::object{{"uri", fmt::format("test://{}", name)},
                                   {"name", name},
                                   {"description", "For tests of the protocol."}});
}

void append_fixture_templates(const Call& call, bj::array& templates) {
  if (call.parts().fixtures == Fixtures::off) return;
  templates.push_back(bj::object{{"uriTemplate", "test://template/{id}/data"},
                                 {"name", "template"},
                                 {"description", "For tests of the protocol."},
                                 {"mimeType", "application/json"}});
}

void append_fixture_prompts(const Call& call, bj::array& prompts) {
  if (call.parts().fixtures == Fixtures::off) return;
  const auto add = [&](std::string_view name, std::initializer_list<std::string_view> needed) {
    bj::array arguments;
    for (const std::string_view one : needed)
      arguments.push_back(bj::object{{"name", one}, {"description", "For tests."}, {"required", true}});
    prompts.push_back(bj::object{
        {"name", name}, {"description", "For tests of the protocol."}, {"arguments", std::move(arguments)}});
  };
  add("test_simple_prompt", {});
  add("test_prompt_with_arguments", {"arg1", "arg2"});
  add("test_prompt_with_embedded_resource", {"resourceUri"});
  add("test_prompt_with_image", {});
  add("test_input_required_result_prompt", {});
}

boost::asio::awaitable<std::optional<Reply>> call_fixture_tool(CallPtr call, std::string name,
                                                               bj::object arguments) {
  if (auto reply = fixed_reply(name)) co_return reply;
  if (is_stateless(call->revision))
    if (auto reply = input_reply(*call, name)) co_return reply;
  if (name == "test_tool_with_logging" || name == "test_tool_with_progress" || name == "test_logging_tool")
    co_return co_await slow_steps(call, name);
  if (name == "test_missing_capability" && !call->client_has("sampling")) co_return Reply(lacks("sampling"));
  if (name == "test_streaming_elicitation")
    co_return one_question(*call, "user_name", asks_name("What is your name?", "name"), "name");
  if (name == "test_trigger_tool_change" || name == "test_trigger_prompt_change") {
    ++call->shared->fixture_changes;
    co_return text_reply("Whoever listens is told.");
  }
  if (call->connection == nullptr) co_return std::nullopt;
  if (name == "test_sampling") co_return co_await ask_model(call, text_in(arguments, "prompt"));
  if (name == "test_elicitation")
    co_return co_await ask_person(call, text_in(arguments, "message"), std::string(kPersonSchema),
                                  "User response: ");
  if (name == "test_elicitation_sep1034_defaults")
    co_return co_await ask_person(call, "Please confirm", std::string(kDefaultsSchema),
                                  "Elicitation completed: ");
  if (name == "test_elicitation_sep1330_enums")
    co_return co_await ask_person(call, "Please choose", std::string(kEnumsSchema),
                                  "Elicitation completed: ");
  if (name == "test_reconnection") {
    call->outbox->send_away();
    co_await pause(call, 100);
    co_return text_reply("Reconnection test completed successfully");
  }
  co_return std::nullopt;
}

std::optional<bj::object> read_fixture_resource(const Call& call, const std::string& uri) {
  if (call.parts().fixtures == Fixtures::off || !uri.starts_with("test://")) return std::nullopt;
  bj::object one{{"uri", uri}};
  constexpr std::string_view kStart = "test://template/", kEnd = "/data";
  if (uri == "test://static-text" || uri == "test://watched-resource") {
    one["mimeType"] = "text/plain";
    one["text"] = "This is the content of the static text resource.";
  } else if (uri == "test://static-binary") {
    one["mimeType"] = "image/png";
    one["blob"] = kPoint;
  } else if (uri.starts_with(kStart) && uri.ends_with(kEnd) && uri.size() > kStart.size() + kEnd.size()) {
    const std::string id = uri.substr(kStart.size(), uri.size() - kStart.size() - kEnd.size());
    one["mimeType"] = "application/json";
    bj::object data{{"id", id}, {"templateTest", true}, {"data", "Data for ID: " + id}};
    one["text"] = bj::serialize(data);
  } else {
    return std::nullopt;
  }
  bj::array contents;
  contents.push_back(std::move(one));
  return bj::object{{"contents", std::move(contents)}};
}

std::optional<Reply> fixture_prompt(const Call& call, const std::string& name) {
  if (call.parts().fixtures == Fixtures::off) return std::nullopt;
  const bj::object* given = object_in(call.params, "arguments");
  const bj::object arguments = given == nullptr ? bj::object() : *given;
  const auto said = [](bj::object content) {
    return bj::object{{"role", "user"}, {"content", std::move(content)}};
  };
  bj::array messages;
  if (name == "test_simple_prompt") {
    messages.push_back(said(text_content("This is a simple prompt for testing.")));
  } else if (name == "test_prompt_with_arguments") {
    messages.push_back(
        said(text_content(fmt::format("Prompt with arguments: arg1='{}', arg2='{}'",
                                      text_in(arguments, "arg1"), text_in(arguments, "arg2")))));
  } else if (name == "test_prompt_with_embedded_resource") {
    messages.push_back(said(resource_content(text_in(arguments, "resourceUri"), "text/plain",
                                             "Embedded resource content for testing.")));
    messages.push_back(said(text_content("Please process the embedded resource above.")));
  } else if (name == "test_prompt_with_image") {
    messages.push_back(said(picture_content()));
    messages.push_back(said(text_content("Please analyze the image above.")));
  } else if (name == "test_input_required_result_prompt") {
    const bj::object* response = response_in(call, "user_context");
    if (response == nullptr && is_stateless(call.revision))
      return input_required({{"user_context", asks_name("What context should the prompt use?", "context")}});
    messages.push_back(said(text_content(
        "Context: " + (response == nullptr ? std::string() : content_in(*response, "context")))));
  } else {
    return std::nullopt;
  }
  return Reply(bj::object{{"messages", std::move(messages)}});
}

}  // namespace atl::api::mcp
