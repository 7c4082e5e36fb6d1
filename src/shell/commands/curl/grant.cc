#include "shell/commands/curl/grant.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/url.hpp>

namespace atl::shell::curl {

namespace {

namespace urls = boost::urls;

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + 32);
  return out;
}

Result<Target> from_url(urls::url url) {
  Target out;
  url.normalize();
  out.scheme = lower(std::string_view(url.scheme().data(), url.scheme().size()));
  if (out.scheme != "http" && out.scheme != "https")
    return fail(Code::unsupported, fmt::format("Protocol \"{}\" not supported", out.scheme));
  out.host = lower(url.host_address());
  if (out.host.empty()) return fail(Code::invalid_argument, "URL rejected: No host part in the URL");
  out.port = url.has_port() && !url.port().empty() ? url.port_number() : out.scheme == "https" ? 443 : 80;
  if (out.port == 0)
    return fail(Code::invalid_argument,
                "URL rejected: Port number was not a decimal number between 0 and 65535");
  auto path = url.encoded_path();
  out.path = path.empty() ? "/" : std::string(path.data(), path.size());
  if (url.has_query()) out.query = "?" + std::string(url.encoded_query().data(), url.encoded_query().size());
  if (url.has_userinfo()) out.user = url.user() + (url.has_password() ? ":" + url.password() : ":");
  return out;
}

}  // namespace

std::string Target::text() const {
  bool plain = port == (scheme == "https" ? 443 : 80);
  std::string shown = host.find(':') == std::string::npos ? host : "[" + host + "]";
  return fmt::format("{}://{}{}{}{}", scheme, shown, plain ? "" : fmt::format(":{}", port), path, query);
}

Result<Target> parse_url(std::string_view text) {
  std::string whole(text.substr(0, text.find('#')));
  if (whole.find("://") == std::string::npos) whole = "http://" + whole;
  auto parsed = urls::parse_uri({whole.data(), whole.size()});
  if (!parsed) return fail(Code::invalid_argument, "URL rejected: Malformed input to a URL function");
  return from_url(urls::url(*parsed));
}

Result<Target> follow(const Target& from, std::string_view location) {
  std::string base = from.text();
  auto reference = urls::parse_uri_reference({location.data(), location.size()});
  auto start = urls::parse_uri({base.data(), base.size()});
  if (!reference || !start)
    return fail(Code::invalid_argument, "URL rejected: Malformed input to a URL function");
  urls::url out;
  if (!urls::resolve(*start, *reference, out))
    return fail(Code::invalid_argument, "URL rejected: Malformed input to a URL function");
  out.remove_fragment();
  return from_url(std::move(out));
}

bool granted(const std::vector<NetworkGrant>& grants, std::string_view method, const Target& target) {
  // A server might take these for slashes or dots after we compared.
  std::string path = lower(target.path);
  bool doubtful = path.find("%2f") != std::string::npos || path.find("%5c") != std::string::npos ||
                  path.find('\\') != std::string::npos;
  for (const NetworkGrant& grant : grants) {
    if (std::find(grant.methods.begin(), grant.methods.end(), method) == grant.methods.end()) continue;
    auto prefix = parse_url(grant.url_prefix);
    if (!prefix || prefix->scheme != target.scheme || prefix->host != target.host ||
        prefix->port != target.port)
      continue;
    std::string base = prefix->path;
    if (base == "/") return true;
    if (doubtful) continue;
    while (base.ends_with('/')) base.pop_back();
    if (target.path == base || target.path.starts_with(base + "/")) return true;
  }
  return false;
}

}  // namespace atl::shell::curl
