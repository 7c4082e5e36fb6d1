#include "tools/tool_validator.h"

#include <fmt/format.h>

#include <boost/json/serialize.hpp>

#include "base/bytes.h"
#include "base/json.h"

namespace atl::tools {
namespace {

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r\n";
  const std::size_t from = text.find_first_not_of(kBlank);
  if (from == std::string_view::npos) return {};
  return text.substr(from, text.find_last_not_of(kBlank) - from + 1);
}

// True if the schema leaves room for plain text.
bool takes_text(const Schema& schema) {
  const auto* object = schema.document().if_object();
  if (object == nullptr) return true;
  const boost::json::value* type = object->if_contains("type");
  return type == nullptr || *type == "string";
}

}  // namespace

Result<std::optional<Mismatch>> ToolValidator::check_input(const Tool& tool,
                                                           const boost::json::value& input) const {
  std::size_t steps = SchemaBounds{}.steps_max;
  return check_input(tool, input, steps);
}

Result<std::optional<Mismatch>> ToolValidator::check_input(const Tool& tool, const boost::json::value& input,
                                                           std::size_t& steps_left) const {
  if (boost::json::serialize(input).size() > bounds_.input_bytes_max)
    return fail(Error(Code::too_large, fmt::format("the input is over {} bytes", bounds_.input_bytes_max))
                    .with_field("input"));
  auto checked = tool.input.check(input, steps_left);
  if (!checked) return Mismatch{"", checked.error().message()};
  return checked;
}

ToolValidator::Output ToolValidator::read_output(const Tool& tool, std::string_view printed,
                                                 bool truncated) const {
  Output read = parse_output(tool, printed, truncated);
  if (read.wrong) return read;
  std::size_t steps = SchemaBounds{}.steps_max;
  if ((read.wrong = check_output(tool, read.value, steps))) read.value = nullptr;
  return read;
}

ToolValidator::Output ToolValidator::parse_output(const Tool& tool, std::string_view printed,
                                                  bool truncated) const {
  if (truncated || printed.size() > bounds_.output_bytes_max)
    return {nullptr,
            Mismatch{"", fmt::format("the tool printed more than {} bytes", bounds_.output_bytes_max)}};
  const std::string_view text = trimmed(printed);
  if (auto parsed = json::parse(text)) return {std::move(*parsed), std::nullopt};
  if (!takes_text(tool.output))
    return {nullptr, Mismatch{"", text.empty() ? std::string("the tool printed nothing")
                                               : std::string("what the tool printed is not JSON")}};
  return {boost::json::value(to_valid_utf8(printed)), std::nullopt};
}

std::optional<Mismatch> ToolValidator::check_output(const Tool& tool, const boost::json::value& value,
                                                    std::size_t& steps_left) {
  auto checked = tool.output.check(value, steps_left);
  if (!checked) return Mismatch{"", checked.error().message()};
  return std::move(*checked);
}

}  // namespace atl::tools
