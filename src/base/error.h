#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace atl {

// Every way a call of ours can fail. The set is closed: a dialect maps each code to its own words through
// the table in error.cc and nowhere else. What a guest's program did is never an Error; see
// sandbox/outcome.h.
enum class Code : std::uint8_t {
  invalid_argument,    // the caller sent something malformed; details name the field
  not_found,           // the named thing does not exist, or the caller may not know that it does
  method_not_allowed,  // the thing is there and has no such method
  already_exists,      //
  not_a_directory,     //
  is_a_directory,      //
  not_empty,           //
  loop,                // too many symbolic links, or a tree moved into itself
  no_space,            // a quota or a disk is full
  read_only,           //
  too_large,           // a body, file, name or path over its limit
  unauthenticated,     // no key, or a wrong one
  permission_denied,   // a good key that may not do this
  policy_denied,       // a policy refused the code
  conflict,            // the thing exists but is in a state that does not allow the call
  resource_exhausted,  // rate limits, concurrency limits, pools
  unsupported,         // the provider lacks the trait, the machine lacks the mechanism
  deadline_exceeded,   //
  canceled,            //
  unavailable,         // a passing failure; trying again may help
  data_loss,           // something stored is damaged
  provider_failed,     // the provider's machinery failed, not the caller and not the guest
  internal,            // a defect of ours
};

// What a client can do about an error.
enum class Category : std::uint8_t { user, retryable, limit, policy, provider, internal };

struct CodeRow {
  Code code;
  std::string_view name;  // our own REST dialect
  Category category;
  int http_status;
  std::string_view connect_code;  // Connect-RPC
  int exit_status;                // command line
  bool retryable;
};

// The one table. Total: every code has a row.
const CodeRow& row(Code code);
std::string_view to_string(Code code);
std::string_view to_string(Category category);

// A failure on its way to whoever asked. `message` is written for the client: it never holds a secret or a
// path of the host. `detail` is for our log only and never leaves the process.
class [[nodiscard]] Error {
 public:
  Error(Code code, std::string message) : code_(code), message_(std::move(message)) {}

  Code code() const { return code_; }
  const std::string& message() const { return message_; }
  const std::string& field() const { return field_; }
  const std::string& detail() const { return detail_; }

  // The request field at fault, as the client spelled it ("limits.memory_mb").
  Error with_field(std::string field) &&;
  // For the log only.
  Error with_detail(std::string detail) &&;
  // Says what we were doing: "create session: mount overlay: ...". Outermost first.
  Error context(std::string_view doing) &&;

 private:
  Code code_;
  std::string message_;
  std::string field_;
  std::string detail_;
};

// From errno, for operations on a guest-visible path or a resource that has no path. `what` must be safe for
// a client. The one place where errno becomes an Error.
Error errno_error(int error_number, std::string_view what);

}  // namespace atl
