#pragma once

#include <cstdint>
#include <list>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "egress/proxy.h"
#include "session/types.h"

namespace atl::session {

// The kind of the document in the store that holds a session's log, by tenant and session_id.
inline constexpr std::string_view kNetworkLogKind = "network-log";

// What was decided at one session's way out. Attempts that were decided alike are one line with a count, and
// the lines are bounded: a program that tries a million names costs what a thousand cost.
class NetworkLog {
 public:
  static constexpr std::size_t kLinesMax = 1000;

  void add(const egress::Attempt& attempt, WallTime now);
  // The latest first.
  std::vector<NetworkDecision> decisions() const { return {lines_.begin(), lines_.end()}; }
  std::uint64_t forgotten() const { return forgotten_; }
  // Since the last to_json().
  bool changed() const { return changed_; }

  std::string to_json();
  void read_json(const std::string& json);

 private:
  using Key = std::tuple<std::string, std::uint16_t, bool, std::string>;
  void put_first(NetworkDecision decision);

  std::list<NetworkDecision> lines_;
  std::map<Key, std::list<NetworkDecision>::iterator> by_key_;
  std::uint64_t forgotten_ = 0;
  bool changed_ = false;
};

}  // namespace atl::session
