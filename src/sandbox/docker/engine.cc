#include "sandbox/docker/engine.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>
#include <charconv>
#include <utility>

#include "base/json.h"
#include "sandbox/docker/json_access.h"

namespace atl::sandbox::docker {
namespace {

// The newest version whose answers we know, and the oldest that has all we need.
constexpr int kNewestMinor = 43, kOldestMinor = 41;
// Of an answer; lists of containers and images are the longest.
constexpr std::uint64_t kAnswerMax = 16U << 20;
constexpr std::size_t kMessageMax = 500;
// Without a word of a build or a pull: a step that compiles may say nothing for long.
constexpr std::chrono::milliseconds kStepTime{15 * 60'000};

net::ClientOptions client_options(const EngineAddress& address, std::chrono::milliseconds patience) {
  net::ClientOptions options;
  options.connect_time = std::chrono::seconds(5);
  options.head_time = patience;
  options.stall_time = patience;
  options.tries = 1;
  options.body_bytes_max = kAnswerMax;
  options.ca_file = address.ca_file;
  options.certificate_file = address.certificate_file, options.key_file = address.key_file;
  return options;
}

// "1.41" is 41.
int minor_of(std::string_view version) {
  const std::size_t dot = version.find('.');
  if (dot == std::string_view::npos || version.substr(0, dot) != "1") return -1;
  int minor = -1;
  std::from_chars(version.data() + dot + 1, version.data() + version.size(), minor);
  return minor;
}

// The engine's own words, as far as they may be shown.
std::string words_of(const std::string& body) {
  std::string words = body;
  if (const auto parsed = json::parse(body)) {
    words = text_at(*parsed, {"message"});
    if (words.empty()) words = text_at(*parsed, {"cause"});
  }
  while (!words.empty() && words.back() == '\n') words.pop_back();
  if (words.size() > kMessageMax) words.resize(kMessageMax);
  return words;
}

Error refusal(int status, const std::string& body) {
  const std::string words = words_of(body);
  Code code = Code::provider_failed;
  if (status == 404) code = Code::not_found;
  if (status == 409 || status == 304) code = Code::conflict;
  if (words.find("no space left") != std::string::npos) code = Code::no_space;
  return Error(code, fmt::format("the engine refused ({}): {}", status, words));
}

// Lines of JSON as they come, of which one may be the engine's error.
class ProgressReader {
 public:
  explicit ProgressReader(std::function<void(std::string_view)> on_step) : on_step_(std::move(on_step)) {}
  void feed(std::string_view bytes) {
    for (const char c : bytes) {
      if (c == '\n')
        read_line();
      else if (line_.size() < kLineMax)
        line_ += c;
    }
  }
  const std::string& error() const { return error_; }
  // What came behind the last line: all of it, if the engine answered with something else.
  const std::string& rest() const { return line_.empty() ? last_ : line_; }

 private:
  static constexpr std::size_t kLineMax = 64U << 10;
  void read_line() {
    last_ = std::exchange(line_, {});
    const auto parsed = json::parse(last_);
    if (!parsed) return;
    if (std::string said = text_at(*parsed, {"error"}); !said.empty()) error_ = std::move(said);
    std::string step = text_at(*parsed, {"stream"});
    // A pull tells of each layer many times.
    if (step.empty() && find_at(*parsed, {"progressDetail", "current"}) == nullptr)
      step = text_at(*parsed, {"status"});
    while (!step.empty() && step.back() == '\n') step.pop_back();
    if (!step.empty() && on_step_) on_step_(step);
  }
  std::function<void(std::string_view)> on_step_;
  std::string line_, last_, error_;
};

}  // namespace

Engine::Engine(boost::asio::any_io_executor executor, EngineAddress address,
               std::chrono::milliseconds patience)
    : executor_(executor),
      address_(std::move(address)),
      client_(executor, address_.url, client_options(address_, patience)),
      patient_client_(executor, address_.url, client_options(address_, std::max(patience, kStepTime))) {}

Error Engine::explained(Error error) const {
  if (error.code() == Code::deadline_exceeded)
    return Error(Code::deadline_exceeded,
                 fmt::format("the container engine ({}) did not answer in time: is it stopped or overloaded?",
                             address_.source))
        .with_detail(error.message());
  // Certificates that are of no use.
  if (error.code() == Code::invalid_argument)
    return Error(Code::unavailable, fmt::format("the container engine ({}) cannot be reached: {}",
                                                address_.source, error.message()));
  return Error(Code::unavailable,
               fmt::format("the container engine ({}) cannot be reached: is it running?", address_.source))
      .with_detail(error.message());
}

Task<void> Engine::agree() {
  if (!api_.empty()) co_return Result<void>();
  net::ClientRequest request;
  request.target = "/version";
  auto answer = co_await client_.send(std::move(request));
  if (!answer) co_return fail(explained(std::move(answer).error()));
  if (answer->status != 200) co_return fail(refusal(answer->status, answer->body));
  const auto parsed = json::parse(answer->body);
  const int newest = parsed ? minor_of(text_at(*parsed, {"ApiVersion"})) : -1;
  if (newest < kOldestMinor)
    co_return fail(Code::unsupported,
                   fmt::format("the container engine ({}) speaks no API of version 1.{} or newer",
                               address_.source, kOldestMinor));
  api_ = fmt::format("1.{}", std::min(newest, kNewestMinor));
  co_return Result<void>();
}

Task<boost::json::value> Engine::call(net::ClientRequest request) {
  CO_CHECK(co_await agree());
  request.target = fmt::format("/v{}{}", api_, request.target);
  auto answer = co_await client_.send(std::move(request));
  if (!answer) {
    // Another engine may listen there after a restart.
    api_.clear();
    co_return fail(explained(std::move(answer).error()));
  }
  if (answer->status >= 300) co_return fail(refusal(answer->status, answer->body));
  if (answer->body.empty()) co_return boost::json::value();
  auto parsed = json::parse(answer->body);
  if (!parsed) co_return boost::json::value();
  co_return std::move(*parsed);
}

Task<boost::json::value> Engine::get(std::string target) {
  net::ClientRequest request;
  request.target = std::move(target);
  co_return co_await call(std::move(request));
}

Task<boost::json::value> Engine::post(std::string target, boost::json::value body) {
  net::ClientRequest request;
  request.method = "POST";
  request.target = std::move(target);
  request.headers.set("Content-Type", "application/json");
  request.body = boost::json::serialize(body);
  co_return co_await call(std::move(request));
}

// Podman refuses some calls without a body that Docker needs none for.
Task<boost::json::value> Engine::post(std::string target) {
  boost::json::value nothing = boost::json::object();
  co_return co_await post(std::move(target), std::move(nothing));
}

Task<void> Engine::remove(std::string target) {
  net::ClientRequest request;
  request.method = "DELETE";
  request.target = std::move(target);
  CO_TRY(auto answer, co_await call(std::move(request)));
  (void)answer;
  co_return Result<void>();
}

Task<void> Engine::put_archive(std::string target, std::string tar) {
  net::ClientRequest request;
  request.method = "PUT";
  request.target = std::move(target);
  request.headers.set("Content-Type", "application/x-tar");
  request.body = std::move(tar);
  CO_TRY(auto answer, co_await call(std::move(request)));
  (void)answer;
  co_return Result<void>();
}

Task<void> Engine::post_progress(std::string target, std::string tar,
                                 std::function<void(std::string_view)> on_step) {
  CO_CHECK(co_await agree());
  net::ClientRequest request;
  request.method = "POST";
  request.target = fmt::format("/v{}{}", api_, target);
  if (!tar.empty()) request.headers.set("Content-Type", "application/x-tar");
  request.body = std::move(tar);
  auto call = co_await patient_client_.open(std::move(request));
  if (!call) co_return fail(explained(std::move(call).error()));
  auto head = co_await (*call)->head();
  if (!head) co_return fail(explained(std::move(head).error()));
  ProgressReader progress(std::move(on_step));
  for (;;) {
    auto piece = co_await (*call)->read();
    if (!piece) co_return fail(explained(std::move(piece).error()));
    if (piece->empty()) break;
    progress.feed(*piece);
  }
  if (head->status >= 300) co_return fail(refusal(head->status, progress.rest()));
  if (!progress.error().empty()) co_return fail(refusal(500, progress.error()));
  co_return Result<void>();
}

Task<std::unique_ptr<net::ByteStream>> Engine::attach(std::string container) {
  CO_CHECK(co_await agree());
  net::ClientRequest request;
  request.method = "POST";
  request.target = fmt::format("/v{}/containers/{}/attach?stream=1&stdin=1&stdout=1", api_, container);
  request.headers.set("Upgrade", "tcp");
  request.headers.set("Connection", "Upgrade");
  auto call = co_await client_.open(std::move(request));
  if (!call) co_return fail(explained(std::move(call).error()));
  auto head = co_await (*call)->head();
  if (!head) co_return fail(explained(std::move(head).error()));
  if (head->status != 101) {
    auto body = co_await (*call)->read();
    std::string words;
    if (body) words = std::move(*body);
    co_return fail(refusal(head->status, words));
  }
  co_return (*call)->release();
}

Task<EngineFacts> Engine::describe() {
  CO_TRY(const boost::json::value version, co_await get("/version"));
  CO_TRY(const boost::json::value info, co_await get("/info"));
  EngineFacts facts;
  facts.api = api_;
  facts.version = text_at(version, {"Version"});
  facts.kind = "docker";
  if (version.is_object())
    if (const auto* parts = version.as_object().if_contains("Components");
        parts != nullptr && parts->is_array())
      for (const boost::json::value& part : parts->as_array())
        if (text_at(part, {"Name"}) == "Podman Engine") facts.kind = "podman";
  facts.storage = text_at(info, {"Driver"});
  facts.cgroups = text_at(info, {"CgroupVersion"});
  facts.warnings = texts_at(info, {"Warnings"});
  facts.is_rootless = is_true_at(info, {"Rootless"});  // Podman's word for it
  for (const std::string& option : texts_at(info, {"SecurityOptions"}))
    facts.is_rootless |= option.find("rootless") != std::string::npos;
  co_return facts;
}

Isolation isolation_of(const EngineFacts& facts) {
  Isolation isolation;
  isolation.walls.push_back({"engine", fmt::format("{} {}, API {}, storage {}, control groups version {}{}",
                                                   facts.kind, facts.version, facts.api, facts.storage,
                                                   facts.cgroups, facts.is_rootless ? ", rootless" : "")});
  for (const std::string& warning : facts.warnings) isolation.missing.push_back({"engine", warning});
  if (!facts.sets_limits())
    isolation.missing.push_back(
        {"limits",
         "a rootless engine on control groups of version 1 sets no limits of memory, processor and tasks: "
         "use version 2, or an engine of root"});
  return isolation;
}

}  // namespace atl::sandbox::docker
