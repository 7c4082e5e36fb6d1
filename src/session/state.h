#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace atl::session {

// Where a session stands. The words of to_string() are the API's and the store's; nothing else spells them.
enum class State : std::uint8_t {
  creating,  // its sandbox is being built
  running,   // it answers
  paused,    // its processes are frozen; files keep
  stopping,  // its end has begun and cannot be taken back
  stopped,   // ended by request, by its time to live or by its idle policy; readable until retention removes
             // it
  failed,    // it could not be created or restored; the reason says why
  lost,      // its sandbox ended and nobody asked for that; the reason says what is known
};

inline constexpr std::array kStates = {State::creating, State::running, State::paused, State::stopping,
                                       State::stopped,  State::failed,  State::lost};

std::string_view to_string(State state);
std::optional<State> parse_state(std::string_view word);

// The one table. A session changes its state only along it; staying is no change and always allowed.
bool may_become(State from, State to);
// True where nothing follows any more.
bool is_final(State state);
// True where a sandbox exists (running, paused).
bool is_live(State state);

}  // namespace atl::session
