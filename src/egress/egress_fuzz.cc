// Everything a client inside a sandbox can say to the proxy or the resolver before a byte is dialled.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "egress/client_hello.h"
#include "egress/dns.h"
#include "egress/http_request.h"
#include "egress/redactor.h"
#include "egress/rules.h"
#include "egress/socks.h"

namespace {

using namespace atl::egress;

// A host that was accepted is its own canonical form: what is checked is what is dialled.
void check_canonical(std::string_view text) {
  const auto host = parse_host(text);
  if (!host) return;
  const auto again = parse_host(to_string(*host));
  if (!again || *again != *host) std::abort();
}

// What goes upstream reads back as one request to the same host.
void check_request(std::string_view text) {
  const auto request = parse_request(text, std::nullopt);
  if (!request) return;
  const auto head = upstream_head(*request, {}, 80);
  if (head.find("\r\n\r\n") + 4 != head.size()) std::abort();
  const ConnectRequest origin{request->host, request->port};
  const auto again = parse_request(head, origin);
  if (!again || again->body != request->body || again->length != request->length) std::abort();
}

void check_dns(std::string_view text) {
  const auto question = parse_dns_query(text);
  if (!question) {
    (void)dns_malformed(text);
    return;
  }
  const auto answer = dns_answer(*question, {Address::v4({1, 2, 3, 4})});
  if (answer.size() > 512) std::abort();
  check_canonical(question->name);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  (void)inspect_client_hello(text);
  check_canonical(text);
  (void)parse_connect(text);
  check_request(text);
  check_dns(text);
  (void)socks_greeting(text);
  const auto socks = parse_socks(text);
  if (socks.kind == SocksRequest::Kind::connect && socks.size > size) std::abort();
  (void)Rules::compile({.allow = {std::string(text)}, .inject = {{"a.com", {{"X", std::string(text)}}}}});
  Redactor redactor;
  redactor.keep_out("secret-value");
  if ((redactor.pass(std::string(text)) + redactor.finish()).size() != size) std::abort();
  return 0;
}
