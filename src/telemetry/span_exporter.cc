#include "telemetry/span_exporter.h"

#include <fmt/format.h>
#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
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
  if (samples_all_) return true;
  std::uint64_t number = 0;
  for (std::size_t i = 0; i < 8; ++i) number = number << 8 | id[i];
  return number < sampled_below_;
}

// Encoded where it ended: its memory goes back to the thread that it came from, and what waits is small.
void SpanExporter::take(trace::EndedSpan span) {
  thread_local std::string encoded;
  encoded.clear();
  append_span(encoded, span);
  bool is_full_batch = false;
  {
    const std::lock_guard lock(mutex_);
    if (waiting_ >= options_.queue_max) {
      ++counts_.dropped;
      return;
    }
    if (batches_.empty() || batches_.back().count >= options_.batch) batches_.emplace_back();
    batches_.back().spans += encoded;
    ++waiting_;
    is_full_batch = ++batches_.back().count == options_.batch;
  }
  if (is_full_batch) wake_.notify_all();
}

SpanExporter::Counts SpanExporter::counts() const {
  const std::lock_guard lock(mutex_);
  Counts counts = counts_;
  counts.waiting = waiting_;
  return counts;
}

ComponentState SpanExporter::state() const {
  const std::lock_guard lock(mutex_);
  if (failure_.empty()) return {};
  return {Condition::degraded, "traces wait for the collector: " + failure_};
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
      const Answer answer = send(batch.spans);
      lock.lock();
      if (answer == Answer::later) {
        batches_.push_front(std::move(batch));
        pause = std::clamp(pause * 2, options_.first_pause, options_.longest_pause);
        break;
      }
      waiting_ -= batch.count;
      (answer == Answer::taken ? counts_.exported : counts_.dropped) += batch.count;
      pause = options_.every;
    }
    if (waiting_ == 0) wake_.notify_all();
    if (was_stopping) return;
  }
}

SpanExporter::Answer SpanExporter::send(std::string_view spans) {
  net::ClientRequest request;
  request.method = "POST";
  request.target = "";
  request.headers.add("Content-Type", "application/x-protobuf");
  request.body = export_request(spans, options_.instance);
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
  if (is_refused) return Answer::refused;
  return failure.empty() ? Answer::taken : Answer::later;
}

}  // namespace atl::telemetry
