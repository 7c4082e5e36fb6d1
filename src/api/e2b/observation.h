#pragma once

#include "api/e2b/context.h"
#include "net/router.h"

namespace atl::api::e2b {

// What the control plane shows: a sandbox's metrics and logs; of a team its name, its keys and how many
// sandboxes it had.
class Observation {
 public:
  explicit Observation(Context& context) : context_(context) {}
  void mount(net::Router& router);

 private:
  using Handler = Task<net::Response> (Observation::*)(net::Request& request, auth::Principal who);
  void add(net::Router& router, std::string_view path, Rule rule, Handler handler);

  Task<net::Response> metrics(net::Request& request, auth::Principal who);
  Task<net::Response> all_metrics(net::Request& request, auth::Principal who);
  Task<net::Response> logs(net::Request& request, auth::Principal who);
  Task<net::Response> logs_v2(net::Request& request, auth::Principal who);
  Task<net::Response> teams(net::Request& request, auth::Principal who);
  Task<net::Response> team_metrics(net::Request& request, auth::Principal who);
  Task<net::Response> team_maximum(net::Request& request, auth::Principal who);

  struct Sample {
    WallTime at{};
    std::int64_t sandboxes = 0;
    double started_per_second = 0;
  };
  Task<std::vector<Sample>> team_samples(const net::Request& request, auth::Principal who);

  Context& context_;
};

}  // namespace atl::api::e2b
