#include <fmt/format.h>

#include "api/e2b/envd.h"

namespace atl::api::e2b {
namespace {

constexpr std::size_t kSourcesMax = 1000;

Task<void> append(sandbox::Files& files, sandbox::FileWriter& writer, const std::string& path,
                  const std::string& user) {
  auto reader = co_await files.open_read(path, 0, std::nullopt, user);
  if (!reader && reader.error().code() == Code::not_found)
    co_return fail(Code::not_found, fmt::format("path '{}' does not exist", path));
  if (!reader) co_return fail(std::move(reader).error());
  while (true) {
    CO_TRY(std::string piece, co_await (*reader)->next());
    if (piece.empty()) co_return Result<void>{};
    CO_CHECK(co_await writer.write(std::move(piece)));
  }
}

}  // namespace

// Files one after the other into a new one; the sources go when that is whole.
Task<net::Response> Envd::compose(net::Request& request) {
  const Target target = target_of(request);
  CO_TRY(const Object message, parse_object(request.body));
  CO_TRY(const std::vector<std::string> sources, text_list(message, "source_paths"));
  CO_TRY(const std::string destination, text_or(message, "destination", ""));
  CO_TRY(std::string user, text_or(message, "username", target.attribute(attribute::kUser)));
  if (sources.empty() || destination.empty())
    co_return fail(Code::invalid_argument, "source_paths and destination are required");
  if (sources.size() > kSourcesMax) co_return fail(Code::invalid_argument, "too many source_paths");
  if (!user.empty()) {
    CO_TRY(const bool known, co_await user_exists(context_, target.owner, target.id(), user));
    if (!known) co_return fail(Code::unauthenticated, fmt::format("invalid username: '{}'", user));
  }
  CO_TRY(std::string to, resolve_path(destination, user));
  std::vector<std::string> paths;
  for (const std::string& source : sources) {
    CO_TRY(std::string path, resolve_path(source, user));
    if (path == to)
      co_return fail(Code::invalid_argument, fmt::format("'{}' is source and destination", path));
    paths.push_back(std::move(path));
  }
  CO_TRY(auto files, co_await context_.service.files(target.owner, target.id()));
  sandbox::WriteOptions options;
  options.user = user;
  CO_TRY(auto writer, co_await files->open_write(to, options));
  for (const std::string& path : paths) CO_CHECK(co_await append(*files, *writer, path, user));
  CO_TRY(const sandbox::FileInfo info, co_await writer->finish());
  for (const std::string& path : paths) {
    auto removed = co_await files->remove(path, sandbox::Recursive::no, user);
    if (!removed && removed.error().code() != Code::not_found) co_return fail(std::move(removed).error());
  }
  co_return json_response(200, entry_info(info));
}

}  // namespace atl::api::e2b
