#include "sandbox/gvisor/walls.h"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include "guest/protocol.h"
#include "os/message.h"
#include "sandbox/test_loop.h"

namespace atl::sandbox::gvisor {
namespace {

class GvisorStream : public testing::Test, protected TestLoop {};

TEST_F(GvisorStream, NotesThatAreDamagedAreSaidToBe) {
  for (const char* text : {"{}", "{\"runsc\": 1}", "{\"runsc\": \"1\", \"interpreters\": [{}]}"}) {
    const auto damaged = decode_notes(text);
    ASSERT_FALSE(damaged) << text;
    EXPECT_EQ(damaged.error().code(), Code::data_loss) << text;
  }
  EXPECT_FALSE(decode_notes("not JSON"));
  CheckpointNotes notes{"7 systrap", {}};
  SavedInterpreter saved{.info = {"one", Language::python, "/tmp"}};
  saved.channel = 5, saved.is_warm = true;
  notes.interpreters.push_back(saved);
  const auto back = decode_notes(encode(notes));
  ASSERT_TRUE(back);
  EXPECT_EQ(back->version, "7 systrap");
  ASSERT_EQ(back->interpreters.size(), 1U);
  EXPECT_EQ(back->interpreters[0].channel, 5U);
  EXPECT_TRUE(back->interpreters[0].is_warm);
}

TEST_F(GvisorStream, AGuestThatIsGoneIsAnError) {
  auto pair = os::socket_pair(os::SocketKind::stream);
  ASSERT_TRUE(pair);
  pair->second.reset();
  EXPECT_EQ(greet_restored(pair->first.get()).error().code(), Code::provider_failed);
  EXPECT_EQ(run(take_stream_over(pair->first.get())).error().code(), Code::provider_failed);
}

TEST_F(GvisorStream, WordsToTheHostBeforeAreReadAway) {
  auto pair = os::socket_pair(os::SocketKind::stream);
  ASSERT_TRUE(pair);
  const std::string words = std::string(40'000, 'x') + std::string(guest::kAgainBytes, guest::kAgainSize);
  ASSERT_EQ(::send(pair->second.get(), words.data(), words.size(), 0), static_cast<ssize_t>(words.size()));
  ASSERT_TRUE(run(take_stream_over(pair->first.get())));
  char answer[guest::kAgainSize + 1];
  EXPECT_EQ(::recv(pair->second.get(), answer, sizeof answer, MSG_DONTWAIT),
            static_cast<ssize_t>(guest::kAgainSize));
}

}  // namespace
}  // namespace atl::sandbox::gvisor
