#pragma once

#include "api/e2b/context.h"
#include "api/e2b/numbers.h"
#include "net/router.h"

namespace atl::api::e2b {

// The code interpreter (port 49999): /execute as NDJSON, contexts. Errors are plain text. Belongs to the loop
// thread and must outlive the router that it is mounted on.
class Interpreter {
 public:
  explicit Interpreter(Context& context) : context_(context) {}
  void mount(net::Router& router);

 private:
  class Number;
  Task<void> execute(net::Exchange& exchange);
  // A dead interpreter is started again first.
  Task<session::ExecutionStart> execute_alive(const Target& target, session::ExecuteRequest request);
  Task<void> stream(net::Exchange& exchange, Target target, session::ExecuteRequest request);
  // Whether a context of Java executes it.
  Task<sandbox::Language> language_of_request(const Target& target, const session::ExecuteRequest& request);
  Task<void> open_directory(const Target& target, const std::string& path);
  Task<net::Response> create_context(net::Request& request, Target target);
  Task<net::Response> list_contexts(net::Request& request, Target target);
  Task<net::Response> restart_context(net::Request& request, Target target);
  Task<net::Response> remove_context(net::Request& request, Target target);

  Context& context_;
  Numbers numbers_;
};

// One NDJSON line of a displayed value; exported for its test.
std::string result_line(const sandbox::ResultBundle& bundle);

}  // namespace atl::api::e2b
