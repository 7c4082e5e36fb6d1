#include "daemon/daemon.h"

#include <sys/stat.h>

#include <filesystem>

#include "base/log.h"
#include "daemon/certificate.h"

namespace atl::daemon {
namespace {

net::ServerOptions server_options(const config::Configuration& configuration) {
  net::ServerOptions options;
  options.header_time = configuration.duration("http.header_time");
  options.idle_time = configuration.duration("http.idle_time");
  options.body_stall_time = configuration.duration("http.body_stall_time");
  options.write_stall_time = configuration.duration("http.write_stall_time");
  options.cors.origins = configuration.list("cors.origins");
  options.cors.exposed_headers = {"X-Next-Token", "X-Total-Running", "X-Request-Id", "Retry-After"};
  return options;
}

std::size_t worker_count(const config::Configuration& configuration) {
  auto asked = configuration.integer("workers");
  return asked > 0 ? static_cast<std::size_t>(asked) : std::max(2U, std::thread::hardware_concurrency());
}

}  // namespace

Result<std::string> data_directory(const config::Configuration& configuration) {
  std::string path = configuration.text("data");
  if (path.empty()) path = config::default_data_directory();
  std::error_code error;
  std::string absolute = std::filesystem::absolute(path, error).string();
  if (!error) std::filesystem::create_directories(absolute, error);
  if (error) return fail(errno_error(error.value(), "create the data directory " + path));
  if (::chmod(absolute.c_str(), 0700) != 0)
    return fail(errno_error(errno, "protect the data directory " + path));
  return absolute;
}

Daemon::Daemon(boost::asio::io_context& loop, const config::Configuration& configuration)
    : loop_(loop), configuration_(configuration) {}

Daemon::~Daemon() = default;

Result<std::unique_ptr<Daemon>> Daemon::build(boost::asio::io_context& loop,
                                              const config::Configuration& configuration) {
  std::unique_ptr<Daemon> daemon(new Daemon(loop, configuration));
  daemon->data_ = TRY(data_directory(configuration));
  daemon->workers_ = std::make_unique<boost::asio::thread_pool>(worker_count(configuration));
  daemon->store_ = TRY(store::Store::open(daemon->data_));
  daemon->keys_ = std::make_unique<auth::Keys>(*daemon->store_);
  daemon->server_ = std::make_unique<net::Server>(loop.get_executor(), server_options(configuration));
  if (const std::string& target = configuration.text("log.access"); !target.empty()) {
    daemon->server_->set_access_sink(TRY(net::open_access_log(loop.get_executor(), target)));
  }
  daemon->mount_basics();
  return daemon;
}

void Daemon::mount_basics() {
  net::Router& router = server_->router();
  router.add(net::Method::get, "/health", [](net::Request&) -> Task<net::Response> {
    net::Response response = net::Response::json(200, R"({"status":"ok"})");
    response.headers.add("Cache-Control", "no-store");
    co_return response;
  });
  router.add(net::Method::get, "/version", [](net::Request&) -> Task<net::Response> {
    co_return net::Response::json(200, R"({"name":"atoll","version":")" ATOLL_VERSION R"("})");
  });
}

Task<std::string> Daemon::ensure_key() {
  CO_CHECK(co_await keys_->reload());
  const std::string& preset = configuration_.text("api_key");
  bool first = keys_->empty();
  if (preset.empty() && !first) co_return std::string();
  CO_TRY(auto created, co_await keys_->create("default", preset.empty() ? "first" : "preset", preset));
  co_return preset.empty() ? created.key : std::string();
}

Result<std::vector<std::string>> Daemon::listen() {
  std::vector<std::string> addresses;
  std::string plain = TRY(server_->listen(configuration_.text("listen")));
  addresses.push_back(plain.starts_with("unix:") ? plain : "http://" + plain);
  const std::string& secure = configuration_.text("tls.listen");
  if (!secure.empty()) {
    net::Certificate certificate =
        TRY(load_certificate(data_, configuration_.text("tls.certificate"), configuration_.text("tls.key")));
    std::shared_ptr<net::TlsContext> context = TRY(net::TlsContext::make(certificate));
    std::string address = TRY(server_->listen(secure, context));
    addresses.push_back("https://" + address);
  }
  return addresses;
}

Task<Ready> Daemon::start() {
  Ready ready;
  CO_TRY(ready.new_key, co_await ensure_key());
  CO_TRY(ready.addresses, listen());
  co_return ready;
}

boost::asio::awaitable<void> Daemon::stop() {
  co_await server_->stop(configuration_.duration("http.stop_time"));
  workers_->join();
}

}  // namespace atl::daemon
