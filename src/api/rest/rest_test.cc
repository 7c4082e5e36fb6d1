#include "api/rest/rest.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "api/rest/render.h"

namespace atl::api::rest {
namespace {

namespace bj = boost::json;

// docs/errors.md is made from the same table, so what it says is what is answered.
TEST(RestErrors, EveryCodeIsToldByTheTable) {
  for (int i = 0; i <= static_cast<int>(Code::internal); ++i) {
    const CodeRow& wanted = row(static_cast<Code>(i));
    net::Request request;
    request.id = "req-1";
    const net::Response answer = rest::render_error(Error(wanted.code, "why"), request);
    EXPECT_EQ(answer.status, wanted.http_status) << wanted.name;
    const bj::value error = bj::parse(answer.body).at("error");
    EXPECT_EQ(error.at("code"), bj::value(wanted.name));
    EXPECT_EQ(error.at("message"), bj::value("why"));
    EXPECT_EQ(error.at("request_id"), bj::value("req-1"));
    EXPECT_EQ(error.at("details").at("category"), bj::value(to_string(wanted.category))) << wanted.name;
    EXPECT_EQ(error.at("details").at("retryable"), bj::value(wanted.retryable)) << wanted.name;
    EXPECT_EQ(answer.headers.has("Retry-After"), wanted.code == Code::resource_exhausted) << wanted.name;
  }
}

TEST(RestErrors, AFieldIsNamed) {
  const net::Request request;
  const net::Response answer =
      rest::render_error(Error(Code::invalid_argument, "no").with_field("limits.memory_mb"), request);
  EXPECT_EQ(bj::parse(answer.body).at("error").at("details").at("field"), bj::value("limits.memory_mb"));
}

// What a tool answers is told as it is, to the last digit.
TEST(RestJson, NumbersReadBackTheSame) {
  const std::pair<double, const char*> cases[] = {
      {0.179, "0.179"},      {2, "2.0"},
      {-0.5, "-0.5"},        {0, "0.0"},
      {1e-9, "0.000000001"}, {8.2e-05, "0.000082"},
      {1e-10, "1e-10"},      {3.141592653589793, "3.141592653589793"},
      {1e300, "1e+300"},     {123456789.25, "123456789.25"}};
  for (const auto& [value, text] : cases) {
    EXPECT_EQ(json_text(value), text);
    EXPECT_EQ(bj::parse(json_text(value)).to_number<double>(), value);
  }
}

}  // namespace
}  // namespace atl::api::rest
