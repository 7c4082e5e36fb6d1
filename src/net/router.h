#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "net/http.h"

namespace atl::net {

// What a request to this route may bring: beyond it the answer is 413 or 431.
struct RouteOptions {
  std::uint64_t body_bytes_max = 1U << 20;
  std::size_t header_bytes_max = 32U << 10;
};

// Who may call a route. Asked about the head of every request, before a byte of its body is read.
class Guard {
 public:
  virtual ~Guard() = default;
  // Nothing: go on; what was found out about the caller is in request.grant. A Response: refused, in this
  // form. An Error: refused, in the form of the route's router.
  virtual Task<std::optional<Response>> admit(Request& request) const = 0;
  // Of a request that was let in: what became of it, before a whole answer is sent, and after one that was
  // streamed. An Error takes the place of an answer that was not sent yet. `body` is empty for what was
  // streamed.
  struct Answer {
    int status = 0;                // 0: none was sent
    const Error* error = nullptr;  // the handler failed
    std::string_view body;
  };
  virtual Task<void> answered(Request&, Answer) const { co_return Result<void>{}; }
};
using AccessRule = std::shared_ptr<const Guard>;

// One row of the router. Owned by it; immutable once it serves.
struct Route {
  Method method;
  std::string pattern;
  RouteOptions options;
  AccessRule access;
  std::variant<SimpleHandler, StreamHandler> handler;
};

// Method and path to handler. A pattern is a raw path with {name} segments: "/sandboxes/{id}/files". A
// literal segment wins over a parameter; "{name...}" at the end takes all the rest, slashes included.
// Matching is on the path as sent (a%2Fb is one segment); parameters are decoded afterwards. HEAD falls back
// to GET.
class Router {
 public:
  Router();
  ~Router();
  Router(Router&&) noexcept;
  Router& operator=(Router&&) noexcept;

  // Names must be unique; a second handler for the same method and pattern replaces the first. Without a rule
  // a route does not compile, and with an empty one it is never served: std::invalid_argument.
  void add(Method method, std::string_view pattern, AccessRule access, SimpleHandler handler,
           RouteOptions options = {});
  void add_stream(Method method, std::string_view pattern, AccessRule access, StreamHandler handler,
                  RouteOptions options = {});
  // How Errors of these handlers, 404, 405 and 413 look. Default: render_error.
  void set_error_renderer(ErrorRenderer renderer) { renderer_ = std::move(renderer); }
  const ErrorRenderer& error_renderer() const { return renderer_; }
  // A 405, whatever status the dialect has for its code; `Allow` is the caller's to set.
  Response render_method(std::string message, const Request& request) const;

  struct Match {
    const Route* route = nullptr;
    Fields params;                // not yet decoded
    std::vector<Method> allowed;  // when the path exists but not with this method
  };
  // Never fails: without a route for the path, `route` is null and `allowed` empty.
  Match match(Method method, std::string_view path) const;
  // Every route there is, for whoever checks them all. Valid until the next add().
  std::vector<const Route*> routes() const;

 private:
  struct Node;
  void insert(Route route);
  std::unique_ptr<Node> root_;
  ErrorRenderer renderer_;
};

}  // namespace atl::net
