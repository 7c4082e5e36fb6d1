#include "sandbox/e2b/account.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/json.h"
#include "os/timer.h"
#include "sandbox/e2b/wire.h"

namespace atl::sandbox::e2b {
namespace {

constexpr int kBusyTries = 3;  // of calls that were answered 429
constexpr std::chrono::seconds kBusyWaitMax(10);
constexpr std::size_t kPagesMax = 100;

net::ClientOptions client_options() {
  net::ClientOptions options;
  options.body_bytes_max = 16U << 20;
  return options;
}

Object map_object(const std::map<std::string, std::string>& map) {
  Object object;
  for (const auto& [name, value] : map) object[name] = value;
  return object;
}

// The filter of a list: each part encoded, joined, and all of it encoded again for the query.
std::string metadata_filter(const std::map<std::string, std::string>& metadata) {
  std::string joined;
  for (const auto& [name, value] : metadata)
    joined += fmt::format("{}{}={}", joined.empty() ? "" : "&", net::percent_encode(name),
                          net::percent_encode(value));
  return net::percent_encode(joined);
}

Result<Access> access_of(const Object& answer) {
  Access access{.id = text_in(answer, "sandboxID"),
                .domain = text_in(answer, "domain"),
                .token = text_in(answer, "envdAccessToken"),
                .traffic_token = text_in(answer, "trafficAccessToken")};
  // Some services append the machine's name.
  access.id = access.id.substr(0, access.id.find('-'));
  const bool sane = !access.id.empty() && access.id.size() <= 64 &&
                    std::ranges::all_of(access.id, [](unsigned char c) { return std::isalnum(c) != 0; });
  if (!sane) return fail(Code::provider_failed, "the remote service named a sandbox without a usable id");
  return access;
}

Result<RemoteFacts> facts_of(const Object& entry) {
  RemoteFacts facts;
  facts.access = TRY(access_of(entry));
  facts.state = text_in(entry, "state") == "paused" ? RemoteState::paused : RemoteState::running;
  facts.cpu_count = number_in(entry, "cpuCount");
  facts.memory_bytes = static_cast<std::uint64_t>(std::max<std::int64_t>(0, integer_in(entry, "memoryMB")))
                       << 20;
  facts.disk_bytes = static_cast<std::uint64_t>(std::max<std::int64_t>(0, integer_in(entry, "diskSizeMB")))
                     << 20;
  if (const Object* metadata = object_in(entry, "metadata"))
    for (const auto& member : *metadata)
      if (member.value().is_string()) facts.metadata.emplace(member.key(), member.value().get_string());
  return facts;
}

std::string timeout_body(std::chrono::seconds timeout) {
  return fmt::format(R"({{"timeout":{}}})", timeout.count());
}

}  // namespace

Account::Account(boost::asio::any_io_executor executor, net::Url control, std::string key)
    : executor_(executor), client_(executor, std::move(control), client_options()), key_(std::move(key)) {}

Task<net::ClientResponse> Account::ask(Asked asked) {
  net::ClientRequest request{
      .method = std::move(asked.method), .target = std::move(asked.target), .body = std::move(asked.body)};
  request.headers.add("X-API-KEY", key_);
  request.headers.add("User-Agent", "atoll/" ATOLL_VERSION);
  if (request.method == "POST") request.headers.add("Content-Type", "application/json");
  for (int attempt = 1;; ++attempt) {
    Result<net::ClientResponse> answer = co_await client_.send(request);
    // A reused connection that the other side closed meanwhile looks the same as a failure in the middle.
    if (!answer) co_return fail(Code::unavailable, "the remote service: " + answer.error().message());
    if (answer->status < 300) co_return std::move(*answer);
    if (answer->status != 429 || attempt == kBusyTries)
      co_return fail(control_error(answer->status, answer->body));
    int seconds = 1;
    const std::string_view told = answer->headers.get("Retry-After");
    std::from_chars(told.data(), told.data() + told.size(), seconds);
    const auto wait = std::clamp(std::chrono::seconds(seconds), std::chrono::seconds(0), kBusyWaitMax);
    CO_CHECK(co_await os::sleep_for(executor_, wait));
  }
}

Task<Access> Account::create(NewSandbox wanted) {
  Object body{{"templateID", wanted.template_id},
              {"timeout", wanted.timeout.count()},
              {"autoPause", false},
              {"allow_internet_access", wanted.internet}};
  if (!wanted.metadata.empty()) body["metadata"] = map_object(wanted.metadata);
  if (!wanted.env.empty()) body["envVars"] = map_object(wanted.env);
  Asked asked{"POST", "/v2/sandboxes", boost::json::serialize(body)};
  CO_TRY(const net::ClientResponse answer, co_await ask(std::move(asked)));
  CO_TRY(const Object made, parse_answer(answer.body));
  co_return access_of(made);
}

Task<RemoteFacts> Account::get(std::string id) {
  Asked asked{"GET", "/sandboxes/" + id, ""};
  CO_TRY(const net::ClientResponse answer, co_await ask(std::move(asked)));
  CO_TRY(const Object entry, parse_answer(answer.body));
  co_return facts_of(entry);
}

Task<std::vector<RemoteFacts>> Account::list(std::map<std::string, std::string> metadata) {
  std::vector<RemoteFacts> all;
  std::string next;
  for (std::size_t page = 0; page < kPagesMax; ++page) {
    std::string target = "/v2/sandboxes?state=running%2Cpaused&limit=100";
    if (!metadata.empty()) target += "&metadata=" + metadata_filter(metadata);
    if (!next.empty()) target += "&nextToken=" + net::percent_encode(next);
    Asked asked{"GET", std::move(target), ""};
    CO_TRY(const net::ClientResponse answer, co_await ask(std::move(asked)));
    auto parsed = json::parse(answer.body);
    if (!parsed || !parsed->is_array())
      co_return fail(Code::provider_failed, "the remote service listed something that is no list");
    for (const boost::json::value& entry : parsed->get_array()) {
      if (!entry.is_object()) continue;
      CO_TRY(RemoteFacts facts, facts_of(entry.get_object()));
      // A service that does not know the filter lists everything, also what is not ours to touch.
      const bool ours = std::ranges::all_of(metadata, [&](const auto& pair) {
        const auto found = facts.metadata.find(pair.first);
        return found != facts.metadata.end() && found->second == pair.second;
      });
      if (ours) all.push_back(std::move(facts));
    }
    next = answer.headers.get("X-Next-Token");
    if (next.empty()) break;
  }
  co_return all;
}

Task<void> Account::kill(std::string id) {
  Asked asked{"DELETE", "/sandboxes/" + id, ""};
  auto answer = co_await ask(std::move(asked));
  if (!answer && answer.error().code() != Code::not_found) co_return fail(std::move(answer).error());
  co_return Result<void>();
}

Task<void> Account::set_timeout(std::string id, std::chrono::seconds timeout) {
  Asked asked{"POST", "/sandboxes/" + id + "/timeout", timeout_body(timeout)};
  CO_CHECK(co_await ask(std::move(asked)));
  co_return Result<void>();
}

Task<Access> Account::connect(std::string id, std::chrono::seconds timeout) {
  Asked asked{"POST", "/v2/sandboxes/" + id + "/connect", timeout_body(timeout)};
  CO_TRY(const net::ClientResponse answer, co_await ask(std::move(asked)));
  CO_TRY(const Object made, parse_answer(answer.body));
  co_return access_of(made);
}

Task<void> Account::pause(std::string id) {
  Asked asked{"POST", "/sandboxes/" + id + "/pause", "{}"};
  auto answer = co_await ask(std::move(asked));
  if (!answer && answer.error().code() != Code::conflict) co_return fail(std::move(answer).error());
  co_return Result<void>();
}

Task<std::string> Account::snapshot(std::string id) {
  Asked asked{"POST", "/sandboxes/" + id + "/snapshots", "{}"};
  CO_TRY(const net::ClientResponse answer, co_await ask(std::move(asked)));
  CO_TRY(const Object made, parse_answer(answer.body));
  std::string name = text_in(made, "snapshotID");
  if (name.empty()) co_return fail(Code::provider_failed, "the remote service named no snapshot");
  co_return name;
}

Task<void> Account::remove_snapshot(std::string snapshot_id) {
  Asked asked{"DELETE", "/templates/" + net::percent_encode(snapshot_id), ""};
  auto answer = co_await ask(std::move(asked));
  if (!answer && answer.error().code() != Code::not_found) co_return fail(std::move(answer).error());
  co_return Result<void>();
}

}  // namespace atl::sandbox::e2b
