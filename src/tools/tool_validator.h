#pragma once

#include <boost/json/value.hpp>
#include <optional>
#include <string>

#include "tools/tool.h"

namespace atl::tools {

// What a tool's call may hold.
struct CallBounds {
  std::size_t input_bytes_max = 1U << 20;
  std::size_t output_bytes_max = 1U << 20;
};

// Judges what goes into a tool and what comes out of it. Has no state; any thread may use it.
class ToolValidator {
 public:
  explicit ToolValidator(CallBounds bounds = {}) : bounds_(bounds) {}

  // Nothing if the call may be made. A mismatch names its place relative to the input; one at the whole input
  // is also what takes too many steps to check. Code::too_large if it is over the bound.
  Result<std::optional<Mismatch>> check_input(const Tool& tool, const boost::json::value& input) const;
  // The same with a budget: nothing is left of it if it did not suffice, and then the answer is not known.
  Result<std::optional<Mismatch>> check_input(const Tool& tool, const boost::json::value& input,
                                              std::size_t& steps_left) const;
  // What a program printed, as the value that the tool's schema describes: JSON, or the text itself where the
  // schema wants a string or says nothing and the text is no JSON. A mismatch has the reason in words.
  struct Output {
    boost::json::value value;
    std::optional<Mismatch> wrong;
  };
  Output read_output(const Tool& tool, std::string_view printed, bool truncated) const;
  // The two halves of it: the value, not held against the schema yet; and that, with a budget as above.
  Output parse_output(const Tool& tool, std::string_view printed, bool truncated) const;
  static std::optional<Mismatch> check_output(const Tool& tool, const boost::json::value& value,
                                              std::size_t& steps_left);

 private:
  CallBounds bounds_;
};

}  // namespace atl::tools
