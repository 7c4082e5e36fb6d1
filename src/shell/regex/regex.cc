#include "shell/regex/regex.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <fmt/format.h>
#include <pcre2.h>
#include <re2/re2.h>

#include <cstring>

#include "shell/regex/posix.h"

namespace atl::shell {

namespace {

constexpr std::uint32_t kHeapLimitKb = 64 * 1024;
constexpr std::size_t kPatternMax = 1 << 20;

constexpr std::size_t kJitStack = 1 << 20;

thread_local const RegexLimits* scope = nullptr;

const RegexLimits& limits() {
  static const RegexLimits standard;
  return scope ? *scope : standard;
}

struct Pcre {
  pcre2_code* code = nullptr;
  pcre2_match_data* data = nullptr;
  pcre2_match_context* context = nullptr;
  pcre2_jit_stack* stack = nullptr;
  ~Pcre() {
    pcre2_jit_stack_free(stack);
    pcre2_match_data_free(data);
    pcre2_match_context_free(context);
    pcre2_code_free(code);
  }
};

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

bool valid_utf8(std::string_view text) {
  for (std::size_t i = 0; i < text.size();) {
    unsigned char u = static_cast<unsigned char>(text[i]);
    std::size_t need = u < 0x80 ? 1 : u >= 0xF0 ? 4 : u >= 0xE0 ? 3 : u >= 0xC2 ? 2 : 0;
    if (need == 0 || i + need > text.size()) return false;
    for (std::size_t k = 1; k < need; ++k)
      if ((static_cast<unsigned char>(text[i + k]) & 0xC0) != 0x80) return false;
    i += need;
  }
  return true;
}

}  // namespace

RegexScope::RegexScope(RegexLimits l) : limits_(std::move(l)), outer_(std::exchange(scope, &limits_)) {}

RegexScope::~RegexScope() {
  scope = outer_;
}

struct Regex::Body {
  std::unique_ptr<re2::RE2> re2;
  Pcre pcre;
  std::string literal;
  std::size_t groups = 0;
  std::vector<std::pair<std::string, std::size_t>> names;
  bool captures = true;
  mutable std::vector<re2::StringPiece> pieces;

