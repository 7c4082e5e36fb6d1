#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <memory>

#include "cli/command.h"
#include "cli/table.h"
#include "config/checked.h"
#include "policy/security_manager.h"
#include "policy/shipped.h"

namespace atl::cli {
namespace {

// The exit status is part of the interface: 0 allowed, 1 denied, 2 anything that kept us from a verdict.
constexpr int exit_denied = 1;
constexpr int exit_error = 2;

struct CheckFlags {
  std::string language;
  std::string policy = "strict";
  std::string explain;
  std::string file;
  bool json = false;
};

int fail_with(std::string_view message) {
  fmt::print(stderr, "atoll: {}\n", message);
  return exit_error;
}

int explain(const std::string& id) {
  const policy::Rule* rule = policy::find_rule(id);
  if (rule == nullptr) {
    std::vector<std::string_view> known;
    for (const policy::Rule& one : policy::rules()) known.push_back(one.id);
    return fail_with(fmt::format("--explain: there is no rule '{}'{}; the rules are: {}", config::shown(id),
                                 config::did_you_mean(id, known), fmt::join(known, ", ")));
  }
  fmt::print("{}: {} ({})\n\n{}\n\nInstead: {}\n", rule->id, rule->title, policy::to_string(rule->severity),
             rule->explanation, rule->recommendation);
  return 0;
}

// No policy looks at more than 64 MB; one byte more is enough to say that it is too large.
Result<std::string> read_code(const std::string& file) {
  constexpr std::size_t most = (64U << 20U) + 1;
  if (file != "-") return config::read_input(file, most, config::InputKind::file_or_pipe);
  std::string code;
  char buffer[1U << 16U];
  while (code.size() < most) {
    const ssize_t got = ::read(STDIN_FILENO, buffer, sizeof buffer);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return fail(errno_error(errno, "standard input"));
    if (got == 0) break;
    code.append(buffer, static_cast<std::size_t>(got));
  }
  return code;
}

// By name among the shipped ones, or from a file, which may extend a shipped one.
Result<std::shared_ptr<const policy::Policy>> load_policy(const std::string& wanted) {
  std::vector<config::Document> documents = policy::shipped_documents();
  bool is_file = wanted.contains('/') || wanted.ends_with(".yaml") || wanted.ends_with(".yml");
  std::size_t shipped = documents.size();
  if (is_file) documents.push_back(TRY(config::Document::load(wanted)));
  policy::PolicySet set = TRY(policy::PolicySet::compile(documents));
  if (is_file) return set.find(policy::policy_name(documents[shipped]));
  if (auto found = set.find(wanted)) return found;
  std::vector<std::string> names = set.names();
  return fail(Code::not_found,
              fmt::format("--policy: there is no policy '{}'; there are: {} (or a path to a YAML file)",
                          config::shown(wanted), fmt::join(names, ", ")));
}

std::optional<policy::Language> language_of(const CheckFlags& flags) {
  if (!flags.language.empty()) return policy::parse_language(flags.language);
  std::size_t dot = flags.file.rfind('.');
  if (dot == std::string::npos) return std::nullopt;
  std::string extension = flags.file.substr(dot + 1);
  if (extension == "mjs" || extension == "cjs" || extension == "jsx") extension = "js";
  return policy::parse_language(extension);
}

// Messages and excerpts have words of the code in them, which must not reach a terminal as commands.
void print_findings(const std::vector<policy::Finding>& findings, Tone tone, std::string_view word) {
  constexpr std::size_t kTextMax = 1000;
  const Paint paint = paint_of_output();
  for (const policy::Finding& finding : findings) {
    fmt::print("{}:{}  {}  {}  [{}]\n", finding.line, finding.column,
               painted(word.empty() ? policy::to_string(finding.severity) : word, tone, paint),
               config::shown(finding.message, kTextMax), config::shown(finding.rule));
    if (!finding.excerpt.empty()) fmt::print("    {}\n", config::shown(finding.excerpt, kTextMax));
    if (!finding.recommendation.empty() && word.empty())
      fmt::print("    {}\n", painted(config::shown(finding.recommendation, kTextMax), Tone::dim, paint));
  }
}

void print_for_people(const policy::Verdict& verdict) {
  print_findings(verdict.findings, Tone::bad, "");
  print_findings(verdict.notes, Tone::waiting, "note");
  fmt::print("{} by policy {}: risk {} ({} of 100), {} findings, {} notes, {:.1f} ms\n",
             painted(verdict.allowed ? "allowed" : "denied", verdict.allowed ? Tone::good : Tone::bad,
                     paint_of_output()),
             config::shown(verdict.policy), policy::to_string(verdict.risk.level), verdict.risk.score,
             verdict.findings.size(), verdict.notes.size(),
             static_cast<double>(verdict.time_taken.count()) / 1e6);
}

int judge(const CheckFlags& flags) {
  if (!flags.explain.empty()) return explain(flags.explain);
  if (flags.file.empty()) return fail_with("check needs a file, or - for standard input");
  // Whether it is there is asked first: of a file that is not, no ending matters.
  if (flags.file != "-" && ::access(flags.file.c_str(), F_OK) != 0 && errno == ENOENT)
    return fail_with(
        fmt::format("'{0}': no such file; write\n  atoll check FILE.py\n  atoll check --language python "
                    "FILE\n  echo 'code' | atoll "
                    "check --language python -",
                    config::shown(flags.file)));
  auto language = language_of(flags);
  if (!language) {
    return fail_with(
        flags.language.empty()
            ? fmt::format(
                  "the ending of '{}' tells no language; --language is needed: python, javascript or shell",
                  config::shown(flags.file))
            : fmt::format("--language: '{}' is not a language: python, javascript or shell",
                          config::shown(flags.language)));
  }
  auto policy = load_policy(flags.policy);
  if (!policy) return fail_with(policy.error().message());
  auto code = read_code(flags.file);
  if (!code) return fail_with(code.error().message());
  policy::Verdict verdict = policy::SecurityManager(*policy).validate(*code, *language);
  if (!flags.json && isatty(STDOUT_FILENO) == 1)
    print_for_people(verdict);
  else
    fmt::print("{}\n", policy::to_json(verdict));
  return verdict.allowed ? 0 : exit_denied;
}

// If the verdict could not be printed, the exit status must not say that there was one.
int check(const CheckFlags& flags) {
  const int status = judge(flags);
  return flush_output() ? status : exit_error;
}

}  // namespace

Action define_check(Command& top) {
  Command command = top.add_command("check", "Say what a policy thinks of code, without running it");
  auto flags = std::make_unique<CheckFlags>();
  command.add_option("-l,--language", flags->language,
                     "python, javascript or shell (else by the file's ending)");
  command.add_option("-p,--policy", flags->policy, "strict, standard, off, or a YAML file")
      .with_default_shown();
  command.add_flag("--json", flags->json, "JSON on a terminal too");
  command.add_option("--explain", flags->explain, "Explain a rule and do nothing else");
  command.add_option("file", flags->file, "FILE, or - for standard input");
  return [flags = std::move(flags)] { return check(*flags); };
}

}  // namespace atl::cli
