#include "tools/open_call.h"

#include <fmt/format.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/json/serialize.hpp>
#include <csignal>
#include <filesystem>
#include <utility>

#include "base/bytes.h"
#include "session/subject.h"
#include "tools/command_line.h"
#include "tools/http_program.h"

namespace atl::tools {
namespace {

namespace bj = boost::json;

constexpr std::string_view kPluginsInside = "/run/atoll-tool/plugins";
constexpr std::string_view kHostInside = "/run/atoll-tool/bin";

boost::asio::awaitable<void> close_record(session::Service* service, auth::Principal who,
                                          session::ExecutionRecord record) {
  const log::Subject about = session::subject_of(who, record.session_id);
  const std::string id = record.record_id;
  if (auto closed = co_await service->finish_tool(std::move(who), std::move(record)); !closed)
    log::warn(about, "a tool's record could not be closed",
              {{"record", id}, {"error", closed.error().message()}});
}

boost::asio::awaitable<void> end_session(session::Service* service, auth::Principal who, std::string id) {
  if (auto ended = co_await service->destroy(who, id); !ended)
    log::warn(session::subject_of(who, id), "a tool's sandbox could not be ended; its time to live will",
              {{"error", ended.error().message()}});
}

Result<Invocation> request_of(const HttpRun& run, const bj::value& input, std::chrono::milliseconds timeout) {
  bj::object headers;
  for (const auto& [name, value] : run.headers) headers[name] = value;
  bj::value body = nullptr;
  if (run.send_input) body = input;
  const bj::object request{{"method", run.method},
                           {"url", TRY(filled_url(run, input))},
                           {"headers", std::move(headers)},
                           {"body", std::move(body)},
                           {"timeout", static_cast<double>(timeout.count()) / 1000}};
  return Invocation{{"python3", "-c", std::string(kHttpProgram)}, bj::serialize(request)};
}

}  // namespace

OpenCall::OpenCall(boost::asio::any_io_executor executor, session::Service* service, auth::Principal who,
                   session::ExecutionRecord record)
    : executor_(std::move(executor)), service_(service), who_(std::move(who)), record_(std::move(record)) {}

OpenCall::~OpenCall() {
  if (!is_open_) return;
  record_.status = session::Status::killed;
  record_.exit_code = 128 + SIGKILL;
  record_.reason = "the client went away";
  boost::asio::co_spawn(executor_, close_record(service_, std::move(who_), std::move(record_)),
                        boost::asio::detached);
}

void OpenCall::note(std::string input_digest, std::string output_digest, const std::string& ran,
                    const sandbox::Usage& used) {
  record_.usage = used;
  bj::array records;
  if (!ran.empty()) records.push_back(bj::value(ran));
  record_.tool = bj::serialize(bj::object{{"input_digest", std::move(input_digest)},
                                          {"output_digest", std::move(output_digest)},
                                          {"records", std::move(records)}});
}

Task<session::ExecutionRecord> OpenCall::finish(session::Status status, std::string error, std::string value,
                                                std::string output) {
  is_open_ = false;
  record_.status = status;
  record_.error = std::move(error);
  record_.error_value = std::move(value);
  record_.out = std::move(output);
  record_.exit_code = status == session::Status::success ? 0 : 1;
  CO_TRY(record_, co_await service_->finish_tool(who_, std::move(record_)));
  co_return record_;
}

boost::asio::awaitable<void> OpenCall::fail_with(Error error) {
  auto closed = co_await finish(session::Status::error, "ProviderError", error.message(), "");
  if (!closed)
    log::warn(session::subject_of(who_, record_.session_id), "a tool's record could not be closed",
              {{"record", record_.record_id}, {"error", closed.error().message()}});
}

FreshSandbox::~FreshSandbox() {
  boost::asio::co_spawn(executor_, end_session(service_, std::move(who_), std::move(session_id_)),
                        boost::asio::detached);
}

Result<Invocation> invocation_of(const Tool& tool, const bj::value& input,
                                 std::chrono::milliseconds timeout) {
  if (const auto* command = std::get_if<CommandRun>(&tool.run))
    return Invocation{TRY(filled_words(*command, input)), bj::serialize(input)};
  if (const auto* http = std::get_if<HttpRun>(&tool.run)) return request_of(*http, input, timeout);
  const auto& plugin = std::get<PluginRun>(tool.run);
  return Invocation{{fmt::format("{}/atoll", kHostInside), "plugin-host",
                     fmt::format("{}/{}", kPluginsInside, plugin.library), tool.name},
                    bj::serialize(input)};
}

// The text of the input as a literal: a string of JSON, which Python and JavaScript read alike.
std::string code_with_input(const CodeRun& run, const bj::value& input) {
  const std::string literal = bj::serialize(bj::string_view(bj::serialize(input)));
  switch (run.language) {
    case sandbox::Language::python:
      return fmt::format("import json\ntool_input = json.loads({})\n{}", literal, run.code);
    case sandbox::Language::javascript:
    case sandbox::Language::typescript:
    case sandbox::Language::deno:
      return fmt::format("var tool_input = JSON.parse({});\n{}", literal, run.code);
    default: return run.code;
  }
}

policy::Language policy_language(sandbox::Language language) {
  switch (language) {
    case sandbox::Language::python: return policy::Language::python;
    case sandbox::Language::javascript:
    case sandbox::Language::typescript:
    case sandbox::Language::deno: return policy::Language::javascript;
    case sandbox::Language::r: return policy::Language::r;
    case sandbox::Language::java: return policy::Language::java;
    case sandbox::Language::shell: return policy::Language::shell;
  }
  std::unreachable();
}

Result<session::LocalRequest> plugin_mounts(const PluginRun& run, const std::vector<std::string>& directories,
                                            const std::string& host) {
  if (directories.empty() || host.empty())
    return fail(Code::unsupported,
                "this service has no plugins: the operator names their directories in "
                "'tools.plugins'");
  for (const std::string& directory : directories) {
    const std::string path = directory + "/" + run.library;
    std::error_code failed;
    if (!std::filesystem::is_regular_file(path, failed)) continue;
    session::LocalRequest local;
    local.host_mounts.push_back({.host_path = directory, .guest_path = std::string(kPluginsInside)});
    local.host_mounts.push_back({.host_path = host, .guest_path = std::string(kHostInside)});
    return local;
  }
  return fail(Code::not_found, fmt::format("no plugin directory has '{}'", run.library));
}

}  // namespace atl::tools
