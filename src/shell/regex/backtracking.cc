#include "shell/regex/backtracking.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <exception>

#include "base/bytes.h"

namespace atl::shell {

namespace {

// What one match may take for its own stack of choices.
constexpr std::uint32_t kHeapLimitKb = 64 * 1024;
constexpr std::size_t kJitStack = 1 << 20;

// Up to here a match that backtracks runs without asking anybody: it ends within milliseconds.
constexpr std::size_t kQuickText = 64 * 1024;
constexpr std::uint32_t kQuickSteps = 4'000'000;

// A long match asks for leave at every item of the expression. Nothing may be thrown through PCRE2's frames.
struct Leave {
  const std::function<void(std::uint64_t)>& charge;
  std::exception_ptr stopped;

  static int ask(pcre2_callout_block*, void* self) {
    auto& leave = *static_cast<Leave*>(self);
    try {
      if (leave.charge) leave.charge(1);
      return 0;
    } catch (...) {
      leave.stopped = std::current_exception();
      return PCRE2_ERROR_CALLOUT;
    }
  }
};

}  // namespace

// What PCRE2 allocates for one expression.
struct BacktrackingBudget {
  std::uint64_t left = 0;
  bool exceeded = false;

  static void* take(std::size_t size, void* self) {
    auto& budget = *static_cast<BacktrackingBudget*>(self);
    // PCRE2 frees without telling a size: it is kept in front of the block.
    std::size_t whole = size + kHeader;
    budget.exceeded = budget.exceeded || whole > budget.left;
    auto* block = whole > budget.left ? nullptr : static_cast<char*>(std::malloc(whole));
    if (!block) return nullptr;
    budget.left -= whole;
    std::memcpy(block, &whole, sizeof whole);
    return block + kHeader;
  }
  static void give(void* memory, void* self) {
    if (!memory) return;
    char* block = static_cast<char*>(memory) - kHeader;
    std::size_t whole = 0;
    std::memcpy(&whole, block, sizeof whole);
    static_cast<BacktrackingBudget*>(self)->left += whole;
    std::free(block);
  }

 private:
  static constexpr std::size_t kHeader = alignof(std::max_align_t);
};

// A compiled expression and what its matches need.
struct Backtracking::Compiled {
  BacktrackingBudget budget;  // PCRE2 keeps a pointer to it
  pcre2_code* code = nullptr;
  pcre2_match_data* data = nullptr;
  pcre2_match_context* context = nullptr;
  pcre2_jit_stack* stack = nullptr;

