#include "index/server_link.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>
#include <thread>

#include "base/json.h"
#include "base/json_values.h"

namespace atl::index {
namespace {

using Steady = std::chrono::steady_clock;

constexpr std::uint64_t kLinkAnswerMax = 16U << 20;
constexpr std::size_t kLinkValuesMax = 1'000'000;  // each takes many times its text

// Whether asking again may help.
bool is_passing(int status) {
  return status == 408 || status == 429 || status >= 500;
}

}  // namespace

ServerLink::ServerLink(std::string name, net::Url url,
                       std::vector<std::pair<std::string, std::string>> headers, LinkOptions options)
    : name_(std::move(name)), url_(std::move(url)), options_(options), headers_(std::move(headers)) {}

Result<net::ClientResponse> ServerLink::send(net::ClientRequest request) {
  net::BlockingClient client(url_, options_.wait, kLinkAnswerMax);
  {
    const std::lock_guard lock(mutex_);
    if (stopped_) return fail(Code::canceled, "stopping");
    under_way_.insert(&client);
  }
  auto answer = client.send(std::move(request));
  const std::lock_guard lock(mutex_);
  under_way_.erase(&client);
  return answer;
}

Result<ServerLink::Answer> ServerLink::try_once(const std::string& method, const std::string& target,
                                                const boost::json::object* body) {
  net::ClientRequest request;
  request.method = method;
  request.target = target;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [name, value] : headers_) request.headers.add(name, value);
  }
  request.headers.add("Accept", "application/json");
  if (body != nullptr) {
    request.headers.add("Content-Type", "application/json");
    request.body = boost::json::serialize(*body);
  }
  const auto answer = send(std::move(request));
  if (!answer && answer.error().code() == Code::too_large)
    return fail(Code::too_large, fmt::format("{}: {}", name_, answer.error().message()));
  if (!answer)
    return fail(Code::unavailable, fmt::format("{} does not answer: {}", name_, answer.error().message()));
  if (is_passing(answer->status))
    return fail(Code::unavailable, fmt::format("{} answered {}", name_, answer->status));
  if (auto bounded = json::bound_values(answer->body, kLinkValuesMax); !bounded)
    return fail(Code::too_large, fmt::format("{}: {}", name_, bounded.error().message()));
  auto parsed = json::parse(answer->body, {.max_bytes = kLinkAnswerMax + 1});
  if (!parsed || !parsed->is_object()) {
    // Refusals of doors in front of a server have no body of its own.
    if (answer->status >= 400) return Answer{answer->status, {}};
    return fail(Code::unavailable, fmt::format("{} gave an answer that is none", name_));
  }
  return Answer{answer->status, std::move(parsed->get_object())};
}

Result<ServerLink::Answer> ServerLink::call(const std::string& method, const std::string& target,
                                            const boost::json::object* body, TooLarge blamed) {
  if (rest_left().count() > 0) return fail(Code::unavailable, away_because());
  auto pause = options_.back_off;
  for (int round = 1;; ++round) {
    auto answer = try_once(method, target, body);
    const bool is_too_large = !answer && answer.error().code() == Code::too_large;
    if (answer || (is_too_large && blamed == TooLarge::asker)) {
      worked();
      return answer;
    }
    if (round >= options_.tries || is_stopped()) {
      failed(answer.error().message());
      return answer;
    }
    std::this_thread::sleep_for(pause);
    pause *= 2;
  }
}

void ServerLink::failed(const std::string& why) {
  const std::lock_guard lock(mutex_);
  away_because_ = why;
  rest_ = std::clamp(rest_ * 2, options_.rest, options_.rest_max);
  rests_until_ = Steady::now() + rest_;
}

void ServerLink::set_headers(std::vector<std::pair<std::string, std::string>> headers) {
  const std::lock_guard lock(mutex_);
  if (headers_ == headers) return;
  headers_ = std::move(headers);
  rest_ = {};  // what was refused before may be accepted now
  rests_until_ = {};
}

void ServerLink::worked() {
  const std::lock_guard lock(mutex_);
  away_because_.clear();
  rest_ = {};
  rests_until_ = {};
}

bool ServerLink::is_stopped() const {
  const std::lock_guard lock(mutex_);
  return stopped_;
}

std::string ServerLink::away_because() const {
  const std::lock_guard lock(mutex_);
  return away_because_;
}

std::chrono::milliseconds ServerLink::rest_left() const {
  const std::lock_guard lock(mutex_);
  const auto left = rests_until_ - Steady::now();
  return std::max(std::chrono::milliseconds(0), std::chrono::ceil<std::chrono::milliseconds>(left));
}

void ServerLink::stop() {
  const std::lock_guard lock(mutex_);
  stopped_ = true;
  for (net::BlockingClient* client : under_way_) client->stop();
}

}  // namespace atl::index
