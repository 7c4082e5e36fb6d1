#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "auth/permission.h"
#include "base/error.h"

// Refusals whose facts a program can read. An Error has one place for such facts, its field; these functions
// write them there and find them again, so that every room can hand such an Error on as any other.
namespace atl::auth {

// Code::permission_denied, naming the permission that is missing.
Error missing_permission(Permission permission);

// What went over a quota, how much was allowed, and when trying again makes sense.
struct QuotaFacts {
  std::string quota;   // "sessions", ...
  std::string holder;  // "tenant" or "key"
  std::uint64_t limit = 0, used = 0, asked = 0;
  std::optional<std::chrono::seconds> retry_after;  // unset: when something is given back
};
// Code::resource_exhausted.
Error over_quota(const QuotaFacts& facts);

struct Fact {
  std::string name, value;
  bool is_number = false;
};
// The facts of an Error that was made here, ready to be shown; nothing of all others.
std::vector<Fact> facts_of(const Error& error);
// Seconds after which to try again, if the Error knows.
std::optional<std::uint64_t> retry_after_of(const Error& error);

}  // namespace atl::auth
