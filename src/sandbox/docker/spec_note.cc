#include "sandbox/docker/spec_note.h"

#include <boost/json.hpp>

#include "sandbox/limit_table.h"

namespace atl::sandbox::docker {
namespace {

namespace bj = boost::json;

std::string text_or(const bj::value& value, const char* key, std::string usual) {
  if (!value.is_object()) return usual;
  const bj::value* found = value.as_object().if_contains(key);
  return found != nullptr && found->is_string() ? std::string(found->as_string()) : usual;
}

}  // namespace

bj::value to_json(const Limits& limits) {
  bj::object out;
  for (const LimitRow& row : kLimits)
    if (const auto value = amount(limits, row)) out[row.name] = *value;
  return out;
}

Limits limits_of(const bj::value& value) {
  Limits limits;
  LimitsPatch patch;
  if (value.is_object())
    for (const LimitRow& row : kLimits)
      if (const bj::value* found = value.as_object().if_contains(row.name);
          found != nullptr && found->is_number() && found->to_number<double>() > 0)
        set_amount(patch, row, found->to_number<double>());
  apply(patch, limits);
  return limits;
}

bj::value to_json(const Spec& spec) {
  bj::object env;
  for (const auto& [name, value] : spec.env) env[name] = value;
  return bj::object{{"id", spec.id},
                    {"image", spec.image},
                    {"session", spec.session_id},
                    {"hostname", spec.hostname},
                    {"user", spec.user},
                    {"working_directory", spec.working_directory},
                    {"network", spec.network == Network::egress ? "egress" : "none"},
                    {"limits", to_json(spec.limits)},
                    {"env", std::move(env)}};
}

Spec spec_of(const bj::value& value) {
  Spec spec;
  spec.id = text_or(value, "id", "");
  spec.image = text_or(value, "image", "");
  spec.session_id = text_or(value, "session", "");
  spec.hostname = text_or(value, "hostname", spec.hostname);
  spec.user = text_or(value, "user", spec.user);
  spec.working_directory = text_or(value, "working_directory", spec.working_directory);
  if (text_or(value, "network", "none") == "egress") spec.network = Network::egress;
  if (!value.is_object()) return spec;
  if (const bj::value* limits = value.as_object().if_contains("limits")) spec.limits = limits_of(*limits);
  if (const bj::value* env = value.as_object().if_contains("env"); env != nullptr && env->is_object())
    for (const auto& [name, text] : env->as_object())
      if (text.is_string()) spec.env[std::string(name)] = std::string(text.as_string());
  return spec;
}

}  // namespace atl::sandbox::docker
