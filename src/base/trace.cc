#include "base/trace.h"

#include <algorithm>
#include <atomic>
#include <cstring>

#include "base/ids.h"

namespace atl::trace {
namespace {

std::atomic<Sink*> the_sink{nullptr};

constexpr std::size_t kTraceparentSize = 55;
constexpr std::size_t kUsualAttributes = 4;

int nibble(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return -1;  // the specification wants small letters
}

template <std::size_t Size>
bool read_hex(std::string_view text, std::array<std::uint8_t, Size>& out) {
  for (std::size_t i = 0; i < Size; ++i) {
    const int high = nibble(text[2 * i]), low = nibble(text[2 * i + 1]);
    if (high < 0 || low < 0) return false;
    out[i] = static_cast<std::uint8_t>(high << 4 | low);
  }
  return true;
}

template <std::size_t Size>
void write_hex(const std::array<std::uint8_t, Size>& bytes, char* out) {
  constexpr char kDigits[] = "0123456789abcdef";
  for (const std::uint8_t byte : bytes) {
    *out++ = kDigits[byte >> 4];
    *out++ = kDigits[byte & 15];
  }
}

template <std::size_t Size>
std::string hex_of(const std::array<std::uint8_t, Size>& bytes) {
  std::string out(2 * Size, '0');
  write_hex(bytes, out.data());
  return out;
}

// Unique, not secret: one question to the kernel for each thread, then a mixed counter (splitmix64). Never 0.
std::uint64_t next_number() {
  thread_local std::uint64_t state = [] {
    std::array<std::uint8_t, 8> seed{};
    random_bytes(seed);
    std::uint64_t value = 0;
    std::memcpy(&value, seed.data(), sizeof value);
    return value;
  }();
  std::uint64_t mixed = state += 0x9e3779b97f4a7c15U;
  mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9U;
  mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111ebU;
  mixed ^= mixed >> 31;
  return mixed == 0 ? 1 : mixed;
}

SpanId new_span_id() {
  const std::uint64_t number = next_number();
  SpanId id{};
  std::memcpy(id.data(), &number, sizeof number);
  return id;
}

TraceId new_trace_id() {
  const std::array<std::uint64_t, 2> numbers = {next_number(), next_number()};
  TraceId id{};
  std::memcpy(id.data(), numbers.data(), sizeof numbers);
  return id;
}

}  // namespace

std::optional<Context> parse_traceparent(std::string_view text) {
  if (text.size() < kTraceparentSize) return std::nullopt;
  std::array<std::uint8_t, 1> version{}, flags{};
  Context context;
  const bool has_form = text[2] == '-' && text[35] == '-' && text[52] == '-' && read_hex(text, version) &&
                        read_hex(text.substr(3), context.trace_id) &&
                        read_hex(text.substr(36), context.span_id) && read_hex(text.substr(53), flags);
  if (!has_form || version[0] == 0xff || !context.is_valid()) return std::nullopt;
  if (version[0] == 0 && text.size() != kTraceparentSize) return std::nullopt;
  if (text.size() > kTraceparentSize && text[kTraceparentSize] != '-') return std::nullopt;
  context.is_sampled = (flags[0] & 1) != 0;
  return context;
}

std::string to_traceparent(const Context& context) {
  if (!context.is_valid()) return {};
  std::string text(kTraceparentSize, '-');
  text[0] = text[1] = text[53] = '0';
  write_hex(context.trace_id, &text[3]);
  write_hex(context.span_id, &text[36]);
  text[54] = context.is_sampled ? '1' : '0';
  return text;
}

std::string to_hex(const TraceId& id) {
  return hex_of(id);
}

std::string to_hex(const SpanId& id) {
  return hex_of(id);
}

void set_sink(Sink* sink) {
  the_sink.store(sink, std::memory_order_release);
}

bool is_on() {
  return the_sink.load(std::memory_order_acquire) != nullptr;
}

Span::Span(const Context& parent, std::string_view name, Kind kind) : context_(parent) {
  if (!parent.is_sampled || !parent.is_valid() || !is_on()) return;
  begin(name, kind);
  data_->parent = parent.span_id;
}

Span& Span::operator=(Span&& other) noexcept {
  if (this == &other) return *this;
  end();
  context_ = other.context_;
  data_ = std::move(other.data_);
  began_ = other.began_;
  return *this;
}

Span Span::of_request(std::string_view traceparent) {
  Span span;
  const auto given = traceparent.empty() ? std::nullopt : parse_traceparent(traceparent);
  if (given) span.context_ = *given;
  const Sink* sink = the_sink.load(std::memory_order_acquire);
  if (sink == nullptr) return span;
  if (given) {
    if (!given->is_sampled) return span;
    span.begin({}, Kind::server);
    span.data_->parent = given->span_id;
    return span;
  }
  const TraceId id = new_trace_id();
  if (!sink->samples(id)) return span;
  span.context_.trace_id = id;
  span.context_.is_sampled = true;
  span.begin({}, Kind::server);
  return span;
}

void Span::begin(std::string_view name, Kind kind) {
  data_ = std::make_unique<EndedSpan>();
  data_->name = name;
  data_->kind = kind;
  data_->attributes.reserve(kUsualAttributes);
  data_->begin = Clock::machine().now();
  began_ = Clock::machine().steady();
  context_.span_id = new_span_id();
}

void Span::end() {
  if (!data_) return;
  const std::unique_ptr<EndedSpan> ended = std::move(data_);
  ended->context = context_;
  ended->took = Clock::machine().steady() - began_;
  if (Sink* sink = the_sink.load(std::memory_order_acquire)) sink->take(std::move(*ended));
}

}  // namespace atl::trace
