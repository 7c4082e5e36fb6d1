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
  // Of a TLS engine: its authority, if that is not the system's, and what we show to one that asks who we
  // are.
  std::string ca_file, certificate_file, key_file;
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

// What the operator's settings say about the engine; empty: nothing.
struct EngineSettings {
  std::string host;          // provider.docker.host
  std::string certificates;  // provider.docker.certificates: a directory with ca.pem, cert.pem and key.pem
};

// The first of: the setting, DOCKER_HOST, the context that DOCKER_CONTEXT or ~/.docker/config.json names, the
// usual sockets of Docker and Podman that exist. Certificates are those of the setting, of DOCKER_CERT_PATH
// (with DOCKER_TLS_VERIFY) or of the context. Code::not_found, with all that was looked at, if there is no
// engine; Code::invalid_argument for certificates that are not there or of no use. Nobody is connected to.
Result<EngineAddress> find_engine(const EngineSettings& settings, const Surroundings& surroundings);

}  // namespace atl::sandbox::docker
