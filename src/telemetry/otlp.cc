#include "telemetry/otlp.h"

#include <algorithm>
#include <chrono>
#include <span>
#include <utility>

#include "base/utf8.h"

namespace atl::telemetry {
namespace {

constexpr std::size_t kTextMax = 256;

// How the bytes of a field follow its number.
enum class Wire : std::uint8_t { number = 0, fixed64 = 1, bytes = 2 };

void put_number(std::string& out, std::uint64_t number) {
  for (; number >= 0x80; number >>= 7) out += static_cast<char>(number | 0x80);
  out += static_cast<char>(number);
}

// Numbers of fields here are below 16, so that number and kind are one byte.
void put_tag(std::string& out, std::uint8_t field, Wire wire) {
  out += static_cast<char>(field << 3 | std::to_underlying(wire));
}

void put_number(std::string& out, std::uint8_t field, std::uint64_t number) {
  put_tag(out, field, Wire::number);
  put_number(out, number);
}

void put_fixed64(std::string& out, std::uint8_t field, std::uint64_t number) {
  put_tag(out, field, Wire::fixed64);
  for (int i = 0; i < 8; ++i, number >>= 8) out += static_cast<char>(number);
}

void put_bytes(std::string& out, std::uint8_t field, std::span<const std::uint8_t> bytes) {
  put_tag(out, field, Wire::bytes);
  put_number(out, bytes.size());
  out.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

bool is_ascii(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

// A message that is not UTF-8 is refused as a whole by those who read it.
void put_text(std::string& out, std::uint8_t field, std::string_view text) {
  std::string mended;
  if (!is_ascii(text)) {
    for (std::size_t at = 0, length = 0; at < text.size(); at += length)
      utf8::append(mended, utf8::read(text.substr(at), length));
    text = mended;
  }
  put_tag(out, field, Wire::bytes);
  put_number(out, text.size());
  out += text;
}

// A message inside another: its length stands before it and is known behind it.
template <class Write>
void put_message(std::string& out, std::uint8_t field, const Write& write) {
  put_tag(out, field, Wire::bytes);
  const std::size_t begin = out.size();
  write();
  std::string length;
  put_number(length, out.size() - begin);
  out.insert(begin, length);
}

// KeyValue{key = 1, value = 2}, AnyValue{string_value = 1, int_value = 3}
void put_attribute(std::string& out, std::uint8_t field, const trace::Attribute& attribute) {
  put_message(out, field, [&] {
    put_text(out, 1, attribute.first);
    put_message(out, 2, [&] {
      if (const auto* number = std::get_if<std::int64_t>(&attribute.second))
        put_number(out, 3, static_cast<std::uint64_t>(*number));
      else
        put_text(out, 1, std::string_view(std::get<std::string>(attribute.second)).substr(0, kTextMax));
    });
  });
}

std::uint64_t kind_number(trace::Kind kind) {
  switch (kind) {
    case trace::Kind::internal: return 1;
    case trace::Kind::server: return 2;
    case trace::Kind::client: return 3;
  }
  std::unreachable();
}

std::uint64_t nanoseconds(WallTime time) {
  const auto since = std::chrono::duration_cast<std::chrono::nanoseconds>(time.time_since_epoch());
  return static_cast<std::uint64_t>(since.count());
}

}  // namespace

// Span{trace_id = 1, span_id = 2, parent_span_id = 4, name = 5, kind = 6, start_time_unix_nano = 7,
// end_time_unix_nano = 8, attributes = 9, status = 15}, as the member `spans` = 2 of ScopeSpans.
void append_span(std::string& out, const trace::EndedSpan& span) {
  put_message(out, 2, [&] {
    put_bytes(out, 1, span.context.trace_id);
    put_bytes(out, 2, span.context.span_id);
    if (span.parent != trace::SpanId{}) put_bytes(out, 4, span.parent);
    put_text(out, 5, span.name.empty() ? "unnamed" : std::string_view(span.name).substr(0, kTextMax));
    put_number(out, 6, kind_number(span.kind));
    put_fixed64(out, 7, nanoseconds(span.begin));
    put_fixed64(out, 8, nanoseconds(span.begin + span.took));
    for (const trace::Attribute& attribute : span.attributes) put_attribute(out, 9, attribute);
    // Status{message = 2, code = 3}, where 2 is an error.
    if (span.failure)
      put_message(out, 15, [&] {
        put_text(out, 2, std::string_view(*span.failure).substr(0, kTextMax));
        put_number(out, 3, std::uint64_t{2});
      });
  });
}

// {resource_spans = 1: {resource = 1: {attributes = 1}, scope_spans = 2: {scope = 1: {name = 1}, spans = 2}}}
std::string export_request(std::string_view spans, const std::string& instance) {
  std::string scope, resource, out;
  put_message(scope, 1, [&] { put_text(scope, 1, "atoll"); });
  put_message(resource, 1, [&] {
    put_attribute(resource, 1, {"service.name", std::string("atoll")});
    put_attribute(resource, 1, {"service.version", std::string(ATOLL_VERSION)});
    put_attribute(resource, 1, {"service.instance.id", instance});
  });
  put_tag(resource, 2, Wire::bytes);
  put_number(resource, scope.size() + spans.size());
  // Once, and not moved again: it may be large.
  out.reserve(spans.size() + scope.size() + resource.size() + 16);
  put_tag(out, 1, Wire::bytes);
  put_number(out, resource.size() + scope.size() + spans.size());
  return out.append(resource).append(scope).append(spans);
}

}  // namespace atl::telemetry
