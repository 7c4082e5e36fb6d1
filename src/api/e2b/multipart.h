#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace atl::api::e2b {

// The boundary of a multipart/form-data content type. Code::invalid_argument if there is none.
Result<std::string> multipart_boundary(std::string_view content_type);

struct PartHead {
  std::string name;
  std::string filename;  // whole, with its directories; decoded from filename* where that is given
  bool has_filename = false;
};

// What the parser found in the bytes it was given, in order.
struct PartEvent {
  enum class Kind { head, data, end } kind;
  PartHead head;     // for head
  std::string data;  // for data
};

// Multipart bodies piece by piece: nothing but the current head and a boundary's length is kept.
class MultipartParser {
 public:
  explicit MultipartParser(std::string_view boundary) : delimiter_("\r\n--" + std::string(boundary)) {
    buffer_ = "\r\n";  // so that the first boundary looks like the others
  }
  // Code::invalid_argument for what is no multipart body.
  Result<std::vector<PartEvent>> feed(std::string_view bytes);
  // True once the closing boundary came.
  bool is_complete() const { return state_ == State::done; }

 private:
  enum class State { preamble, after_boundary, head, body, done };
  bool step(std::vector<PartEvent>& events, Result<void>& result);
  Result<PartHead> parse_head(std::string_view text) const;

  std::string delimiter_;
  std::string buffer_;
  State state_ = State::preamble;
};

}  // namespace atl::api::e2b
