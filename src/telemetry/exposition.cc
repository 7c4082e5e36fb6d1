#include "telemetry/exposition.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iterator>

#include "base/utf8.h"
#include "net/http.h"

namespace atl::telemetry {
namespace {

// One byte that is no UTF-8 would make Prometheus refuse the whole answer.
std::string escaped(std::string_view value) {
  std::string out;
  for (std::size_t at = 0, length = 0; at < value.size(); at += length) {
    const char32_t code = utf8::read(value.substr(at), length);
    if (code == '\\' || code == '"') out += '\\';
    if (code == '\n') {
      out += "\\n";
    } else {
      utf8::append(out, code);
    }
  }
  return out;
}

std::string_view trimmed(std::string_view text) {
  while (text.starts_with(' ') || text.starts_with('\t')) text.remove_prefix(1);
  while (text.ends_with(' ') || text.ends_with('\t')) text.remove_suffix(1);
  return text;
}

// Of one member of an Accept header: its q, or 1. What is no number counts as none.
double quality_of(std::string_view member) {
  for (auto at = member.find(';'); at != std::string_view::npos; at = member.find(';', at + 1)) {
    const std::string_view field = trimmed(member.substr(at + 1, member.find(';', at + 1) - at - 1));
    if (!field.starts_with("q=") && !field.starts_with("Q=")) continue;
    double quality = 0;
    const auto [end, error] = std::from_chars(field.data() + 2, field.data() + field.size(), quality);
    return error == std::errc() && end == field.data() + field.size() ? quality : 0;
  }
  return 1;
}

// As OpenMetrics wants numbers in labels: 5 is "5.0". Both formats have the same, because Prometheus would
// take another spelling for another row.
std::string bound_label(double bound) {
  std::string text = fmt::format("{}", bound);
  return text.find_first_of(".e") == std::string::npos ? text + ".0" : text;
}

}  // namespace

std::string_view content_type(Format format) {
  return format == Format::text ? "text/plain; version=0.0.4; charset=utf-8"
                                : "application/openmetrics-text; version=1.0.0; charset=utf-8";
}

Format format_for(std::string_view accept) {
  double open_metrics = 0, text = 0;
  while (!accept.empty()) {
    const std::string_view one = accept.substr(0, accept.find(','));
    accept.remove_prefix(std::min(accept.size(), one.size() + 1));
    const std::string_view type = trimmed(one.substr(0, one.find(';')));
    if (net::equal_ignoring_case(type, "application/openmetrics-text"))
      open_metrics = std::max(open_metrics, quality_of(one));
    if (net::equal_ignoring_case(type, "text/plain")) text = std::max(text, quality_of(one));
  }
  return open_metrics > 0 && open_metrics >= text ? Format::open_metrics : Format::text;
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
    bounded.back().second = at < Latency::kBounds.size() ? bound_label(Latency::kBounds[at]) : "+Inf";
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
