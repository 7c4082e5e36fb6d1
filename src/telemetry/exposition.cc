#include "telemetry/exposition.h"

#include <fmt/format.h>

#include <iterator>

namespace atl::telemetry {
namespace {

std::string escaped(std::string_view value) {
  std::string out;
  for (const char c : value) {
    if (c == '\\' || c == '"') out += '\\';
    if (c == '\n') {
      out += "\\n";
    } else {
      out += c;
    }
  }
  return out;
}

}  // namespace

std::string_view content_type(Format format) {
  return format == Format::text ? "text/plain; version=0.0.4; charset=utf-8"
                                : "application/openmetrics-text; version=1.0.0; charset=utf-8";
}

Format format_for(std::string_view accept) {
  return accept.find("application/openmetrics-text") == std::string_view::npos ? Format::text
                                                                               : Format::open_metrics;
}

void Histogram::add(std::chrono::nanoseconds took, const trace::Context& trace) {
  const std::size_t at = latency_.add(took);
  if (!trace.is_sampled || !trace.is_valid()) return;
  exemplars_[at] =
      Exemplar{trace.trace_id, std::chrono::duration<double>(took).count(), Clock::machine().now()};
}

// OpenMetrics names the family of a counter without the suffix that its samples have.
void Exposition::family(std::string_view name, std::string_view type, std::string_view help) {
  name_ = name;
  std::string_view shown = name;
  constexpr std::string_view kTotal = "_total";
  if (format_ == Format::open_metrics && type == "counter" && shown.ends_with(kTotal))
    shown.remove_suffix(kTotal.size());
  fmt::format_to(std::back_inserter(out_), "# HELP {} {}\n# TYPE {} {}\n", shown, help, shown, type);
}

void Exposition::append_labels(const Labels& labels) {
  if (labels.empty()) return;
  char before = '{';
  for (const auto& [name, value] : labels) {
    fmt::format_to(std::back_inserter(out_), "{}{}=\"{}\"", before, name, escaped(value));
    before = ',';
  }
  out_ += '}';
}

void Exposition::row(std::string_view suffix, const Labels& labels, std::string_view value) {
  out_ += name_;
  out_ += suffix;
  append_labels(labels);
  out_ += ' ';
  out_ += value;
  out_ += '\n';
}

void Exposition::sample(const Labels& labels, double value) {
  row("", labels, fmt::format("{}", value));
}

void Exposition::append_exemplar(const Exemplar& exemplar) {
  out_.pop_back();  // the newline
  const double at = static_cast<double>(unix_millis(exemplar.at)) / 1000;
  fmt::format_to(std::back_inserter(out_), " # {{trace_id=\"{}\"}} {} {:.3f}\n",
                 trace::to_hex(exemplar.trace_id), exemplar.seconds, at);
}

void Exposition::sample(const Labels& labels, const Latency& latency, const Histogram* with_exemplars) {
  std::uint64_t below = 0;
  Labels bounded = labels;
  bounded.emplace_back("le", "");
  for (std::size_t at = 0; at < Latency::kClasses; ++at) {
    below += latency.count(at);
    bounded.back().second = at < Latency::kBounds.size() ? fmt::format("{}", Latency::kBounds[at]) : "+Inf";
    row("_bucket", bounded, std::to_string(below));
    const bool has_exemplar =
        format_ == Format::open_metrics && with_exemplars != nullptr && with_exemplars->exemplar(at);
    if (has_exemplar) append_exemplar(*with_exemplars->exemplar(at));
  }
  row("_sum", labels, fmt::format("{}", latency.sum_seconds()));
  row("_count", labels, std::to_string(below));
}

std::string Exposition::done() && {
  if (format_ == Format::open_metrics) out_ += "# EOF\n";
  return std::move(out_);
}

}  // namespace atl::telemetry
