#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "net/client.h"

namespace atl::sandbox::docker {

// Where an engine listens.
struct EngineAddress {
  net::Url url;
  std::string text;  // as it was found, for messages
  std::string
      source;  // who named it: "provider.docker.host", "DOCKER_HOST", "the context NAME", "a usual socket"
  std::string ca_file;    // of a TLS engine whose authority is not the system's
  bool is_local = false;  // it sees the same files and processes as we do
};

// What finding one depends on, apart from files; tests give their own.
struct Surroundings {
  std::function<std::optional<std::string>(const char*)> variable;
  std::vector<std::string> usual_sockets;
  static Surroundings machine();
};

// "unix:///run/docker.sock", "/run/docker.sock", "tcp://host:2375", "http://...", "https://...".
// Code::invalid_argument with field "provider.docker.host" for anything else.
Result<EngineAddress> parse_engine_address(const std::string& text, std::string source);

// The first of: the setting, DOCKER_HOST, the context that DOCKER_CONTEXT or ~/.docker/config.json names, the
// usual sockets of Docker and Podman that exist. Code::not_found, with all that was looked at, if there is
// none; nobody is connected to.
Result<EngineAddress> find_engine(const std::string& setting, const Surroundings& surroundings);

}  // namespace atl::sandbox::docker
