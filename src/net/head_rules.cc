#include "net/head_rules.h"

#include <algorithm>

namespace atl::net {
namespace {

std::ptrdiff_t count(const Headers& headers, std::string_view name) {
  return std::count_if(headers.begin(), headers.end(),
                       [&](const auto& field) { return equal_ignoring_case(field.first, name); });
}

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// reg-name, address or [address], and a port. Nothing that another program could cut elsewhere.
bool is_authority(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) {
    return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           std::string_view("-._~!$&'()*+,;=%:[]").find(c) != std::string_view::npos;
  });
}

Result<void> check_framing(const Request& request, int version) {
  const auto lengths = count(request.headers, "Content-Length");
  const auto codings = count(request.headers, "Transfer-Encoding");
  if (lengths > 1)
    return fail(Code::invalid_argument, "malformed request: Content-Length stands more than once");
  if (codings > 1)
    return fail(Code::invalid_argument, "malformed request: Transfer-Encoding stands more than once");
  if (lengths > 0 && codings > 0)
    return fail(Code::invalid_argument, "malformed request: both Content-Length and Transfer-Encoding");
  if (lengths > 0) {
    const std::string_view length = request.headers.get("Content-Length");
    if (length.empty() || length.size() > 19 || !std::all_of(length.begin(), length.end(), is_digit))
      return fail(Code::invalid_argument, "malformed request: Content-Length is a whole number");
  }
  if (codings > 0) {
    if (version < 11)
      return fail(Code::invalid_argument, "malformed request: HTTP/1.0 has no Transfer-Encoding");
    if (!equal_ignoring_case(request.headers.get("Transfer-Encoding"), "chunked"))
      return fail(Code::invalid_argument, "malformed request: the one Transfer-Encoding here is 'chunked'");
  }
  return {};
}

// absolute-form, as proxies send it: it says whom the request is for, whatever Host says.
void take_authority(Request& request) {
  for (std::string_view scheme : {"http://", "https://"}) {
    const std::string_view target = request.target;
    if (target.size() < scheme.size() || !equal_ignoring_case(target.substr(0, scheme.size()), scheme))
      continue;
    const std::size_t end = std::min(target.find_first_of("/?", scheme.size()), target.size());
    request.headers.set("Host", std::string(target.substr(scheme.size(), end - scheme.size())));
    std::string rest(target.substr(end));
    request.target = rest.starts_with('/') ? std::move(rest) : "/" + rest;
    return;
  }
}

}  // namespace

bool has_folded_line(std::string_view head) {
  for (std::size_t at = head.find('\n'); at != std::string_view::npos; at = head.find('\n', at + 1)) {
    if (at + 1 < head.size() && (head[at + 1] == ' ' || head[at + 1] == '\t')) return true;
  }
  return false;
}

Result<void> check_head(Request& request, int version) {
  if (auto framing = check_framing(request, version); !framing) return framing;
  const auto hosts = count(request.headers, "Host");
  if (hosts > 1) return fail(Code::invalid_argument, "malformed request: Host stands more than once");
  if (hosts == 0 && version >= 11) return fail(Code::invalid_argument, "missing Host");
  take_authority(request);
  if (!is_authority(request.host()))
    return fail(Code::invalid_argument, "malformed request: Host is a name and a port");
  const std::string_view target = request.target;
  const auto mark = target.find('?');
  request.path = target.substr(0, mark);
  request.raw_query = mark == std::string_view::npos ? std::string_view() : target.substr(mark + 1);
  if (!request.path.starts_with('/') && target != "*")
    return fail(Code::invalid_argument, "malformed request target");
  return {};
}

}  // namespace atl::net
