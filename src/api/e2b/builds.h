#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "api/e2b/build_job.h"
#include "api/e2b/context.h"
#include "api/e2b/templates.h"
#include "net/router.h"

namespace atl::api::e2b {

// Templates that clients build (build_job.h does the work). A template is a document of the store (kind
// "e2b_template"); logs live in memory, how a build ended does not.
class Builds {
 public:
  Builds(Context& context, Templates& templates, LayerCache& cache)
      : context_(context), templates_(templates), cache_(cache) {}
  void mount(net::Router& router);

 private:
  using Handler = Task<net::Response> (Builds::*)(net::Request& request, auth::Principal who);
  void add(net::Router& router, net::Method method, std::string_view path, Handler handler);

  Task<net::Response> request_build(net::Request& request, auth::Principal who);
  Task<net::Response> file_link(net::Request& request, auth::Principal who);
  Task<net::Response> start_build(net::Request& request, auth::Principal who);
  Task<net::Response> status(net::Request& request, auth::Principal who);
  Task<net::Response> logs(net::Request& request, auth::Principal who);
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
  boost::asio::awaitable<void> run(auth::Principal who, Recipe recipe, std::string template_id,
                                   std::string build_id);
  Task<void> save(auth::Principal who, std::string template_id, std::string build_id,
                  const Result<BuildJob::Done>& done, std::string step);
  static Object log_object(const Log& entry);
  void log(const std::string& build_id, std::string level, std::string message, std::string step = {});
  std::string upload_path(const std::string& tenant, const std::string& hash) const;

  Context& context_;
  Templates& templates_;
  LayerCache& cache_;
  std::map<std::string, Progress> progress_;
  std::map<std::string, std::string> uploads_;  // one-time token to file
};

}  // namespace atl::api::e2b
