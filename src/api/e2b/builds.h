#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "api/e2b/context.h"
#include "api/e2b/templates.h"
#include "net/router.h"

namespace atl::api::e2b {

// Templates that clients build: steps run in a sandbox of the default environment, whose files are then kept
// as a snapshot. A template is a document of the store (kind "e2b_template"); logs live in memory.
class Builds {
 public:
  Builds(Context& context, Templates& templates) : context_(context), templates_(templates) {}
  void mount(net::Router& router);

  struct Step {
    std::string type;
    std::vector<std::string> args;
    std::string files_hash;
  };
  struct Plan {
    std::string tenant, template_id, build_id;
    std::string from_image, from_template, start_command, ready_command;
    std::vector<Step> steps;
  };

 private:
  using Handler = Task<net::Response> (Builds::*)(net::Request& request, auth::Principal who);
  void add(net::Router& router, net::Method method, std::string_view path, Handler handler);

  Task<net::Response> request_build(net::Request& request, auth::Principal who);
  Task<net::Response> file_link(net::Request& request, auth::Principal who);
  Task<net::Response> start_build(net::Request& request, auth::Principal who);
  Task<net::Response> status(net::Request& request, auth::Principal who);
  Task<net::Response> assign_tags(net::Request& request, auth::Principal who);
  Task<net::Response> remove_tags(net::Request& request, auth::Principal who);
  Task<void> upload(net::Exchange& exchange);

  struct Log {
    std::string timestamp, level, message, step;
  };
  struct Progress {
    std::vector<Log> logs;
    std::string status = "waiting";
    std::string reason, reason_step;
  };
  // State of the steps as they go on.
  struct Shell {
    auth::Principal who;
    std::string session_id;
    std::string user = "user", directory = "/home/user";
    session::TextMap env;
  };

  boost::asio::awaitable<void> run(auth::Principal who, Plan plan);
  Task<std::string> build(auth::Principal who, const Plan& plan, std::string& step);
  Task<void> perform(Shell& shell, const Plan& plan, const Step& step);
  Task<void> copy(Shell& shell, const Plan& plan, const Step& step);
  Task<void> shell_run(Shell& shell, const Plan& plan, std::string line, std::string user);
  void log(const std::string& build_id, std::string level, std::string message, std::string step = {});
  std::string upload_path(const std::string& tenant, const std::string& hash) const;

  Context& context_;
  Templates& templates_;
  std::map<std::string, Progress> progress_;
  std::map<std::string, std::string> uploads_;  // one-time token to file
};

}  // namespace atl::api::e2b
