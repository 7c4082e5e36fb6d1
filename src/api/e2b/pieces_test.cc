#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/admission/place.h"
#include "api/admission/signature.h"
#include "api/e2b/connect.h"
#include "api/e2b/gateway.h"
#include "api/e2b/message.h"
#include "api/e2b/multipart.h"
#include "api/e2b/numbers.h"

namespace atl::api::e2b {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

TEST(Gateway, RefusesServersByName) {
  const auto refusal = [](const char* text, const std::string& environment) -> std::string {
    const auto checked = check_servers(boost::json::parse(text).as_object(), environment);
    if (checked) return "";
    EXPECT_EQ(checked.error().code(), Code::invalid_argument);
    return checked.error().message();
  };
  EXPECT_THAT(refusal(R"({"mcp": {"exa": {"apiKey": "k"}, "github/a/b": {}}})", "mcp-gateway"),
              HasSubstr("these servers cannot be had here: exa, github/a/b."));
  EXPECT_NE(refusal(R"({"mcp": ["exa"]})", "mcp-gateway"), "");
  EXPECT_NE(refusal(R"({"mcp": "exa"})", "base"), "");
  for (const char* fine : {R"({})", R"({"mcp": null})", R"({"mcp": {}})"})
    EXPECT_EQ(refusal(fine, "mcp-gateway"), "") << fine;
  EXPECT_EQ(refusal(R"({"mcp": {"exa": {}}})", "base"), "") << "it has a program of its own, or none";
}

TEST(Connect, RefusesBrokenEnvelopes) {
  EXPECT_FALSE(connect::open_envelope(""));
  EXPECT_FALSE(connect::open_envelope(std::string_view("\0\0\0\0", 4)));
  EXPECT_FALSE(connect::open_envelope(std::string_view("\1\0\0\0\2{}", 7)));
  EXPECT_FALSE(connect::open_envelope(std::string_view("\0\0\0\0\3{}", 7)));
  EXPECT_FALSE(connect::open_envelope(std::string_view("\0\0\0\0\1{}", 7)));
  EXPECT_FALSE(connect::open_envelope(std::string_view("\0\xff\xff\xff\xff{}", 7)));
  EXPECT_EQ(connect::open_envelope(connect::envelope("{}")).value(), "{}");
}

TEST(Connect, EveryCodeIsToldByTheTable) {
  for (int i = 0; i <= static_cast<int>(Code::internal); ++i) {
    const CodeRow& wanted = row(static_cast<Code>(i));
    const Error error(wanted.code, "why");
    const net::Response answer = connect::error_response(error);
    const std::string named = fmt::format("\"code\":\"{}\"", wanted.connect_code);
    EXPECT_THAT(answer.body, HasSubstr(named)) << wanted.name;
    EXPECT_EQ(answer.status, connect::http_status(wanted.connect_code)) << wanted.name;
    EXPECT_THAT(connect::end_of_stream(error), HasSubstr(named)) << wanted.name;
    // A Connect code that the protocol has no status for would become a 500.
    EXPECT_TRUE(wanted.http_status == 500 || answer.status != 500) << wanted.name;
    const net::Request request;
    EXPECT_EQ(render_control_error(error, request).status, wanted.http_status) << wanted.name;
    EXPECT_THAT(render_control_error(error, request).body, HasSubstr("why")) << wanted.name;
  }
}

TEST(Connect, ReadsAStreamInPieces) {
  const std::string whole = connect::envelope("{\"a\":1}") + connect::envelope("{}");
  connect::EnvelopeReader reader(100);
  std::vector<std::string> seen;
  for (char byte : whole) {
    reader.add(std::string_view(&byte, 1));
    auto message = reader.next();
    ASSERT_TRUE(message);
    if (*message) seen.push_back(**message);
  }
  EXPECT_THAT(seen, ElementsAre("{\"a\":1}", "{}"));
  EXPECT_TRUE(reader.is_between());
  reader.add("x");
  EXPECT_FALSE(reader.is_between());
}

TEST(Connect, RefusesAStreamOfCompressedOrLargeMessages) {
  connect::EnvelopeReader compressed(100);
  compressed.add(std::string_view("\1\0\0\0\2{}", 7));
  EXPECT_FALSE(compressed.next());
  connect::EnvelopeReader large(3);
  large.add(connect::envelope("{\"a\":1}"));
  EXPECT_EQ(large.next().error().code(), Code::too_large);
}

TEST(Numbers, AreToldBeforeTheyAreKnown) {
  Numbers numbers;
  EXPECT_EQ(numbers.begin("box", "", "python"), 1U);
  EXPECT_EQ(numbers.begin("box", "", "python"), 2U) << "the first still runs";
  EXPECT_EQ(numbers.begin("other", "", "python"), 1U);
  numbers.end("box", "", "python", "ctx", 1);
  numbers.end("box", "", "python", "ctx", 2);
  EXPECT_EQ(numbers.begin("box", "ctx", ""), 3U) << "the default context by its id";
  numbers.end("box", "ctx", "", "ctx", 7);
  EXPECT_EQ(numbers.begin("box", "", "python"), 8U) << "somebody else executed meanwhile";
  numbers.end("box", "", "python", "ctx", 0);
  EXPECT_EQ(numbers.begin("box", "", "python"), 8U) << "it never ran";
  numbers.end("box", "", "python", "ctx", 8);
  numbers.restart("box", "ctx");
  EXPECT_EQ(numbers.begin("box", "ctx", ""), 1U);
  numbers.sweep([](const std::string& id) { return id == "box"; });
  EXPECT_EQ(numbers.size(), 1U);
}

TEST(Connect, ErrorsHaveTheirWords) {
  Error error(Code::not_found, "process with pid 4 not found");
  net::Response response = connect::error_response(error);
  EXPECT_EQ(response.status, 404);
  EXPECT_EQ(response.body, R"({"code":"not_found","message":"process with pid 4 not found"})");
  EXPECT_EQ(connect::end_of_stream(error).substr(5),
            R"({"error":{"code":"not_found","message":"process with pid 4 not found"},"metadata":{}})");
  EXPECT_EQ(connect::end_of_stream()[0], 2);
  EXPECT_EQ(connect::error_response(Error(Code::unsupported, "x")).status, 501);
}

TEST(Message, ReadsTolerantly) {
  Object object =
      parse_object(R"({"a":"5","b":7,"snake_case":true,"n":null,"m":{"k":"v"},"unknown":[1]})").value();
  EXPECT_EQ(integer(object, "a").value(), 5);
  EXPECT_EQ(integer(object, "b").value(), 7);
  EXPECT_TRUE(boolean(object, "snakeCase").value().value());
  EXPECT_FALSE(text(object, "n").value());
  EXPECT_FALSE(text(object, "absent").value());
  EXPECT_EQ(text_map(object, "m").value().at("k"), "v");
  EXPECT_FALSE(text(object, "b"));
  EXPECT_FALSE(integer(object, "m"));
  EXPECT_TRUE(parse_object("").value().empty());
  EXPECT_FALSE(parse_object("[]"));
  EXPECT_FALSE(parse_object("{"));
}

TEST(Message, MetadataFilterIsDecodedThreeTimes) {
  auto once = net::parse_form("metadata=k%252520y%3Dv%2525261")[0].second;
  EXPECT_THAT(parse_metadata_filter(once).value(), ElementsAre(Pair("k y", "v&1")));
  EXPECT_FALSE(parse_metadata_filter("novalue"));
  EXPECT_FALSE(parse_metadata_filter("a=b=c"));
  EXPECT_TRUE(parse_metadata_filter("").value().empty());
}

TEST(Message, TemplateReferences) {
  TemplateRef ref = parse_template_ref(" Team/My-T:v1.2 ").value();
  EXPECT_EQ(ref.space, "team");
  EXPECT_EQ(ref.name, "my-t");
  EXPECT_EQ(ref.tag, "v1.2");
  for (std::string_view bad : {"", ":x", "name:", "a/b/c", "a b", "/x"})
    EXPECT_FALSE(parse_template_ref(bad)) << bad;
}

TEST(Signature, MatchesTheKnownOne) {
  EXPECT_EQ(file_signature("hello.txt", FileOperation::read, "user", "0tQG31xiMp0IOQfaz9dcwi72L1CPo8e0",
                           std::nullopt),
            "v1_gUtH/s9YCJWgCizjfUxuWfhFE4QSydOWEIIvfLwDr6E");
}

TEST(Signature, ChecksInOrder) {
  WallTime now(std::chrono::seconds(1000));
  auto why = [&](FileProof proof) {
    auto checked = check_file_access(proof, FileOperation::read, "tok", now);
    return checked ? "ok" : checked.error().message();
  };
  EXPECT_EQ(why({.header_token = "bad"}), "access token present in header but does not match");
  EXPECT_EQ(why({.header_token = "tok"}), "ok");
  EXPECT_EQ(why({.path = "p"}), "missing signature query parameter");
  EXPECT_EQ(why({.path = "p", .signature = "v1_x"}), "invalid signature");
  std::string old = file_signature("p", FileOperation::read, "", "tok", 999);
  EXPECT_EQ(why({.path = "p", .signature = old, .expiration = "999"}), "signature is already expired");
  EXPECT_EQ(why({.path = "p", .signature = old, .expiration = "2000"}), "invalid signature");
  std::string good = file_signature("p", FileOperation::read, "u", "tok", 1001);
  EXPECT_EQ(why({.path = "p", .user = "u", .signature = good, .expiration = "1001"}), "ok");
  EXPECT_FALSE(check_file_access({}, FileOperation::read, "", now));
  const std::string empty = file_signature("p", FileOperation::read, "", "", std::nullopt);
  EXPECT_FALSE(check_file_access({.path = "p", .signature = empty}, FileOperation::read, "", now));
}

struct PlaceTest : ::testing::Test {
  std::string place(net::Headers headers) {
    net::Request request;
    request.headers = std::move(headers);
    auto found = place_of(request);
    if (!found) return found.error().message();
    return *found ? fmt::format("{}:{}", (*found)->sandbox_id, (*found)->port) : "none";
  }
};

TEST_F(PlaceTest, FollowsHeadersAndHosts) {
  EXPECT_EQ(place({{"Host", "127.0.0.1:8000"}}), "none");
  EXPECT_EQ(place({{"Host", "127.0.0.1:8000"}, {"e2b-sandbox-id", "iabc"}, {"e2b-sandbox-port", "49983"}}),
            "iabc:49983");
  EXPECT_EQ(place({{"Host", "127.0.0.1:8000"}, {"E2b-Sandbox-Id", "iabc"}}), "missing header");
  EXPECT_EQ(place({{"Host", "localhost"}, {"E2b-Sandbox-Id", "iabc"}, {"E2b-Sandbox-Port", "0"}}),
            "Invalid sandbox port");
  EXPECT_EQ(place({{"Host", "localhost"}, {"E2b-Sandbox-Id", "../x"}, {"E2b-Sandbox-Port", "1"}}),
            "Invalid sandbox ID");
  EXPECT_EQ(place({{"Host", "3000-iabc.e2b.localhost:8443"}}), "iabc:3000");
  EXPECT_EQ(place({{"Host", "3000-iabc-client.e2b.dev"}}), "iabc:3000");
  EXPECT_EQ(place({{"Host", "3000-I_.e2b.dev"}}), "Invalid sandbox ID");
  EXPECT_EQ(place({{"Host", "99999-iabc.e2b.dev"}}), "Invalid sandbox port");
  EXPECT_EQ(place({{"Host", "api-1.example.org"}}), "none");
  EXPECT_EQ(place({{"Host", "[::1]:80"}}), "none");
  EXPECT_FALSE(sandbox_id_of("a-b-c"));
  EXPECT_EQ(sandbox_id_of("iabc-client").value(), "iabc");
}

struct Collected {
  std::vector<std::string> parts;
  bool complete = false;
  std::string error;
};

Collected parse(std::string_view boundary, std::string_view body, std::size_t step) {
  MultipartParser parser(boundary);
  Collected all;
  for (std::size_t at = 0; at < body.size(); at += step) {
    auto events = parser.feed(body.substr(at, step));
    if (!events) {
      all.error = events.error().message();
      return all;
    }
    for (auto& event : *events) {
      if (event.kind == PartEvent::Kind::head)
        all.parts.push_back(event.head.name + "|" + event.head.filename + "|");
      if (event.kind == PartEvent::Kind::data) all.parts.back() += event.data;
      if (event.kind == PartEvent::Kind::end) all.parts.back() += "|end";
    }
  }
  all.complete = parser.is_complete();
  return all;
}

TEST(Multipart, ReadsPartsHoweverTheyAreCut) {
  std::string body =
      "preamble\r\n--B\r\nContent-Disposition: form-data; name=\"file\"; filename=\"/a/b.txt\"\r\n"
      "Content-Type: text/plain\r\n\r\none\r\n--A\r\ntwo\r\n--B\r\n"
      "content-disposition: form-data; name=\"file\"; filename=\"e%22.txt\"\r\n\r\n\r\n--B\r\n"
      "Content-Disposition: form-data; name=file; "
      "filename*=UTF-8''%C3%A4.txt\r\n\r\nlast\r\n--B--\r\nepilogue";
  for (std::size_t step :
       {std::size_t{1}, std::size_t{2}, std::size_t{3}, std::size_t{7}, std::size_t{64}, body.size()}) {
    Collected all = parse("B", body, step);
    EXPECT_EQ(all.error, "");
    EXPECT_TRUE(all.complete);
    EXPECT_THAT(all.parts, ElementsAre("file|/a/b.txt|one\r\n--A\r\ntwo|end", "file|e\".txt||end",
                                       "file|\xc3\xa4.txt|last|end"))
        << step;
  }
}

TEST(Multipart, RefusesNonsense) {
  EXPECT_FALSE(multipart_boundary("multipart/form-data"));
  EXPECT_EQ(multipart_boundary("multipart/form-data; boundary=\"a b\"").value(), "a b");
  EXPECT_EQ(multipart_boundary("multipart/form-data; boundary=----x").value(), "----x");
  EXPECT_THAT(parse("B", "--B\r\nno colon\r\n\r\nx\r\n--B--", 100).error, HasSubstr("malformed part header"));
  EXPECT_THAT(parse("B", "--B\r\n" + std::string(20000, 'h'), 5000).error, HasSubstr("too large"));
  EXPECT_FALSE(parse("B", "--B\r\nA: b\r\n\r\nunfinished", 100).complete);
}

}  // namespace
}  // namespace atl::api::e2b
