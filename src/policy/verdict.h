#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// The answer of a policy for one piece of code. Plain values: copy, move and share them freely.
namespace atl::policy {

// Nothing here reads the last two: their code is judged by its text alone, and by the rule that says so.
enum class Language : std::uint8_t { python, javascript, shell, r, java };
inline constexpr std::size_t kLanguagesRead = 3;
// The word that documents and the API use. Constant text.
std::string_view to_string(Language language);
// Also the usual short forms ("py", "python3", "js", "node", "sh", "bash"); nothing for any other word.
std::optional<Language> parse_language(std::string_view word);

// How bad one finding is, and the whole of the code. The order is the order of badness.
enum class RiskLevel : std::uint8_t { none, low, medium, high, critical };
std::string_view to_string(RiskLevel level);
std::optional<RiskLevel> parse_risk_level(std::string_view word);

// One reason. Lines and columns count from 1; a column counts characters, not bytes. A finding inside code
// that was itself found in a string (`sh -c '...'`) carries the position of that string.
struct Finding {
  std::string rule;  // "forbidden-import"; `explain(rule)` says more
  RiskLevel severity = RiskLevel::high;
  std::string message;         // one sentence, names the thing
  std::string recommendation;  // what to do instead; may be empty
  std::string excerpt;         // the source line, cut to 160 characters, always valid UTF-8
  std::uint32_t line = 0;
  std::uint32_t column = 0;
};

// A module that the code asks for. `name` is absolute and dotted or slashed as written ("os.path",
// "node:fs"); empty when it is computed at run time (`dynamic`).
struct Import {
  std::string name;
  std::uint32_t line = 0;
  bool dynamic = false;
  bool relative = false;  // "from . import x", "./x.js"
};

// A place that the language's grammar could not read. Not a reason to deny by itself: the rule parse-error
// decides.
struct ParseError {
  std::uint32_t line = 0;
  std::uint32_t column = 0;
  std::string message;
};

// What one rule adds to the score, over all its occurrences.
struct RiskFactor {
  std::string rule;
  std::uint32_t occurrences = 0;
  std::uint32_t points = 0;
};

// score is 0 to 100, the sum of its factors' points, cut at 100; the level follows from the score alone.
struct Risk {
  RiskLevel level = RiskLevel::none;
  std::uint32_t score = 0;
  std::vector<RiskFactor> factors;
};

// Nothing in it refers to the code.
struct Verdict {
  bool allowed = true;
  Risk risk;
  // Reasons to deny. In `mode: audit` they are here and `allowed` stays true.
  std::vector<Finding> findings;
  // What the policy only records (`effect: audit`); never a reason to deny.
  std::vector<Finding> notes;
  std::vector<Import> imports;
  std::vector<ParseError> parse_errors;
  std::string policy;
  Language language = Language::python;
  std::chrono::nanoseconds time_taken{0};
  // More was found than the policy's max_findings; the lists above hold the first ones.
  bool truncated = false;
};

// {"allowed":...,"risk":{...},"findings":[...],...}: one line, keys in a fixed order.
std::string to_json(const Verdict& verdict);
// Why it was denied, in one line for an error message: the first finding and how many more.
std::string summary(const Verdict& verdict);

}  // namespace atl::policy
