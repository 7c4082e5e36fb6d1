#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <chrono>
#include <string>
#include <vector>

#include "auth/principal.h"
#include "os/task.h"
#include "session/service.h"
#include "tools/builtins.h"
#include "tools/tool.h"

// The parts of one call of a tool. Internal to the room; all of it belongs to the loop thread.
namespace atl::tools {

// The record of a call that has begun. If it is destroyed before finish(), because the caller has left, it
// finishes the record as killed, in the background. `service` must outlive it.
class OpenCall {
 public:
  OpenCall(boost::asio::any_io_executor executor, session::Service* service, auth::Principal who,
           session::ExecutionRecord record);
  ~OpenCall();
  OpenCall(const OpenCall&) = delete;
  OpenCall& operator=(const OpenCall&) = delete;

  // What the record says besides how it ended. `ran`: the record of what the tool ran, or empty;
  // `used`: what that took.
  void note(std::string input_digest, std::string output_digest, const std::string& ran,
            const sandbox::Usage& used);
  Task<session::ExecutionRecord> finish(session::Status status, std::string error, std::string value,
                                        std::string output);
  // The same for a failure of ours; what cannot be stored is logged.
  boost::asio::awaitable<void> fail_with(Error error);
  std::chrono::microseconds took() const { return record_.usage.wall_time; }

 private:
  boost::asio::any_io_executor executor_;
  session::Service* service_;
  auth::Principal who_;
  session::ExecutionRecord record_;
  bool is_open_ = true;
};

// A sandbox that was made for one call. Its destructor ends the sandbox, in the background, whatever ended
// the call; `service` must outlive it.
class FreshSandbox {
 public:
  FreshSandbox(boost::asio::any_io_executor executor, session::Service* service, auth::Principal who,
               std::string session_id)
      : executor_(std::move(executor)),
        service_(service),
        who_(std::move(who)),
        session_id_(std::move(session_id)) {}
  ~FreshSandbox();
  FreshSandbox(const FreshSandbox&) = delete;
  FreshSandbox& operator=(const FreshSandbox&) = delete;

 private:
  boost::asio::any_io_executor executor_;
  session::Service* service_;
  auth::Principal who_;
  std::string session_id_;
};

// The program that a tool runs and what it reads.
struct Invocation {
  std::vector<std::string> argv;
  std::string standard_input;
};
// For tools that are commands, requests or plugins.
Result<Invocation> invocation_of(const Tool& tool, const boost::json::value& input,
                                 std::chrono::milliseconds timeout);

// The code of a tool with its input before it.
std::string code_with_input(const CodeRun& run, const boost::json::value& input);
policy::Language policy_language(sandbox::Language language);

// What a plugin's sandbox sees of the host: the plugin and the program that loads it, for reading.
// Code::unsupported if there are no plugins here; Code::not_found if no directory has it.
Result<session::LocalRequest> plugin_mounts(const PluginRun& run, const std::vector<std::string>& directories,
                                            const std::string& host);

}  // namespace atl::tools
