#include "telemetry/span_exporter.h"

#include <fmt/format.h>
#include <pthread.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "base/json.h"
#include "base/log.h"

namespace atl::telemetry {
namespace {

constexpr std::chrono::seconds kPostTime{10};
constexpr std::size_t kTextMax = 256;
constexpr std::string_view kTracesPath = "/v1/traces";

int kind_number(trace::Kind kind) {
  switch (kind) {
    case trace::Kind::internal: return 1;
    case trace::Kind::server: return 2;
    case trace::Kind::client: return 3;
  }
  std::unreachable();
}

template <class Number>
void append_number(std::string& out, Number number) {
  std::array<char, 24> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
  out.append(digits.data(), end);
}

void append_text_attribute(std::string& out, std::string_view key, std::string_view text) {
  out += R"({"key":")";
  out += key;
  out += R"(","value":{"stringValue":)";
  json::append_quoted(out, text);
  out += "}}";
}

// Texts that come from outside, such as a method, are cut. Numbers of 64 bits are text in the JSON of
// protocol buffers.
void append_attribute(std::string& out, const trace::Attribute& attribute) {
  const auto* number = std::get_if<std::int64_t>(&attribute.second);
  if (number == nullptr)
    return append_text_attribute(
        out, attribute.first, std::string_view(std::get<std::string>(attribute.second)).substr(0, kTextMax));
  out += R"({"key":")";
  out += attribute.first;
  out += R"(","value":{"intValue":")";
  append_number(out, *number);
  out += R"("}})";
}

std::int64_t nanoseconds(WallTime time) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(time.time_since_epoch()).count();
}

void append_span(std::string& out, const trace::EndedSpan& span) {
  out += R"({"traceId":")";
  out += trace::to_hex(span.context.trace_id);
  out += R"(","spanId":")";
  out += trace::to_hex(span.context.span_id);
  if (span.parent != trace::SpanId{}) {
    out += R"(","parentSpanId":")";
    out += trace::to_hex(span.parent);
  }
  out += R"(","name":)";
  json::append_quoted(out, span.name.empty() ? "unnamed" : std::string_view(span.name).substr(0, kTextMax));
  out += R"(,"kind":)";
  append_number(out, kind_number(span.kind));
  out += R"(,"startTimeUnixNano":")";
  append_number(out, nanoseconds(span.begin));
  out += R"(","endTimeUnixNano":")";
  append_number(out, nanoseconds(span.begin + span.took));
  out += R"(","attributes":[)";
  for (const trace::Attribute& attribute : span.attributes) {
    if (out.back() != '[') out += ',';
    append_attribute(out, attribute);
  }
  out += ']';
  if (span.failure) {
    out += R"(,"status":{"code":2,"message":)";
    json::append_quoted(out, *span.failure);
    out += '}';
  }
  out += '}';
}

net::Url base_of(net::Url url) {
  if (!url.base.ends_with(kTracesPath)) url.base += kTracesPath;
  return url;
}

}  // namespace

std::string to_otlp(const Spans& spans, const std::string& instance) {
  constexpr std::size_t kUsual = 512;
  std::string out;
  out.reserve(kUsual * (spans.size() + 1));
  out += R"({"resourceSpans":[{"resource":{"attributes":[)";
  append_text_attribute(out, "service.name", "atoll");
  out += ',';
  append_text_attribute(out, "service.version", ATOLL_VERSION);
  out += ',';
  append_text_attribute(out, "service.instance.id", instance);
  out += R"(]},"scopeSpans":[{"scope":{"name":"atoll"},"spans":[)";
  for (const auto& span : spans) {
    if (out.back() != '[') out += ',';
    append_span(out, *span);
  }
  out += "]}]}]}";
  return out;
}

SpanExporter::SpanExporter(ExportOptions options)
    : options_(std::move(options)), client_(base_of(options_.endpoint), kPostTime) {
  samples_all_ = options_.sample >= 1;
  sampled_below_ =
      samples_all_ ? 0 : static_cast<std::uint64_t>(std::ldexp(std::max(options_.sample, 0.0), 64));
  thread_ = std::thread([this] { run(); });
  pthread_setname_np(thread_.native_handle(), "atoll-spans");
  trace::set_sink(this);
}

