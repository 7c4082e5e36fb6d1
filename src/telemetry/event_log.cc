#include "telemetry/event_log.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <boost/json.hpp>
#include <charconv>
#include <fstream>

#include "base/json.h"
#include "base/log.h"
#include "os/file.h"

namespace atl::telemetry {
namespace {

constexpr std::string_view kSuffix = ".jsonl";
constexpr std::size_t kNumberSize = 20;
constexpr std::size_t kLineBytesMax = 1U << 20;

std::optional<std::uint64_t> number_of(std::string_view name) {
  if (name.size() != kNumberSize + kSuffix.size() || !name.ends_with(kSuffix)) return std::nullopt;
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + kNumberSize, number);
  if (error != std::errc() || end != name.data() + kNumberSize || number == 0) return std::nullopt;
  return number;
}

std::string line_of(std::uint64_t id, WallTime now, const EventDraft& draft) {
  std::string line = fmt::format(R"({{"id":{},"time":"{}","type":)", id, to_rfc3339(now));
  json::append_quoted(line, draft.type);
  line += R"(,"tenant":)";
  json::append_quoted(line, draft.tenant);
  line += R"(,"session_id":)";
  json::append_quoted(line, draft.session_id);
  line += R"(,"environment":)";
  json::append_quoted(line, draft.environment);
  if (!draft.trace_id.empty()) {
    line += R"(,"trace_id":)";
    json::append_quoted(line, draft.trace_id);
  }
  line += R"(,"data":)";
  line += draft.data;
  return line + "}";
}

// A page ends at a gap, which the next one tells.
EventLog::Page page_of(std::vector<EventPtr> events, std::uint64_t after, std::uint64_t last) {
  if (events.empty()) return {.events = {}, .missed = last - after, .end = last};
  std::size_t count = 1;
  while (count < events.size() && events[count]->id == events[count - 1]->id + 1) ++count;
  events.resize(count);
  const std::uint64_t missed = events.front()->id - after - 1, end = events.back()->id;
  return {.events = std::move(events), .missed = missed, .end = end};
}

}  // namespace

Result<Event> parse_event(std::string line) {
  const auto parsed = json::parse(line);
  const auto* object = parsed ? parsed->if_object() : nullptr;
  if (object == nullptr) return fail(Code::data_loss, "a line of the event log is no event");
  Event event;
  const auto* id = object->if_contains("id");
  if (id == nullptr || !id->is_number()) return fail(Code::data_loss, "an event has no id");
  boost::system::error_code error;
  event.id = id->to_number<std::uint64_t>(error);
  if (error || event.id == 0) return fail(Code::data_loss, "an event has no id");
  const std::pair<const char*, std::string*> members[] = {{"type", &event.type},
                                                          {"tenant", &event.tenant},
                                                          {"session_id", &event.session_id},
                                                          {"environment", &event.environment}};
  for (const auto& [name, member] : members) {
    const auto* value = object->if_contains(name);
    if (value != nullptr && value->is_string()) *member = value->get_string();
  }
  event.line = std::move(line);
  return event;
}

Result<std::unique_ptr<EventLog>> EventLog::open(EventLogOptions options) {
  TRY(os::make_directories(options.directory, 0700));
  std::unique_ptr<EventLog> log(new EventLog(std::move(options)));
  TRY(log->find_segments());
  TRY(log->repair_last());
  return log;
}

EventLog::~EventLog() = default;

std::string EventLog::path_of(std::uint64_t first) const {
  return fmt::format("{}/{:020}{}", options_.directory, first, kSuffix);
}

Result<void> EventLog::find_segments() {
  const os::Fd directory = TRY(os::open(options_.directory.c_str(), O_RDONLY | O_DIRECTORY));
  for (const std::string& name : os::list_directory_at(directory.get(), ".")) {
    const auto first = number_of(name);
    if (!first) continue;
    const os::Fd file = TRY(os::open(path_of(*first).c_str(), O_RDONLY));
    const off_t size = ::lseek(file.get(), 0, SEEK_END);
    segments_.push_back({*first, static_cast<std::uint64_t>(std::max<off_t>(size, 0))});
  }
  std::ranges::sort(segments_, {}, &Segment::first);
  return {};
}

Result<void> EventLog::repair_last() {
  if (segments_.empty()) return {};
  Segment& segment = segments_.back();
  const std::string path = path_of(segment.first);
  std::string text = TRY(os::read_file(path, options_.segment_bytes + 2 * kLineBytesMax));
  const auto end = text.rfind('\n');
  text.resize(end == std::string::npos ? 0 : end + 1);
  if (text.size() != segment.bytes && ::truncate(path.c_str(), static_cast<off_t>(text.size())) != 0)
    return fail(errno_error(errno, "cut the event log"));
  segment.bytes = text.size();
  last_ = segment.first - 1;
  for (std::size_t at = 0; at < text.size();) {
    const auto newline = text.find('\n', at);
    auto event = parse_event(text.substr(at, newline - at));
    // Ids grow; what says otherwise was damaged.
    if (event && event->id > last_) {
      last_ = event->id;
      recent_.push_back(std::make_shared<const Event>(std::move(*event)));
    }
    at = newline + 1;
  }
  while (recent_.size() > options_.recent_max) recent_.pop_front();
  file_ = TRY(os::open(path.c_str(), O_WRONLY | O_APPEND));
  return {};
}

