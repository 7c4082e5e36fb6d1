#include "sandbox/gvisor/broker_protocol.h"

#include <boost/json.hpp>
#include <chrono>

#include "base/json.h"

namespace atl::sandbox::gvisor {
namespace {

namespace bj = boost::json;

bj::array to_json(const std::vector<std::string>& words) {
  bj::array out;
  for (const std::string& word : words) out.emplace_back(word);
  return out;
}

bj::array to_json(const std::vector<Wall>& walls) {
  bj::array out;
  for (const Wall& wall : walls) out.push_back(bj::array{wall.name, wall.value});
  return out;
}

bj::object to_json(const Limits& limits) {
  return {{"memory", limits.memory_bytes},     {"cpu", limits.cpu_cores},
          {"wall", limits.wall_time.count()},  {"cpu_time", limits.cpu_time ? limits.cpu_time->count() : -1},
          {"processes", limits.processes_max}, {"disk", limits.disk_bytes},
          {"inodes", limits.inodes_max},       {"files", limits.open_files_max},
          {"output", limits.output_bytes},     {"io", limits.io_bytes_per_second}};
}

bj::object to_json(const Spec& spec) {
  bj::object env;
  for (const auto& [name, value] : spec.env) env[name] = value;
  bj::array mounts;
  for (const HostMount& mount : spec.host_mounts)
    mounts.push_back(bj::object{{"host", mount.host_path},
                                {"guest", mount.guest_path},
                                {"writable", mount.writable},
                                {"inside", mount.ids == MountIds::inside}});
  return {{"id", spec.id},
          {"session", spec.session_id},
          {"tenant", spec.tenant},
          {"environment", spec.environment},
          {"layers", to_json(spec.layers)},
          {"snapshot", spec.snapshot.value_or("")},
          {"hostname", spec.hostname},
          {"user", spec.user},
          {"directory", spec.working_directory},
          {"sudo", spec.sudo},
          {"egress", spec.network == Network::egress},
          {"limits", to_json(spec.limits)},
          {"env", std::move(env)},
          {"mounts", std::move(mounts)}};
}

// Boost.JSON's conversions throw; everything below runs inside read(), which turns that into an error.
std::vector<std::string> words_of(const bj::value& value) {
  std::vector<std::string> out;
  for (const bj::value& word : value.as_array()) out.emplace_back(word.as_string());
  return out;
}

std::vector<Wall> walls_of(const bj::value& value) {
  std::vector<Wall> out;
  for (const bj::value& wall : value.as_array())
    out.push_back({std::string(wall.at(0).as_string()), std::string(wall.at(1).as_string())});
  return out;
}

std::string text_of(const bj::object& object, const char* key) {
  return std::string(object.at(key).as_string());
}

Limits limits_of(const bj::object& from) {
  Limits limits;
  limits.memory_bytes = from.at("memory").to_number<std::uint64_t>();
  limits.cpu_cores = from.at("cpu").to_number<double>();
  limits.wall_time = std::chrono::milliseconds(from.at("wall").to_number<std::int64_t>());
  const auto cpu_time = from.at("cpu_time").to_number<std::int64_t>();
  if (cpu_time >= 0) limits.cpu_time = std::chrono::milliseconds(cpu_time);
  limits.processes_max = from.at("processes").to_number<std::uint32_t>();
  limits.disk_bytes = from.at("disk").to_number<std::uint64_t>();
  limits.inodes_max = from.at("inodes").to_number<std::uint64_t>();
  limits.open_files_max = from.at("files").to_number<std::uint32_t>();
  limits.output_bytes = from.at("output").to_number<std::uint64_t>();
  limits.io_bytes_per_second = from.at("io").to_number<std::uint64_t>();
  return limits;
}

Spec spec_of(const bj::object& from) {
  Spec spec;
  spec.id = text_of(from, "id");
  spec.session_id = text_of(from, "session"), spec.tenant = text_of(from, "tenant");
  spec.environment = text_of(from, "environment");
  spec.layers = words_of(from.at("layers"));
  if (const std::string snapshot = text_of(from, "snapshot"); !snapshot.empty()) spec.snapshot = snapshot;
  spec.hostname = text_of(from, "hostname");
  spec.user = text_of(from, "user");
  spec.working_directory = text_of(from, "directory");
  spec.sudo = from.at("sudo").as_bool();
  spec.network = from.at("egress").as_bool() ? Network::egress : Network::none;
  spec.limits = limits_of(from.at("limits").as_object());
  for (const auto& [name, value] : from.at("env").as_object())
    spec.env.emplace(name, std::string(value.as_string()));
  for (const bj::value& each : from.at("mounts").as_array()) {
    const bj::object& mount = each.as_object();
    spec.host_mounts.push_back({.host_path = text_of(mount, "host"),
                                .guest_path = text_of(mount, "guest"),
                                .writable = mount.at("writable").as_bool(),
                                .ids = mount.at("inside").as_bool() ? MountIds::inside : MountIds::owner});
  }
  return spec;
}

template <class T, class Read>
Result<T> read(std::string_view bytes, Read take) {
  const bj::value value = TRY(json::parse(bytes));
  try {
    return take(value.as_object());
  } catch (const std::exception& error) {
    return fail(Error(Code::invalid_argument, "a message between daemon and broker that neither would send")
                    .with_detail(error.what()));
  }
}

}  // namespace

std::string encode(const Request& request) {
  bj::object out{{"token", request.token}, {"verb", static_cast<unsigned>(request.verb)},
                 {"id", request.id},       {"path", request.path},
                 {"text", request.text},   {"memory", request.memory}};
  if (request.verb == Verb::create) out["spec"] = to_json(request.spec);
  return bj::serialize(out);
}

std::string encode(const Reply& reply) {
  bj::object out{{"token", reply.token},
                 {"number", reply.number},
                 {"text", reply.text},
                 {"names", to_json(reply.names)},
                 {"groups", to_json(reply.groups)},
                 {"walls", to_json(reply.isolation.walls)},
                 {"missing", to_json(reply.isolation.missing)},
                 {"spec", to_json(reply.spec)},
                 {"frozen", reply.frozen}};
  if (reply.error)
    out["error"] = bj::array{static_cast<unsigned>(reply.error->code()), reply.error->message(),
                             reply.error->field(), reply.error->detail()};
  return bj::serialize(out);
}

Result<Request> decode_request(std::string_view bytes) {
  return read<Request>(bytes, [](const bj::object& from) -> Result<Request> {
    Request request;
    request.token = from.at("token").to_number<std::uint64_t>();
    const auto verb = from.at("verb").to_number<unsigned>();
    if (verb > static_cast<unsigned>(Verb::shut_down))
      return fail(Code::invalid_argument, "the broker knows no such request");
    request.verb = static_cast<Verb>(verb);
    request.id = text_of(from, "id");
    request.path = text_of(from, "path"), request.text = text_of(from, "text");
    request.memory = from.at("memory").as_bool();
    if (const bj::value* const spec = from.if_contains("spec")) request.spec = spec_of(spec->as_object());
    return request;
  });
}

Result<Reply> decode_reply(std::string_view bytes) {
  return read<Reply>(bytes, [](const bj::object& from) -> Result<Reply> {
    Reply reply;
    reply.token = from.at("token").to_number<std::uint64_t>();
    reply.number = from.at("number").to_number<std::uint64_t>();
    reply.text = text_of(from, "text");
    reply.names = words_of(from.at("names"));
    reply.groups = words_of(from.at("groups"));
    reply.isolation = {walls_of(from.at("walls")), walls_of(from.at("missing"))};
    reply.spec = spec_of(from.at("spec").as_object());
    reply.frozen = from.at("frozen").as_bool();
    if (const bj::value* const error = from.if_contains("error")) {
      reply.error.emplace(static_cast<Code>(error->at(0).to_number<unsigned>()),
                          std::string(error->at(1).as_string()));
      if (const std::string field(error->at(2).as_string()); !field.empty())
        reply.error = std::move(*reply.error).with_field(field);
      reply.error = std::move(*reply.error).with_detail(std::string(error->at(3).as_string()));
    }
    return reply;
  });
}

}  // namespace atl::sandbox::gvisor
