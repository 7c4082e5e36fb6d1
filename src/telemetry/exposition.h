#pragma once

#include <array>
#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/latency.h"
#include "base/trace.h"

namespace atl::telemetry {

// text: Prometheus' own format, version 0.0.4. open_metrics: OpenMetrics 1.0, which has exemplars.
enum class Format : std::uint8_t { text, open_metrics };
std::string_view content_type(Format format);
// What the Accept header asks for: OpenMetrics where it is named and text is not wanted more.
Format format_for(std::string_view accept);

// One measured request of a histogram's class, with the trace that shows what it did.
struct Exemplar {
  trace::TraceId trace_id{};
  double seconds = 0;
  WallTime at;
};

// A histogram that remembers an exemplar for each class. Belongs to one thread.
class Histogram {
 public:
  void add(std::chrono::nanoseconds took) { (void)latency_.add(took); }
  void add(std::chrono::nanoseconds took, const trace::Context& trace);
  const Latency& latency() const { return latency_; }
  const std::optional<Exemplar>& exemplar(std::size_t at) const { return exemplars_[at]; }

 private:
  Latency latency_;
  std::array<std::optional<Exemplar>, Latency::kClasses> exemplars_;
};

using Labels = std::vector<std::pair<std::string_view, std::string>>;

// Writes the metrics of one answer. counter(), gauge() and histogram() begin a family, and every sample()
// belongs to the family that was begun last. Names and help must be plain ASCII; label values are escaped.
class Exposition {
 public:
  explicit Exposition(Format format) : format_(format) {}

  // Names of counters end in "_total", of times in "_seconds", of sizes in "_bytes".
  void counter(std::string_view name, std::string_view help) { family(name, "counter", help); }
  void gauge(std::string_view name, std::string_view help) { family(name, "gauge", help); }
  void histogram(std::string_view name, std::string_view help) { family(name, "histogram", help); }

  void sample(const Labels& labels, std::integral auto value) { row("", labels, std::to_string(value)); }
  void sample(const Labels& labels, double value);
  void sample(const Labels& labels, const Latency& latency, const Histogram* with_exemplars = nullptr);
  void sample(const Labels& labels, const Histogram& histogram) {
    sample(labels, histogram.latency(), &histogram);
  }

  // The whole answer. Nothing can be added afterwards.
  std::string done() &&;

 private:
  void family(std::string_view name, std::string_view type, std::string_view help);
  void row(std::string_view suffix, const Labels& labels, std::string_view value);
  void append_labels(const Labels& labels);
  void append_exemplar(const Exemplar& exemplar);

  Format format_;
  std::string name_;
  std::string out_;
};

}  // namespace atl::telemetry
