#include "layer/documents.h"

#include <boost/json.hpp>

#include "base/json.h"

namespace atl::layer {
namespace {

namespace bj = boost::json;

template <class T>
Result<T> read(std::string_view text, const char* what, T (*build)(const bj::object&)) {
  const Error damaged(Code::data_loss, std::string("the stored description of a ") + what + " is damaged");
  auto value = json::parse(text);
  if (!value || !value->is_object()) return fail(damaged);
  try {
    return build(value->as_object());
  } catch (const std::exception&) {
    // Boost.JSON's accessors throw on a missing member or a wrong type.
    return fail(damaged);
  }
}

bj::array to_array(const std::vector<std::string>& list) {
  bj::array array;
  for (const std::string& text : list) array.emplace_back(text);
  return array;
}

std::string text_of(const bj::object& object, std::string_view key) {
  return std::string(object.at(key).as_string());
}

// Of descriptions that were written before there was such a member: empty.
std::string later_text_of(const bj::object& object, std::string_view key) {
  const bj::value* const found = object.if_contains(key);
  return found == nullptr ? std::string() : std::string(found->as_string());
}

std::vector<std::string> digests_of(const bj::object& object) {
  std::vector<std::string> digests;
  for (const bj::value& item : object.at("layers").as_array()) {
    digests.emplace_back(item.as_string());
    if (!is_digest(digests.back())) throw std::invalid_argument("digest");
  }
  return digests;
}

Layer build_layer(const bj::object& object) {
  return {.digest = text_of(object, "digest"),
          .bytes = object.at("bytes").to_number<std::uint64_t>(),
          .entries = object.at("entries").to_number<std::uint64_t>()};
}

Stack build_stack(const bj::object& object) {
  Stack stack{.name = text_of(object, "name"), .layers = digests_of(object)};
  stack.source = text_of(object, "source");
  stack.recipe = later_text_of(object, "recipe");
  stack.created_at = text_of(object, "created_at");
  for (const auto& [name, value] : object.at("env").as_object())
    stack.env.emplace(std::string(name), std::string(value.as_string()));
  stack.user = text_of(object, "user");
  stack.working_directory = text_of(object, "working_directory");
  return stack;
}

Reference build_reference(const bj::object& object) {
  return {.holder = text_of(object, "holder"),
          .stack = text_of(object, "stack"),
          .recipe = later_text_of(object, "recipe"),
          .layers = digests_of(object),
          .process = object.at("process").to_number<pid_t>(),
          .process_started = object.at("process_started").to_number<std::uint64_t>()};
}

}  // namespace

std::string to_text(const Layer& layer) {
  return bj::serialize(bj::object{
      {"format", 1}, {"digest", layer.digest}, {"bytes", layer.bytes}, {"entries", layer.entries}});
}

std::string to_text(const Stack& stack) {
  bj::object env;
  for (const auto& [name, value] : stack.env) env[name] = value;
  return bj::serialize(bj::object{{"format", 1},
                                  {"name", stack.name},
                                  {"layers", to_array(stack.layers)},
                                  {"source", stack.source},
                                  {"recipe", stack.recipe},
                                  {"created_at", stack.created_at},
                                  {"env", std::move(env)},
                                  {"user", stack.user},
                                  {"working_directory", stack.working_directory}});
}

std::string to_text(const Reference& reference) {
  return bj::serialize(bj::object{{"format", 1},
                                  {"holder", reference.holder},
                                  {"stack", reference.stack},
                                  {"recipe", reference.recipe},
                                  {"layers", to_array(reference.layers)},
                                  {"process", reference.process},
                                  {"process_started", reference.process_started}});
}

Result<Layer> read_layer(std::string_view text) {
  return read<Layer>(text, "layer", build_layer);
}
Result<Stack> read_stack(std::string_view text) {
  return read<Stack>(text, "stack", build_stack);
}
Result<Reference> read_reference(std::string_view text) {
  return read<Reference>(text, "reference", build_reference);
}

}  // namespace atl::layer
