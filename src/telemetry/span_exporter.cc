#include "telemetry/span_exporter.h"

#include <fmt/format.h>
#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/log.h"
#include "telemetry/otlp.h"

namespace atl::telemetry {
namespace {

constexpr std::chrono::seconds kPostTime{10};
constexpr int kNice = 10;
constexpr std::string_view kTracesPath = "/v1/traces";

net::Url base_of(net::Url url) {
  if (!url.base.ends_with(kTracesPath)) url.base += kTracesPath;
  return url;
}

// Seconds; a date is not heeded.
std::chrono::milliseconds retry_after(const net::Headers& headers) {
  const std::string_view text = headers.get("Retry-After");
  constexpr std::uint32_t kDay = 86'400;
  std::uint32_t seconds = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  if (error == std::errc::result_out_of_range) return std::chrono::seconds(kDay);
  if (error != std::errc() || end != text.data() + text.size()) return {};
  return std::chrono::seconds(std::min(seconds, kDay));
}

}  // namespace

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
    if (!wake_.wait_for(lock, std::chrono::seconds(1), [this] { return waiting_ == 0; })) client_.stop();
  });
  thread_.join();
  {
    const std::lock_guard lock(mutex_);
    waiting_ = 0;
  }
  wake_.notify_all();
  guard.join();
}

bool SpanExporter::samples(const trace::TraceId& id) const {
  std::uint64_t number = 0;
  for (std::size_t i = 0; i < 8; ++i) number = number << 8 | id[i];
  if (!samples_all_ && number >= sampled_below_) return false;
  // No trace begins for which there is no room.
  if (is_full_) ++untold_;
  return !is_full_;
}

// Encoded where it ended: its memory goes back to the thread that it came from, and what waits is small.
void SpanExporter::take(trace::EndedSpan span) {
  if (is_full_) {
    ++untold_;
    return;
  }
  thread_local std::string encoded;
  encoded.clear();
  append_span(encoded, span);
  bool is_full_batch = false;
  {
    const std::lock_guard lock(mutex_);
    if (waiting_ >= options_.queue_max) {
      ++untold_;
      return;
    }
    if (batches_.empty() || batches_.back().count >= options_.batch) batches_.emplace_back();
    batches_.back().spans += encoded;
    ++waiting_;
    is_full_ = waiting_ >= options_.queue_max;
    is_full_batch = ++batches_.back().count == options_.batch;
  }
  if (is_full_batch) wake_.notify_all();
}

SpanExporter::Counts SpanExporter::counts() const {
  const std::lock_guard lock(mutex_);
  Counts counts = counts_;
  counts.waiting = waiting_;
  counts.dropped += untold_;
  return counts;
}

ComponentState SpanExporter::state() const {
  const std::lock_guard lock(mutex_);
  if (failure_.empty()) return {};
  std::string lost = is_full_ ? ", and no more are kept" : "";
  return {Condition::degraded,
          fmt::format("{} spans wait for the collector{}: {}", waiting_, lost, failure_)};
}

void SpanExporter::run() {
  // Requests come first: who waits for a span is not in a hurry.
  ::setpriority(PRIO_PROCESS, static_cast<id_t>(::gettid()), kNice);
  std::chrono::milliseconds pause = options_.every;
  std::unique_lock lock(mutex_);
  while (true) {
    // After a failure a full batch is no reason to hurry.
    const bool hurries = failure_.empty();
    const auto has_full_batch = [this] {
      return !batches_.empty() && batches_.front().count >= options_.batch;
    };
    wake_.wait_for(lock, pause, [&] { return stopping_ || (hurries && has_full_batch()); });
    const bool was_stopping = stopping_;
    while (!batches_.empty()) {
      Batch batch = std::move(batches_.front());
      batches_.pop_front();
      lock.unlock();
      std::chrono::milliseconds asked{0};
      const Answer answer = send(batch.spans, asked);
      lock.lock();
      if (answer == Answer::later) {
        batches_.push_front(std::move(batch));
        // However far away the time is that a collector names, it is asked again.
        pause = std::clamp(std::max(pause * 2, asked), options_.first_pause, options_.longest_pause);
        break;
      }
      waiting_ -= batch.count;
      is_full_ = waiting_ >= options_.queue_max;
      (answer == Answer::taken ? counts_.exported : counts_.dropped) += batch.count;
      pause = options_.every;
    }
    if (waiting_ == 0) wake_.notify_all();
    if (was_stopping) return;
  }
}

SpanExporter::Answer SpanExporter::send(std::string_view spans, std::chrono::milliseconds& asked) {
  net::ClientRequest request;
  request.method = "POST";
  request.target = "";
  request.headers.add("Content-Type", "application/x-protobuf");
  request.body = export_request(spans, options_.instance);
  const auto answer = client_.send_for_head(std::move(request));
  std::string failure;
  if (!answer) failure = answer.error().message();
  // A collector that refuses these spans for good would refuse them again: they are let go.
  const bool is_refused =
      answer && answer->status / 100 == 4 && answer->status != 408 && answer->status != 429;
  if (answer && answer->status / 100 != 2) failure = fmt::format("it answered {}", answer->status);
  if (answer) asked = retry_after(answer->headers);
  const std::lock_guard lock(mutex_);
  if (!failure.empty()) {
    ++counts_.failed_posts;
    if (failure_.empty()) log::warn("spans cannot be sent to the collector", {{"error", failure}});
  }
  failure_ = failure;
  if (is_refused) return Answer::refused;
  return failure.empty() ? Answer::taken : Answer::later;
}

}  // namespace atl::telemetry
