#include "net/router.h"

#include <cassert>
#include <stdexcept>

namespace atl::net {

struct Router::Node {
  std::map<std::string, std::unique_ptr<Node>, std::less<>> literal;
  std::unique_ptr<Node> param;
  std::unique_ptr<Node> rest;
  // Parameter names belong to the route: two routes may name the same segment differently.
  struct Target {
    Route route;
    std::vector<std::string> names;
  };
  std::map<Method, Target> targets;
};

Router::Router() : root_(std::make_unique<Node>()), renderer_(render_error) {}
Router::~Router() = default;
Router::Router(Router&&) noexcept = default;
Router& Router::operator=(Router&&) noexcept = default;

namespace {

// Splits off the first segment; the path starts with '/' or is empty.
std::string_view next_segment(std::string_view& path) {
  path.remove_prefix(1);
  std::string_view segment = path.substr(0, path.find('/'));
  path.remove_prefix(segment.size());
  return segment;
}

}  // namespace

void Router::add(Method method, std::string_view pattern, AccessRule access, SimpleHandler handler,
                 RouteOptions options) {
  insert(Route{method, std::string(pattern), options, std::move(access), std::move(handler)});
}

void Router::add_stream(Method method, std::string_view pattern, AccessRule access, StreamHandler handler,
                        RouteOptions options) {
  insert(Route{method, std::string(pattern), options, std::move(access), std::move(handler)});
}

void Router::insert(Route route) {
  assert(route.pattern.starts_with('/'));
  if (!route.access)
    throw std::invalid_argument("the route " + route.pattern + " does not say who may call it");
  Node* node = root_.get();
  std::vector<std::string> names;
  std::string_view left = route.pattern;
  while (!left.empty()) {
    std::string_view segment = next_segment(left);
    std::unique_ptr<Node>* next = nullptr;
    if (segment.starts_with('{') && segment.ends_with("...}")) {
      names.emplace_back(segment.substr(1, segment.size() - 5));
      next = &node->rest;
    } else if (segment.starts_with('{') && segment.ends_with('}')) {
      names.emplace_back(segment.substr(1, segment.size() - 2));
      next = &node->param;
    } else {
      next = &node->literal[std::string(segment)];
    }
    if (!*next) *next = std::make_unique<Node>();
    node = next->get();
  }
  Method method = route.method;
  node->targets.insert_or_assign(method, Node::Target{std::move(route), std::move(names)});
}

Router::Match Router::match(Method method, std::string_view path) const {
  struct Search {
    Method method;
    std::vector<std::string_view> values;
    const Node::Target* found = nullptr;
    const Node* other_method = nullptr;

    bool finish(const Node& node) {
      auto target = node.targets.find(method);
      if (target == node.targets.end() && method == Method::head) target = node.targets.find(Method::get);
      if (target != node.targets.end()) {
        found = &target->second;
        return true;
      }
      if (!node.targets.empty() && other_method == nullptr) other_method = &node;
      return false;
    }
    bool walk(const Node& node, std::string_view left) {
      if (left.empty()) return finish(node);
      std::string_view whole = left;
      std::string_view segment = next_segment(left);
      if (auto next = node.literal.find(segment); next != node.literal.end() && walk(*next->second, left))
        return true;
      if (node.param && !segment.empty()) {
        values.push_back(segment);
        if (walk(*node.param, left)) return true;
        values.pop_back();
      }
      if (node.rest) {
        values.push_back(whole.substr(1));
        if (finish(*node.rest)) return true;
        values.pop_back();
      }
      return false;
    }
  };
  Match match;
  Search search{method, {}};
  if (!path.starts_with('/')) return match;
  if (search.walk(*root_, path)) {
    match.route = &search.found->route;
    for (std::size_t i = 0; i < search.values.size(); ++i) {
      match.params.emplace_back(search.found->names[i], search.values[i]);
    }
  } else if (search.other_method != nullptr) {
    for (const auto& [allowed, target] : search.other_method->targets) match.allowed.push_back(allowed);
  }
  return match;
}

std::vector<const Route*> Router::routes() const {
  std::vector<const Route*> all;
  const std::function<void(const Node&)> walk = [&](const Node& node) {
    for (const auto& [method, target] : node.targets) all.push_back(&target.route);
    for (const auto& [segment, next] : node.literal) walk(*next);
    if (node.param) walk(*node.param);
    if (node.rest) walk(*node.rest);
  };
  walk(*root_);
  return all;
}

Response Router::render_method(std::string message, const Request& request) const {
  Response response = renderer_(Error(Code::method_not_allowed, std::move(message)), request);
  response.status = row(Code::method_not_allowed).http_status;
  return response;
}

}  // namespace atl::net
