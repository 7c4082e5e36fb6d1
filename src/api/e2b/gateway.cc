#include "api/e2b/gateway.h"

#include <fmt/format.h>

namespace atl::api::e2b {
namespace {

// Clients run it with the token that they will show. `{}` is the only configuration that works:
// check_servers() refuses others before, and the program says the same to a person who runs it by hand.
constexpr std::string_view kProgram = R"sh(#!/bin/sh
elsewhere='they are images from elsewhere. The tools of this sandbox are served for the configuration {}'
if [ "$1" = pull ]; then
  shift
  echo "mcp-gateway: these servers cannot be had here: $*; $elsewhere" >&2
  exit 1
fi
[ "$1" = --config ] || { echo "usage: mcp-gateway --config JSON" >&2; exit 2; }
[ -n "$GATEWAY_ACCESS_TOKEN" ] || { echo "mcp-gateway: GATEWAY_ACCESS_TOKEN is not set" >&2; exit 2; }
if [ "$(printf %s "$2" | tr -d ' \t\r\n')" != '{}' ]; then
  echo "mcp-gateway: the servers that this configuration names cannot be had here; $elsewhere" >&2
  exit 1
fi
umask 077
mkdir -p /etc/mcp-gateway && printf %s "$2" >/etc/mcp-gateway/config.json &&
  printf %s "$GATEWAY_ACCESS_TOKEN" >/etc/mcp-gateway/.token
)sh";

}  // namespace

Result<void> check_servers(const Object& message, const std::string& environment) {
  const Object* servers = TRY(object(message, "mcp"));
  if (servers == nullptr || servers->empty() || environment != kGatewayEnvironment) return {};
  std::string names;
  for (const auto& [name, settings] : *servers)
    names += fmt::format("{}{}", names.empty() ? "" : ", ", std::string_view(name));
  return fail(Error(Code::invalid_argument,
                    fmt::format("Failed to start MCP gateway: these servers cannot be had here: {}. An empty "
                                "'mcp' gives the sandbox's own tools at its MCP URL; a template of another "
                                "name may bring a program mcp-gateway of its own",
                                names))
                  .with_field("mcp"));
}

Task<void> put_gateway(Context& context, auth::Principal who, session::Session session) {
  if (session.environment != kGatewayEnvironment) co_return Result<void>();
  CO_TRY(const auto files, co_await context.service.files(who, session.session_id));
  sandbox::WriteOptions options;
  options.user = "root";
  options.mode = 0755;
  CO_TRY(const auto writer, co_await files->open_write("/usr/local/bin/mcp-gateway", std::move(options)));
  CO_CHECK(co_await writer->write(std::string(kProgram)));
  CO_CHECK(co_await writer->finish());
  co_return Result<void>();
}

}  // namespace atl::api::e2b
