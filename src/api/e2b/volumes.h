#pragma once

#include "api/e2b/context.h"
#include "net/router.h"

namespace atl::api::e2b {

// Volumes of the control plane, and their content, which a volume's own token opens.
class Volumes {
 public:
  explicit Volumes(Context& context) : context_(context) {}
  void mount(net::Router& router);
  // /volumecontent: errors there have a code in words.
  void mount_content(net::Router& router);

 private:
  using Handler = Task<net::Response> (Volumes::*)(net::Request& request, auth::Principal who);
  using ContentHandler = Task<net::Response> (Volumes::*)(net::Request& request, volume::Volume volume);
  void add(net::Router& router, net::Method method, std::string_view path, Rule rule, Handler handler);
  void add_content(net::Router& router, net::Method method, std::string_view path, Rule rule,
                   ContentHandler handler);

  Task<net::Response> create(net::Request& request, auth::Principal who);
  Task<net::Response> list(net::Request& request, auth::Principal who);
  Task<net::Response> get(net::Request& request, auth::Principal who);
  Task<net::Response> remove(net::Request& request, auth::Principal who);

  Task<net::Response> list_directory(net::Request& request, volume::Volume volume);
  Task<net::Response> make_directory(net::Request& request, volume::Volume volume);
  Task<net::Response> stat(net::Request& request, volume::Volume volume);
  Task<net::Response> change(net::Request& request, volume::Volume volume);
  Task<net::Response> remove_path(net::Request& request, volume::Volume volume);
  Task<void> download(net::Exchange& exchange);
  Task<void> upload(net::Exchange& exchange);

  Object volume_object(const volume::Volume& volume) const;

  Context& context_;
};

}  // namespace atl::api::e2b
