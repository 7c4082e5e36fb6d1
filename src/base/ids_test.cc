#include "base/ids.h"

#include <gtest/gtest.h>

#include <regex>
#include <set>

namespace atl {
namespace {

TEST(Ids, HaveTheFormTheyPromise) {
  const std::pair<std::string, const char*> rows[] = {
      {new_sandbox_id(), "i[a-z0-9]{20}"},
      {new_session_id(), "ses_[a-z0-9]{20}"},
      {new_record_id(), "exe_[a-z0-9]{20}"},
      {new_request_id(), "req_[a-z0-9]{16}"},
      {random_word(0), ""},
      {random_hex(8), "[0-9a-f]{16}"},
      {random_uuid(), "[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}"},
  };
  for (const auto& [id, form] : rows) EXPECT_TRUE(std::regex_match(id, std::regex(form))) << id;
}

TEST(Ids, DoNotRepeat) {
  std::set<std::string> seen;
  for (int i = 0; i < 10'000; ++i) EXPECT_TRUE(seen.insert(new_sandbox_id()).second);
}

}  // namespace
}  // namespace atl
