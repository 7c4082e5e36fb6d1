// Everything a client inside a sandbox can say to the proxy before a byte is dialled.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "egress/client_hello.h"
#include "egress/http_request.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace atl::egress;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  (void)inspect_client_hello(text);
  (void)parse_host(text);
  (void)parse_connect(text);
  if (const auto request = parse_request(text, std::nullopt)) (void)upstream_head(*request, nullptr, 80);
  return 0;
}
