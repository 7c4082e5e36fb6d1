// The places that events are delivered to.
#include <fmt/format.h>
#include <nats/nats.h>

#include <atomic>

#include "base/bytes.h"
#include "base/log_subject.h"
#include "net/blocking_client.h"
#include "telemetry/delivery.h"

namespace atl::telemetry {
namespace {

constexpr std::chrono::milliseconds kSendTime{10'000};

class WebhookTarget final : public EventTarget {
 public:
  WebhookTarget(net::Url url, std::string secret)
      : client_(std::move(url), kSendTime), secret_(std::move(secret)) {}
  std::string_view name() const override { return "webhook"; }
  void stop() override { client_.stop(); }
  std::uint64_t refused() const override { return refused_; }

  Result<void> send(const std::vector<EventPtr>& events) override {
    std::size_t at = 0;
    const auto next = [&]() -> std::optional<net::ClientRequest> {
      while (at < events.size() && events[at]->id <= taken_) ++at;  // of a batch that failed later on
      if (at == events.size()) return std::nullopt;
      return request_of(*events[at]);
    };
    const auto took = [&](const net::ClientResponse& answer) -> Result<void> {
      TRY(judge(*events[at], answer.status));
      taken_ = events[at]->id;
      return {};
    };
    return client_.send_for_heads(next, took);
  }

 private:
  net::ClientRequest request_of(const Event& event) const {
    net::ClientRequest request;
    request.method = "POST";
    request.target = "";
    request.body = event.line;
    request.headers.add("Content-Type", "application/json");
    request.headers.add("X-Atoll-Event", event.type);
    request.headers.add("X-Atoll-Delivery", std::to_string(event.id));
    if (!secret_.empty()) {
      const std::string seconds = std::to_string(unix_millis(Clock::machine().now()) / 1000);
      const std::string digest = to_hex(hmac_sha256(secret_, seconds + "." + request.body));
      request.headers.add("X-Atoll-Signature", fmt::format("t={},v1={}", seconds, digest));
    }
    return request;
  }
  // What an answer says about an event: taken, or never to be taken; an error if it is to be sent again.
  Result<void> judge(const Event& event, int status) {
    if (status / 100 == 2) return {};
    if (status == 400 || status == 410 || status == 413 || status == 422) {
      ++refused_;
      log::warn(log::Subject{event.tenant, event.session_id, {}},
                "the webhook will never take an event, and it is let go",
                {{"event", std::to_string(event.id)}, {"status", std::to_string(status)}});
      return {};
    }
    return fail(Code::unavailable, fmt::format("the webhook answered {}", status));
  }

  net::BlockingClient client_;
  std::string secret_;
  std::uint64_t taken_ = 0;
  std::atomic<std::uint64_t> refused_ = 0;
};

struct NatsDeleter {
  void operator()(natsOptions* options) const { natsOptions_Destroy(options); }
  void operator()(natsConnection* connection) const { natsConnection_Destroy(connection); }
};

Error nats_error(std::string_view doing, natsStatus status) {
  return Error(Code::unavailable, fmt::format("NATS: {}: {}", doing, natsStatus_GetText(status)));
}

// Words of a subject are parted by dots and must not be its wildcards.
std::string subject_word(std::string_view text) {
  std::string word;
  for (const char c : text) word += c == '.' || c == '*' || c == '>' || c <= ' ' || c == 127 ? '_' : c;
  return word.empty() ? "none" : word;
}

class NatsTarget final : public EventTarget {
 public:
  explicit NatsTarget(std::string url) : url_(std::move(url)) {}
  std::string_view name() const override { return "nats"; }
  void stop() override { stopped_ = true; }

  Result<void> send(const std::vector<EventPtr>& events) override {
    if (!connection_) TRY(connect());
    auto sent = publish(events);
    if (!sent) connection_.reset();
    return sent;
  }

 private:
  Result<void> connect() {
    natsOptions* made = nullptr;
    if (const natsStatus status = natsOptions_Create(&made); status != NATS_OK)
      return fail(nats_error("options", status));
    const std::unique_ptr<natsOptions, NatsDeleter> options(made);
    natsStatus status = natsOptions_SetURL(options.get(), url_.c_str());
    if (status == NATS_OK) status = natsOptions_SetTimeout(options.get(), 2000);
    // The library would buffer what it cannot send; the log of events does that, and survives a restart.
    if (status == NATS_OK) status = natsOptions_SetAllowReconnect(options.get(), false);
    if (status == NATS_OK) status = natsOptions_SetName(options.get(), "atoll");
    natsConnection* connection = nullptr;
    if (status == NATS_OK) status = natsConnection_Connect(&connection, options.get());
    if (status != NATS_OK) return fail(nats_error("connect", status));
    connection_.reset(connection);
    return {};
  }
  Result<void> publish(const std::vector<EventPtr>& events) {
    for (const EventPtr& event : events) {
      if (stopped_) return fail(Code::canceled, "stopping");
      // A type's own dots part words of the subject: "atoll.events.default.session.created".
      const std::string subject = fmt::format("atoll.events.{}.{}", subject_word(event->tenant), event->type);
      const natsStatus status = natsConnection_Publish(connection_.get(), subject.c_str(), event->line.data(),
                                                       static_cast<int>(event->line.size()));
      if (status != NATS_OK) return fail(nats_error("publish", status));
    }
    const natsStatus status = natsConnection_FlushTimeout(connection_.get(), 2000);
    if (status != NATS_OK) return fail(nats_error("flush", status));
    return {};
  }

  std::string url_;
  std::atomic<bool> stopped_ = false;
  std::unique_ptr<natsConnection, NatsDeleter> connection_;
};

}  // namespace

Result<std::unique_ptr<EventTarget>> event_webhook(const std::string& url, const std::string& secret) {
  net::Url parsed = TRY(net::Url::parse(url));
  if (parsed.scheme == net::Scheme::unix_socket)
    return fail(Code::invalid_argument, fmt::format("an http or https URL is wanted, got '{}'", url));
  return std::make_unique<WebhookTarget>(std::move(parsed), secret);
}

Result<std::unique_ptr<EventTarget>> event_nats(const std::string& url) {
  if (!url.starts_with("nats://") && !url.starts_with("tls://"))
    return fail(Code::invalid_argument, fmt::format("nats://HOST:PORT is wanted, got '{}'", url));
  return std::make_unique<NatsTarget>(url);
}

}  // namespace atl::telemetry
