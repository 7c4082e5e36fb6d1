#include "cli/answer.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <optional>

#include "config/checked.h"

namespace atl::cli {
namespace {

namespace bj = boost::json;

std::optional<std::time_t> parse_time(std::string_view text) {
  std::tm parts{};
  const std::string whole(text);
  if (::strptime(whole.c_str(), "%Y-%m-%dT%H:%M:%S", &parts) == nullptr) return std::nullopt;
  return ::timegm(&parts);
}

}  // namespace

const bj::value& member(const bj::value& object, std::string_view name) {
  static const bj::value none;
  const bj::value* found = object.is_object() ? object.as_object().if_contains(name) : nullptr;
  return found == nullptr ? none : *found;
}

std::string text_at(const bj::value& object, std::string_view name) {
  const bj::value& found = member(object, name);
  return found.is_string() ? std::string(found.as_string()) : std::string();
}

double number_at(const bj::value& object, std::string_view name) {
  const bj::value& found = member(object, name);
  return found.is_number() ? found.to_number<double>() : 0;
}

const bj::array& list_at(const bj::value& object, std::string_view name) {
  static const bj::array none;
  const bj::value& found = member(object, name);
  return found.is_array() ? found.as_array() : none;
}

std::string shown_lines(std::string_view text) {
  std::string lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find_first_of("\n\t"), text.size());
    lines += config::shown(text.substr(0, end), text.size());
    if (end < text.size()) lines += text[end];
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

std::string shown_on_terminal(std::string text) {
  return ::isatty(STDOUT_FILENO) == 1 ? shown_lines(text) : text;
}

double seconds_since(std::string_view time) {
  const auto then = parse_time(time);
  return then ? std::max(0.0, std::difftime(std::time(nullptr), *then)) : 0;
}

std::string local_time(std::string_view time) {
  const auto then = parse_time(time);
  if (!then) return std::string(time);
  std::tm parts{};
  ::localtime_r(&*then, &parts);
  char text[32];
  return {text, std::strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", &parts)};
}

}  // namespace atl::cli
