#include "atoll/errors.h"

#include <fmt/format.h>

#include <array>

#include "atoll/models.h"

namespace atl::client {
namespace {

std::string with_hint(const std::string& message, const std::string& hint) {
  return hint.empty() ? message : fmt::format("{} ({})", message, hint);
}

std::string either(std::string given, std::string_view usual) {
  return given.empty() ? std::string(usual) : std::move(given);
}

template <class Kind>
[[noreturn]] void raise(std::string message, std::string hint, ErrorFacts facts) {
  throw Kind(std::move(message), std::move(hint), std::move(facts));
}

using Raise = void (*)(std::string, std::string, ErrorFacts);
struct Row {
  std::string_view word;
  std::string_view hint;
  Raise raise;
};

constexpr std::string_view kReport = "report it with the request id; the service's log has the details";

// One row for each code of the service, and for nothing else.
constexpr std::array kByCode{
    Row{"invalid_argument", "correct the field that the error names", raise<InvalidArgumentError>},
    Row{"not_found", "check the name or id; what belongs to another tenant is not found either",
        raise<NotFoundError>},
    Row{"method_not_allowed", "the service and this library are of different versions: use those that fit",
        raise<MethodNotAllowedError>},
    Row{"already_exists", "choose another name, or remove what is there first", raise<AlreadyExistsError>},
    Row{"not_a_directory", "a part of the path is a file", raise<NotADirectoryError>},
    Row{"is_a_directory", "the path is a directory; name a file, or use list() or remove(Tree::yes)",
        raise<IsADirectoryError>},
    Row{"not_empty", "pass Tree::yes to remove a directory with what is in it", raise<NotEmptyError>},
    Row{"loop", "the path follows too many symbolic links, or a directory would move into itself",
        raise<LoopError>},
    Row{"no_space", "remove files, or create the session with a larger disk_mb", raise<NoSpaceError>},
    Row{"read_only", "write below /home/user or /tmp instead", raise<ReadOnlyError>},
    Row{"too_large", "send less at once: stream files, shorten names", raise<TooLargeError>},
    Row{"unauthenticated", "set ATOLL_API_KEY, or ClientOptions::api_key, to a key that `atoll keys` knows",
        raise<UnauthenticatedError>},
    Row{"permission_denied", "use a key whose role allows this, or for files and commands another user",
        raise<PermissionDeniedError>},
    Row{"policy_denied", "change the code as the findings recommend, or ask the operator for another policy",
        raise<PolicyDeniedError>},
    Row{"conflict",
        "the message names what stands in the way; refresh() tells a session's state, a paused one wants "
        "resume()",
        raise<ConflictError>},
    Row{"resource_exhausted", "wait and try again, or end sessions that are not needed",
        raise<ResourceExhaustedError>},
    Row{"unsupported", "capabilities() says what each provider of this machine can do",
        raise<UnsupportedError>},
    Row{"deadline_exceeded", "try again, or give it more time", raise<DeadlineExceededError>},
    Row{"canceled", "the call was given up by its caller", raise<CanceledError>},
    Row{"unavailable", "a passing failure: try again", raise<UnavailableError>},
    Row{"data_loss", "something stored is damaged; the service's log says what", raise<DataLossError>},
    Row{"provider_failed", "try again; `atoll doctor` on the machine says what it lacks",
        raise<ProviderFailedError>},
    Row{"internal", kReport, raise<InternalServiceError>},
};

// For a code that a newer service may have and this library does not know.
constexpr std::array kByCategory{
    Row{"user", "", raise<UserError>},         Row{"retryable", "try again", raise<RetryableError>},
    Row{"limit", "", raise<LimitError>},       Row{"policy", "", raise<PolicyError>},
    Row{"provider", "", raise<ProviderError>}, Row{"internal", kReport, raise<InternalError>},
};

template <std::size_t Size>
const Row* row_of(const std::array<Row, Size>& rows, std::string_view word) {
  for (const Row& row : rows) {
    if (row.word == word) return &row;
  }
  return nullptr;
}

std::string text_of(const Json& value) {
  return value.is_string() ? value.as_string() : std::string();
}

}  // namespace

AtollError::AtollError(std::string message, std::string hint)
    : std::runtime_error(with_hint(message, hint)), message_(std::move(message)), hint_(std::move(hint)) {}

ConnectError::ConnectError(std::string message)
    : AtollError("the service was not reached: " + message,
                 "check ATOLL_URL, and that the daemon runs: `atoll serve`") {}

ConnectionLostError::ConnectionLostError(std::string message, std::string hint)
    : AtollError("the connection was cut: " + message,
                 either(std::move(hint),
                        "whether the call took effect is not known: look at the session or its history "
                        "before you repeat it")) {}

RequestTimeoutError::RequestTimeoutError(std::string message, std::string hint)
    : AtollError(std::move(message),
                 either(std::move(hint),
                        "give CallOptions a larger timeout; whether the call took effect is not known")) {}

CallCanceledError::CallCanceledError(std::string message)
    : AtollError(std::move(message), "this program triggered the stop token, or closed the client") {}

ProtocolError::ProtocolError(std::string message)
    : AtollError(std::move(message),
                 "check that ATOLL_URL names an Atoll service, and that its version fits this library") {}

JsonError::JsonError(std::string message) : AtollError(std::move(message), {}) {}

ExecutionFailedError::ExecutionFailedError(std::string message, const Execution& execution)
    : AtollError(std::move(message), {}), execution_(std::make_shared<Execution>(execution)) {}

ServiceError::ServiceError(std::string message, std::string hint, ErrorFacts facts)
    : AtollError(
          facts.field.empty() ? std::move(message) : fmt::format("{} [field {}]", message, facts.field),
          std::move(hint)),
      facts_(std::move(facts)) {}

void throw_service_error(int http_status, std::string_view body) {
  Json answer;
  try {
    answer = Json::parse(body);
  } catch (const JsonError&) {
  }
  const Json& error = answer["error"];
  ErrorFacts facts;
  facts.code = text_of(error["code"]);
  if (facts.code.empty())
    throw ProtocolError(fmt::format("status {} without an error that Atoll would send", http_status));
  facts.details = error["details"];
  facts.category = text_of(facts.details["category"]);
  facts.http_status = http_status;
  facts.retryable = facts.details["retryable"] == Json(true);
  facts.field = text_of(facts.details["field"]);
  facts.request_id = text_of(error["request_id"]);
  std::string message = text_of(error["message"]);
  const Row* row = row_of(kByCode, facts.code);
  if (!row) row = row_of(kByCategory, facts.category);
  if (!row) throw ServiceError(std::move(message), {}, std::move(facts));
  row->raise(std::move(message), std::string(row->hint), std::move(facts));
  std::abort();  // raise() never returns
}

}  // namespace atl::client
