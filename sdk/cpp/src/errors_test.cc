#include "atoll/errors.h"

#include <gtest/gtest.h>

#include "atoll/models.h"
#include "base/error.h"

namespace atl::client {
namespace {

std::string answer_with(std::string_view code, std::string_view category, bool retryable = true) {
  Json details =
      Json::object({{"category", category}, {"retryable", retryable}, {"field", "path"}, {"limit", 5}});
  Json error = Json::object({{"code", code}, {"message", "no"}, {"details", details}, {"request_id", "r1"}});
  return Json::object({{"error", error}}).dump();
}

TEST(ClientErrors, AnAnswerOfSomebodyElseIsNone) {
  for (const char* body : {"", "<html>", "[]", "{}", R"({"error":"x"})", R"({"error":{"message":"x"}})"})
    EXPECT_THROW(throw_service_error(500, body), ProtocolError) << body;
}

TEST(ClientErrors, EveryCodeOfTheServiceHasAClassOfItsCategoryAndAHint) {
  for (int number = 0; number <= static_cast<int>(Code::internal); ++number) {
    const CodeRow& wanted = row(static_cast<Code>(number));
    try {
      throw_service_error(wanted.http_status,
                          answer_with(wanted.name, to_string(wanted.category), wanted.retryable));
    } catch (const ServiceError& error) {
      EXPECT_EQ(error.code(), wanted.name);
      EXPECT_FALSE(error.hint().empty()) << wanted.name;
      EXPECT_NE(typeid(error), typeid(ServiceError)) << wanted.name;
      EXPECT_EQ(error.http_status(), wanted.http_status);
      EXPECT_EQ(error.facts().category, to_string(wanted.category));
      EXPECT_EQ(error.retryable(), wanted.retryable) << wanted.name;
    }
  }
}

TEST(ClientErrors, TellsTheFacts) {
  try {
    throw_service_error(404, answer_with("not_found", "user"));
    FAIL();
  } catch (const NotFoundError& error) {
    EXPECT_EQ(error.message(), "no [field path]");
    EXPECT_EQ(error.request_id(), "r1");
    EXPECT_EQ(error.field(), "path");
    EXPECT_TRUE(error.retryable());
    EXPECT_EQ(error.facts().details["limit"].as_integer(), 5);
    EXPECT_NE(std::string(error.what()).find(error.hint()), std::string::npos);
  }
}

TEST(ClientErrors, ACodeOfANewerServiceGoesByItsCategory) {
  EXPECT_THROW(throw_service_error(418, answer_with("teapot", "limit")), LimitError);
  EXPECT_THROW(throw_service_error(418, answer_with("teapot", "policy")), PolicyError);
  EXPECT_THROW(throw_service_error(418, answer_with("teapot", "retryable")), RetryableError);
  EXPECT_THROW(throw_service_error(418, answer_with("teapot", "provider")), ProviderError);
  EXPECT_THROW(throw_service_error(418, answer_with("teapot", "internal")), InternalError);
  try {
    throw_service_error(418, answer_with("teapot", "new"));
  } catch (const ServiceError& error) {
    EXPECT_EQ(typeid(error), typeid(ServiceError));
  }
}

TEST(ClientErrors, CheckKeepsTheExecution) {
  Execution done;
  done.status = "error";
  done.exit_code = 3;
  try {
    done.check();
    FAIL();
  } catch (const ExecutionFailedError& error) {
    EXPECT_EQ(error.execution().exit_code, 3);
    EXPECT_EQ(error.message(), "error: exit code 3");
  }
  done.status = "success";
  EXPECT_EQ(&done.check(), &done);
}

}  // namespace
}  // namespace atl::client
