// Prompts of the registry, and what may be filled in.
#include <fmt/format.h>

#include "api/mcp/fixtures.h"
#include "api/mcp/methods.h"
#include "base/json.h"
#include "os/offload.h"
#include "registry/prompt.h"

namespace atl::api::mcp {
namespace {

using Variables = std::map<std::string, registry::Variable, std::less<>>;

constexpr std::size_t kCompletionsMax = 100;

Variables variables_of(const Call& call, const registry::Prompt& prompt) {
  auto all = registry::all_variables(prompt, call.parts().registry->prompt_finder(call.who.tenant));
  return all ? std::move(*all) : Variables();
}

bj::object prompt_json(const Call& call, const registry::Prompt& prompt) {
  bj::array arguments;
  for (const auto& [name, variable] : variables_of(call, prompt))
    arguments.push_back(bj::object{{"name", name},
                                   {"description", variable.description},
                                   {"required", !variable.otherwise.has_value()}});
  return {{"name", prompt.name}, {"description", prompt.description}, {"arguments", std::move(arguments)}};
}

// Arguments of prompts are texts on this wire; variables have types.
bj::value typed(const registry::Variable& variable, const std::string& text) {
  using registry::VariableType;
  if (variable.type == VariableType::string) return bj::string(text);
  auto parsed = json::parse(text);
  if (variable.type == VariableType::list && (!parsed || !parsed->is_array())) {
    bj::array items;
    std::string_view rest = text;
    while (!rest.empty()) {
      const auto comma = rest.find(',');
      std::string_view item = rest.substr(0, comma);
      while (item.starts_with(' ')) item.remove_prefix(1);
      items.push_back(bj::value(item));
      rest = comma == std::string_view::npos ? std::string_view() : rest.substr(comma + 1);
    }
    return items;
  }
  return parsed ? std::move(*parsed) : bj::value(text);
}

// What is missing, as a form for the person at the client: 2026-07-28 can ask.
bj::object form_of(const Variables& variables, const std::vector<std::string>& missing) {
  bj::object properties;
  for (const std::string& name : missing) {
    const registry::Variable& variable = variables.at(name);
    bj::object one{{"type", "string"}};
    if (!variable.description.empty()) one["description"] = variable.description;
    if (!variable.values.empty()) one["enum"] = bj::value_from(variable.values);
    properties[name] = std::move(one);
  }
  bj::object schema{
      {"type", "object"}, {"properties", std::move(properties)}, {"required", bj::value_from(missing)}};
  bj::object form{{"mode", "form"},
                  {"message", "The prompt needs to know more."},
                  {"requestedSchema", std::move(schema)}};
  bj::object question{{"method", "elicitation/create"}, {"params", std::move(form)}};
  bj::object questions{{"arguments", std::move(question)}};
  return {{"resultType", "input_required"}, {"inputRequests", std::move(questions)}};
}

// What the person filled in; nothing if the client brought no answer.
bj::object filled_in(const Call& call) {
  const bj::object* responses = object_in(call.params, "inputResponses");
  const bj::object* answer = responses == nullptr ? nullptr : object_in(*responses, "arguments");
  const bj::object* content = answer == nullptr ? nullptr : object_in(*answer, "content");
  return content == nullptr ? bj::object() : *content;
}

std::string argument_text(const bj::value& value) {
  return value.is_string() ? std::string(value.get_string()) : bj::serialize(value);
}

Fault wrong_prompt(std::string message) {
  return {kInvalidParams, std::move(message), nullptr, 200};
}

Result<Reply> rendered(const Call& call, const registry::Prompt& prompt) {
  const Variables variables = variables_of(call, prompt);
  bj::object given;
  if (const bj::object* arguments = object_in(call.params, "arguments")) given = *arguments;
  for (const auto& [name, value] : filled_in(call)) given[name] = value;
  bj::object values;
  for (const auto& [name, value] : given) {
    const auto variable = variables.find(name);
    if (variable == variables.end())
      return Reply(
          wrong_prompt(fmt::format("the prompt has no argument '{}'", std::string_view(name).substr(0, 64))));
    values[name] = typed(variable->second, argument_text(value));
  }
  std::vector<std::string> missing;
  for (const auto& [name, variable] : variables)
    if (!variable.otherwise && !values.contains(name)) missing.push_back(name);
  if (!missing.empty()) {
    if (is_stateless(call.revision) && call.client_has("elicitation"))
      return Reply(form_of(variables, missing));
    return Reply(wrong_prompt(fmt::format("the prompt needs the argument '{}'", missing.front())));
  }
  std::string text =
      TRY(registry::render(prompt, values, call.parts().registry->prompt_finder(call.who.tenant)));
  bj::array messages;
  messages.push_back(
      bj::object{{"role", "user"}, {"content", bj::object{{"type", "text"}, {"text", std::move(text)}}}});
  return Reply(bj::object{{"description", prompt.description}, {"messages", std::move(messages)}});
}

bj::array starting_with(const std::vector<std::string>& all, std::string_view start, std::size_t& total) {
  bj::array values;
  total = 0;
  for (const std::string& one : all) {
    if (!one.starts_with(start)) continue;
    if (++total <= kCompletionsMax) values.push_back(bj::value(one));
  }
  return values;
}

Task<std::vector<std::string>> known_values(CallPtr call, std::string kind, std::string name,
                                            std::string argument) {
  std::vector<std::string> values;
  if (kind == "ref/prompt") {
    const registry::Prompt* prompt = call->parts().registry->prompt(name, call->who.tenant);
    if (prompt == nullptr || !call->who.may(auth::Permission::catalog_read)) co_return values;
    const Variables variables = variables_of(*call, *prompt);
    if (const auto found = variables.find(argument); found != variables.end()) values = found->second.values;
  } else if (argument == "name" && call->who.may(auth::Permission::catalog_read)) {
    auto look = [library = call->parts().skills, tenant = call->who.tenant]() -> Result<skill::Listing> {
      return library->list(tenant);
    };
    CO_TRY(const skill::Listing listing,
           co_await call->parts().workers->run<skill::Listing>(call->who.tenant, std::move(look)));
    for (const skill::Skill& one : listing.skills) values.push_back(one.name);
  } else if (argument == "sandbox_id" && call->who.may(auth::Permission::sessions_read)) {
    session::ListRequest request;
    request.states = {session::State::running, session::State::paused};
    CO_TRY(const auto page, co_await call->service().list(call->who, std::move(request)));
    for (const session::Session& one : page.items) values.push_back(one.sandbox_id);
  }
  co_return values;
}

}  // namespace

Task<Reply> list_prompts(CallPtr call) {
  bj::array prompts;
  if (call->who.may(auth::Permission::catalog_read)) {
    const registry::FindPrompt find = call->parts().registry->prompt_finder(call->who.tenant);
    for (const registry::Entry* entry : call->parts().registry->entries("prompts", call->who.tenant))
      if (const registry::Prompt* prompt = find(entry->name)) prompts.push_back(prompt_json(*call, *prompt));
  }
  append_fixture_prompts(*call, prompts);
  bj::object result{{"prompts", std::move(prompts)}};
  co_return Reply(std::move(result));
}

Task<Reply> get_prompt(CallPtr call) {
  const std::string name = text_in(call->params, "name");
  if (auto fixture = fixture_prompt(*call, name)) co_return std::move(*fixture);
  const registry::Prompt* prompt = call->parts().registry->prompt(name, call->who.tenant);
  if (prompt == nullptr || !call->who.may(auth::Permission::catalog_read))
    co_return Reply(
        wrong_prompt(fmt::format("no prompt is called '{}': prompts/list names them", name.substr(0, 64))));
  co_return rendered(*call, *prompt);
}

Task<Reply> complete(CallPtr call) {
  const bj::object* ref = object_in(call->params, "ref");
  const bj::object* argument = object_in(call->params, "argument");
  if (ref == nullptr || argument == nullptr)
    co_return Reply(wrong_prompt("'ref' and 'argument' say what is to be completed"));
  const std::string kind = text_in(*ref, "type");
  if (kind != "ref/prompt" && kind != "ref/resource")
    co_return Reply(wrong_prompt("'ref.type' is ref/prompt or ref/resource"));
  const std::string start = text_in(*argument, "value");
  CO_TRY(const auto known,
         co_await known_values(call, kind, text_in(*ref, "name"), text_in(*argument, "name")));
  std::size_t total = 0;
  bj::array values = starting_with(known, start, total);
  bj::object completion{
      {"values", std::move(values)}, {"total", total}, {"hasMore", total > kCompletionsMax}};
  bj::object result{{"completion", std::move(completion)}};
  co_return Reply(std::move(result));
}

}  // namespace atl::api::mcp
