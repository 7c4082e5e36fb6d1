#pragma once

#include <boost/json/value.hpp>
#include <string>
#include <string_view>

#include "auth/principal.h"
#include "os/fair_pool.h"
#include "os/task.h"
#include "session/service.h"

// The operations that come with the program and work in every provider, because they use the session service
// alone. registry/tools declares them with their schemas, so that they look like any other tool.
namespace atl::tools {

bool is_builtin(std::string_view name);

// Where an operation acts, and what it may take.
struct BuiltinCall {
  session::Service* service = nullptr;
  auth::Principal who;
  std::string session_id;
  std::chrono::milliseconds timeout{};
  session::OutputWatcher watch;     // of what it runs; may be empty
  os::FairPool* workers = nullptr;  // for what computes; null: the loop does
};

// How the operation ended as far as its caller is concerned. A guest's failure is a status, never an Error.
struct BuiltinAnswer {
  boost::json::value output;
  session::Status status = session::Status::success;
  std::string error, error_value;        // if the status is not success
  std::vector<std::string> records;      // of what it ran
  std::chrono::microseconds cpu_time{};  // of what it ran
};

// The code that an operation would run, for a policy to read; empty for operations that run none.
struct BuiltinCode {
  std::string text;
  policy::Language language = policy::Language::shell;
};
// Code without a language is Python's from here on: what a policy has read as one language must not run as
// another.
BuiltinCode code_of(std::string_view name, boost::json::value& input);

// The input fits the schema of the tool that names the operation, which may be a tenant's and allow more than
// the shipped one: what makes no sense is refused here as well. Code::invalid_argument if the input is no
// object. What cannot be done (no such file, text
// that is not there) is an answer with status error; an Error is a failure of ours or of the session.
Task<BuiltinAnswer> run_builtin(std::string name, BuiltinCall call, boost::json::value input);

}  // namespace atl::tools
