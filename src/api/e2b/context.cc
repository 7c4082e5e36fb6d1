#include "api/e2b/context.h"

#include <fmt/format.h>

#include "base/bytes.h"

namespace atl::api::e2b {
namespace {

// A person with a browser, as the original's proxy knows one (its TestHandleErrorContentNegotiation):
// browsers say of their own accord whether it is a page that they load, scripts of a page cannot. Where
// nothing is said the name of the client decides, unless it asks for JSON.
bool is_navigation(const net::Request& request) {
  if (request.headers.get("User-Agent").find("Mozilla/") == std::string_view::npos) return false;
  const std::string_view mode = request.headers.get("Sec-Fetch-Mode");
  if (!mode.empty()) return mode == "navigate";
  if (request.headers.get("X-Requested-With") == "XMLHttpRequest") return false;
  const std::string_view accepts = request.headers.get("Accept");
  return accepts.find("text/html") != std::string_view::npos ||
         accepts.find("application/json") == std::string_view::npos;
}

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '<' || c == '>' || c == '&' || c == '"' || c == '\'') {
      out += fmt::format("&#{};", static_cast<int>(c));
    } else {
      out += c;
    }
  }
  return out;
}

std::string home_of(std::string_view user) {
  if (user.empty()) return "/home/user";
  return user == "root" ? "/root" : fmt::format("/home/{}", user);
}

std::string clean(std::string_view path) {
  std::vector<std::string_view> parts;
  std::size_t at = 0;
  while (at < path.size()) {
    auto slash = path.find('/', at);
    std::string_view part = path.substr(at, slash == std::string_view::npos ? slash : slash - at);
    at = slash == std::string_view::npos ? path.size() : slash + 1;
    if (part == "..") {
      if (!parts.empty()) parts.pop_back();
    } else if (!part.empty() && part != ".") {
      parts.push_back(part);
    }
  }
  return "/" + fmt::format("{}", fmt::join(parts, "/"));
}

Error no_such_sandbox(std::string_view id) {
  return Error(Code::not_found,
               fmt::format("sandbox \"{}\" doesn't exist or you don't have access to it", id));
}

}  // namespace

bool is_answering(const Context& context, const std::string& sandbox_id) {
  const auto session = context.service.peek(sandbox_id);
  return session && is_reachable(*session);
}

net::Response place_error(const net::Request& request, const Object& body) {
  const int status = body.at("code").to_number<int>();
  if (!is_navigation(request)) return json_response(status, body);
  const std::string message = escaped(body.at("message").as_string());
  const std::string title = body.contains("port") ? "Closed Port Error" : message;
  const std::string id = escaped(body.at("sandboxId").as_string());
  const std::string port =
      body.contains("port") ? fmt::format(", port {}", body.at("port").to_number<int>()) : "";
  net::Response page = net::Response::text(
      status, fmt::format("<!doctype html><html><head><meta charset=\"utf-8\"><title>{0}</title></head>"
                          "<body><h1>{1}</h1><p>Sandbox {2}{3}</p></body></html>\n",
                          title, message, id, port));
  page.headers.set("Content-Type", "text/html; charset=utf-8");
  page.headers.set("Cache-Control", "no-store");
  return page;
}

net::Response sandbox_gone(const net::Request& request, std::string_view sandbox_id) {
  const Object body{{"sandboxId", sandbox_id}, {"message", "The sandbox was not found"}, {"code", 502}};
  return place_error(request, body);
}

net::Response sandbox_changing(const net::Request& request, std::string_view sandbox_id) {
  const Object body{
      {"sandboxId", sandbox_id}, {"message", "The sandbox is changing its state"}, {"code", 409}};
  return place_error(request, body);
}

Target target_of(const net::Request& request) {
  Target target;
  target.grant = std::static_pointer_cast<const Grant>(request.grant);
  target.owner = target.grant->who;
  target.port = target.grant->port;
  return target;
}