SpanExporter::~SpanExporter() {
  trace::set_sink(nullptr);
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  // A collector that does not answer must not hold up the end of the service.
  std::thread guard([this] {
    std::unique_lock lock(mutex_);
    if (!wake_.wait_for(lock, std::chrono::seconds(1), [this] { return queue_.empty(); })) client_.stop();
  });
  thread_.join();
  {
    const std::lock_guard lock(mutex_);
    queue_.clear();
  }
  wake_.notify_all();
  guard.join();
}

bool SpanExporter::samples(const trace::TraceId& id) const {
  if (samples_all_) return true;
  std::uint64_t number = 0;
  for (std::size_t i = 0; i < 8; ++i) number = number << 8 | id[i];
  return number < sampled_below_;
}

void SpanExporter::take(trace::EndedSpan span) {
  bool is_full_batch = false;
  {
    const std::lock_guard lock(mutex_);
    if (queue_.size() >= options_.queue_max) {
      ++counts_.dropped;
      return;
    }
    queue_.push_back(std::make_unique<trace::EndedSpan>(std::move(span)));
    is_full_batch = queue_.size() == options_.batch;
  }
  if (is_full_batch) wake_.notify_all();
}

SpanExporter::Counts SpanExporter::counts() const {
  const std::lock_guard lock(mutex_);
  Counts counts = counts_;
  counts.waiting = queue_.size();
  return counts;
}

ComponentState SpanExporter::state() const {
  const std::lock_guard lock(mutex_);
  if (failure_.empty()) return {};
  return {Condition::degraded, "traces wait for the collector: " + failure_};
}

void SpanExporter::run() {
  std::chrono::milliseconds pause = options_.every;
  std::unique_lock lock(mutex_);
  while (true) {
    // After a failure a full batch is no reason to hurry.
    const bool hurries = failure_.empty();
    wake_.wait_for(lock, pause, [&] { return stopping_ || (hurries && queue_.size() >= options_.batch); });
    const bool was_stopping = stopping_;
    while (!queue_.empty()) {
      const std::size_t count = std::min(queue_.size(), options_.batch);
      const auto end = queue_.begin() + static_cast<std::ptrdiff_t>(count);
      Spans batch(std::make_move_iterator(queue_.begin()), std::make_move_iterator(end));
      queue_.erase(queue_.begin(), end);
      lock.unlock();
      const bool taken = send(batch);
      lock.lock();
      if (taken) {
        counts_.exported += count;
        pause = options_.every;
        continue;
      }
      // What was not taken goes back to the front, as far as there is room.
      const std::size_t room = options_.queue_max - std::min(queue_.size(), options_.queue_max);
      counts_.dropped += count - std::min(room, count);
      batch.resize(std::min(room, count));
      queue_.insert(queue_.begin(), std::make_move_iterator(batch.begin()),
                    std::make_move_iterator(batch.end()));
      pause = std::clamp(pause * 2, options_.first_pause, options_.longest_pause);
      break;
    }
    if (queue_.empty()) wake_.notify_all();
    if (was_stopping) return;
  }
}

bool SpanExporter::send(const Spans& spans) {
  net::ClientRequest request;
  request.method = "POST";
  request.target = "";
  request.headers.add("Content-Type", "application/json");
  request.body = to_otlp(spans, options_.instance);
  const auto answer = client_.send(std::move(request));
  std::string failure;
  if (!answer) failure = answer.error().message();
  // A collector that refuses these spans for good would refuse them again: they are let go.
  const bool is_refused =
      answer && answer->status / 100 == 4 && answer->status != 408 && answer->status != 429;
  if (answer && answer->status / 100 != 2) failure = fmt::format("it answered {}", answer->status);
  const std::lock_guard lock(mutex_);
  if (!failure.empty()) {
    ++counts_.failed_posts;
    if (failure_.empty()) log::warn("spans cannot be sent to the collector", {{"error", failure}});
  }
  failure_ = failure;
  if (is_refused) {
    counts_.dropped += spans.size();
    counts_.exported -= spans.size();
  }
  return failure.empty() || is_refused;
}

}  // namespace atl::telemetry
