#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <string>

#include "registry/registry.h"
#include "session/providers.h"
#include "session/session_networks.h"
#include "session/session_skills.h"
#include "session/session_table.h"

namespace atl::session {

// Decides everything about a new session before it has a sandbox: merges the request with its agent, its
// environment and the service's defaults, checks all of it, and gives it ids and secrets. A draft is a Live
// in the state creating that only the caller knows; SessionLifecycle::bring_up() puts it into the table and
// makes its sandbox. A draft that is dropped leaves nothing behind.
//
// Belongs to the loop thread.
class Drafts {
 public:
  struct Dependencies {
    boost::asio::any_io_executor executor;
    const registry::Registry* registry = nullptr;
    Providers providers;
    Clock* clock = nullptr;
    const SessionTable* table = nullptr;
    const SessionNetworks* networks = nullptr;
    const SessionSkills* skills = nullptr;
  };
  // `options` must outlive this.
  Drafts(Dependencies dependencies, const ServiceOptions& options)
      : dependencies_(std::move(dependencies)), options_(options) {}

  // Code::invalid_argument, too_large or unsupported, naming the field at fault.
  Task<LivePtr> create(Principal who, CreateRequest request) const;
  // A copy of `source` with these changes; `who` becomes its key. It has ids and secrets of its own and
  // expects the source's default interpreters in its sandbox.
  Result<LivePtr> copy(const Principal& who, const Live& source, const UpdateRequest& changes) const;
  // Gives a stored session what it lacks because an earlier version, or other settings, made it. True if
  // something changed.
  bool complete_secrets(Session& facts) const;

 private:
  struct Choice {
    std::optional<registry::Agent> agent;  // a copy: a tenant may replace its own meanwhile
    const registry::Environment* environment = nullptr;
    sandbox::Provider* provider = nullptr;
  };
  // Sets facts.provider and, where it is not simply what was asked for, facts.provider_reason.
  Result<sandbox::Provider*> choose_provider(const CreateRequest& request, const registry::Agent& agent,
                                             const std::string& environment, const std::string& tenant,
                                             Session& facts) const;
  Situation situation_of(const CreateRequest& request, const registry::Agent& agent,
                         const std::string& environment, const std::string& tenant) const;
  Result<Choice> choose(const CreateRequest& request, const std::string& tenant, Session& facts) const;
  // Tools, skills, prompt and storage, the agent's where nothing else is asked for.
  Task<void> set_toolkit(const CreateRequest& request, const Choice& choice, Session& facts) const;
  Result<void> set_limits(const CreateRequest& request, const Choice& choice, Session& facts) const;
  Task<void> set_network(CreateRequest& request, const Choice& choice, Session& facts) const;
  Result<void> set_maps(CreateRequest& request, const Choice& choice, Session& facts) const;

  Dependencies dependencies_;
  const ServiceOptions& options_;
};

}  // namespace atl::session
