#include <gtest/gtest.h>

#include "events.h"
#include "web_socket.h"

namespace atl::client::detail {
namespace {

TEST(ClientEvents, RefusesWhatIsNoObject) {
  EXPECT_THROW(read_event({.id = {}, .name = "x", .data = "nope"}), ProtocolError);
  EXPECT_THROW(read_event({.id = {}, .name = "x", .data = "1"}), ProtocolError);
}

TEST(ClientEvents, MayBeCutAnywhere) {
  std::string wire = ": hello\n\nevent: stdout\ndata: {\"text\":\"\xe2\x82\xac\"}\n\nevent:done\ndata:{}\n\n";
  for (std::size_t size = 1; size < wire.size(); ++size) {
    EventReader reader;
    std::vector<std::string> names;
    for (std::size_t at = 0; at < wire.size(); at += size) {
      reader.feed(std::string_view(wire).substr(at, size));
      while (auto event = reader.next()) {
        names.push_back(event->name);
        if (event->name == "stdout") {
          EXPECT_EQ(read_event(*event).data["text"].as_string(), "\xe2\x82\xac");
        }
      }
    }
    EXPECT_EQ(names, (std::vector<std::string>{"stdout", "done"})) << size;
  }
}

TEST(ClientEvents, JoinsLinesOfData) {
  EventReader reader;
  reader.feed("data: {\"a\":\ndata: 1}\n\n");
  auto event = reader.next();
  ASSERT_TRUE(event);
  EXPECT_EQ(event->name, "message");
  EXPECT_EQ(read_event(*event).data["a"].as_integer(), 1);
}

TEST(ClientEvents, KeepTheirIdUntilAnotherHasOne) {
  EventReader reader;
  reader.feed("id: 7\nevent: a\ndata: {}\n\n: still here\n\nevent: b\ndata: {}\n\nid: 8\ndata: {}\n\n");
  std::vector<std::string> ids;
  while (auto event = reader.next()) ids.push_back(event->name + event->id);
  EXPECT_EQ(ids, (std::vector<std::string>{"a7", "b7", "message8"}));
}

TEST(ClientFrames, RefusesWhatNoServerSends) {
  EXPECT_THROW(FrameReader().feed(std::string("\x82\x81", 2)), ProtocolError);  // masked
  EXPECT_THROW(FrameReader().feed(std::string("\xF2\x01", 2)), ProtocolError);  // reserved bits
  EXPECT_THROW(FrameReader().feed(std::string("\x82\x7F\x01\0\0\0\0\0\0\0", 10)), ProtocolError);  // too long
}

TEST(ClientFrames, JoinsFragmentsAroundControlFrames) {
  FrameReader reader;
  std::string wire(
      "\x02\x02"
      "ab"
      "\x89\x01p"
      "\x80\x01"
      "c",
      10);
  for (char byte : wire) reader.feed(std::string(1, byte));
  auto ping = reader.next(), message = reader.next();
  ASSERT_TRUE(ping && message);
  EXPECT_EQ(ping->opcode, Opcode::ping);
  EXPECT_EQ(ping->payload, "p");
  EXPECT_EQ(message->opcode, Opcode::binary);
  EXPECT_EQ(message->payload, "abc");
  EXPECT_FALSE(reader.next());
}

TEST(ClientFrames, MasksEveryLength) {
  for (std::size_t size : {0UL, 125UL, 126UL, 65535UL, 65536UL}) {
    std::string payload(size, 'x');
    std::string frame = masked_frame(Opcode::binary, payload);
    std::size_t head = size < 126 ? 2 : size < 65536 ? 4 : 10;
    ASSERT_EQ(frame.size(), head + 4 + size);
    EXPECT_NE(static_cast<unsigned char>(frame[1]) & 0x80, 0);
    for (std::size_t at = 0; at < size; ++at)
      ASSERT_EQ(static_cast<char>(frame[head + 4 + at] ^ frame[head + at % 4]), 'x');
  }
}

TEST(ClientFrames, AcceptIsTheOneOfTheSpecification) {
  EXPECT_EQ(web_socket_accept("dGhlIHNhbXBsZSBub25jZQ=="), "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
  EXPECT_EQ(web_socket_key().size(), 24U);
}

}  // namespace
}  // namespace atl::client::detail
