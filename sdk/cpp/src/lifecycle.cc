#include "atoll/lifecycle.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace atl::client {
namespace {

namespace fs = std::filesystem;

ClientOptions options_with(std::string key) {
  ClientOptions options;
  const char* own = std::getenv("ATOLL_API_KEY");
  if (!own || !*own) options.api_key = std::move(key);
  return options;
}

// A sandbox chooses its files' names; the digest is ours.
std::string artifact_name(const Artifact& artifact) {
  std::string name = artifact.path;
  auto odd = [](char c) {
    return !((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
             c == '_' || c == '-');
  };
  std::ranges::replace_if(name, odd, '_');
  if (name.size() > 100) name = name.substr(name.size() - 100);
  std::string digest = artifact.digest.size() > 16 ? artifact.digest.substr(artifact.digest.size() - 16) : "";
  return digest + "-" + name;
}

void write_whole(const fs::path& file, const std::string& text) {
  fs::path draft = file;
  draft += ".new";
  std::ofstream out(draft, std::ios::binary | std::ios::trunc);
  out.write(text.data(), static_cast<std::streamsize>(text.size()));
  out.close();
  std::error_code problem;
  if (out) fs::rename(draft, file, problem);
  if (!out || problem)
    throw ConfigurationError(fmt::format("{} cannot be written", file.string()),
                             "check the directory and the disk");
}

}  // namespace

Started SandboxManager::start_sandbox(const std::string& session_id, std::optional<std::string> environment,
                                      std::optional<std::string> provider, Variables metadata) {
  if (provider == "e2b") {
    Json there = client_.capabilities();
    auto works = [](const Json& one) { return one["name"] == Json("e2b") && one["available"] == Json(true); };
    if (std::ranges::none_of(there["providers"].items(), works)) provider.reset();
  }
  if (!session_id.empty()) {
    // The name is taken before the call, so that two threads do not both start a sandbox for it.
    std::scoped_lock lock(mutex_);
    if (!ids_.try_emplace(session_id).second)
      throw ConfigurationError(fmt::format("session {} has a sandbox", session_id), "stop it first");
    metadata["session_id"] = session_id;
  }
  CreateOptions options;
  options.environment = std::move(environment);
  options.provider = std::move(provider);
  options.metadata = std::move(metadata);
  try {
    Session session = client_.create(std::move(options));
    SessionInfo info = session.keep().info();
    std::string name = session_id.empty() ? session.id() : session_id;
    std::scoped_lock lock(mutex_);
    ids_[name] = session.id();
    return {name, info.sandbox_id, info.provider, info.url};
  } catch (...) {
    std::scoped_lock lock(mutex_);
    if (!session_id.empty()) ids_.erase(session_id);
    throw;
  }
}

std::string SandboxManager::id_of(const std::string& session_id) const {
  std::scoped_lock lock(mutex_);
  auto found = ids_.find(session_id);
  return found == ids_.end() || found->second.empty() ? session_id : found->second;
}

Session SandboxManager::session(const std::string& session_id) {
  Session found = client_.get(id_of(session_id));
  found.keep();
  return found;
}

Execution SandboxManager::execute_code(const std::string& session_id, std::string code,
                                       ExecuteOptions options) {
  return session(session_id).execute(std::move(code), std::move(options));
}

void SandboxManager::stop_sandbox(const std::string& session_id, const std::string& sandbox_id) {
  session(session_id).end(sandbox_id);
  std::scoped_lock lock(mutex_);
  ids_.erase(session_id);
}

Lifecycle::Lifecycle(std::string storage_path, std::string runtime_path, std::string e2b_api_key)
    : Lifecycle(std::move(storage_path), std::move(runtime_path),
                SandboxClient(options_with(std::move(e2b_api_key)))) {}

Lifecycle::Lifecycle(std::string storage_path, std::string runtime_path, SandboxClient client)
    : storage_path_(std::move(storage_path)), client_(std::move(client)), manager_(client_) {
  for (const fs::path& directory : {fs::path(storage_path_) / "sessions",
                                    fs::path(storage_path_) / "artifacts", fs::path(runtime_path)}) {
    std::error_code problem;
    fs::create_directories(directory, problem);
    if (problem)
      throw ConfigurationError(fmt::format("{}: {}", directory.string(), problem.message()),
                               "name another directory");
  }
}

Started Lifecycle::start(const Json& agent_config, std::optional<std::string> environment,
                         std::optional<std::string> provider) {
  Variables metadata;
  if (agent_config.size() > 0) metadata["agent_config"] = agent_config.dump();
  Json named = environment ? Json(*environment) : Json();
  Started started =
      manager_.start_sandbox({}, std::move(environment), std::move(provider), std::move(metadata));
  note(started.session_id, Json::object({{"session_id", started.session_id},
                                         {"sandbox_id", started.sandbox_id},
                                         {"provider", started.provider},
                                         {"url", started.url},
                                         {"environment", named},
                                         {"agent_config", agent_config},
                                         {"state", "running"}}));
  return started;
}

void Lifecycle::stop(const std::string& session_id, const std::string& sandbox_id) {
  Session session = manager_.session(session_id);
  Json kept = Json::array();
  for (const Artifact& one : session.artifacts()) {
    fs::path target = fs::path(storage_path_) / "artifacts" / session.id() / artifact_name(one);
    std::error_code problem;
    fs::create_directories(target.parent_path(), problem);
    write_whole(target, client_.artifact(one.digest));
    kept.push(Json::object({{"path", one.path}, {"file", target.string()}}));
  }
  manager_.stop_sandbox(session_id, sandbox_id);
  note(session_id, Json::object({{"state", session.refresh().state}, {"artifacts", kept}}));
}

void Lifecycle::note(const std::string& session_id, const Json& facts) const {
  // An id of the service, or one that its caller chose: no path.
  fs::path file = fs::path(storage_path_) / "sessions" / (escape(session_id) + ".json");
  Json known = Json::object();
  if (std::ifstream in(file); in) {
    std::stringstream text;
    text << in.rdbuf();
    known = Json::parse(text.str());
  }
  for (const auto& [name, value] : facts.members()) known.set(name, value);
  write_whole(file, known.dump(2) + "\n");
}

}  // namespace atl::client
