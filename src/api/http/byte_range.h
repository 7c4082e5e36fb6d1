#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

namespace atl::api::http {

// What a Range header asks for of content that has a known size.
struct WholeContent {};
struct ByteRange {
  std::uint64_t first = 0;
  std::uint64_t length = 0;  // never 0
};
struct Unsatisfiable {};
using RequestedRange = std::variant<WholeContent, ByteRange, Unsatisfiable>;

// Reads "bytes=a-b", "bytes=a-" and "bytes=-n". A header that is absent, of another unit, of several ranges
// or not readable counts as absent, as RFC 9110 allows. A range that begins behind the end, or ends before it
// begins, is unsatisfiable. The end is cut to `size`.
RequestedRange parse_range(std::string_view header, std::uint64_t size);

// Values of Content-Range: with 206, and with 416.
std::string content_range(const ByteRange& range, std::uint64_t size);
std::string unsatisfied_range(std::uint64_t size);

}  // namespace atl::api::http
