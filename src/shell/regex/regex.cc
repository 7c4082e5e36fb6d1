#include "shell/regex/regex.h"

#include <re2/re2.h>

#include <algorithm>
#include <cstring>

#include "base/bytes.h"
#include "shell/regex/backtracking.h"
#include "shell/regex/posix.h"
#include "shell/regex/quick.h"
#include "shell/scoped.h"

namespace atl::shell {

namespace {

constexpr std::size_t kPatternMax = 1 << 20;

thread_local const RegexLimits* scope = nullptr;

// RE2 walks through a text with an automaton that it builds as it goes. Where that grows too large it follows
// all states at once instead, and does not let go before the end: up to this many bytes times instructions it
// may.
constexpr std::uint64_t kSimulatedPerStep = 5;

struct Unbounded {};
thread_local bool refuse_simulation = false;

#ifdef ATOLL_RE2_WITHOUT_HOOKS
// In a shared object there is no archive of RE2 to link: what would be refused is simulated slowly instead.
bool set_hook() {
  return true;
}
#else
// RE2 calls it between the two, holding nothing.
void on_automaton_too_large(const re2::hooks::DFASearchFailure&) {
  if (refuse_simulation) throw Unbounded{};
}
bool set_hook() {
  re2::hooks::SetDFASearchFailureHook(on_automaton_too_large);
  return true;
}
#endif

std::string escape_plain(std::string_view text) {
  std::string out;
  for (char c : text) {
    if (c == '\0') {
      out += "\\x00";
      continue;
    }
    if (std::strchr("\\^$.[]|()?*+{}-/#\"&~ ", c) && c != ' ') out += '\\';
    out += c;
  }
  return out;
}

// An empty view with a null pointer would look unmatched.
re2::StringPiece piece_of(std::string_view text) {
  return {text.data() ? text.data() : "", text.size()};
}

}  // namespace

const RegexLimits& regex_limits() {
  static const RegexLimits standard;
  return scope ? *scope : standard;
}

RegexScope::RegexScope(RegexLimits l) : limits_(std::move(l)), outer_(std::exchange(scope, &limits_)) {}

RegexScope::~RegexScope() {
  scope = outer_;
}

struct Regex::Body {
  std::unique_ptr<re2::RE2> re2;
  std::unique_ptr<Backtracking> backtracking;  // if RE2 cannot
  std::unique_ptr<Quick> quick;                // beside RE2, if wanted
  std::string literal;
  Required required;
  std::size_t groups = 0;
  std::vector<std::pair<std::string, std::size_t>> names;
  bool too_big_for_re2 = false;
  mutable std::vector<re2::StringPiece> pieces;

