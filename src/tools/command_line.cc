#include "tools/command_line.h"

#include <fmt/format.h>

#include <boost/json/serialize.hpp>
#include <cctype>

#include "tools/schema_parts.h"

namespace atl::tools {
namespace {

namespace bj = boost::json;

const bj::value* member(const bj::value& input, std::string_view name) {
  const auto* object = input.if_object();
  const bj::value* value = object == nullptr ? nullptr : object->if_contains(name);
  return value == nullptr || value->is_null() ? nullptr : value;
}

std::string text_of(const bj::value& value) {
  if (value.is_string()) return std::string(value.get_string());
  return bj::serialize(value);
}

// "{{name}}" and nothing else; empty otherwise.
std::string_view placeholder(std::string_view word) {
  if (!word.starts_with("{{") || !word.ends_with("}}") || word.size() < 5) return {};
  const std::string_view name = word.substr(2, word.size() - 4);
  return name.find_first_of("{}") == std::string_view::npos ? name : std::string_view();
}

using Shown = std::string (*)(const bj::value&);

std::string filled_text(std::string_view text, const bj::value& input, Shown shown) {
  std::string out;
  while (!text.empty()) {
    const std::size_t from = text.find("{{");
    const std::size_t end = from == std::string_view::npos ? from : text.find("}}", from);
    if (end == std::string_view::npos) break;
    out += text.substr(0, from);
    if (const bj::value* value = member(input, text.substr(from + 2, end - from - 2))) out += shown(*value);
    text.remove_prefix(end + 2);
  }
  return out + std::string(text);
}

// "-5" and "-0.5" are nobody's options; "-5x" may be.
bool is_number(std::string_view word) {
  word.remove_prefix(word.starts_with('-') ? 1 : 0);
  return !word.empty() && word.find_first_not_of("0123456789.") == std::string_view::npos;
}

// The member that the first "{{name}}" of a longer word stands for.
std::string_view first_member(std::string_view word) {
  const std::size_t from = word.find("{{"), end = word.find("}}", from);
  return end == std::string_view::npos ? std::string_view() : word.substr(from + 2, end - from - 2);
}

Result<void> check_word(const std::string& word, std::string_view name, bool after_dashes) {
  if (word.find('\0') != std::string::npos)
    return fail(Error(Code::invalid_argument, fmt::format("'{}' has a NUL byte", name))
                    .with_field(pointer_to("", name)));
  if (word.starts_with('-') && word.size() > 1 && !after_dashes && !is_number(word))
    return fail(
        Error(Code::invalid_argument,
              fmt::format("'{}' begins with '-', which the tool's program would read as an option", name))
            .with_field(pointer_to("", name)));
  return {};
}

std::string percent_encoded(const bj::value& value) {
  std::string out;
  for (const unsigned char c : text_of(value)) {
    if (std::isalnum(c) != 0 || c == '-' || c == '_' || c == '.' || c == '~') {
      out += static_cast<char>(c);
    } else {
      out += fmt::format("%{:02X}", c);
    }
  }
  return out;
}

// What Linux takes as one argument, and as all of them with room for the environment.
constexpr std::size_t kWordMax = (128U << 10) - 1, kWordsMax = 1U << 20;

Result<void> check_lengths(const std::vector<std::string>& words) {
  std::size_t bytes = 0;
  bool is_long = false;
  for (const std::string& word : words) {
    bytes += word.size() + sizeof(char*);
    is_long = is_long || word.size() > kWordMax;
  }
  if (!is_long && bytes <= kWordsMax) return {};
  return fail(
      Error(Code::too_large,
            fmt::format("the input makes a command of {} bytes: a word has at most {}, all of them {}; "
                        "longer input is for standard input",
                        bytes, kWordMax, kWordsMax))
          .with_field("input"));
}

// A member of nothing but dots would lead out of the directory that the author of the address wrote.
Result<void> check_path(std::string_view path, const bj::value& input) {
  for (std::size_t from = path.find("{{"); from != std::string_view::npos; from = path.find("{{", from + 2)) {
    const std::size_t end = path.find("}}", from);
    if (end == std::string_view::npos) break;
    const std::string_view name = path.substr(from + 2, end - from - 2);
    const bj::value* value = member(input, name);
    const std::string text = value == nullptr ? "" : text_of(*value);
    if (!text.empty() && text.find_first_not_of('.') == std::string::npos)
      return fail(Error(Code::invalid_argument, fmt::format("'{}' has nothing but dots", name))
                      .with_field(pointer_to("", name)));
  }
  return {};
}

}  // namespace

Result<std::vector<std::string>> filled_words(const CommandRun& run, const bj::value& input) {
  std::vector<std::string> words;
  bool after_dashes = false;
  for (const std::string& word : run.argv) {
    const std::string_view name = placeholder(word);
    if (name.empty()) {
      after_dashes = after_dashes || word == "--";
      words.push_back(filled_text(word, input, text_of));
      // A word that the tool's author began with '-' is the author's option, whatever is filled in.
      TRY(check_word(words.back(), first_member(word), after_dashes || word.starts_with('-')));
      continue;
    }
    const bj::value* value = member(input, name);
    if (value == nullptr) continue;
    const auto* list = value->if_array();
    const bj::array one{*value};
    for (const bj::value& item : list == nullptr ? one : *list) {
      words.push_back(text_of(item));
      TRY(check_word(words.back(), name, after_dashes || item.is_number()));
    }
  }
  TRY(check_lengths(words));
  return words;
}

Result<std::string> filled_url(const HttpRun& run, const bj::value& input) {
  if (run.url != "{{url}}") {
    TRY(check_path(std::string_view(run.url).substr(0, run.url.find('?')), input));
    return filled_text(run.url, input, percent_encoded);
  }
  const bj::value* url = member(input, "url");
  const std::string text = url == nullptr ? std::string() : text_of(*url);
  if (!text.starts_with("http://") && !text.starts_with("https://"))
    return fail(Error(Code::invalid_argument, "'url' begins with http:// or https://").with_field("/url"));
  return text;
}

}  // namespace atl::tools
