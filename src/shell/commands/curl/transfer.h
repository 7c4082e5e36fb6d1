#pragma once

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "shell/command.h"
#include "shell/commands/curl/grant.h"

namespace atl::shell::curl {

struct Request {
  std::string method = "GET";
  Target target;
  std::vector<std::pair<std::string, std::string>> headers;
  std::string body;
  std::chrono::milliseconds connect_time{60'000};
  std::chrono::milliseconds total_time{300'000};
};

struct Answer {
  int status = 0;
  std::vector<std::pair<std::string, std::string>> headers;
  std::string body;
};

// Of an answer: it is kept in memory until the command has written it. More is Code::too_large.
inline constexpr std::uint64_t kBodyBytesMax = 64U << 20;

// One exchange through our HTTP client. Waits in the shell's way: other stages of a pipeline run on, and a
// signal, a limit or a cancellation ends it with Stopped. deadline_exceeded when total_time passed.
Result<Answer> transfer(Invocation& call, const Request& request);

}  // namespace atl::shell::curl
