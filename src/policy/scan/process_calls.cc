// Calls that start processes in R and Java, whose code is otherwise not read: the texts that stand in them
// are read as commands.
#include <algorithm>
#include <array>

#include "policy/scan/evaluate.h"
#include "policy/scan/text_value.h"

namespace atl::policy {

namespace {

using namespace std::string_view_literals;

// A name that a call follows. Several texts in it are words of one command, or parts of one text.
struct ProcessCall {
  std::string_view name;
  bool takes_text;  // a shell reads it
};
constexpr std::array kRCalls = {ProcessCall{"system", true},
                                ProcessCall{"shell", true},
                                ProcessCall{"pipe", true},
                                ProcessCall{"system2", false},
                                ProcessCall{"exec_wait", false},
                                ProcessCall{"exec_internal", false},
                                ProcessCall{"exec_background", false}};
constexpr std::array kJavaCalls = {ProcessCall{"exec", false}, ProcessCall{"ProcessBuilder", false},
                                   ProcessCall{"command", false}, ProcessCall{"startPipeline", false}};

bool is_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

// One pass over the text that knows strings, comments and names, and nothing else of the language.
class CallReader {
 public:
  CallReader(std::string_view code, Language language, Report& report)
      : code_(code), is_r_(language == Language::r), report_(report) {}
  void run();

 private:
  // Behind the comment or string that begins here; where it is if neither does. `text`: what the string says.
  std::size_t skip(std::size_t at, std::string* text) const;
  std::size_t skip_string(std::size_t at, std::string* text) const;
  std::size_t skip_block(std::size_t at, std::size_t opening, std::string_view closing,
                         std::string* text) const;
  void read_call(const ProcessCall& call, std::size_t open, std::size_t name_at);

  std::string_view code_;
  bool is_r_;
  Report& report_;
};

std::size_t CallReader::skip_block(std::size_t at, std::size_t opening, std::string_view closing,
                                   std::string* text) const {
  const std::size_t end = code_.find(closing, at + opening);
  if (end == std::string_view::npos) return code_.size();
  if (text != nullptr) *text = std::string(code_.substr(at + opening, end - at - opening));
  return end + closing.size();
}

std::size_t CallReader::skip_string(std::size_t at, std::string* text) const {
  const char quote = code_[at];
  std::string said;
  for (++at; at < code_.size() && code_[at] != quote; ++at) {
    if (code_[at] == '\\' && at + 1 < code_.size()) {
      const char c = code_[++at];
      said += c == 'n' ? '\n' : c == 't' ? '\t' : c;
    } else {
      said += code_[at];
    }
  }
  if (text != nullptr) *text = std::move(said);
  return std::min(at + 1, code_.size());
}

std::size_t CallReader::skip(std::size_t at, std::string* text) const {
  const std::string_view rest = code_.substr(at);
  if (is_r_) {
    if (rest.starts_with('#')) return std::min(code_.find('\n', at), code_.size());
    // r"(...)", R"---(...)---" and their other brackets
    if ((rest.starts_with("r\"") || rest.starts_with("R\"") || rest.starts_with("r'") ||
         rest.starts_with("R'"))) {
      const std::size_t dashes = std::min(rest.find_first_not_of('-', 2), rest.size());
      const std::size_t kind = dashes < rest.size() ? "([{"sv.find(rest[dashes]) : std::string_view::npos;
      if (kind == std::string_view::npos) return at;
      const std::string closing = ")]}"sv[kind] + std::string(dashes - 2, '-') + rest[1];
      return skip_block(at, dashes + 1, closing, text);
    }
    if (rest.starts_with('"') || rest.starts_with('\'')) return skip_string(at, text);
    return at;
  }
  if (rest.starts_with("//")) return std::min(code_.find('\n', at), code_.size());
  if (rest.starts_with("/*")) return skip_block(at, 2, "*/", nullptr);
  if (rest.starts_with("\"\"\"")) return skip_block(at, 3, "\"\"\"", text);
  if (rest.starts_with('"') || rest.starts_with('\'')) return skip_string(at, text);
  return at;
}

void CallReader::read_call(const ProcessCall& call, std::size_t open, std::size_t name_at) {
  std::vector<std::string> texts;
  int depth = 0;
  for (std::size_t at = open; at < code_.size();) {
    std::string text;
    const bool is_quote =
        code_[at] == '"' || code_[at] == '\'' || (is_r_ && (code_[at] == 'r' || code_[at] == 'R'));
    if (const std::size_t behind = skip(at, &text); behind != at) {
      if (is_quote) texts.push_back(std::move(text));
      at = behind;
      continue;
    }
    if (code_[at] == '(') ++depth;
    if (code_[at] == ')' && --depth == 0) break;
    ++at;
  }
  const auto offset = static_cast<std::uint32_t>(name_at);
  if (texts.empty()) {
    report_.add(RuleId::dynamic_command, offset, "a command that is computed at run time");
    return;
  }
  std::string line;
  for (const std::string& text : texts) {
    const bool is_word = !call.takes_text && texts.size() > 1;
    line += (line.empty() ? "" : " ") + (is_word ? "'" + replace_text(text, "'", "'\\''") + "'" : text);
  }
  if (!report_.enter_nested(line.size())) return;
  Report::Nested pin(report_, offset);
  scan_code(line, Language::shell, report_);
  report_.leave_nested();
}

void CallReader::run() {
  const std::span<const ProcessCall> calls =
      is_r_ ? std::span<const ProcessCall>(kRCalls) : std::span<const ProcessCall>(kJavaCalls);
  for (std::size_t at = 0; at < code_.size();) {
    if (const std::size_t behind = skip(at, nullptr); behind != at) {
      at = behind;
      continue;
    }
    if (!is_name(code_[at])) {
      ++at;
      continue;
    }
    const std::size_t start = at;
    while (at < code_.size() && is_name(code_[at])) ++at;
    const auto call = std::ranges::find(calls, code_.substr(start, at - start), &ProcessCall::name);
    const std::size_t open = code_.find_first_not_of(" \t\r\n", at);
    if (call != calls.end() && open != std::string_view::npos && code_[open] == '(')
      read_call(*call, open, start);
  }
}

}  // namespace

void scan_process_calls(std::string_view code, Language language, Report& report) {
  CallReader(code, language, report).run();
}

}  // namespace atl::policy