  Result<void> compile_re2(const std::string& text, const RegexOptions& options);
  Result<void> compile_pcre(const std::string& text, const RegexOptions& options, bool perl);
  bool run_pcre(std::string_view text, std::size_t from, std::uint32_t flags);
};

Result<void> Regex::Body::compile_re2(const std::string& text, const RegexOptions& options) {
  re2::RE2::Options settings;
  settings.set_encoding(valid_utf8(text) ? re2::RE2::Options::EncodingUTF8 : re2::RE2::Options::EncodingLatin1);
  settings.set_longest_match(true);
  settings.set_log_errors(false);
  settings.set_max_mem(static_cast<std::int64_t>(limits().memory_bytes));
  settings.set_case_sensitive(!options.ignore_case);
  settings.set_dot_nl(!options.lines);
  settings.set_never_nl(options.lines);
  settings.set_never_capture(!options.captures);
  re2 = std::make_unique<re2::RE2>(options.multiline || options.lines ? "(?m)" + text : text, settings);
  if (!re2->ok()) {
    std::string why = re2->error();
    re2.reset();
    return fail(Code::invalid_argument, why);
  }
  groups = options.captures ? static_cast<std::size_t>(re2->NumberOfCapturingGroups()) : 0;
  pieces.resize(groups + 1);
  return {};
}

Result<void> Regex::Body::compile_pcre(const std::string& text, const RegexOptions& options, bool perl) {
  std::uint32_t flags = PCRE2_NEVER_BACKSLASH_C;
  if (valid_utf8(text)) flags |= PCRE2_UTF | PCRE2_MATCH_INVALID_UTF;
  if (options.ignore_case) flags |= PCRE2_CASELESS;
  if (options.multiline || options.lines) flags |= PCRE2_MULTILINE;
  if (options.extended_space) flags |= PCRE2_EXTENDED;
  if (!perl || options.dot_newline) flags |= options.lines ? 0U : PCRE2_DOTALL;
  if (!perl) flags |= PCRE2_DOLLAR_ENDONLY;
  int code = 0;
  PCRE2_SIZE offset = 0;
  pcre.code = pcre2_compile(reinterpret_cast<PCRE2_SPTR>(text.data()), text.size(), flags, &code, &offset, nullptr);
  if (!pcre.code) {
    char message[256] = {};
    pcre2_get_error_message(code, reinterpret_cast<PCRE2_UCHAR*>(message), sizeof message);
    return fail(Code::invalid_argument, message);
  }
  pcre.context = pcre2_match_context_create(nullptr);
  if (pcre2_jit_compile(pcre.code, PCRE2_JIT_COMPLETE) == 0) {
    pcre.stack = pcre2_jit_stack_create(32 << 10, kJitStack, nullptr);
    pcre2_jit_stack_assign(pcre.context, nullptr, pcre.stack);
  }
  pcre2_set_match_limit(pcre.context, limits().steps);
  pcre2_set_heap_limit(pcre.context, kHeapLimitKb);
  pcre.data = pcre2_match_data_create_from_pattern(pcre.code, nullptr);
  std::uint32_t count = 0, size = 0;
  PCRE2_SPTR table = nullptr;
  pcre2_pattern_info(pcre.code, PCRE2_INFO_CAPTURECOUNT, &count);
  groups = count;
  pcre2_pattern_info(pcre.code, PCRE2_INFO_NAMECOUNT, &count);
  pcre2_pattern_info(pcre.code, PCRE2_INFO_NAMEENTRYSIZE, &size);
  pcre2_pattern_info(pcre.code, PCRE2_INFO_NAMETABLE, &table);
  for (std::uint32_t i = 0; i < count; ++i, table += size)
    names.emplace_back(reinterpret_cast<const char*>(table + 2), static_cast<std::size_t>(table[0] << 8 | table[1]));
  return {};
}

bool Regex::Body::run_pcre(std::string_view text, std::size_t from, std::uint32_t flags) {
  int count = pcre2_match(pcre.code, reinterpret_cast<PCRE2_SPTR>(text.data()), text.size(), from, flags, pcre.data,
                          pcre.context);
  if (limits().charge) limits().charge((text.size() - std::min(from, text.size())) / 8 + 16);
  bool failed = count < 0 && count != PCRE2_ERROR_NOMATCH && count != PCRE2_ERROR_PARTIAL;
  if (failed && limits().exceeded) limits().exceeded();
  return count > 0;
}

Regex::Regex(std::unique_ptr<Body> body) : body_(std::move(body)) {}
Regex::Regex(Regex&&) noexcept = default;
Regex& Regex::operator=(Regex&&) noexcept = default;
Regex::~Regex() = default;

Result<Regex> Regex::compile(std::string_view pattern, Syntax syntax, const RegexOptions& options) {
  return compile(std::vector<std::string>{std::string(pattern)}, syntax, options);
}

Result<Regex> Regex::compile(const std::vector<std::string>& patterns, Syntax syntax, const RegexOptions& options) {
  auto body = std::make_unique<Body>();
  body->captures = options.captures;
  std::string text;
  bool backtracks = syntax == Syntax::perl;
  bool literal = patterns.size() == 1 && !options.ignore_case && !options.whole_line;
  std::size_t size = 0;
  for (const std::string& pattern : patterns) {
    if ((size += pattern.size()) > kPatternMax) return fail(Code::invalid_argument, "Regular expression too big");
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
  if (options.whole_line) text = "^(?:" + text + ")$";
  if (!backtracks) {
    auto compiled = body->compile_re2(text, options);
    if (compiled) return Regex(std::move(body));
    // A repetition above RE2's bound: PCRE2 takes it.
  }
  auto compiled = body->compile_pcre(text, options, syntax == Syntax::perl);
  if (!compiled) return std::unexpected(compiled.error());
  return Regex(std::move(body));
}

bool Regex::search(std::string_view text, std::size_t from, std::vector<Span>& spans) const {
  spans.assign(body_->groups + 1, Span{});
  if (body_->re2) {
    auto& pieces = body_->pieces;
    // An empty view with a null pointer would look unmatched.
    re2::StringPiece piece(text.data() ? text.data() : "", text.size());
    if (!body_->re2->Match(piece, from, text.size(), re2::RE2::UNANCHORED, pieces.data(),
                           static_cast<int>(pieces.size())))
      return false;
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      if (!pieces[i].data()) continue;
      spans[i].begin = static_cast<std::size_t>(pieces[i].data() - piece.data());
      spans[i].end = spans[i].begin + pieces[i].size();
    }
    return true;
  }
  if (!body_->run_pcre(text, from, 0)) return false;
  PCRE2_SIZE* vector = pcre2_get_ovector_pointer(body_->pcre.data);
  for (std::size_t i = 0; i < spans.size(); ++i) {
    if (vector[2 * i] == PCRE2_UNSET || vector[2 * i + 1] < vector[2 * i]) continue;
    spans[i] = {vector[2 * i], vector[2 * i + 1]};
  }
  return true;
}

bool Regex::search(std::string_view text, std::size_t from, Span& span) const {
  if (!body_->literal.empty()) {
    const void* found = from <= text.size() ? memmem(text.data() + from, text.size() - from, body_->literal.data(),
                                                     body_->literal.size())
                                            : nullptr;
    if (!found) return false;
    span.begin = static_cast<std::size_t>(static_cast<const char*>(found) - text.data());
    span.end = span.begin + body_->literal.size();
    return true;
  }
  if (body_->re2) {
    re2::StringPiece piece(text.data() ? text.data() : "", text.size());
    re2::StringPiece match;
    if (!body_->re2->Match(piece, from, text.size(), re2::RE2::UNANCHORED, &match, 1)) return false;
    span.begin = static_cast<std::size_t>(match.data() - piece.data());
    span.end = span.begin + match.size();
    return true;
  }
  if (!body_->run_pcre(text, from, 0)) return false;
  PCRE2_SIZE* vector = pcre2_get_ovector_pointer(body_->pcre.data);
  span = {vector[0], std::max(vector[0], vector[1])};
  return true;
}

bool Regex::match_at(std::string_view text, std::size_t from, std::size_t to, Span& span) const {
  if (body_->re2) {
    re2::StringPiece piece(text.data() ? text.data() : "", text.size());
    re2::StringPiece match;
    if (!body_->re2->Match(piece, from, to, re2::RE2::ANCHOR_START, &match, 1)) return false;
    span = {from, from + match.size()};
    return true;
  }
  if (!body_->run_pcre(text.substr(0, to), from, PCRE2_ANCHORED)) return false;
  PCRE2_SIZE* vector = pcre2_get_ovector_pointer(body_->pcre.data);
  span = {vector[0], vector[1]};
  return true;
}

bool Regex::matches(std::string_view text) const {
  if (!body_->literal.empty())
    return memmem(text.data(), text.size(), body_->literal.data(), body_->literal.size()) != nullptr;
  if (body_->re2) {
    re2::StringPiece piece(text.data() ? text.data() : "", text.size());
    return body_->re2->Match(piece, 0, text.size(), re2::RE2::UNANCHORED, nullptr, 0);
  }
  return body_->run_pcre(text, 0, 0);
}

std::size_t Regex::groups() const { return body_->groups; }
const std::vector<std::pair<std::string, std::size_t>>& Regex::names() const { return body_->names; }
std::string_view Regex::literal() const { return body_->literal; }

}  // namespace atl::shell
