#include "egress/http_request.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <vector>

namespace atl::egress {
namespace {

std::unexpected<Error> bad(std::string_view why) {
  return fail(Code::invalid_argument, fmt::format("bad request: {}", why));
}

std::string lower(std::string_view text) {
  std::string copy(text);
  std::ranges::transform(copy, copy.begin(),
                         [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  return copy;
}

std::string_view trim(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

bool is_token(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos;
  });
}

// A control character in a line could end it for another reader.
bool is_head_line(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return static_cast<unsigned char>(c) >= 0x20 || c == '\t'; });
}

struct Line {
  std::string_view name, value;
};

struct Head {
  std::string_view method, target;
  std::vector<Line> lines;
};

Result<Head> split_head(std::string_view head) {
  Head parsed;
  bool first = true;
  while (!head.empty()) {
    const auto end = head.find("\r\n");
    if (end == std::string_view::npos) return bad("a line does not end in CRLF");
    const auto line = head.substr(0, end);
    head.remove_prefix(end + 2);
    if (line.empty()) break;
    if (!is_head_line(line)) return bad("a control character in the head");
    if (first) {
      const auto one = line.find(' '), two = line.rfind(' ');
      if (one == std::string_view::npos || one == two) return bad("the request line has no three parts");
      parsed.method = line.substr(0, one);
      parsed.target = line.substr(one + 1, two - one - 1);
      const auto version = line.substr(two + 1);
      if (!is_token(parsed.method) || parsed.target.find(' ') != std::string_view::npos)
        return bad("the request line");
      if (version != "HTTP/1.1" && version != "HTTP/1.0")
        return bad("the version is not HTTP/1.0 or HTTP/1.1");
      first = false;
      continue;
    }
    const auto colon = line.find(':');
    if (colon == std::string_view::npos || !is_token(line.substr(0, colon))) return bad("a header line");
    parsed.lines.push_back({line.substr(0, colon), trim(line.substr(colon + 1))});
  }
  if (first) return bad("empty");
  return parsed;
}

Result<void> take_framing(HttpRequest& request, const std::string& name, std::string_view value) {
  if (request.body != HttpRequest::Body::none) return bad("the length of the body is given twice");
  if (name == "transfer-encoding") {
    if (lower(value) != "chunked") return bad("a transfer encoding other than chunked");
    request.body = HttpRequest::Body::chunked;
    return {};
  }
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), request.length);
  if (value.empty() || error != std::errc() || end != value.data() + value.size())
    return bad("the content length");
  request.body = HttpRequest::Body::length;
  return {};
}

bool is_hop_by_hop(const std::string& name) {
  constexpr std::array<std::string_view, 9> names = {
      "connection", "keep-alive", "proxy-connection", "te", "trailer", "upgrade", "proxy-authorization",
      "host",       "expect"};
  return std::ranges::find(names, name) != names.end();
}

}  // namespace

Result<ConnectRequest> parse_authority(std::string_view text, std::uint16_t default_port) {
  ConnectRequest authority{.host = std::string(), .port = default_port};
  const auto bracket = text.rfind(']');
  const auto colon = text.rfind(':');
  auto name = text;
  if (colon != std::string_view::npos && (bracket == std::string_view::npos || colon > bracket)) {
    const auto digits = text.substr(colon + 1);
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), authority.port);
    if (digits.empty() || error != std::errc() || end != digits.data() + digits.size() ||
        authority.port == 0) {
      return bad("the port");
    }
    name = text.substr(0, colon);
  }
  authority.host = TRY(parse_host(name));
  return authority;
}

bool is_connect(std::string_view head) {
  return head.starts_with("CONNECT ");
}

Result<ConnectRequest> parse_connect(std::string_view head) {
  const auto parsed = TRY(split_head(head));
  return parse_authority(parsed.target, 443);
}

Result<HttpRequest> parse_request(std::string_view head, const std::optional<ConnectRequest>& origin) {
  const auto parsed = TRY(split_head(head));
  HttpRequest request;
  request.method = parsed.method;
  std::optional<ConnectRequest> named = origin;
  if (parsed.target.starts_with("http://") && !origin) {
    const auto rest = parsed.target.substr(7);
    const auto slash = std::min(rest.find_first_of("/?"), rest.size());
    named = TRY(parse_authority(rest.substr(0, slash), 80));
    request.target = rest.substr(slash);
    if (request.target.empty() || request.target[0] != '/') request.target.insert(0, "/");
  } else if (parsed.target.starts_with('/') && origin) {
    request.target = parsed.target;
  } else {
    return bad("the target is not an http:// URL; this is a proxy");
  }
  request.host = named->host;
  request.port = named->port;
  for (const auto& [name, value] : parsed.lines) {
    const auto key = lower(name);
    if (key == "host" && origin && TRY(parse_authority(value, origin->port)).host != origin->host) {
      return bad("the Host header names another host than the tunnel");
    }
    if (key == "content-length" || key == "transfer-encoding") TRY(take_framing(request, key, value));
    if (key == "upgrade") request.websocket = lower(value) == "websocket";
    if (!is_hop_by_hop(key)) request.headers += fmt::format("{}: {}\r\n", name, value);
  }
  if (request.websocket && (request.method != "GET" || request.body != HttpRequest::Body::none))
    return bad("a WebSocket begins with a GET without a body");
  return request;
}

std::string upstream_head(const HttpRequest& request, const SetHeaders& set, std::uint16_t default_port) {
  auto host = to_string(request.host);
  if (host.find(':') != std::string::npos) host = "[" + host + "]";
  if (request.port != default_port) host += fmt::format(":{}", request.port);
  auto head = fmt::format(
      "{} {} HTTP/1.1\r\nHost: {}\r\n{}", request.method, request.target, host,
      request.websocket ? "Connection: Upgrade\r\nUpgrade: websocket\r\n" : "Connection: close\r\n");
  std::string_view rest = request.headers;
  while (!rest.empty()) {
    const auto end = rest.find("\r\n") + 2;
    const auto line = rest.substr(0, end);
    const auto name = lower(line.substr(0, line.find(':')));
    const bool replaced =
        std::ranges::any_of(set, [&](const auto& pair) { return lower(pair.first) == name; });
    if (!replaced) head += line;
    rest.remove_prefix(end);
  }
  for (const auto& [name, value] : set) head += fmt::format("{}: {}\r\n", name, value);
  return head + "\r\n";
}

}  // namespace atl::egress