Result<void> EventLog::begin_segment() {
  file_ = TRY(os::open(path_of(last_ + 1).c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600));
  segments_.push_back({last_ + 1, 0});
  forget_oldest();
  return {};
}

void EventLog::forget_oldest() {
  std::uint64_t bytes = 0;
  for (const Segment& segment : segments_) bytes += segment.bytes;
  while (segments_.size() > 1 && bytes + options_.segment_bytes > options_.keep_bytes) {
    bytes -= segments_.front().bytes;
    ::unlink(path_of(segments_.front().first).c_str());
    segments_.erase(segments_.begin());
  }
}

Result<void> EventLog::write(const std::string& line) {
  if (!file_.is_open() || segments_.back().bytes >= options_.segment_bytes) TRY(begin_segment());
  auto written = os::write_all(file_.get(), line + "\n");
  if (written) {
    segments_.back().bytes += line.size() + 1;
    return {};
  }
  // Half a line would make the next one unreadable.
  if (::ftruncate(file_.get(), static_cast<off_t>(segments_.back().bytes)) != 0) file_.reset();
  return written;
}

void EventLog::append(EventDraft draft) {
  std::shared_ptr<const Listeners> listeners;
  EventPtr told;
  {
    const std::lock_guard lock(mutex_);
    Event event;
    event.id = last_ + 1;
    event.type = draft.type;
    event.tenant = draft.tenant;
    event.session_id = draft.session_id;
    event.environment = draft.environment;
    event.line = line_of(event.id, options_.clock->now(), draft);
    auto written = write(event.line);
    if (!written && failure_.empty())
      log::warn("an event could not be written", {{"error", written.error().message()}});
    failure_ = written ? "" : written.error().message();
    ++last_;
    told = recent_.emplace_back(std::make_shared<const Event>(std::move(event)));
    if (recent_.size() > options_.recent_max) recent_.pop_front();
    listeners = listeners_;
  }
  for (const auto& [number, listener] : *listeners) listener(*told);
}

bool EventLog::is_recent(std::uint64_t after) const {
  const std::lock_guard lock(mutex_);
  return after >= last_ || (!recent_.empty() && recent_.front()->id <= after + 1);
}

std::uint64_t EventLog::last_id() const {
  const std::lock_guard lock(mutex_);
  return last_;
}

std::uint64_t EventLog::first_id() const {
  const std::lock_guard lock(mutex_);
  std::uint64_t first = last_ + 1;
  if (!segments_.empty()) first = std::min(first, segments_.front().first);
  if (!recent_.empty()) first = std::min(first, recent_.front()->id);
  return first;
}

EventLog::Page EventLog::read_after(std::uint64_t after, std::size_t max) const {
  std::vector<EventPtr> remembered;
  std::vector<std::uint64_t> files;
  std::uint64_t last = 0;
  {
    const std::lock_guard lock(mutex_);
    last = last_;
    if (after >= last) return {.events = {}, .end = after};
    // By halves: every follower and every delivery comes here for every event.
    const auto id = [](const EventPtr& event) { return event->id; };
    const auto first = std::ranges::upper_bound(recent_, after, {}, id);
    const auto count = std::min<std::size_t>(max, static_cast<std::size_t>(recent_.end() - first));
    remembered.assign(first, first + static_cast<std::ptrdiff_t>(count));
    if (!remembered.empty() && remembered.front()->id == after + 1)
      return page_of(std::move(remembered), after, last);
    for (std::size_t i = 0; i < segments_.size(); ++i)
      if (i + 1 == segments_.size() || segments_[i + 1].first > after + 1)
        files.push_back(segments_[i].first);
  }
  // Files first: they hold what memory no longer does. One that is removed meanwhile is a gap.
  std::vector<EventPtr> found;
  const std::uint64_t memory_from = remembered.empty() ? UINT64_MAX : remembered.front()->id;
  for (const std::uint64_t first : files) {
    std::ifstream file(path_of(first));
    for (std::string line; found.size() < max && std::getline(file, line);) {
      auto event = parse_event(std::move(line));
      if (event && event->id > after && event->id < memory_from)
        found.push_back(std::make_shared<const Event>(std::move(*event)));
    }
    if (found.size() >= max || first >= memory_from) break;
  }
  for (const EventPtr& event : remembered)
    if (found.size() < max) found.push_back(event);
  return page_of(std::move(found), after, last);
}

// They change seldom and are called for every event: who comes or goes makes a new list.
int EventLog::listen(Listener listener) {
  const std::lock_guard lock(mutex_);
  auto changed = std::make_shared<Listeners>(*listeners_);
  changed->emplace(++listener_count_, std::move(listener));
  listeners_ = std::move(changed);
  return listener_count_;
}

void EventLog::unlisten(int number) {
  const std::lock_guard lock(mutex_);
  auto changed = std::make_shared<Listeners>(*listeners_);
  changed->erase(number);
  listeners_ = std::move(changed);
}

ComponentState EventLog::state() const {
  const std::lock_guard lock(mutex_);
  if (failure_.empty()) return {};
  return {Condition::degraded, "events are kept in memory only: " + failure_};
}

}  // namespace atl::telemetry
