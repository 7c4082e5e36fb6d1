#include "session/state.h"

#include <gtest/gtest.h>

#include <random>

namespace atl::session {
namespace {

TEST(State, WordsGoBothWays) {
  for (State state : kStates) EXPECT_EQ(parse_state(to_string(state)), state);
  EXPECT_EQ(parse_state("Running"), std::nullopt);
  EXPECT_EQ(parse_state(""), std::nullopt);
}

TEST(State, NothingFollowsAnEnd) {
  for (State from : {State::stopped, State::failed, State::lost}) {
    EXPECT_TRUE(is_final(from));
    for (State to : kStates)
      EXPECT_EQ(may_become(from, to), from == to) << to_string(from) << " " << to_string(to);
  }
}

TEST(State, StoppingCannotBeTakenBack) {
  for (State to : {State::creating, State::running, State::paused, State::failed}) {
    EXPECT_FALSE(may_become(State::stopping, to)) << to_string(to);
  }
}

TEST(State, EveryWalkThroughTheTableCanEndAndEveryLiveStateCanStop) {
  std::mt19937 random(7);
  for (int walk = 0; walk < 1000; ++walk) {
    State state = State::creating;
    for (int step = 0; step < 50 && !is_final(state); ++step) {
      const State next = kStates[random() % kStates.size()];
      if (!may_become(state, next)) continue;
      state = next;
      if (is_live(state)) {
        EXPECT_TRUE(may_become(state, State::stopping));
        EXPECT_TRUE(may_become(state, State::lost));
      }
    }
    EXPECT_TRUE(is_final(state) || may_become(state, State::stopping) || may_become(state, State::stopped));
  }
}

}  // namespace
}  // namespace atl::session
