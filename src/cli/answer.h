#pragma once

#include <boost/json.hpp>
#include <string>
#include <string_view>

// Members of the service's answers. One that is not there, or is of another kind, counts as empty: a newer or
// older service is no reason to fail.
namespace atl::cli {

const boost::json::value& member(const boost::json::value& object, std::string_view name);
std::string text_at(const boost::json::value& object, std::string_view name);
double number_at(const boost::json::value& object, std::string_view name);
const boost::json::array& list_at(const boost::json::value& object, std::string_view name);
// A text of several lines for a terminal: line ends and tabs stay, other control characters become escapes.
std::string shown_lines(std::string_view text);
// The same where standard output is a terminal, and the text as it is for everybody else who reads it.
std::string shown_on_terminal(std::string text);
// Seconds from an RFC 3339 time in UTC until now; 0 if it is none.
double seconds_since(std::string_view time);
// "2026-01-31 12:00:05", in the time of this machine.
std::string local_time(std::string_view time);

}  // namespace atl::cli
