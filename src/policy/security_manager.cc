#include "policy/security_manager.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include "policy/scan/cell.h"
#include "policy/scan/evaluate.h"
#include "policy/scan/grammar.h"
#include "policy/scan/patterns.h"
#include "policy/scan/python_parser.h"
#include "policy/scan/report.h"

namespace atl::policy {

namespace {

std::uint32_t points_of(RiskLevel level) {
  switch (level) {
    case RiskLevel::none: return 0;
    case RiskLevel::low: return 5;
    case RiskLevel::medium: return 20;
    case RiskLevel::high: return 50;
    case RiskLevel::critical: return 80;
  }
  return 0;
}

RiskLevel level_of(std::uint32_t score) {
  if (score == 0) return RiskLevel::none;
  if (score < 20) return RiskLevel::low;
  if (score < 50) return RiskLevel::medium;
  return score < 80 ? RiskLevel::high : RiskLevel::critical;
}

// A rule counts once by its worst finding and a little more for each further one; notes count a quarter.
Risk risk_of(const Verdict& verdict) {
  struct Sum {
    std::uint32_t worst = 0;
    std::uint32_t count = 0;
  };
  std::map<std::string, Sum> sums;
  auto gather = [&](const std::vector<Finding>& findings, std::uint32_t divisor) {
    for (const Finding& finding : findings) {
      Sum& sum = sums[finding.rule];
      sum.worst = std::max(sum.worst, points_of(finding.severity) / divisor);
      ++sum.count;
    }
  };
  gather(verdict.findings, 1);
  gather(verdict.notes, 4);
  Risk risk;
  for (const auto& [rule, sum] : sums) {
    std::uint32_t points = sum.worst + std::min<std::uint32_t>(sum.count - 1, 5);
    risk.factors.push_back({rule, sum.count, points});
    risk.score += points;
  }
  std::ranges::stable_sort(risk.factors, std::greater<>(), &RiskFactor::points);
  risk.score = std::min<std::uint32_t>(risk.score, 100);
  risk.level = level_of(risk.score);
  return risk;
}

void report_tree(const Tree& tree, const Names& names, Report& report) {
  for (const SyntaxError& error : tree.errors) report.add_parse_error(error.offset, error.message);
  for (const auto& [offset, name] : tree.disguised) {
    report.add(RuleId::disguised_name, offset, fmt::format("this name means {}", names[name].text));
  }
}

void scan_tree(std::string_view code, Language language, Report& report) {
  const LanguageRules& rules = report.compiled().of(language);
  Names names(rules.paths, std::min<std::size_t>(code.size() / 16, 1U << 16U));
  Tree tree;
  // Patterns of tokens need the grammar's tree; well-formed Python without them does not.
  int quick_depth = static_cast<int>(std::min<std::size_t>(report.policy().limits().max_nesting / 2, 64));
  bool quick = language == Language::python && rules.patterns.empty() &&
               parse_python(code, names, tree, quick_depth * 4);
  SyntaxTree syntax;
  if (!quick) {
    tree = Tree();
    syntax = parse(code, language);
    if (!syntax) {
      report.add(RuleId::too_complex, 0, "this is too deep or too long for the parser");
      return;
    }
    if (language == Language::python)
      build_python_tree(code, *syntax, names, tree);
    else
      build_javascript_tree(code, *syntax, names, tree);
    if (!rules.patterns.empty()) match_patterns(rules, tokens_of(code, *syntax, language), report, language);
  }
  syntax.reset();
  report_tree(tree, names, report);
  if (tree.depth > report.policy().limits().max_nesting) {
    report.add(RuleId::too_deep, 0, fmt::format("the code is nested {} levels deep", tree.depth));
  }
  Evaluator(code, language, names, tree, report).run();
}

// The Python of a cell and everything that it runs besides.
void scan_parts(const Cell& cell, Report& report) {
  constexpr std::size_t embedded_max = 10'000;
  if (!cell.unknown_word.empty())
    report.add_parse_error(0, fmt::format("there is no %%{} here", cell.unknown_word));
  scan_code(cell.text, cell.language, report);
  std::size_t count = 0;
  for (const Embedded& one : cell.embedded) {
    if (++count > embedded_max || !report.enter_nested(one.text.size())) {
      report.add(RuleId::too_large, one.offset, "the cell runs more commands than are read");
      return;
    }
    Report::Nested pin(report, one.offset);
    if (one.language == Language::python)
      scan_cell(one.text, report);
    else
      scan_code(one.text, one.language, report);
    report.leave_nested();
  }
}

// Whether Python takes the code as it stands; then no shorthand in it is one.
bool is_python_as_written(std::string_view code) {
  SyntaxTree syntax = parse(code, Language::python);
  return syntax && !ts_node_has_error(ts_tree_root_node(syntax.get()));
}

// Python reads a coding declaration in the first two lines; anything but UTF-8 would make it read other code
// than we do.
bool declares_other_encoding(std::string_view code) {
  for (int line = 0; line < 2; ++line) {
    std::string_view text = code.substr(0, code.find('\n'));
    std::size_t first = text.find_first_not_of(" \t\f");
    if (first != std::string_view::npos && text[first] == '#') {
      std::size_t coding = text.find("coding");
      if (coding != std::string_view::npos && coding + 6 < text.size() &&
          (text[coding + 6] == ':' || text[coding + 6] == '=')) {
        std::size_t start = text.find_first_not_of(" \t", coding + 7);
        if (start == std::string_view::npos) return false;
        std::size_t end = text.find_first_of(" \t\r*;,", start);
        std::string name(text.substr(start, end == std::string_view::npos ? end : end - start));
        for (char& c : name) c = c == '_' ? '-' : c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
        return name != "utf-8" && name != "utf8" && name != "ascii" && name != "us-ascii" &&
               name != "utf-8-unix" && name != "utf-8-sig";
      }
    } else if (first != std::string_view::npos) {
      return false;
    }
    if (text.size() == code.size()) return false;
    code.remove_prefix(text.size() + 1);
  }
  return false;
}

bool refuse(std::string_view code, Language language, const Policy& policy, Report& report) {
  if (code.size() > policy.limits().max_bytes) {
    report.add(
        RuleId::too_large, 0,
        fmt::format("the code is {} bytes long; the limit is {}", code.size(), policy.limits().max_bytes));
    return true;
  }
  std::string problem = refuse_text(code);
  if (problem.empty() && language == Language::python && declares_other_encoding(code)) {
    problem = "the code declares an encoding other than UTF-8";
  }
  if (problem.empty()) return false;
  report.add(RuleId::invalid_text, 0, problem);
  return true;
}

}  // namespace

void scan_code(std::string_view code, Language language, Report& report) {
  if (static_cast<std::size_t>(language) >= kLanguagesRead) {
    report.add(RuleId::unread_language, 0,
               fmt::format("not scanned: nothing here reads {}", to_string(language)));
    scan_process_calls(code, language, report);
  } else if (language == Language::shell) {
    scan_shell(code, report);
  } else {
    scan_tree(code, language, report);
  }
}

void scan_cell(std::string_view code, Report& report) {
  if (has_shorthands(code))
    scan_parts(read_cell(code), report);
  else
    scan_code(code, Language::python, report);
}

SecurityManager::SecurityManager(std::shared_ptr<const Policy> policy) : policy_(std::move(policy)) {}

void SecurityManager::replace(std::shared_ptr<const Policy> policy) {
  policy_.store(std::move(policy));
}
std::shared_ptr<const Policy> SecurityManager::policy() const {
  return policy_.load();
}

Verdict SecurityManager::validate(std::string_view code, Language language) const {
  auto started = std::chrono::steady_clock::now();
  std::shared_ptr<const Policy> policy = policy_.load();
  Verdict verdict;
  verdict.policy = policy->name();
  verdict.language = language;
  if (policy->mode() != Mode::off) {
    // A byte order mark is not code.
    std::string_view text = code.starts_with("\xEF\xBB\xBF") ? code.substr(3) : code;
    Source source(text);
    Report report(*policy, source, verdict);
    bool refused = refuse(text, language, *policy, report);
    std::optional<Cell> cell;
    if (!refused && language == Language::python && has_shorthands(text)) cell = read_cell(text);
    // A % or ! at the start of a line may be part of a string.
    if (cell && cell->text == text) cell.reset();
    if (!refused) {
      if (std::size_t at = find_hidden_text(text); at != std::string_view::npos) {
        report.add(RuleId::hidden_text, static_cast<std::uint32_t>(at),
                   "a character here reorders what a reader sees");
      }
      if (!cell || (!cell->embedded.empty() && is_python_as_written(text))) scan_code(text, language, report);
    }
    if (cell) {
      Source read(cell->text, text);
      Report inside(*policy, read, verdict);
      scan_parts(*cell, inside);
    }
    std::ranges::stable_sort(verdict.findings, {},
                             [](const Finding& finding) { return std::pair(finding.line, finding.column); });
    verdict.risk = risk_of(verdict);
    verdict.allowed = policy->mode() == Mode::audit || (verdict.findings.empty() && !refused);
  }
  verdict.time_taken = std::chrono::steady_clock::now() - started;
  return verdict;
}

std::vector<Import> SecurityManager::check_imports(std::string_view code, Language language) const {
  return validate(code, language).imports;
}

Risk SecurityManager::analyse_risk(std::string_view code, Language language) const {
  return validate(code, language).risk;
}

}  // namespace atl::policy
