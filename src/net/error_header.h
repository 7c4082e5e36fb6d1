#pragma once

#include <string>
#include <string_view>

#include "base/error.h"
#include "net/http.h"

// The header Atoll-Error: which row of the one table (base/error.h) a refusal is. The same in every dialect,
// whatever its own form of errors has room for.
namespace atl::net {

inline constexpr std::string_view kErrorHeader = "Atoll-Error";

// "not_found; category=user; retryable=false"
std::string error_facts(Code code);
// The row whose meaning is nearest to an answer of this status, which is 400 or more.
Code code_of_status(int status);
// Names the error in the answer's header. A refusal without the header gets one by its status when it is
// sent.
void name_error(Response& response, Code code);

}  // namespace atl::net
