#include "net/error_header.h"

#include <fmt/format.h>

namespace atl::net {

std::string error_facts(Code code) {
  const CodeRow& facts = row(code);
  return fmt::format("{}; category={}; retryable={}", facts.name, to_string(facts.category), facts.retryable);
}

void name_error(Response& response, Code code) {
  response.headers.set(std::string(kErrorHeader), error_facts(code));
}

Code code_of_status(int status) {
  switch (status) {
    case 401: return Code::unauthenticated;
    case 403: return Code::permission_denied;
    case 404: return Code::not_found;
    case 405: return Code::method_not_allowed;
    case 408: return Code::deadline_exceeded;
    case 409: return Code::conflict;
    case 413:
    case 431: return Code::too_large;
    case 429: return Code::resource_exhausted;
    case 499: return Code::canceled;
    case 502: return Code::provider_failed;
    case 503: return Code::unavailable;
    case 504: return Code::deadline_exceeded;
    case 507: return Code::no_space;
    default: return status < 500 ? Code::invalid_argument : Code::internal;
  }
}

}  // namespace atl::net
