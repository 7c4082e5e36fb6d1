#pragma once

#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>

#include "atoll/json.h"

/// @file
/// Every way in which a call of this library can fail.
///
/// What a guest's program did is no error of a call: it is the `status` of an Execution. The classes follow
/// the closed set of codes of the service, grouped by what a caller can do about them:
///
///     AtollError
///       ConfigurationError    the client was not told enough, or something wrong; nothing was sent
///       ConnectError          the service was not reached; nothing was sent, so trying again is safe
///       ConnectionLostError   the connection was cut; whether the call took effect is not known
///       RequestTimeoutError   no answer in time; whether the call took effect is not known
///       CallCanceledError     this program gave the call up
///       ProtocolError         an answer that this client does not understand
///       JsonError             a text that is no JSON, or a value of another kind than expected
///       ExecutionFailedError  thrown by Execution::check() alone: the guest's program did not succeed
///       ServiceError          the service refused or failed, and said why
///         UserError           the request must be changed
///         RetryableError      the same call may succeed later
///         LimitError          a limit was reached
///         PolicyError         a policy refused the code
///         ProviderError       the machinery of sandboxes failed
///         InternalError       a defect of the service
namespace atl::client {

/// The root of all. what() is the message and, in brackets, the hint.
class AtollError : public std::runtime_error {
 public:
  AtollError(std::string message, std::string hint);

  const std::string& message() const { return message_; }
  /// What to do about it, in one sentence.
  const std::string& hint() const { return hint_; }
  /// Whether the same call, sent again, may succeed and does no harm.
  virtual bool retryable() const { return false; }

 private:
  std::string message_;
  std::string hint_;
};

/// The client was not told enough, or something wrong, before anything was sent.
class ConfigurationError : public AtollError {
 public:
  using AtollError::AtollError;
};

/// The service was not reached. Nothing was sent.
class ConnectError : public AtollError {
 public:
  explicit ConnectError(std::string message);
  bool retryable() const override { return true; }
};

/// The connection was cut before the whole answer came.
class ConnectionLostError : public AtollError {
 public:
  explicit ConnectionLostError(std::string message, std::string hint = {});
};

/// No answer in time.
class RequestTimeoutError : public AtollError {
 public:
  explicit RequestTimeoutError(std::string message, std::string hint = {});
};

/// The caller's stop token was triggered, or Async::cancel() called, or the client was closed.
class CallCanceledError : public AtollError {
 public:
  explicit CallCanceledError(std::string message);
};

/// An answer that this client does not understand.
class ProtocolError : public AtollError {
 public:
  explicit ProtocolError(std::string message);
};

/// A text that is no JSON, or a value of another kind than was asked for.
class JsonError : public AtollError {
 public:
  explicit JsonError(std::string message);
};

struct Execution;

/// The guest's program did not succeed. Thrown by Execution::check() and by nothing else.
class ExecutionFailedError : public AtollError {
 public:
  ExecutionFailedError(std::string message, const Execution& execution);
  const Execution& execution() const { return *execution_; }

 private:
  std::shared_ptr<const Execution> execution_;
};

/// What the service told about a failure.
struct ErrorFacts {
  std::string code;        ///< "not_found"; the whole set is BY_CODE of errors.cc and docs/guides/cpp.md
  std::string category;    ///< user, retryable, limit, policy, provider, internal
  int http_status = 0;     ///< 0: told inside an answer, as by a fork of several
  bool retryable = false;  ///< the service's own word
  std::string field;       ///< the field of the request at fault, as the caller spelled it
  std::string request_id;  ///< names the call in the service's log
  Json details;            ///< everything else: permission, quota, limit, used, retry_after_seconds
};

/// The service refused or failed, and said why.
class ServiceError : public AtollError {
 public:
  ServiceError(std::string message, std::string hint, ErrorFacts facts);

  const ErrorFacts& facts() const { return facts_; }
  const std::string& code() const { return facts_.code; }
  const std::string& category() const { return facts_.category; }
  int http_status() const { return facts_.http_status; }
  const std::string& field() const { return facts_.field; }
  const std::string& request_id() const { return facts_.request_id; }
  bool retryable() const override { return facts_.retryable; }

 private:
  ErrorFacts facts_;
};

/// The request must be changed; the same one fails again.
class UserError : public ServiceError {
 public:
  using ServiceError::ServiceError;
};
/// The same call may succeed later.
class RetryableError : public ServiceError {
 public:
  using ServiceError::ServiceError;
};
/// A limit was reached.
class LimitError : public ServiceError {
 public:
  using ServiceError::ServiceError;
};
/// A policy refused the code.
class PolicyError : public ServiceError {
 public:
  using ServiceError::ServiceError;
};
/// The machinery of sandboxes failed, neither the caller nor the guest.
class ProviderError : public ServiceError {
 public:
  using ServiceError::ServiceError;
};
/// A defect of the service.
class InternalError : public ServiceError {
 public:
  using ServiceError::ServiceError;
};

/// One class for each code of the service, so that a handler names what it can mend.
#define ATOLL_ERROR_OF_CODE(NAME, BASE) \
  class NAME : public BASE {            \
   public:                              \
    using BASE::BASE;                   \
  };
ATOLL_ERROR_OF_CODE(InvalidArgumentError, UserError)
ATOLL_ERROR_OF_CODE(NotFoundError, UserError)
ATOLL_ERROR_OF_CODE(MethodNotAllowedError, UserError)
ATOLL_ERROR_OF_CODE(AlreadyExistsError, UserError)
ATOLL_ERROR_OF_CODE(NotADirectoryError, UserError)
ATOLL_ERROR_OF_CODE(IsADirectoryError, UserError)
ATOLL_ERROR_OF_CODE(NotEmptyError, UserError)
ATOLL_ERROR_OF_CODE(LoopError, UserError)
ATOLL_ERROR_OF_CODE(NoSpaceError, LimitError)
ATOLL_ERROR_OF_CODE(ReadOnlyError, UserError)
ATOLL_ERROR_OF_CODE(TooLargeError, LimitError)
ATOLL_ERROR_OF_CODE(UnauthenticatedError, UserError)
ATOLL_ERROR_OF_CODE(PermissionDeniedError, UserError)
ATOLL_ERROR_OF_CODE(PolicyDeniedError, PolicyError)
ATOLL_ERROR_OF_CODE(ConflictError, UserError)
ATOLL_ERROR_OF_CODE(ResourceExhaustedError, LimitError)
ATOLL_ERROR_OF_CODE(UnsupportedError, UserError)
ATOLL_ERROR_OF_CODE(DeadlineExceededError, RetryableError)
ATOLL_ERROR_OF_CODE(CanceledError, UserError)
ATOLL_ERROR_OF_CODE(UnavailableError, RetryableError)
ATOLL_ERROR_OF_CODE(DataLossError, InternalError)
ATOLL_ERROR_OF_CODE(ProviderFailedError, ProviderError)
ATOLL_ERROR_OF_CODE(InternalServiceError, InternalError)
#undef ATOLL_ERROR_OF_CODE

/// Throws the error that a refusal stands for: its class by code, for a code that this library does not know
/// by category. `body` is the whole answer; one that no Atoll would send is ProtocolError.
[[noreturn]] void throw_service_error(int http_status, std::string_view body);

}  // namespace atl::client
