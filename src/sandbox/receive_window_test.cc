#include "sandbox/receive_window.h"

#include <gtest/gtest.h>

#include <string>

namespace atl::sandbox {
namespace {

TEST(ReceiveWindow, GivesPiecesInTheOrderInWhichTheyCame) {
  ReceiveWindow window(4);
  EXPECT_TRUE(window.empty());
  ASSERT_TRUE(window.add("one"));
  ASSERT_TRUE(window.add("two"));
  EXPECT_EQ(window.take(), "one");
  EXPECT_EQ(window.take(), "two");
  EXPECT_TRUE(window.empty());
}

TEST(ReceiveWindow, RefusesPiecesThatNoGuestSends) {
  ReceiveWindow window(4);
  EXPECT_FALSE(window.add(""));
  EXPECT_FALSE(window.add(std::string(guest::kDataMax + 1, 'x')));
  EXPECT_TRUE(window.empty());
}

TEST(ReceiveWindow, RefusesMoreThanTheWindow) {
  ReceiveWindow window(4);
  const std::string piece(guest::kDataMax, 'x');
  for (std::uint32_t sent = 0; sent < guest::kOutputWindow; sent += guest::kDataMax)
    ASSERT_TRUE(window.add(piece));
  EXPECT_FALSE(window.add("x"));
}

TEST(ReceiveWindow, GrantsWhatWasTakenOnceItIsWorthAMessage) {
  ReceiveWindow window(4);
  ASSERT_TRUE(window.add("abc"));
  EXPECT_EQ(window.grant(), 0U) << "nothing was taken";
  (void)window.take();
  EXPECT_EQ(window.grant(), 0U) << "three bytes are not worth one";
  ASSERT_TRUE(window.add("de"));
  (void)window.take();
  EXPECT_EQ(window.grant(), 5U);
  EXPECT_EQ(window.grant(), 0U) << "granted once";
}

// Bytes that wait here are not granted: the guest may hold that many fewer on their way.
TEST(ReceiveWindow, DoesNotGrantWhatStillWaits) {
  ReceiveWindow window(1);
  ASSERT_TRUE(window.add("abc"));
  ASSERT_TRUE(window.add("defg"));
  (void)window.take();
  EXPECT_EQ(window.grant(), 3U);
}

}  // namespace
}  // namespace atl::sandbox
