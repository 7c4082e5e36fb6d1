#include "session/network_log.h"

#include <boost/json.hpp>

#include "base/json.h"
#include "session/json_fields.h"

namespace atl::session {
namespace {

namespace bj = boost::json;

}  // namespace

void NetworkLog::put_first(NetworkDecision decision) {
  const Key key{decision.host, decision.port, decision.allowed, decision.reason};
  lines_.push_front(std::move(decision));
  by_key_[key] = lines_.begin();
  if (lines_.size() <= kLinesMax) return;
  const NetworkDecision& oldest = lines_.back();
  by_key_.erase(Key{oldest.host, oldest.port, oldest.allowed, oldest.reason});
  lines_.pop_back();
  ++forgotten_;
}

void NetworkLog::add(const egress::Attempt& attempt, WallTime now) {
  changed_ = true;
  const auto found = by_key_.find(Key{attempt.host, attempt.port, attempt.allowed, attempt.reason});
  if (found == by_key_.end()) {
    put_first({attempt.host, attempt.port, attempt.allowed, attempt.reason, 1, now, now});
    return;
  }
  NetworkDecision& line = *found->second;
  ++line.count;
  line.last_at = now;
  lines_.splice(lines_.begin(), lines_, found->second);
}

std::string NetworkLog::to_json() {
  changed_ = false;
  bj::array lines;
  for (const NetworkDecision& line : lines_) {
    lines.push_back(bj::object{{"host", line.host},
                               {"port", line.port},
                               {"allowed", line.allowed},
                               {"reason", line.reason},
                               {"count", line.count},
                               {"first_at_us", unix_micros(line.first_at)},
                               {"last_at_us", unix_micros(line.last_at)}});
  }
  return bj::serialize(bj::object{{"decisions", std::move(lines)}, {"forgotten", forgotten_}});
}

void NetworkLog::read_json(const std::string& json) {
  auto parsed = json::parse(json);
  const bj::object* const all = parsed ? parsed->if_object() : nullptr;
  const bj::value* const lines = all == nullptr ? nullptr : all->if_contains("decisions");
  if (lines == nullptr || !lines->is_array()) return;
  const bj::array& array = lines->get_array();
  for (auto line = array.rbegin(); line != array.rend(); ++line) {
    const bj::object* const object = line->if_object();
    if (object == nullptr) continue;
    const bj::value* const allowed = object->if_contains("allowed");
    put_first({json_text(*object, "host"), static_cast<std::uint16_t>(json_integer(*object, "port")),
               allowed != nullptr && allowed->is_bool() && allowed->get_bool(), json_text(*object, "reason"),
               static_cast<std::uint64_t>(json_integer(*object, "count")),
               from_unix_micros(json_integer(*object, "first_at_us")),
               from_unix_micros(json_integer(*object, "last_at_us"))});
  }
  forgotten_ = static_cast<std::uint64_t>(json_integer(*all, "forgotten"));
}

}  // namespace atl::session
