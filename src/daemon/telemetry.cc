#include "daemon/telemetry.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <charconv>

#include "daemon/auditing.h"
#include "daemon/indexing.h"

namespace atl::daemon {
namespace {

using telemetry::ComponentState;
using telemetry::Condition;
using telemetry::Exposition;

Result<double> sample_of(const config::Configuration& configuration) {
  const std::string& text = configuration.text("trace.sample");
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc() && end == text.data() + text.size() && number >= 0 && number <= 1) return number;
  return fail(Error(Code::invalid_argument,
                    fmt::format("trace.sample: a number from 0 to 1 is wanted, got '{}'", text))
                  .with_field("trace.sample"));
}

template <class T>
Result<T> of_setting(Result<T> result, const char* setting) {
  if (result) return result;
  return fail(std::move(result).error().context(setting).with_field(setting));
}

// Tools of all tenants by name; a tenant's own tools share one row, because there may be any number of them.
void show_tools(Exposition& out, const tools::ToolExecutor& tools) {
  const auto all = tools.totals();
  out.counter("atoll_tool_calls_total", "Calls of tools.");
  for (const auto& [name, one] : all) out.sample({{"tool", name}}, one.calls);
  out.counter("atoll_tool_failures_total", "Calls of tools that did not succeed, by how they ended.");
  for (const auto& [name, one] : all)
    for (const auto& [status, count] : one.failures) out.sample({{"tool", name}, {"status", status}}, count);
  out.counter("atoll_tool_seconds_total", "Time that calls of tools took.");
  for (const auto& [name, one] : all)
    out.sample({{"tool", name}}, std::chrono::duration<double>(one.wall_time).count());
}

using Pools = std::vector<std::pair<std::string, const sandbox::Pooled*>>;

void show_pools(Exposition& out, const Pools& pools) {
  out.counter("atoll_pool_takes_total", "Creates that found a sandbox ready (hit), and that did not (miss).");
  for (const auto& [provider, pooled] : pools) {
    out.sample({{"provider", provider}, {"result", "hit"}}, pooled->pool_use().hits);
    out.sample({{"provider", provider}, {"result", "miss"}}, pooled->pool_use().misses);
  }
  out.histogram("atoll_pool_wait_seconds", "Time that creates waited for a sandbox, ready or made.");
  for (const auto& [provider, pooled] : pools) out.sample({{"provider", provider}}, pooled->pool_use().waits);
}

void show_maker(Exposition& out, const std::string& provider, const sandbox::Measured& measured) {
  const sandbox::MakerUse maker = measured.maker_use();
  out.gauge("atoll_spawner_queue", "Creates that wait for the spawner, in its line or for its answer.");
  out.sample({{"provider", provider}}, maker.waiting);
  out.histogram("atoll_spawner_call_seconds", "Time of the spawner's answers to creates.");
  out.sample({{"provider", provider}}, *maker.calls);
}

// What nobody asked for has no row.
void show_health(Exposition& out, telemetry::Health& health) {
  out.gauge("atoll_component_ok",
            "1 for a part that does all of its work, 0 for one that is degraded or down.");
  for (const auto& one : health.look())
    if (one.state.condition != Condition::off)
      out.sample({{"component", one.name}}, one.state.condition == Condition::ok ? 1 : 0);
}

}  // namespace

Result<std::unique_ptr<Telemetry>> Telemetry::open(const config::Configuration& configuration,
                                                   const std::string& data, std::string installation) {
  std::unique_ptr<Telemetry> made(new Telemetry);
  telemetry::EventLogOptions options;
  options.directory = data + "/events";
  options.keep_bytes = configuration.bytes("events.keep_bytes");
  made->events_ = TRY(telemetry::EventLog::open(options));
  made->source_ = std::make_unique<telemetry::EventSource>(*made->events_);
  made->observers_ = telemetry::Observers({&made->metrics_, made->source_.get()});
  made->health_.add(
      "events", [log = made->events_.get()] { return log->state(); },
      "Look at the disk of the data directory.");
  TRY(made->start_tracing(configuration, std::move(installation)));
  TRY(made->start_deliveries(configuration, options.directory));
  made->show_deliveries();
  made->metrics_.add([&health = made->health_](Exposition& out) { show_health(out, health); });
  return made;
}

Telemetry::~Telemetry() = default;

