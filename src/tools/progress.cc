#include "tools/progress.h"

#include <boost/json/value.hpp>
#include <cmath>

#include "base/bytes.h"
#include "base/json.h"
#include "base/utf8.h"

namespace atl::tools {
namespace {

namespace bj = boost::json;

constexpr std::size_t kReportMax = 16U << 10;
constexpr std::size_t kMessageMax = 4U << 10;

std::optional<double> finite_number(const bj::object& object, std::string_view name) {
  const bj::value* value = object.if_contains(name);
  if (value == nullptr || !value->is_number()) return std::nullopt;
  const double number = value->to_number<double>();
  return std::isfinite(number) ? std::optional(number) : std::nullopt;
}

ToolEvent text_event(ToolEvent::Kind kind, std::string_view bytes) {
  return {.kind = kind, .text = to_valid_utf8(bytes), .progress = {}, .total = {}};
}

// One line, or a part of one that is too long to wait for its end.
void add_line(std::string_view line, std::vector<ToolEvent>& events) {
  if (auto told = parse_progress(line)) {
    events.push_back(std::move(*told));
  } else if (!events.empty() && events.back().kind == ToolEvent::Kind::err) {
    events.back().text += to_valid_utf8(line);
  } else if (!line.empty()) {
    events.push_back(text_event(ToolEvent::Kind::err, line));
  }
}

}  // namespace

std::optional<ToolEvent> parse_progress(std::string_view line) {
  while (!line.empty() && (line.back() == '\n' || line.back() == '\r')) line.remove_suffix(1);
  // Most lines are no JSON: they are not read as such.
  if (!line.starts_with('{') || !line.ends_with('}') || line.size() > kReportMax) return std::nullopt;
  const auto parsed = json::parse(line, {.max_bytes = kReportMax, .max_depth = 4});
  if (!parsed || !parsed->is_object()) return std::nullopt;
  const bj::object& object = parsed->get_object();
  ToolEvent event;
  event.progress = finite_number(object, "progress");
  if (!event.progress) return std::nullopt;
  event.total = finite_number(object, "total");
  if (const bj::value* message = object.if_contains("message"); message != nullptr && message->is_string())
    event.text = to_valid_utf8(std::string_view(message->get_string()).substr(0, kMessageMax));
  return event;
}

std::vector<ToolEvent> ProgressReader::add(const sandbox::Output& output) {
  std::vector<ToolEvent> events;
  if (output.stream != sandbox::Stream::err) {
    if (shown_ == Shown::errors_only) return events;
    out_ += output.bytes;
    const std::size_t whole = out_.size() - utf8::incomplete_tail(out_);
    if (whole > 0)
      events.push_back(text_event(ToolEvent::Kind::out, std::string_view(out_).substr(0, whole)));
    out_.erase(0, whole);
    return events;
  }
  err_ += output.bytes;
  std::size_t from = 0;
  for (std::size_t end = err_.find('\n'); end != std::string::npos; end = err_.find('\n', from)) {
    add_line(std::string_view(err_).substr(from, end + 1 - from), events);
    from = end + 1;
  }
  err_.erase(0, from);
  if (err_.size() > kReportMax) {
    const std::size_t whole = err_.size() - utf8::incomplete_tail(err_);
    add_line(std::string_view(err_).substr(0, whole), events);
    err_.erase(0, whole);
  }
  return events;
}

std::vector<ToolEvent> ProgressReader::finish() {
  std::vector<ToolEvent> events;
  if (!out_.empty()) events.push_back(text_event(ToolEvent::Kind::out, out_));
  if (!err_.empty()) add_line(err_, events);
  out_.clear();
  err_.clear();
  return events;
}

session::OutputWatcher WatchedOutput::feed() {
  return [self = shared_from_this()](sandbox::Output output) { return add(self, std::move(output)); };
}

Task<void> WatchedOutput::add(std::shared_ptr<WatchedOutput> self, sandbox::Output output) {
  std::vector<ToolEvent> events = self->reader_.add(output);
  co_return co_await tell(std::move(self), std::move(events));
}

Task<void> WatchedOutput::tell(std::shared_ptr<WatchedOutput> self, std::vector<ToolEvent> events) {
  for (ToolEvent& event : events) CO_CHECK(co_await self->watcher_(std::move(event)));
  co_return Result<void>();
}

Task<void> WatchedOutput::finish() {
  return tell(shared_from_this(), reader_.finish());
}

}  // namespace atl::tools
