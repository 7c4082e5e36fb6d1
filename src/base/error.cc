#include "base/error.h"

#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

namespace atl {
namespace {

using enum Code;
constexpr auto kUser = Category::user;
constexpr auto kRetry = Category::retryable;
constexpr auto kLimit = Category::limit;
constexpr auto kProvider = Category::provider;

// In the order of the enum, so that a code is its own index; error_test checks it.
constexpr std::array kTable = {
    CodeRow{invalid_argument, "invalid_argument", kUser, 400, "invalid_argument", 2, false},
    CodeRow{not_found, "not_found", kUser, 404, "not_found", 1, false},
    CodeRow{method_not_allowed, "method_not_allowed", kUser, 405, "unimplemented", 2, false},
    CodeRow{already_exists, "already_exists", kUser, 409, "already_exists", 1, false},
    CodeRow{not_a_directory, "not_a_directory", kUser, 400, "invalid_argument", 1, false},
    CodeRow{is_a_directory, "is_a_directory", kUser, 400, "invalid_argument", 1, false},
    CodeRow{not_empty, "not_empty", kUser, 409, "failed_precondition", 1, false},
    CodeRow{loop, "loop", kUser, 400, "invalid_argument", 1, false},
    CodeRow{no_space, "no_space", kLimit, 507, "resource_exhausted", 1, false},
    CodeRow{read_only, "read_only", kUser, 403, "permission_denied", 1, false},
    CodeRow{too_large, "too_large", kLimit, 413, "resource_exhausted", 1, false},
    CodeRow{unauthenticated, "unauthenticated", kUser, 401, "unauthenticated", 1, false},
    CodeRow{permission_denied, "permission_denied", kUser, 403, "permission_denied", 1, false},
    CodeRow{policy_denied, "policy_denied", Category::policy, 403, "permission_denied", 1, false},
    CodeRow{conflict, "conflict", kUser, 409, "failed_precondition", 1, false},
    CodeRow{resource_exhausted, "resource_exhausted", kLimit, 429, "resource_exhausted", 1, true},
    CodeRow{unsupported, "unsupported", kUser, 400, "unimplemented", 2, false},
    CodeRow{deadline_exceeded, "deadline_exceeded", kRetry, 504, "deadline_exceeded", 124, true},
    CodeRow{canceled, "canceled", kUser, 499, "canceled", 130, false},
    CodeRow{unavailable, "unavailable", kRetry, 503, "unavailable", 125, true},
    CodeRow{data_loss, "data_loss", Category::internal, 500, "data_loss", 125, false},
    CodeRow{provider_failed, "provider_failed", kProvider, 502, "unavailable", 125, true},
    CodeRow{internal, "internal", Category::internal, 500, "internal", 125, false},
};

Code code_of_errno(int error_number) {
  switch (error_number) {
    case ENOENT: return not_found;
    case EEXIST: return already_exists;
    case ENOTDIR: return not_a_directory;
    case EISDIR: return is_a_directory;
    case ENOTEMPTY: return not_empty;
    case ELOOP: return loop;
    case ENOSPC:
    case EDQUOT: return no_space;
    case EROFS: return read_only;
    case EFBIG:
    case ENAMETOOLONG: return too_large;
    case EACCES:
    case EPERM: return permission_denied;
    case EINVAL:
    case EXDEV: return invalid_argument;
    case ENOSYS:
    case EOPNOTSUPP: return unsupported;
    case EMFILE:
    case ENFILE:
    case ENOMEM: return resource_exhausted;
    case ESTALE: return conflict;
    case EAGAIN:
    case EBUSY:
    case EPIPE:
    case ECONNREFUSED:
    case ECONNRESET: return unavailable;
    case ETIMEDOUT: return deadline_exceeded;
    case ECANCELED: return canceled;
    default: return internal;
  }
}

}  // namespace

const CodeRow& row(Code code) {
  return kTable[std::to_underlying(code)];
}

std::string_view to_string(Code code) {
  return row(code).name;
}

std::string_view to_string(Category category) {
  switch (category) {
    case Category::user: return "user";
    case Category::retryable: return "retryable";
    case Category::limit: return "limit";
    case Category::policy: return "policy";
    case Category::provider: return "provider";
    case Category::internal: return "internal";
  }
  std::unreachable();
}

Error Error::with_field(std::string field) && {
  field_ = std::move(field);
  return std::move(*this);
}

Error Error::with_detail(std::string detail) && {
  detail_ = detail_.empty() ? std::move(detail) : detail + ": " + detail_;
  return std::move(*this);
}

Error Error::context(std::string_view doing) && {
  message_.insert(0, fmt::format("{}: ", doing));
  return std::move(*this);
}

Error errno_error(int error_number, std::string_view what) {
  return Error(code_of_errno(error_number), fmt::format("{}: {}", what, std::strerror(error_number)));
}

}  // namespace atl