Result<void> Telemetry::start_tracing(const config::Configuration& configuration, std::string installation) {
  telemetry::ExportOptions options;
  options.sample = TRY(sample_of(configuration));
  const std::string& endpoint = configuration.text("trace.otlp_endpoint");
  if (endpoint.empty()) {
    health_.add("traces", [] { return ComponentState{Condition::off, "trace.otlp_endpoint is not set"}; });
    return {};
  }
  options.endpoint = TRY(of_setting(net::Url::parse(endpoint), "trace.otlp_endpoint"));
  options.instance = std::move(installation);
  spans_ = std::make_unique<telemetry::SpanExporter>(std::move(options));
  health_.add(
      "traces", [spans = spans_.get()] { return spans->state(); },
      "Start the collector, or correct trace.otlp_endpoint and start the service again; what does not "
      "fit into the queue is dropped and counted (atoll_spans_dropped_total).");
  metrics_.add([spans = spans_.get()](Exposition& out) {
    const auto counts = spans->counts();
    out.counter("atoll_spans_exported_total", "Spans that the collector took.");
    out.sample({}, counts.exported);
    out.counter("atoll_spans_dropped_total",
                "Spans that were lost because the collector was away or refused them.");
    out.sample({}, counts.dropped);
    out.gauge("atoll_spans_waiting", "Spans that wait for the collector.");
    out.sample({}, counts.waiting);
  });
  return {};
}

Result<void> Telemetry::start_deliveries(const config::Configuration& configuration,
                                         const std::string& directory) {
  std::vector<std::unique_ptr<telemetry::EventTarget>> targets;
  if (const std::string& url = configuration.text("events.webhook"); !url.empty())
    targets.push_back(TRY(of_setting(
        telemetry::event_webhook(url, configuration.text("events.webhook_secret")), "events.webhook")));
  if (const std::string& url = configuration.text("events.nats"); !url.empty())
    targets.push_back(TRY(of_setting(telemetry::event_nats(url), "events.nats")));
  telemetry::DeliveryOptions options;
  options.directory = directory;
  deliveries_ = std::make_unique<telemetry::Deliveries>(*events_, options, std::move(targets));
  return {};
}

void Telemetry::show_deliveries() {
  for (std::size_t i = 0; const auto& one : deliveries_->standings()) {
    health_.add(
        "events." + one.target,
        [deliveries = deliveries_.get(), i] { return deliveries->standings()[i].state; },
        fmt::format("Bring the target up, or correct events.{} and start the service again; events wait "
                    "for it up to events.keep_bytes.",
                    one.target));
    ++i;
  }
  metrics_.add([this](Exposition& out) {
    out.counter("atoll_events_total", "Events since the first start.");
    out.sample({}, events_->last_id());
    out.gauge("atoll_event_followers", "Connections that follow the events.");
    out.sample({}, followers_.count());
    const auto standings = deliveries_->standings();
    out.gauge("atoll_event_target_waiting", "Events that a target has not taken yet.");
    for (const auto& one : standings) out.sample({{"target", one.target}}, one.waiting);
    out.counter("atoll_event_target_missed_total",
                "Events that were gone before a target took them, or that it refused for good.");
    for (const auto& one : standings) out.sample({{"target", one.target}}, one.missed);
  });
}

void Telemetry::watch(const store::Store& store) {
  health_.add(
      "store",
      [&store]() -> ComponentState {
        if (const auto why = store.refusal())
          return {Condition::degraded, "history waits in the journal: " + why->message()};
        return {};
      },
      "Make room on the disk of the data directory, or mend it; nothing that was acknowledged is lost.");
  metrics_.add([&store](Exposition& out) {
    out.histogram("atoll_store_commit_seconds", "Time of a transaction of the database.");
    out.sample({}, store.commits());
  });
}

void Telemetry::watch(const Auditing& auditing) {
  health_.add(
      "audit",
      [&auditing]() -> ComponentState {
        if (auditing.log()->facts().full)
          return {Condition::down, "no room for entries: changes are refused until there is"};
        const auto failing = auditing.failing_targets();
        if (!failing.empty())
          return {Condition::degraded,
                  fmt::format("entries are not forwarded to {}", fmt::join(failing, ", "))};
        return {};
      },
      "Bring the target of audit.forward up; entries wait in the log. Where the disk is full, make room.");
  metrics_.add([&auditing](Exposition& out) {
    out.histogram("atoll_audit_write_seconds", "Time to write an entry of the audit log.");
    out.sample({}, auditing.log()->writes());
    out.counter("atoll_audit_entries_total", "Entries of the audit log.");
    out.sample({}, auditing.log()->facts().seq);
    out.counter("atoll_audit_lost_total", "Entries that could not be written.");
    out.sample({}, auditing.log()->facts().lost);
  });
}