  Result<void> compile_re2(const std::string& text, const RegexOptions& options);
  bool run_re2(re2::StringPiece text, std::size_t from, std::size_t to, re2::RE2::Anchor anchor,
               re2::StringPiece* found, int count) const;
  bool run_re2_bounded(re2::StringPiece text, std::size_t from, std::size_t to, re2::RE2::Anchor anchor,
                       re2::StringPiece* found, int count, std::uint64_t bound) const;
};

Result<void> Regex::Body::compile_re2(const std::string& text, const RegexOptions& options) {
  re2::RE2::Options settings;
  settings.set_encoding(is_utf8(text) ? re2::RE2::Options::EncodingUTF8 : re2::RE2::Options::EncodingLatin1);
  // POSIX wants the longest match, RE2 by itself the first alternative's.
  settings.set_longest_match(!options.lines);
  settings.set_log_errors(false);
  settings.set_max_mem(static_cast<std::int64_t>(regex_limits().memory_bytes));
  settings.set_case_sensitive(!options.ignore_case);
  settings.set_dot_nl(!options.lines);
  settings.set_never_nl(options.lines);
  settings.set_never_capture(!options.captures);
  // Whether a line has a match does not depend on which one is preferred: the shortest is found soonest.
  std::string_view flags = options.lines ? "(?mU)" : options.multiline ? "(?m)" : "";
  re2 = std::make_unique<re2::RE2>(std::string(flags) + text, settings);
  if (!re2->ok()) {
    std::string why = re2->error();
    too_big_for_re2 = re2->error_code() == re2::RE2::ErrorPatternTooLarge;
    re2.reset();
    return fail(Code::invalid_argument, why);
  }
  groups = options.captures ? static_cast<std::size_t>(re2->NumberOfCapturingGroups()) : 0;
  pieces.resize(groups + 1);
  return {};
}

bool Regex::Body::run_re2(re2::StringPiece text, std::size_t from, std::size_t to, re2::RE2::Anchor anchor,
                          re2::StringPiece* found, int count) const {
  std::uint64_t bound = regex_limits().steps * kSimulatedPerStep;
  auto size = static_cast<std::uint64_t>(re2->ProgramSize());
  if (from > to || (to - from) * size <= bound) return re2->Match(text, from, to, anchor, found, count);
  return run_re2_bounded(text, from, to, anchor, found, count, bound);
}

// First finds where the match lies, by the automaton or not at all, then its groups if the match is short
// enough.
bool Regex::Body::run_re2_bounded(re2::StringPiece text, std::size_t from, std::size_t to,
                                  re2::RE2::Anchor anchor, re2::StringPiece* found, int count,
                                  std::uint64_t bound) const {
  if (regex_limits().charge) regex_limits().charge((to - from) / 8);
  static const bool hooked = set_hook();
  bool matched = false, refused = !hooked;
  try {
    Restored<bool> outer(refuse_simulation);
    refuse_simulation = true;
    matched = re2->Match(text, from, to, anchor, found, std::min(count, 1));
  } catch (const Unbounded&) {
    refused = true;
  }
  if (matched && count > 1) {
    refused = found[0].size() * static_cast<std::uint64_t>(re2->ProgramSize()) > bound;
    auto begin = static_cast<std::size_t>(found[0].data() - text.data());
    if (!refused)
      matched = re2->Match(text, begin, begin + found[0].size(), re2::RE2::ANCHOR_BOTH, found, count);
  }
  if (refused && regex_limits().exceeded) regex_limits().exceeded();
  return matched && !refused;
}

Regex::Regex(std::unique_ptr<Body> body) : body_(std::move(body)) {}
Regex::Regex(Regex&&) noexcept = default;
Regex& Regex::operator=(Regex&&) noexcept = default;
Regex::~Regex() = default;

Result<Regex> Regex::compile(std::string_view pattern, Syntax syntax, const RegexOptions& options) {
  return compile(std::vector<std::string>{std::string(pattern)}, syntax, options);
}

Result<Regex> Regex::compile(const std::vector<std::string>& patterns, Syntax syntax,
                             const RegexOptions& options) {
  auto body = std::make_unique<Body>();
  std::string text;
  bool backtracks = syntax == Syntax::perl;
  bool literal = patterns.size() == 1 && !options.ignore_case && !options.whole_line;
  std::size_t size = 0;
  for (const std::string& pattern : patterns) {
    if ((size += pattern.size()) > kPatternMax)
      return fail(Code::invalid_argument, "Regular expression too big");
    std::string one;
    if (syntax == Syntax::fixed) {
      one = escape_plain(pattern);
      if (literal) body->literal = pattern;
    } else if (syntax == Syntax::perl) {
      one = pattern;
    } else {
      Translated translated = TRY(translate(pattern, syntax));
      if (literal && translated.literal) body->literal = translated.plain;
      backtracks = backtracks || translated.backtracks;
      one = std::move(translated.text);
    }
    if (patterns.size() > 1) {
      if (!text.empty()) text += '|';
      text += "(?:" + one + ")";
    } else {
      text = one;
    }
  }
  std::string required = patterns.size() > 1 || options.ignore_case ? ""
                         : options.whole_line                       ? "^" + text
                                                                    : text;
  if (options.whole_line) text = "^(?:" + text + ")$";
  if (!backtracks) {
    auto compiled = body->compile_re2(text, options);
    if (compiled) {
      body->required = required_text(required);
      if (options.quick && body->literal.empty()) body->quick = Quick::create(text, options.ignore_case);
      return Regex(std::move(body));
    }
    // A repetition above RE2's bound: PCRE2 takes it.
  }
  body->backtracking = std::make_unique<Backtracking>();
  TRY(body->backtracking->compile(text, options, syntax == Syntax::perl, body->too_big_for_re2));
  body->groups = body->backtracking->groups;
  body->names = body->backtracking->names;
  return Regex(std::move(body));
}

bool Regex::search(std::string_view text, std::size_t from, std::vector<Span>& spans) const {
  spans.assign(body_->groups + 1, Span{});
  if (body_->backtracking) {
    if (!body_->backtracking->run(text, from, false)) return false;
    for (std::size_t i = 0; i < spans.size(); ++i) spans[i] = body_->backtracking->span(i);
    return true;
  }
  auto& pieces = body_->pieces;
  re2::StringPiece piece = piece_of(text);
  if (!body_->run_re2(piece, from, text.size(), re2::RE2::UNANCHORED, pieces.data(),
                      static_cast<int>(pieces.size())))
    return false;
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    if (!pieces[i].data()) continue;
    spans[i].begin = static_cast<std::size_t>(pieces[i].data() - piece.data());
    spans[i].end = spans[i].begin + pieces[i].size();
  }
  return true;
}