  Compiled() = default;
  Compiled(const Compiled&) = delete;
  Compiled& operator=(const Compiled&) = delete;
  ~Compiled() {
    pcre2_jit_stack_free(stack);
    pcre2_match_data_free(data);
    pcre2_match_context_free(context);
    pcre2_code_free(code);
  }
  // Zero, or PCRE2's code of the error.
  int compile(const std::string& text, std::uint32_t flags, std::uint64_t memory_max);
};

int Backtracking::Compiled::compile(const std::string& text, std::uint32_t flags, std::uint64_t memory_max) {
  budget.left = memory_max;
  auto* memory = pcre2_general_context_create(BacktrackingBudget::take, BacktrackingBudget::give, &budget);
  if (!memory) return PCRE2_ERROR_NOMEMORY;
  auto* settings = pcre2_compile_context_create(memory);
  int error = PCRE2_ERROR_NOMEMORY;
  PCRE2_SIZE offset = 0;
  if (settings)
    code = pcre2_compile(reinterpret_cast<PCRE2_SPTR>(text.data()), text.size(), flags, &error, &offset,
                         settings);
  pcre2_compile_context_free(settings);
  if (code) {
    context = pcre2_match_context_create(nullptr);
    if (pcre2_jit_compile(code, PCRE2_JIT_COMPLETE) == 0) {
      stack = pcre2_jit_stack_create(32 << 10, kJitStack, nullptr);
      pcre2_jit_stack_assign(context, nullptr, stack);
    }
    pcre2_set_heap_limit(context, kHeapLimitKb);
    data = pcre2_match_data_create_from_pattern(code, nullptr);
  }
  // The code has taken its own copy of the allocator, which points to `budget`.
  pcre2_general_context_free(memory);
  return code ? 0 : error;
}

Backtracking::Backtracking() : quick_(std::make_unique<Compiled>()) {}
Backtracking::~Backtracking() = default;

Result<void> Backtracking::compile(const std::string& text, const RegexOptions& options, bool perl,
                                   bool too_big_elsewhere) {
  // \C would match one byte of a character and split it.
  std::uint32_t flags = PCRE2_NEVER_BACKSLASH_C;
  if (is_utf8(text)) flags |= PCRE2_UTF | PCRE2_MATCH_INVALID_UTF;
  if (options.ignore_case) flags |= PCRE2_CASELESS;
  if (options.multiline || options.lines) flags |= PCRE2_MULTILINE;
  if (options.extended_space) flags |= PCRE2_EXTENDED;
  if (!perl || options.dot_newline) flags |= options.lines ? 0U : PCRE2_DOTALL;
  // In POSIX $ is the end of the text alone; Perl's also matches before a newline at the end.
  if (!perl) flags |= PCRE2_DOLLAR_ENDONLY;
  if (int error = quick_->compile(text, flags, regex_limits().memory_bytes); error != 0) {
    if ((quick_->budget.exceeded || too_big_elsewhere) && regex_limits().too_big) regex_limits().too_big();
    char message[256] = {};
    pcre2_get_error_message(error, reinterpret_cast<PCRE2_UCHAR*>(message), sizeof message);
    return fail(Code::invalid_argument, message);
  }
  text_ = text;
  flags_ = flags;
  std::uint32_t count = 0, size = 0;
  PCRE2_SPTR table = nullptr;
  pcre2_pattern_info(quick_->code, PCRE2_INFO_CAPTURECOUNT, &count);
  groups = count;
  pcre2_pattern_info(quick_->code, PCRE2_INFO_NAMECOUNT, &count);
  pcre2_pattern_info(quick_->code, PCRE2_INFO_NAMEENTRYSIZE, &size);
  pcre2_pattern_info(quick_->code, PCRE2_INFO_NAMETABLE, &table);
  for (std::uint32_t i = 0; i < count; ++i, table += size)
    // An entry of PCRE2's table: the group's number in two bytes, high first, then its name.
    names.emplace_back(reinterpret_cast<const char*>(table + 2),
                       static_cast<std::size_t>(table[0] << 8 | table[1]));
  return {};
}

bool Backtracking::run(std::string_view text, std::size_t from, bool anchored) const {
  std::uint32_t flags = anchored ? PCRE2_ANCHORED : 0;
  if (regex_limits().charge) regex_limits().charge((text.size() - std::min(from, text.size())) / 8 + 16);
  // The form without callouts first, which the compiler to machine code makes fast; if its bound is hit, once
  // more with callouts that can be stopped.
  int count = text.size() <= kQuickText ? run_quickly(text, from, flags) : PCRE2_ERROR_MATCHLIMIT;
  if (count == PCRE2_ERROR_MATCHLIMIT) count = run_asking(text, from, flags);
  bool failed = count < 0 && count != PCRE2_ERROR_NOMATCH && count != PCRE2_ERROR_PARTIAL;
  if (failed && regex_limits().exceeded) regex_limits().exceeded();
  return count > 0;
}

// The bound counts anew where each attempt begins, so that it is the smaller the longer the text is.
int Backtracking::run_quickly(std::string_view text, std::size_t from, std::uint32_t flags) const {
  auto places = static_cast<std::uint32_t>(text.size()) + 1;
  used_ = quick_.get();
  pcre2_set_match_limit(quick_->context, std::min(regex_limits().steps, kQuickSteps / places + 100));
  return pcre2_match(quick_->code, reinterpret_cast<PCRE2_SPTR>(text.data()), text.size(), from, flags,
                     quick_->data, quick_->context);
}

int Backtracking::run_asking(std::string_view text, std::size_t from, std::uint32_t flags) const {
  if (!asking_) {
    auto made = std::make_unique<Compiled>();
    // Callouts make it larger; that the expression itself fits is known.
    std::uint64_t memory_max = regex_limits().memory_bytes * 4 + (1U << 20);
    if (made->compile(text_, flags_ | PCRE2_AUTO_CALLOUT, memory_max) != 0) return PCRE2_ERROR_NOMEMORY;
    asking_ = std::move(made);
  }
  Leave leave{regex_limits().charge, nullptr};
  used_ = asking_.get();
  pcre2_set_match_limit(asking_->context, regex_limits().steps);
  pcre2_set_callout(asking_->context, Leave::ask, &leave);
  int count = pcre2_match(asking_->code, reinterpret_cast<PCRE2_SPTR>(text.data()), text.size(), from, flags,
                          asking_->data, asking_->context);
  // Here PCRE2's frames are gone.
  if (leave.stopped) std::rethrow_exception(leave.stopped);
  return count;
}

Regex::Span Backtracking::span(std::size_t group) const {
  const PCRE2_SIZE* vector = pcre2_get_ovector_pointer(used_->data);
  PCRE2_SIZE begin = vector[2 * group], end = vector[2 * group + 1];
  if (begin == PCRE2_UNSET) return {};
  return {begin, std::max(begin, end)};  // \K may put the beginning behind the end
}

}  // namespace atl::shell