void Telemetry::watch(const sandbox::Provider& provider) {
  health_.add(
      "provider." + std::string(provider.name()),
      [&provider]() -> ComponentState {
        std::string why = provider.unavailable_because();
        if (!why.empty()) return {Condition::degraded, std::move(why)};
        return {};
      },
      "Run `atoll doctor` on the service's machine; the service's log has the first failure.");
  if (const auto* pooled = dynamic_cast<const sandbox::Pooled*>(&provider)) {
    // A family is shown once, whoever has rows of it.
    if (pools_.empty()) metrics_.add([this](Exposition& out) { show_pools(out, pools_); });
    pools_.emplace_back(provider.name(), pooled);
  }
  // One provider has a spawner: families would have to be gathered if there were another.
  const auto* measured = dynamic_cast<const sandbox::Measured*>(&provider);
  if (measured == nullptr) return;
  metrics_.add(
      [measured, name = std::string(provider.name())](Exposition& out) { show_maker(out, name, *measured); });
  watch_zygotes(provider, *measured);
}

void Telemetry::watch_zygotes(const sandbox::Provider& provider, const sandbox::Measured& measured) {
  const auto missing = provider.probed().missing;
  const auto never = std::ranges::find(missing, "python_zygote", &sandbox::Wall::name);
  if (never != missing.end()) {
    health_.add("zygote", [reason = never->value] { return ComponentState{Condition::off, reason}; });
    return;
  }
  health_.add(
      "zygote",
      [&measured]() -> ComponentState {
        std::string why = measured.zygotes_away();
        if (!why.empty()) return {Condition::degraded, "interpreters start cold: " + std::move(why)};
        return {};
      },
      "Nothing but speed is lost, and others are tried by themselves, plain ones every ten seconds; if it "
      "stays "
      "so, see whether the machine has memory left, whether its python3 starts, and whether a module of the "
      "environment's preimport starts threads.");
}

void Telemetry::watch(const session::AbsentProvider& absent) {
  health_.add("provider." + absent.name, [reason = absent.reason] {
    return ComponentState{Condition::off, reason};
  });
}

void Telemetry::watch(const tools::ToolExecutor& tools) {
  metrics_.add([&tools](Exposition& out) { show_tools(out, tools); });
}

void Telemetry::watch(Indexing& indexing) {
  observers_ = telemetry::Observers({&metrics_, source_.get(), &indexing});
  health_.add(
      "index", [&indexing] { return indexing.state(); },
      "Look at the service's log and the disk of the data directory; executions go on, searches miss them.");
}

void Telemetry::start(boost::asio::io_context& loop) {
  boost::asio::co_spawn(loop, measure_loop(), boost::asio::detached);
}

void Telemetry::stop() {
  stopping_ = true;
}

// Also keeps `since` of /api/health true while nobody looks.
void Telemetry::tell_degraded() {
  std::string parts;
  for (const auto& one : health_.look()) {
    if (one.state.condition != Condition::degraded && one.state.condition != Condition::down) continue;
    parts += parts.empty() ? "" : ", ";
    parts += one.name;
  }
  if (server_ != nullptr) server_->set_degraded(std::move(parts));
}

boost::asio::awaitable<void> Telemetry::measure_loop() {
  constexpr std::chrono::milliseconds kEvery(500);
  boost::asio::steady_timer timer(co_await boost::asio::this_coro::executor);
  while (!stopping_) {
    timer.expires_after(kEvery);
    const auto due = timer.expiry();
    co_await timer.async_wait(boost::asio::as_tuple(boost::asio::use_awaitable));
    if (stopping_) co_return;
    metrics_.loop_was_late(
        std::max(std::chrono::steady_clock::now() - due, std::chrono::steady_clock::duration(0)));
    tell_degraded();
  }
}

}  // namespace atl::daemon
