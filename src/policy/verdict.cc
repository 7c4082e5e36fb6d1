#include "policy/verdict.h"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "base/json.h"

namespace atl::policy {

namespace {
constexpr std::array<std::string_view, 5> language_names{"python", "javascript", "shell", "r", "java"};
constexpr std::array<std::string_view, 5> level_names{"none", "low", "medium", "high", "critical"};

void append_findings(std::string& out, const std::vector<Finding>& findings) {
  out += '[';
  for (const Finding& finding : findings) {
    if (out.back() != '[') out += ',';
    out += fmt::format(R"({{"rule":{},"severity":"{}","message":{},"line":{},"column":{},"excerpt":{},)",
                       json::quoted(finding.rule), to_string(finding.severity), json::quoted(finding.message),
                       finding.line, finding.column, json::quoted(finding.excerpt));
    out += fmt::format(R"("recommendation":{}}})", json::quoted(finding.recommendation));
  }
  out += ']';
}

void append_risk(std::string& out, const Risk& risk) {
  out += fmt::format(R"({{"level":"{}","score":{},"factors":[)", to_string(risk.level), risk.score);
  for (const RiskFactor& factor : risk.factors) {
    if (out.back() != '[') out += ',';
    out += fmt::format(R"({{"rule":{},"occurrences":{},"points":{}}})", json::quoted(factor.rule),
                       factor.occurrences, factor.points);
  }
  out += "]}";
}
}  // namespace

std::string_view to_string(Language language) {
  return language_names[static_cast<std::size_t>(language)];
}

std::optional<Language> parse_language(std::string_view word) {
  constexpr std::array<std::pair<std::string_view, Language>, 15> words{{{"python", Language::python},
                                                                         {"python3", Language::python},
                                                                         {"py", Language::python},
                                                                         {"javascript", Language::javascript},
                                                                         {"js", Language::javascript},
                                                                         {"node", Language::javascript},
                                                                         {"nodejs", Language::javascript},
                                                                         {"shell", Language::shell},
                                                                         {"sh", Language::shell},
                                                                         {"bash", Language::shell},
                                                                         {"dash", Language::shell},
                                                                         {"r", Language::r},
                                                                         {"R", Language::r},
                                                                         {"java", Language::java},
                                                                         {"deno", Language::javascript}}};
  for (const auto& [name, language] : words) {
    if (name == word) return language;
  }
  return std::nullopt;
}

std::string_view to_string(RiskLevel level) {
  return level_names[static_cast<std::size_t>(level)];
}

std::optional<RiskLevel> parse_risk_level(std::string_view word) {
  for (std::size_t i = 0; i < level_names.size(); ++i) {
    if (level_names[i] == word) return static_cast<RiskLevel>(i);
  }
  return std::nullopt;
}

std::string to_json(const Verdict& verdict) {
  std::string out = fmt::format(R"({{"allowed":{},"language":"{}","policy":{},"risk":)", verdict.allowed,
                                to_string(verdict.language), json::quoted(verdict.policy));
  append_risk(out, verdict.risk);
  out += R"(,"findings":)";
  append_findings(out, verdict.findings);
  out += R"(,"notes":)";
  append_findings(out, verdict.notes);
  out += R"(,"imports":[)";
  for (const Import& import : verdict.imports) {
    if (out.back() != '[') out += ',';
    out += fmt::format(R"({{"name":{},"line":{},"dynamic":{},"relative":{}}})", json::quoted(import.name),
                       import.line, import.dynamic, import.relative);
  }
  out += R"(],"parse_errors":[)";
  for (const ParseError& error : verdict.parse_errors) {
    if (out.back() != '[') out += ',';
    out += fmt::format(R"({{"line":{},"column":{},"message":{}}})", error.line, error.column,
                       json::quoted(error.message));
  }
  out += fmt::format(R"(],"truncated":{},"time_taken_us":{:.1f}}})", verdict.truncated,
                     static_cast<double>(verdict.time_taken.count()) / 1000.0);
  return out;
}

std::string summary(const Verdict& verdict) {
  if (verdict.findings.empty()) return verdict.allowed ? "allowed" : "denied";
  const Finding& first = verdict.findings.front();
  std::string text = fmt::format("line {}: {} [{}]", first.line, first.message, first.rule);
  if (verdict.findings.size() > 1) text += fmt::format(" and {} more", verdict.findings.size() - 1);
  return text;
}

}  // namespace atl::policy
