#include "session/state.h"

#include <algorithm>
#include <utility>

namespace atl::session {
namespace {

constexpr std::uint8_t bit(State state) {
  return static_cast<std::uint8_t>(1U << static_cast<unsigned>(state));
}

template <class... States>
constexpr std::uint8_t set(States... states) {
  return static_cast<std::uint8_t>((0U | ... | bit(states)));
}

struct Row {
  State state;
  std::string_view word;
  std::uint8_t next;
};

// Restore passes through creating: the sandbox behind the session is being built again.
constexpr std::array kTable = {
    Row{State::creating, "creating", set(State::running, State::stopping, State::failed, State::lost)},
    Row{State::running, "running", set(State::creating, State::paused, State::stopping, State::lost)},
    Row{State::paused, "paused", set(State::creating, State::running, State::stopping, State::lost)},
    Row{State::stopping, "stopping", set(State::stopped, State::lost)},
    Row{State::stopped, "stopped", 0},
    Row{State::failed, "failed", 0},
    Row{State::lost, "lost", 0},
};

constexpr const Row& row_of(State state) {
  return kTable[static_cast<std::size_t>(state)];
}

static_assert(std::ranges::all_of(kStates, [](State state) { return row_of(state).state == state; }));

}  // namespace

std::string_view to_string(State state) {
  return row_of(state).word;
}

std::optional<State> parse_state(std::string_view word) {
  const auto* found = std::ranges::find(kTable, word, &Row::word);
  if (found == kTable.end()) return std::nullopt;
  return found->state;
}

bool may_become(State from, State to) {
  return from == to || (row_of(from).next & bit(to)) != 0;
}

bool is_final(State state) {
  return row_of(state).next == 0;
}

bool is_live(State state) {
  return state == State::running || state == State::paused;
}

}  // namespace atl::session
