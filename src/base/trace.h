#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/clock.h"

// Where time goes, as spans of a trace. Every room may begin spans; one sink of the process gets those that
// ended (telemetry/span_exporter.h sends them away). Without a sink, and in requests that are not sampled, a
// span costs a comparison.
namespace atl::trace {

using TraceId = std::array<std::uint8_t, 16>;
using SpanId = std::array<std::uint8_t, 8>;

// What is handed on to whoever works on the same request: W3C Trace Context. Made from nothing it names no
// trace.
struct Context {
  TraceId trace_id{};
  SpanId span_id{};
  bool is_sampled = false;

  bool is_valid() const { return trace_id != TraceId{} && span_id != SpanId{}; }
  bool operator==(const Context&) const = default;
};

// "00-<32 hex>-<16 hex>-<2 hex>". Nothing for text of another form, and for ids of zeroes: such a header is
// to be ignored. Later versions are read by what they share with this one.
std::optional<Context> parse_traceparent(std::string_view text);
// Empty for a context that names no trace.
std::string to_traceparent(const Context& context);
std::string to_hex(const TraceId& id);
std::string to_hex(const SpanId& id);

enum class Kind : std::uint8_t { internal, server, client };

// The key is a word of ours that lives for ever. Values never hold secrets, code or what a program wrote.
using Attribute = std::pair<std::string_view, std::variant<std::string, std::int64_t>>;

struct EndedSpan {
  Context context;
  SpanId parent{};  // zeroes: it has none
  std::string name;
  Kind kind = Kind::internal;
  WallTime begin;
  Duration took{};
  std::vector<Attribute> attributes;
  std::optional<std::string> failure;  // why it failed; nothing: it did not
};

// Gets every span that ended, from any thread. Must not wait.
class Sink {
 public:
  virtual ~Sink() = default;
  // Whether a trace that begins here is kept.
  virtual bool samples(const TraceId& id) const = 0;
  virtual void take(EndedSpan span) = 0;
};

// For the whole process; null: nothing is recorded. The sink must outlive every span that began while it was
// set.
void set_sink(Sink* sink);
bool is_on();

// A stretch of time with a name. Ends when it is destroyed, or before by end(). Belongs to whoever holds it;
// not safe from several threads.
class Span {
 public:
  // Records nothing and hands on nothing.
  Span() = default;
  // A part of what `parent` is about: recorded if that is.
  Span(const Context& parent, std::string_view name, Kind kind = Kind::internal);
  Span(Span&&) noexcept = default;
  Span& operator=(Span&& other) noexcept;
  ~Span() { end(); }

  // The first span of a request that came with this traceparent header, which may be empty. A caller's
  // decision to sample stands; without one the sink decides.
  static Span of_request(std::string_view traceparent);

  // For those who work on parts of this: this span if it is recorded, else what came from outside.
  const Context& context() const { return context_; }
  bool is_recorded() const { return data_ != nullptr; }
  void rename(std::string_view name) {
    if (data_) data_->name = name;
  }
  void set(std::string_view key, std::string_view value) {
    if (data_) data_->attributes.emplace_back(key, std::string(value));
  }
  void set(std::string_view key, std::int64_t value) {
    if (data_) data_->attributes.emplace_back(key, value);
  }
  void fail(std::string_view why) {
    if (data_) data_->failure.emplace(why);
  }
  void end();

 private:
  void begin(std::string_view name, Kind kind);

  Context context_;
  std::unique_ptr<EndedSpan> data_;  // null: not recorded
  SteadyTime began_{};
};

}  // namespace atl::trace
