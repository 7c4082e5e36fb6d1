#pragma once

#include <string>
#include <vector>

#include "session/service.h"

namespace atl::session {

// What an embedding program says about its agent; everything may stay empty.
struct AgentConfig {
  std::string agent;  // a name of the registry
  TextMap metadata;
  TextMap env;
  registry::LimitsPatch limits;
};

// A session's life in a few calls, for programs that embed Atoll. A thin front of Service for one principal.
class Lifecycle {
 public:
  Lifecycle(Service& service, Principal who) : service_(service), who_(std::move(who)) {}

  // Empty names: the defaults.
  Task<Session> start(AgentConfig config, std::string environment, std::string provider) {
    CreateRequest request;
    request.agent = std::move(config.agent);
    request.metadata = std::move(config.metadata);
    request.env = std::move(config.env);
    request.limits = config.limits;
    request.environment = std::move(environment);
    request.provider = std::move(provider);
    return service_.create(who_, std::move(request));
  }
  Task<ExecutionRecord> execute_code(std::string session_id, std::string code, sandbox::Language language,
                                     std::string context) {
    ExecuteRequest request;
    request.code = std::move(code);
    request.language = language;
    request.context = std::move(context);
    return service_.run(who_, std::move(session_id), std::move(request));
  }
  Task<sandbox::InterpreterInfo> prepare_environment(std::string session_id, sandbox::Language language) {
    return service_.prepare_environment(who_, std::move(session_id), language);
  }
  Task<void> cleanup_environment(std::string session_id, std::string context) {
    return service_.remove_context(who_, std::move(session_id), std::move(context));
  }
  // Newest first.
  Task<std::vector<ExecutionRecord>> execution_history(std::string session_id, std::uint32_t limit = 100) {
    HistoryRequest request;
    request.id = std::move(session_id);
    request.limit = limit;
    CO_TRY(auto page, co_await service_.history(who_, std::move(request)));
    co_return std::move(page.items);
  }
  Task<Session> stop(std::string session_id) { return service_.destroy(who_, std::move(session_id)); }

 private:
  Service& service_;
  Principal who_;
};

}  // namespace atl::session