bool Regex::search(std::string_view text, std::size_t from, Span& span) const {
  if (!body_->literal.empty()) {
    const void* found = from <= text.size() ? memmem(text.data() + from, text.size() - from,
                                                     body_->literal.data(), body_->literal.size())
                                            : nullptr;
    if (!found) return false;
    span.begin = static_cast<std::size_t>(static_cast<const char*>(found) - text.data());
    span.end = span.begin + body_->literal.size();
    return true;
  }
  if (body_->backtracking) {
    if (!body_->backtracking->run(text, from, false)) return false;
    span = body_->backtracking->span(0);
    return true;
  }
  re2::StringPiece piece = piece_of(text);
  re2::StringPiece match;
  if (!body_->run_re2(piece, from, text.size(), re2::RE2::UNANCHORED, &match, 1)) return false;
  span.begin = static_cast<std::size_t>(match.data() - piece.data());
  span.end = span.begin + match.size();
  return true;
}

bool Regex::match_at(std::string_view text, std::size_t from, std::size_t to, Span& span) const {
  if (body_->backtracking) {
    if (!body_->backtracking->run(text.substr(0, to), from, true)) return false;
    span = body_->backtracking->span(0);
    return true;
  }
  re2::StringPiece match;
  if (!body_->run_re2(piece_of(text), from, to, re2::RE2::ANCHOR_START, &match, 1)) return false;
  span = {from, from + match.size()};
  return true;
}

bool Regex::matches(std::string_view text) const {
  if (!body_->literal.empty())
    return memmem(text.data(), text.size(), body_->literal.data(), body_->literal.size()) != nullptr;
  if (body_->backtracking) return body_->backtracking->run(text, 0, false);
  if (body_->quick)
    if (auto known = body_->quick->matches(text)) return *known;
  return body_->run_re2(piece_of(text), 0, text.size(), re2::RE2::UNANCHORED, nullptr, 0);
}

std::size_t Regex::groups() const {
  return body_->groups;
}
const std::vector<std::pair<std::string, std::size_t>>& Regex::names() const {
  return body_->names;
}
std::string_view Regex::literal() const {
  return body_->literal;
}
std::string_view Regex::required() const {
  return body_->required.text;
}
bool Regex::required_at_start() const {
  return body_->required.at_start;
}
bool Regex::quick() const {
  return body_->quick && !body_->quick->given_up();
}

}  // namespace atl::shell
