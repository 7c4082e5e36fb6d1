#include "sandbox/docker/engine_address.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <boost/json.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/json.h"
#include "sandbox/docker/json_access.h"

namespace atl::sandbox::docker {
namespace {

std::optional<std::string> file_text(const std::string& path) {
  std::ifstream in(path);
  if (!in) return std::nullopt;
  std::ostringstream all;
  all << in.rdbuf();
  return all.str();
}

bool is_socket_file(const std::string& path) {
  struct stat facts {};
  return ::stat(path.c_str(), &facts) == 0 && S_ISSOCK(facts.st_mode);
}

// The address that the Docker command line's context of that name has. The directory of its file is a digest
// of the name, which is why every one is looked at.
std::optional<std::string> context_host(const std::string& configuration, const std::string& name) {
  std::error_code error;
  const std::string root = configuration + "/contexts/meta";
  for (const auto& entry : std::filesystem::directory_iterator(root, error)) {
    const auto text = file_text(entry.path().string() + "/meta.json");
    if (!text) continue;
    const auto meta = json::parse(*text);
    if (meta && text_at(*meta, {"Name"}) == name) {
      std::string host = text_at(*meta, {"Endpoints", "docker", "Host"});
      if (!host.empty()) return host;
    }
  }
  return std::nullopt;
}

}  // namespace

Surroundings Surroundings::machine() {
  Surroundings surroundings;
  surroundings.variable = [](const char* name) -> std::optional<std::string> {
    const char* value = std::getenv(name);
    if (value == nullptr || *value == '\0') return std::nullopt;
    return value;
  };
  surroundings.usual_sockets = {"/run/docker.sock", "/var/run/docker.sock", "/run/podman/podman.sock"};
  if (const auto runtime = surroundings.variable("XDG_RUNTIME_DIR")) {
    surroundings.usual_sockets.push_back(*runtime + "/docker.sock");
    surroundings.usual_sockets.push_back(*runtime + "/podman/podman.sock");
  }
  return surroundings;
}

Result<EngineAddress> parse_engine_address(const std::string& text, std::string source) {
  EngineAddress address;
  address.text = text;
  address.source = std::move(source);
  std::string plain = text;
  if (text.starts_with('/'))
    plain = "unix:" + text;
  else if (text.starts_with("unix://"))
    plain = "unix:" + text.substr(7);
  else if (text.starts_with("tcp://"))
    plain = "http://" + text.substr(6);
  auto url = net::Url::parse(plain);
  if (!url)
    return fail(Error(Code::invalid_argument,
                      fmt::format("'{}' ({}) is no address of an engine: write unix:///path, tcp://host:port "
                                  "or https://host:port",
                                  text, address.source))
                    .with_field("provider.docker.host"));
  address.url = std::move(*url);
  address.is_local = address.url.scheme == net::Scheme::unix_socket;
  return address;
}

Result<EngineAddress> find_engine(const std::string& setting, const Surroundings& surroundings) {
  if (!setting.empty()) return parse_engine_address(setting, "provider.docker.host");
  const auto with_authority = [&](EngineAddress address) {
    const auto certificates = surroundings.variable("DOCKER_CERT_PATH");
    if (!surroundings.variable("DOCKER_TLS_VERIFY") || address.url.scheme != net::Scheme::http)
      return address;
    address.url.scheme = net::Scheme::https;
    if (certificates) address.ca_file = *certificates + "/ca.pem";
    return address;
  };
  if (const auto host = surroundings.variable("DOCKER_HOST"))
    return with_authority(TRY(parse_engine_address(*host, "DOCKER_HOST")));
  std::string configuration = surroundings.variable("HOME").value_or("") + "/.docker";
  if (const auto named = surroundings.variable("DOCKER_CONFIG")) configuration = *named;
  std::string context = surroundings.variable("DOCKER_CONTEXT").value_or("");
  if (context.empty())
    if (const auto text = file_text(configuration + "/config.json"))
      if (const auto parsed = json::parse(*text)) context = text_at(*parsed, {"currentContext"});
  if (!context.empty() && context != "default") {
    const auto host = context_host(configuration, context);
    if (!host)
      return fail(Code::not_found,
                  fmt::format("the Docker context '{}' has no address of an engine", context));
    return parse_engine_address(*host, fmt::format("the context {}", context));
  }
  std::string looked_at;
  for (const std::string& path : surroundings.usual_sockets) {
    if (is_socket_file(path)) return parse_engine_address(path, "a usual socket");
    looked_at += (looked_at.empty() ? "" : ", ") + path;
  }
  return fail(
      Code::not_found,
      fmt::format("no engine was found: provider.docker.host and DOCKER_HOST are not set, there is no "
                  "Docker context, and none of these is a socket: {}",
                  looked_at));
}

}  // namespace atl::sandbox::docker
