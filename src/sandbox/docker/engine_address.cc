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

// What the Docker command line stores of one engine.
struct Context {
  std::string host;
  std::string certificates;  // a directory; empty: none
  bool trusts_anybody = false;
};

// The context of that name. The directory of its file is a digest of the name, which is why every one is
// looked at.
std::optional<Context> find_context(const std::string& configuration, const std::string& name) {
  std::error_code error;
  const std::string root = configuration + "/contexts/meta";
  for (const auto& entry : std::filesystem::directory_iterator(root, error)) {
    const auto text = file_text(entry.path().string() + "/meta.json");
    if (!text) continue;
    const auto meta = json::parse(*text);
    if (!meta || text_at(*meta, {"Name"}) != name) continue;
    Context context;
    context.host = text_at(*meta, {"Endpoints", "docker", "Host"});
    context.trusts_anybody = is_true_at(*meta, {"Endpoints", "docker", "SkipTLSVerify"});
    const std::string stored =
        configuration + "/contexts/tls/" + entry.path().filename().string() + "/docker";
    if (std::filesystem::is_directory(stored, error)) context.certificates = stored;
    if (!context.host.empty()) return context;
  }
  return std::nullopt;
}

auto refuse_certificates(const std::string& why) {
  return fail(Error(Code::invalid_argument, why).with_field("provider.docker.certificates"));
}

// `directory` as Docker has it: ca.pem, and cert.pem with key.pem where the engine asks who we are.
Result<EngineAddress> with_certificates(EngineAddress address, const std::string& directory) {
  if (directory.empty()) return address;
  if (address.url.scheme == net::Scheme::unix_socket)
    return refuse_certificates(
        fmt::format("{} is a socket of this machine and needs no certificates", address.text));
  address.url.scheme = net::Scheme::https;
  std::error_code error;
  const auto file = [&](const char* name) {
    std::string path = directory + "/" + name;
    return std::filesystem::is_regular_file(path, error) ? path : std::string();
  };
  address.ca_file = file("ca.pem");
  address.certificate_file = file("cert.pem"), address.key_file = file("key.pem");
  if (address.certificate_file.empty() != address.key_file.empty())
    return refuse_certificates(directory + " must have both of cert.pem and key.pem, or none of them");
  if (address.ca_file.empty() && address.certificate_file.empty())
    return refuse_certificates(directory + " has neither ca.pem nor cert.pem with key.pem");
  return address;
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

Result<EngineAddress> find_engine(const EngineSettings& settings, const Surroundings& surroundings) {
  const std::string& certificates = settings.certificates;
  if (!settings.host.empty())
    return with_certificates(TRY(parse_engine_address(settings.host, "provider.docker.host")), certificates);
  if (const auto host = surroundings.variable("DOCKER_HOST")) {
    EngineAddress address = TRY(parse_engine_address(*host, "DOCKER_HOST"));
    if (!certificates.empty()) return with_certificates(std::move(address), certificates);
    if (!surroundings.variable("DOCKER_TLS_VERIFY") || address.url.scheme == net::Scheme::unix_socket)
      return address;
    address.url.scheme = net::Scheme::https;
    return with_certificates(std::move(address), surroundings.variable("DOCKER_CERT_PATH").value_or(""));
  }
  std::string configuration = surroundings.variable("HOME").value_or("") + "/.docker";
  if (const auto named = surroundings.variable("DOCKER_CONFIG")) configuration = *named;
  std::string context = surroundings.variable("DOCKER_CONTEXT").value_or("");
  if (context.empty())
    if (const auto text = file_text(configuration + "/config.json"))
      if (const auto parsed = json::parse(*text)) context = text_at(*parsed, {"currentContext"});
  if (!context.empty() && context != "default") {
    const auto found = find_context(configuration, context);
    if (!found)
      return fail(Code::not_found,
                  fmt::format("the Docker context '{}' has no address of an engine", context));
    if (found->trusts_anybody)
      return fail(
          Code::unsupported,
          fmt::format("the Docker context '{}' does not verify its engine, which we always do: give it "
                      "the authority of the engine",
                      context));
    return with_certificates(TRY(parse_engine_address(found->host, fmt::format("the context {}", context))),
                             certificates.empty() ? found->certificates : certificates);
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
