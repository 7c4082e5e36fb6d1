#include "cli/connection.h"

#include <fmt/format.h>

#include <cstdlib>

#include "config/checked.h"
#include "daemon/data_directory.h"
#include "daemon/local_access.h"

namespace atl::cli {
namespace {

constexpr std::size_t kKeyFileMax = 4096;

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// The first line, without blanks around it.
Result<std::string> key_in(const std::string& file) {
  std::string text = TRY(config::read_input(file, kKeyFileMax, config::InputKind::file_or_pipe));
  text.resize(std::min(text.size(), text.find('\n')));
  const std::size_t from = text.find_first_not_of(" \t\r"), to = text.find_last_not_of(" \t\r");
  if (from == std::string::npos)
    return fail(
        config::Checked("--key-file", file).wrong("holds no key", "write the key into its first line"));
  return text.substr(from, to - from + 1);
}

// "127.0.0.1:8000" of the setting, which may name several, as an address to call.
std::string url_of(std::string listen) {
  listen.resize(std::min(listen.size(), listen.find(',')));
  if (listen.starts_with("unix:")) return listen;
  // Whoever listens everywhere is here, too.
  if (listen.starts_with("0.0.0.0:")) listen.replace(0, 7, "127.0.0.1");
  if (listen.starts_with("[::]:")) listen.replace(0, 4, "[::1]");
  return "http://" + listen;
}

Result<void> check_url(std::string_view field, const std::string& url) {
  for (const std::string_view scheme : {"http://", "https://", "unix:"})
    if (url.starts_with(scheme) && url.size() > scheme.size()) return {};
  return fail(config::Checked(field, url)
                  .wrong("is no address", "write http://HOST:PORT, https://HOST or unix:PATH"));
}

}  // namespace

void ConnectionFlags::add_to(Command& command) {
  command
      .add_option("--url", url_,
                  "Where the service is: http://HOST:PORT or unix:PATH (else ATOLL_URL, else the local one)")
      .value("URL");
  command.add_option("--key-file", key_file_, "File with the API key (else ATOLL_API_KEY)").value("FILE");
  settings_.add_to(command);
}

bool ConnectionFlags::name_a_service() const {
  return !url_.empty() || !variable("ATOLL_URL").empty();
}

Result<Endpoint> ConnectionFlags::find() const {
  const config::Configuration configuration = TRY(settings_.load());
  Endpoint found;
  std::optional<daemon::LocalAccess> local;
  if (auto directory = daemon::existing_data_directory(configuration)) {
    local = daemon::read_local_access(*directory);
    if (local) found = {local->address, fmt::format("the running service of {}", *directory), local->key};
  }
  if (!local) found = {url_of(configuration.text("listen")), "the setting listen", ""};
  const auto take = [&](std::string_view origin, const std::string& url) -> Result<void> {
    TRY(check_url(origin, url));
    // The owner's key belongs to the service that left it, and is shown to no other.
    const bool same = local && url == local->address;
    found = {url, std::string(origin), same ? local->key : ""};
    return {};
  };
  if (!url_.empty())
    TRY(take("--url", url_));
  else if (const std::string named = variable("ATOLL_URL"); !named.empty())
    TRY(take("ATOLL_URL", named));
  while (found.url.ends_with('/')) found.url.pop_back();
  if (!key_file_.empty())
    found.key = TRY(key_in(key_file_));
  else if (const std::string given = variable("ATOLL_API_KEY"); !given.empty())
    found.key = given;
  return found;
}

}  // namespace atl::cli