std::optional<net::Response> refuse_in_place(const Refusal& refusal, const net::Request& request) {
  switch (refusal.kind) {
    case Refusal::Kind::misplaced: return net::Response::text(400, refusal.error.message());
    case Refusal::Kind::gone: return sandbox_gone(request, refusal.sandbox_id);
    case Refusal::Kind::changing: return sandbox_changing(request, refusal.sandbox_id);
    case Refusal::Kind::closed_port:
      return place_error(
          request,
          Object{{"sandboxId", refusal.sandbox_id}, {"message", refusal.error.message()}, {"code", 403}});
    default: return std::nullopt;
  }
}

std::variant<session::Session, net::Response> look_again(const Context& context, const net::Request& request,
                                                         const std::string& sandbox_id) {
  auto found = context.service.peek(sandbox_id);
  if (found && found->pausing && !found->auto_resume) return sandbox_changing(request, sandbox_id);
  if (!found || !is_reachable(*found)) return sandbox_gone(request, sandbox_id);
  return std::move(*found);
}

Task<session::Session> known_session(const Context& context, const net::Request& request,
                                     auth::Principal who) {
  std::string given = request.param("id");
  CO_TRY(std::string id, sandbox_id_of(given));
  auto found = co_await context.service.get(std::move(who), id);
  if (!found && found.error().code() == Code::not_found) co_return fail(no_such_sandbox(id));
  co_return std::move(found);
}

Task<session::Session> live_session(const Context& context, const net::Request& request,
                                    auth::Principal who) {
  CO_TRY(session::Session found, co_await known_session(context, request, who));
  if (!session::is_live(found.state)) co_return fail(no_such_sandbox(found.sandbox_id));
  co_return found;
}

Task<bool> user_exists(const Context& context, auth::Principal owner, std::string sandbox_id,
                       std::string user) {
  if (user == "user" || user == "root") co_return true;
  if (user.empty() || user.find_first_of(":\n/") != std::string::npos) co_return false;
  // We look, not the caller.
  owner.permissions.add(auth::Permission::files_read);
  CO_TRY(auto files, co_await context.service.files(std::move(owner), std::move(sandbox_id)));
  std::string path = "/etc/passwd";
  std::string root = "root";
  auto reader = co_await files->open_read(path, 0, std::nullopt, root);
  if (!reader) co_return false;
  std::string all = "\n";
  while (all.size() < (1U << 20)) {
    CO_TRY(std::string piece, co_await (*reader)->next());
    if (piece.empty()) break;
    all += piece;
  }
  co_return all.find("\n" + user + ":") != std::string::npos;
}

Task<std::string> user_of(const Context& context, const Target& target, const net::Request& request) {
  std::string_view header = request.headers.get("Authorization");
  if (header.size() < 6 || !net::equal_ignoring_case(header.substr(0, 6), "Basic "))
    co_return target.attribute(attribute::kUser);
  auto decoded = from_base64(header.substr(6));
  if (!decoded) co_return fail(Code::unauthenticated, "invalid Basic credentials");
  std::string user = decoded->substr(0, decoded->find(':'));
  CO_TRY(bool known, co_await user_exists(context, target.owner, target.id(), user));
  if (!known) co_return fail(Code::unauthenticated, fmt::format("invalid username: '{}'", user));
  co_return user;
}

Result<std::string> resolve_path(std::string_view path, std::string_view user, const Target& target) {
  const std::string directory = target.attribute(attribute::kDirectory);
  return resolve_path(path.empty() && !directory.empty() ? std::string_view(directory) : path, user);
}

Result<std::string> resolve_path(std::string_view path, std::string_view user) {
  if (path.find('\0') != std::string_view::npos)
    return fail(Code::invalid_argument, "a path cannot hold NUL");
  std::string home = home_of(user);
  if (path.empty() || path == "~") return home;
  if (path.starts_with("~/")) return clean(home + std::string(path.substr(1)));
  if (path.starts_with('~')) {
    return fail(Code::invalid_argument, fmt::format("cannot expand the home of another user in '{}'", path));
  }
  if (path.starts_with('/')) return clean(path);
  return clean(home + "/" + std::string(path));
}

}  // namespace atl::api::e2b
