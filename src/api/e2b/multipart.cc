#include "api/e2b/multipart.h"

#include <algorithm>

#include "net/http.h"

namespace atl::api::e2b {
namespace {

constexpr std::size_t kHeadMax = 16U << 10;

// The value of `name` in "form-data; name=\"a\"; filename=\"b\"".
std::optional<std::string> parameter(std::string_view text, std::string_view name) {
  std::size_t at = 0;
  while ((at = text.find(';', at)) != std::string_view::npos) {
    ++at;
    while (at < text.size() && (text[at] == ' ' || text[at] == '\t')) ++at;
    auto equals = text.find('=', at);
    if (equals == std::string_view::npos) return std::nullopt;
    std::string_view key = text.substr(at, equals - at);
    std::string value;
    std::size_t i = equals + 1;
    if (i < text.size() && text[i] == '"') {
      for (++i; i < text.size() && text[i] != '"'; ++i) {
        if (text[i] == '\\' && i + 1 < text.size() && (text[i + 1] == '"' || text[i + 1] == '\\')) ++i;
        value += text[i];
      }
    } else {
      for (; i < text.size() && text[i] != ';'; ++i) value += text[i];
      while (value.ends_with(' ')) value.pop_back();
    }
    if (net::equal_ignoring_case(key, name)) return value;
    at = i;
  }
  return std::nullopt;
}

// Browsers and undici escape quotes and line breaks in form names as %22, %0D, %0A, and nothing else.
std::string form_unescape(std::string text) {
  for (auto [from, to] : {std::pair<std::string_view, char>{"%22", '"'}, {"%0D", '\r'}, {"%0A", '\n'}}) {
    std::size_t at = 0;
    while ((at = text.find(from, at)) != std::string::npos) text.replace(at, 3, 1, to);
  }
  return text;
}

}  // namespace

Result<std::string> multipart_boundary(std::string_view content_type) {
  auto boundary = parameter(content_type, "boundary");
  if (!boundary || boundary->empty() || boundary->size() > 200) {
    return fail(Code::invalid_argument, "multipart/form-data without a boundary");
  }
  return *boundary;
}

Result<PartHead> MultipartParser::parse_head(std::string_view text) const {
  PartHead head;
  while (!text.empty()) {
    auto end = text.find("\r\n");
    std::string_view line = text.substr(0, end);
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 2);
    auto colon = line.find(':');
    if (colon == std::string_view::npos) return fail(Code::invalid_argument, "malformed part header");
    if (!net::equal_ignoring_case(line.substr(0, colon), "Content-Disposition")) continue;
    std::string_view value = line.substr(colon + 1);
    head.name = form_unescape(parameter(value, "name").value_or(""));
    if (auto plain = parameter(value, "filename")) {
      head.filename = form_unescape(std::move(*plain));
      head.has_filename = true;
    }
    if (auto extended = parameter(value, "filename*")) {
      auto quote = extended->rfind('\'');
      if (quote != std::string::npos) {
        head.filename = TRY(net::percent_decode(std::string_view(*extended).substr(quote + 1)));
        head.has_filename = true;
      }
    }
  }
  return head;
}

// One transition; false: more bytes are needed.
bool MultipartParser::step(std::vector<PartEvent>& events, Result<void>& result) {
  switch (state_) {
    case State::preamble:
    case State::body: {
      auto at = buffer_.find(delimiter_);
      if (at == std::string::npos) {
        std::size_t keep = std::min(buffer_.size(), delimiter_.size() - 1);
        std::size_t free = buffer_.size() - keep;
        if (free > 0 && state_ == State::body) {
          events.push_back({PartEvent::Kind::data, {}, buffer_.substr(0, free)});
        }
        buffer_.erase(0, free);
        return false;
      }
      if (state_ == State::body) {
        if (at > 0) events.push_back({PartEvent::Kind::data, {}, buffer_.substr(0, at)});
        events.push_back({PartEvent::Kind::end, {}, {}});
      }
      buffer_.erase(0, at + delimiter_.size());
      state_ = State::after_boundary;
      return true;
    }
    case State::after_boundary: {
      if (buffer_.size() < 2) return false;
      if (buffer_.starts_with("--")) {
        state_ = State::done;
        return false;
      }
      auto end = buffer_.find("\r\n");
      if (end == std::string::npos && buffer_.size() < 200) return false;
      if (end == std::string::npos || buffer_.find_first_not_of(" \t") != end) {
        result = fail(Code::invalid_argument, "malformed multipart boundary");
        return false;
      }
      buffer_.erase(0, end);  // the line break stays: an empty head ends with two of them
      state_ = State::head;
      return true;
    }
    case State::head: {
      auto end = buffer_.find("\r\n\r\n");
      if (end == std::string::npos) {
        if (buffer_.size() > kHeadMax) result = fail(Code::invalid_argument, "a part's header is too large");
        return false;
      }
      auto head = parse_head(end < 2 ? std::string_view() : std::string_view(buffer_).substr(2, end - 2));
      if (!head) {
        result = fail(std::move(head).error());
        return false;
      }
      events.push_back({PartEvent::Kind::head, std::move(*head), {}});
      buffer_.erase(0, end + 4);
      state_ = State::body;
      return true;
    }
    case State::done: buffer_.clear(); return false;
  }
  std::unreachable();
}

Result<std::vector<PartEvent>> MultipartParser::feed(std::string_view bytes) {
  std::vector<PartEvent> events;
  buffer_ += bytes;
  Result<void> result;
  while (step(events, result)) {
  }
  if (!result) return fail(std::move(result).error());
  return events;
}

}  // namespace atl::api::e2b
