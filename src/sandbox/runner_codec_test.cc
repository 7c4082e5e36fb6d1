#include "sandbox/runner_codec.h"

#include <gtest/gtest.h>

#include <string>

#include "sandbox/interpreter_states.h"

namespace atl::sandbox {
namespace {

std::string letters(RunnerReader& reader) {
  std::string all;
  while (const auto message = reader.next()) all += message->letter;
  return all;
}

TEST(RunnerReader, GivesMessagesHoweverTheyAreCut) {
  const std::string said = "R 3 abc\n1xyD 3 abc\n0 1K 0\n";
  for (std::size_t cut = 0; cut <= said.size(); ++cut) {
    RunnerReader reader;
    reader.add(said.substr(0, cut));
    std::string all = letters(reader);
    reader.add(said.substr(cut));
    all += letters(reader);
    EXPECT_EQ(all, "RDK") << cut;
    EXPECT_FALSE(reader.is_broken());
  }
  RunnerReader reader;
  reader.add(said);
  const auto first = reader.next();
  ASSERT_TRUE(first);
  EXPECT_EQ(first->mark, "abc");
  EXPECT_EQ(first->payload, "1xy");
}

TEST(RunnerReader, RefusesWhatNoRunnerSends) {
  for (const char* const said : {"hello\n", "R\n", "R \n", "R x\n", "R -1\n", "R 99999999999\n", "R 3x\n",
                                 "\n", "R 1                                           "}) {
    RunnerReader reader;
    reader.add(said);
    EXPECT_FALSE(reader.next()) << said;
    EXPECT_TRUE(reader.is_broken()) << said;
    reader.add("K 0\n");
    EXPECT_FALSE(reader.next()) << said;
    reader.clear();
    reader.add("K 0\n");
    EXPECT_TRUE(reader.next()) << said;
  }
}

// What a dead interpreter left half said is passed over, wherever the word of its spare begins.
TEST(RunnerReader, FindsTheWordOfASpareInPieces) {
  const std::string said = "R 500 ab\nhalf of itWORDK 0\n";
  for (std::size_t cut = 0; cut <= said.size(); ++cut) {
    RunnerReader reader;
    reader.add("rest of the old one");
    reader.skip_to("WORD");
    reader.add(said.substr(0, cut));
    std::string all = letters(reader);
    reader.add(said.substr(cut));
    all += letters(reader);
    EXPECT_EQ(all, "K") << cut;
    EXPECT_FALSE(reader.is_broken()) << cut;
  }
}

TEST(RunnerCodec, WritesLetterSizeAndPayload) {
  EXPECT_EQ(encode_message(guest::ToRunner::execute, "1+1"), "X 3\n1+1");
  EXPECT_EQ(encode_message(guest::ToRunner::park, ""), "B 0\n");
}

TEST(RunnerCodec, ReadsResultsFailuresAndEnds) {
  const auto result = decode_result(
      "1"
      "10\ntext/plain"
      "1\n2"
      "9\ntext/html"
      "3\n<b>");
  ASSERT_TRUE(result);
  EXPECT_TRUE(result->is_main);
  EXPECT_EQ(result->data.at("text/plain"), "2");
  EXPECT_EQ(result->data.at("text/html"), "<b>");
  const auto failure = decode_failure("1\nA1\nB1\nC");
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->name, "A");
  EXPECT_EQ(failure->traceback, "C");
  const auto done = decode_done("7 12");
  ASSERT_TRUE(done);
  EXPECT_EQ(done->exit_code, 7);
  EXPECT_EQ(done->count, 12U);
  for (const char* const bad : {"",
                                "1"
                                "5\nabc",
                                "1"
                                "3\nabc",
                                "1"
                                "x\n",
                                "1"
                                "99999999999999999999\na"})
    EXPECT_EQ(decode_result(bad).has_value(), false) << bad;
  EXPECT_FALSE(decode_failure("1\nA1\nB"));
  for (const char* const bad : {"", "7", "x 1", "7 x"}) EXPECT_FALSE(decode_done(bad)) << bad;
}

TEST(InterpreterStates, EveryStateCanBeReachedAndLeft) {
  using enum InterpreterState;
  for (const InterpreterState state : {starting, idle, busy, continuing, parked, dead}) {
    bool reached = false, left = false;
    for (const InterpreterStep& step : kInterpreterSteps)
      reached |= step.to == state, left |= step.from == state;
    EXPECT_TRUE(reached && left) << static_cast<int>(state);
    EXPECT_TRUE(can_follow(state, dead));
  }
  EXPECT_FALSE(can_follow(dead, idle));
  EXPECT_FALSE(can_follow(parked, busy));
  EXPECT_FALSE(can_follow(starting, busy));
}

}  // namespace
}  // namespace atl::sandbox
