#include "base/error_page.h"

#include <fmt/format.h>

#include <iterator>
#include <utility>

namespace atl {

std::string_view advice(Code code) {
  using enum Code;
  switch (code) {
    case invalid_argument: return "mend the request; `field` names what is wrong";
    case not_found:
      return "check the id: what ended long ago is gone, and what is another tenant's does not exist";
    case method_not_allowed: return "use one of the methods that the header `Allow` names";
    case already_exists: return "choose another name, or use what is there";
    case not_a_directory:
    case is_a_directory: return "mend the path";
    case not_empty: return "remove what is in it first, or ask for all of it to be removed";
    case loop: return "mend the links or the move";
    case no_space: return "remove something, or ask for a larger limit";
    case read_only: return "write somewhere else";
    case too_large: return "send less, or in parts";
    case unauthenticated: return "show a key that is in force";
    case permission_denied: return "ask for the right that `permission` names, or use another key";
    case policy_denied: return "change the code; the message names the rule";
    case conflict: return "look at the state of the thing, then decide";
    case resource_exhausted: return "wait as long as `Retry-After` says and try again, or free something";
    case unsupported: return "use another provider or environment; the message names what is missing";
    case deadline_exceeded: return "try again, or give it more time";
    case canceled: return "nothing: the caller went away";
    case unavailable: return "try again in a moment";
    case data_loss: return "tell the operator: something that was stored is damaged";
    case provider_failed: return "try again; if it stays so, tell the operator";
    case internal: return "report it with the request id: it is a defect of ours";
  }
  std::unreachable();
}

std::string error_page() {
  std::string page =
      "| code | category | HTTP | Connect | exit status | try again | what to do |\n"
      "|---|---|---|---|---|---|---|\n";
  for (int i = 0; i <= static_cast<int>(Code::internal); ++i) {
    const CodeRow& one = row(static_cast<Code>(i));
    fmt::format_to(std::back_inserter(page), "| `{}` | {} | {} | {} | {} | {} | {} |\n", one.name,
                   to_string(one.category), one.http_status, one.connect_code, one.exit_status,
                   one.retryable ? "yes" : "no", advice(one.code));
  }
  return page;
}

}  // namespace atl
