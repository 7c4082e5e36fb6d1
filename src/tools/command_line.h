#pragma once

#include <boost/json/value.hpp>
#include <string>
#include <vector>

#include "base/result.h"
#include "tools/tool.h"

namespace atl::tools {

// The words of a command with the input's members in their places (tool.h). A value never becomes more than
// the words it stands for, because no shell reads them. A word that begins with '-' because of what is filled
// in would be taken for an option by most programs: it is refused (Code::invalid_argument with the member as
// field) unless a word "--" stands before it or it is a number. Code::too_large for what no program can be
// started with.
Result<std::vector<std::string>> filled_words(const CommandRun& run, const boost::json::value& input);

// The same for an address: values are percent-encoded, except a whole address taken from the input. A value
// of nothing but dots is refused before the '?', where it would lead elsewhere.
Result<std::string> filled_url(const HttpRun& run, const boost::json::value& input);

}  // namespace atl::tools
