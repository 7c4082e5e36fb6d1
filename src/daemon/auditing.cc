#include "daemon/auditing.h"

#include <fmt/format.h>

#include "base/bytes.h"
#include "base/json.h"
#include "base/log.h"

namespace atl::daemon {
namespace {

Result<std::vector<std::unique_ptr<audit::Target>>> targets_of(const config::Configuration& configuration) {
  std::vector<std::unique_ptr<audit::Target>> targets;
  const auto add = [&](std::string_view key, auto make) -> Result<void> {
    const std::string& text = configuration.text(key);
    if (text.empty()) return {};
    auto made = make(text);
    if (!made) return fail(std::move(made).error().with_field(std::string(key)));
    targets.push_back(std::move(*made));
    return {};
  };
  TRY(add("audit.forward.file", audit::file_target));
  TRY(add("audit.forward.syslog", audit::syslog_target));
  TRY(add("audit.forward.webhook", [&](const std::string& url) {
    return audit::webhook_target(url, configuration.text("audit.forward.webhook_secret"));
  }));
  return targets;
}

Result<audit::Options> options_of(const config::Configuration& configuration, const std::string& data) {
  audit::Options options;
  options.data = data;
  options.segment_bytes = configuration.bytes("audit.segment_bytes");
  options.reserve_bytes = configuration.bytes("audit.reserve_bytes");
  constexpr std::uint64_t kLeast = 64U << 10;
  for (const auto& [key, bytes] : {std::pair("audit.segment_bytes", options.segment_bytes),
                                   std::pair("audit.reserve_bytes", options.reserve_bytes)})
    if (bytes < kLeast)
      return fail(
          Error(Code::invalid_argument, fmt::format("at least 64K, got {} bytes", bytes)).with_field(key));
  options.sign_every = configuration.duration("audit.sign_every");
  if (options.sign_every < std::chrono::milliseconds(10))
    return fail(Error(Code::invalid_argument, "at least 10ms").with_field("audit.sign_every"));
  options.keep = configuration.duration("audit.keep");
  options.keep_bytes = configuration.bytes("audit.keep_bytes");
  options.compact_after = configuration.duration("audit.compact_after");
  return options;
}

// With which settings the service starts, without their values: some are secret.
audit::Entry start_entry(const config::Configuration& configuration) {
  std::string all;
  for (const auto& [key, value] : configuration.values()) all += fmt::format("{}={}\n", key, value.text);
  audit::Entry entry;
  entry.actor.key_id = audit::kSystem;
  entry.action = "config.load";
  entry.object = "service";
  entry.details = fmt::format(R"({{"sha256":"{}","version":"{}"}})", sha256_hex(all), ATOLL_VERSION);
  return entry;
}

}  // namespace

Result<std::unique_ptr<Auditing>> Auditing::open(const config::Configuration& configuration,
                                                 const std::string& data, audit::Durability durability) {
  std::unique_ptr<Auditing> auditing(new Auditing);
  audit::Options options = TRY(options_of(configuration, data));
  options.durability = durability;
  audit::ForwardOptions forward;
  forward.data = data;
  forward.spool_bytes = configuration.bytes("audit.forward.spool_bytes");
  auto targets = TRY(targets_of(configuration));
  const bool forwards = !targets.empty();
  auditing->forwarder_ = std::make_unique<audit::Forwarder>(std::move(forward), std::move(targets));
  if (forwards) options.forwarded = [raw = auditing->forwarder_.get()] { return raw->sent(); };
  auditing->log_ = TRY(audit::Log::open(std::move(options)));
  TRY(auditing->log_->append(start_entry(configuration)));
  auditing->forwarder_->start(auditing->log_);
  return auditing;
}

Auditing::~Auditing() {
  close();
}

void Auditing::tell(std::string action, std::string object, std::string tenant, const Error* error) {
  audit::Entry entry;
  entry.actor = {std::string(audit::kSystem), {}, std::move(tenant), {}, {}};
  entry.action = std::move(action);
  entry.object = std::move(object);
  if (error != nullptr) {
    entry.outcome = audit::Outcome::error;
    entry.reason = error->message();
  }
  if (auto written = log_->append(entry); !written)
    log::error("an entry of the audit log could not be written", {{"error", written.error().message()}});
}

void Auditing::tell_secret(const std::string& tenant, const std::string& name) {
  audit::Entry entry;
  entry.actor = {std::string(audit::kSystem), {}, tenant, {}, {}};
  entry.action = "secret.use";
  entry.object = name;
  log_->fold(entry);
}

// The log's thread asks the forwarder how far it is, so the log ends first.
void Auditing::close() {
  if (log_) log_->close();
  forwarder_.reset();
}

}  // namespace atl::daemon
