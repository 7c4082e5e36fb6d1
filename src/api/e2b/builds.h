#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "api/e2b/build_job.h"
#include "api/e2b/context.h"
#include "api/e2b/templates.h"
#include "api/e2b/uploads.h"
#include "net/router.h"

namespace atl::api::e2b {

// Templates that clients build (build_job.h does the work). A template is a document of the store (kind
// "e2b_template"), and so is the log of a build that has ended; one that runs has its log in memory. Belongs
// to the loop thread and must outlive the router that it is mounted on.
class Builds {
 public:
  Builds(Context& context, Templates& templates, LayerCache& cache, Uploads& uploads)
      : context_(context), templates_(templates), cache_(cache), uploads_(uploads) {}
  void mount(net::Router& router);

 private:
  using Handler = Task<net::Response> (Builds::*)(net::Request& request, auth::Principal who);
  void add(net::Router& router, net::Method method, std::string_view path, Rule rule, Handler handler);

  Task<net::Response> request_build(net::Request& request, auth::Principal who);
  Task<net::Response> file_link(net::Request& request, auth::Principal who);
  Task<net::Response> start_build(net::Request& request, auth::Principal who);
  Task<net::Response> status(net::Request& request, auth::Principal who);
  Task<net::Response> logs(net::Request& request, auth::Principal who);
  Task<net::Response> assign_tags(net::Request& request, auth::Principal who);
  Task<net::Response> remove_tags(net::Request& request, auth::Principal who);

  struct Log {
    std::string timestamp, level, message, step;
  };
  struct Progress {
    std::vector<Log> logs;
    std::uint64_t log_bytes = 0;
    std::string status = "waiting";
    std::string reason, reason_step;
  };
  boost::asio::awaitable<void> run(auth::Principal who, Recipe recipe, std::string template_id,
                                   std::string build_id);
  Task<void> grow_disk(auth::Principal who, BuiltTemplate::Build& build);
  Task<void> save(auth::Principal who, std::string template_id, std::string build_id,
                  const Result<BuildJob::Done>& done, std::string step);
  static Object log_object(const Log& entry);
  void log(const std::string& build_id, std::string level, std::string message, std::string step = {});
  // Of one that runs, or of one that has ended and whose log is still kept.
  Task<std::vector<Log>> logs_of(auth::Principal who, std::string build_id);
  Task<void> store_log(auth::Principal who, std::string build_id);
  // The most that a client may ask for of that limit.
  std::int64_t ceiling(std::string_view limit, std::int64_t otherwise) const;

  Context& context_;
  Templates& templates_;
  LayerCache& cache_;
  Uploads& uploads_;
  std::map<std::string, Progress> progress_;  // of builds that were started and have not ended
};

}  // namespace atl::api::e2b
