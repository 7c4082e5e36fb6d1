#include "shell/commands/curl/transfer.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <optional>

#include "net/client.h"

namespace atl::shell::curl {

namespace {

net::ClientRequest to_wire(const Request& request) {
  net::ClientRequest out;
  out.method = request.method;
  out.target = request.target.path + request.target.query;
  for (const auto& [name, value] : request.headers) out.headers.add(name, value);
  out.body = request.body;
  return out;
}

}  // namespace

Result<Answer> transfer(Invocation& call, const Request& request) {
  net::Url url;
  url.scheme = request.target.scheme == "https" ? net::Scheme::https : net::Scheme::http;
  url.host = request.target.host;
  url.port = request.target.port;
  net::ClientOptions options;
  options.tries = 1;
  options.connect_time = std::min(request.connect_time, request.total_time);
  options.head_time = options.stall_time = request.total_time;
  options.body_bytes_max = kBodyBytesMax;
  std::optional<Result<net::ClientResponse>> done;
  boost::asio::io_context loop;
  net::Client http(loop.get_executor(), url, options);
  boost::asio::co_spawn(loop, http.send(to_wire(request)),
                        [&done](std::exception_ptr failed, Result<net::ClientResponse> answer) {
                          if (failed)
                            done = fail(Code::internal, "the connection failed");
                          else
                            done = std::move(answer);
                        });
  auto deadline = std::chrono::steady_clock::now() + request.total_time;
  while (true) {
    loop.poll();
    if (done) break;
    if (std::chrono::steady_clock::now() >= deadline)
      return fail(Code::deadline_exceeded, "Operation timed out");
    call.sleep(std::chrono::milliseconds(1));
  }
  if (!*done) return std::unexpected(done->error());
  Answer out;
  out.status = (*done)->status;
  for (const auto& [name, value] : (*done)->headers) out.headers.emplace_back(name, value);
  out.body = std::move((*done)->body);
  call.charge(out.body.size() + 1);
  return out;
}

}  // namespace atl::shell::curl
