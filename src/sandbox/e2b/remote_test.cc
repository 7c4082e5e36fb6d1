// The pieces of the provider e2b that need no other side. With one: contract_test.cc and tests/e2b-provider.
#include <gtest/gtest.h>

#include "sandbox/e2b/e2b.h"
#include "sandbox/e2b/remote_files.h"
#include "sandbox/e2b/remote_port.h"
#include "sandbox/e2b/wire.h"

namespace atl::sandbox::e2b {
namespace {

TEST(Envelopes, AreRefusedWhenNobodyWouldSendThem) {
  EnvelopeReader compressed;
  compressed.add(std::string("\x01\0\0\0\x02{}", 7));
  EXPECT_EQ(compressed.next().error().code(), Code::provider_failed);
  EnvelopeReader huge;
  huge.add(std::string("\0\xff\xff\xff\xff", 5));
  EXPECT_EQ(huge.next().error().code(), Code::provider_failed);
}

TEST(Envelopes, AreCutOutOfAnyPieces) {
  const std::string bytes = envelope(R"({"a":1})") + std::string("\x02\0\0\0\x02{}", 7);
  EnvelopeReader reader;
  std::vector<Envelope> found;
  for (const char byte : bytes) {
    reader.add(std::string_view(&byte, 1));
    auto next = reader.next();
    ASSERT_TRUE(next);
    if (*next) found.push_back(**next);
  }
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].text, R"({"a":1})");
  EXPECT_FALSE(found[0].is_last);
  EXPECT_TRUE(found[1].is_last);
}

TEST(Answers, GarbageIsTheProvidersFailure) {
  EXPECT_EQ(parse_answer("<html>").error().code(), Code::provider_failed);
  EXPECT_EQ(parse_answer("[1]").error().code(), Code::provider_failed);
  EXPECT_TRUE(parse_answer("")->empty());
}

TEST(Answers, ErrorsMeanTheSameHere) {
  EXPECT_EQ(control_error(401, "{}").code(), Code::provider_failed) << "a refused key is not the caller's";
  EXPECT_EQ(control_error(404, R"({"code":404,"message":"template 'x' not found"})").code(), Code::not_found);
  EXPECT_NE(control_error(404, R"({"message":"template 'x' not found"})").message().find("template 'x'"),
            std::string::npos);
  EXPECT_EQ(control_error(429, "").code(), Code::unavailable);
  EXPECT_EQ(control_error(500, "oops").code(), Code::unavailable);
  EXPECT_EQ(control_error(507, "").code(), Code::no_space);
  EXPECT_EQ(rpc_error(404, R"({"code":"not_found","message":"no"})").code(), Code::not_found);
  EXPECT_EQ(rpc_error(502, R"({"code":502,"message":"The sandbox was not found"})").code(),
            Code::unavailable);
  EXPECT_EQ(rpc_error("unauthenticated", "invalid username: 'x'").code(), Code::invalid_argument);
  EXPECT_EQ(rpc_error("unauthenticated", "token").code(), Code::provider_failed);
  EXPECT_EQ(rpc_error("new_word", "?").code(), Code::provider_failed);
  EXPECT_LT(control_error(400, std::string(100'000, 'x')).message().size(), 1000U);
}

TEST(Answers, NumbersComeAsTextToo) {
  const Object object{{"a", "12"}, {"b", 13}, {"c", true}, {"d", "x"}};
  EXPECT_EQ(integer_in(object, "a"), 12);
  EXPECT_EQ(integer_in(object, "b"), 13);
  EXPECT_EQ(integer_in(object, "c"), 0);
  EXPECT_EQ(integer_in(object, "d"), 0);
  EXPECT_EQ(integer_in(object, "none"), 0);
}

TEST(Files, EntriesBecomeFileInfos) {
  const Object link{{"name", "l"},
                    {"path", "/home/user/l"},
                    {"type", "FILE_TYPE_FILE"},
                    {"size", "4"},
                    {"mode", 420},
                    {"permissions", "Lrwxrwxrwx"},
                    {"symlinkTarget", "/home/user/f"},
                    {"modifiedTime", "2026-11-15T09:08:07.123Z"},
                    {"metadata", Object{{"k", "v"}}}};
  const FileInfo info = file_info_of(link);
  EXPECT_EQ(info.type, FileType::symlink);
  EXPECT_EQ(info.target_type, FileType::file);
  EXPECT_EQ(info.size, 4U);
  EXPECT_EQ(info.mode, 0644U);
  EXPECT_EQ(info.link_mode, 0777U);
  EXPECT_EQ(info.attributes.at("user.e2b.k"), "v");
  EXPECT_EQ(file_info_of({}).type, FileType::unknown);
}

TEST(Ports, WhatIsNotHttpIsRefused) {
  const net::Headers routing{{"E2b-Sandbox-Id", "i1"}};
  EXPECT_EQ(with_routing("SSH-2.0-x\r\n\r\n", "h", routing).error().code(), Code::unsupported);
  EXPECT_EQ(with_routing("GET / HTTP/1.0\r\n\r\n", "h", routing).error().code(), Code::unsupported);
}

TEST(Ports, AHeadIsRoutedAndCannotRouteItself) {
  const net::Headers routing{{"E2b-Sandbox-Id", "i1"}, {"E2b-Sandbox-Port", "80"}};
  const auto head = with_routing(
      "GET /x HTTP/1.1\r\nhost: inside\r\ne2b-sandbox-id: other\r\nConnection: keep-alive\r\nA: b\r\n\r\n",
      "far:1", routing);
  ASSERT_TRUE(head);
  EXPECT_EQ(*head,
            "GET /x HTTP/1.1\r\nHost: far:1\r\nA: b\r\nE2b-Sandbox-Id: i1\r\nE2b-Sandbox-Port: 80\r\n"
            "Connection: close\r\n\r\n");
  const auto socket = with_routing(
      "GET / HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n", "far", {});
  ASSERT_TRUE(socket);
  EXPECT_NE(socket->find("Connection: Upgrade"), std::string::npos);
  EXPECT_EQ(socket->find("close"), std::string::npos);
}

TEST(Templates, HaveTheirDefaults) {
  EXPECT_EQ(template_of({}, "Python3"), "code-interpreter-v1");
  EXPECT_EQ(template_of({}, ""), "code-interpreter-v1");
  EXPECT_EQ(template_of({}, "mine"), "mine");
  EXPECT_EQ(template_of({{"Python3", "other"}}, "Python3"), "other");
}

TEST(Options, AddressesAreChecked) {
  E2bOptions options;
  options.api_url = "nonsense";
  EXPECT_EQ(check(options).error().field(), "provider.e2b.api_url");
  options.api_url.clear();
  options.sandbox_url = "ftp://x";
  EXPECT_EQ(check(options).error().field(), "provider.e2b.sandbox_url");
}

}  // namespace
}  // namespace atl::sandbox::e2b
