#include "sandbox/docker/docker_walls.h"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "sandbox/docker/json_access.h"

namespace atl::sandbox::docker {
namespace {

namespace bj = boost::json;
// How long the broker may take to find out why a container ended.
constexpr std::chrono::seconds kExplanation{3};

std::uint64_t count_in(const bj::object& object, const char* key) {
  return static_cast<std::uint64_t>(std::max<std::int64_t>(number_in(object, key), 0));
}

}  // namespace

DockerWalls::DockerWalls(const boost::asio::any_io_executor& executor, std::shared_ptr<BrokerClient> broker,
                         std::string name, container::GroupReader groups)
    : broker_(std::move(broker)), name_(std::move(name)), groups_(std::move(groups)), explained_(executor) {}

void DockerWalls::has_ended(std::string why) {
  if (!why_ended_) why_ended_ = std::move(why);
  explained_.notify();
}

Task<void> DockerWalls::ask(const char* verb) {
  bj::object request{{"verb", verb}, {"name", name_}};
  CO_TRY(auto answer, co_await broker_->call(std::move(request)));
  (void)answer;
  co_return Result<void>();
}

Task<void> DockerWalls::freeze() {
  co_return co_await ask("freeze");
}

Task<void> DockerWalls::thaw() {
  co_return co_await ask("thaw");
}

Task<void> DockerWalls::snapshot(std::string target) {
  bj::object request{{"verb", "snapshot"}, {"name", name_}, {"target", std::move(target)}};
  CO_TRY(auto answer, co_await broker_->call(std::move(request)));
  (void)answer;
  co_return Result<void>();
}

Task<void> DockerWalls::destroy() {
  auto done = co_await ask("destroy");
  if (!done && done.error().code() == Code::not_found) co_return Result<void>();
  co_return done;
}

void DockerWalls::destroy_later() {
  broker_->tell({{"verb", "destroy"}, {"name", name_}});
}

Task<std::string> DockerWalls::explain(std::string reason) {
  using namespace boost::asio::experimental::awaitable_operators;
  boost::asio::steady_timer late(co_await boost::asio::this_coro::executor, kExplanation);
  if (!why_ended_ && broker_->is_open()) {
    auto first =
        co_await (explained_.wait() || late.async_wait(boost::asio::as_tuple(boost::asio::use_awaitable)));
    (void)first;
  }
  if (why_ended_) co_return *why_ended_;
  if (!broker_->is_open()) co_return std::string("the broker of the container engine died");
  co_return reason;
}

Task<void> DockerWalls::measure() {
  bj::object request{{"verb", "measure"}, {"name", name_}};
  CO_TRY(const BrokerClient::Answer answer, co_await broker_->call(std::move(request)));
  told_.disk_bytes = count_in(answer.body, "disk_bytes");
  told_.cpu_time = std::chrono::microseconds(count_in(answer.body, "cpu_us"));
  told_.memory_bytes = count_in(answer.body, "memory_bytes");
  told_.memory_peak_bytes = count_in(answer.body, "memory_peak_bytes");
  told_.processes = static_cast<std::uint32_t>(count_in(answer.body, "processes"));
  co_return Result<void>();
}

Usage DockerWalls::measured() const {
  if (!groups_.counts_memory()) return told_;
  Usage usage = groups_.usage();
  usage.disk_bytes = told_.disk_bytes;
  return usage;
}

std::optional<std::chrono::microseconds> DockerWalls::cpu_time() const {
  if (!groups_.counts_memory()) return std::nullopt;
  return groups_.cpu_time();
}

std::optional<std::uint32_t> DockerWalls::process_count() const {
  if (!groups_.counts_processes()) return std::nullopt;
  return groups_.processes();
}

}  // namespace atl::sandbox::docker
