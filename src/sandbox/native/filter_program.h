#pragma once

#include <linux/filter.h>
#include <linux/seccomp.h>

#include <cstdint>
#include <map>
#include <vector>

// System-call filters as the kernel runs them. A filter is installed for each sandbox and each interpreter
// that is forked into one, and the kernel then runs it for every call number there is and translates it: its
// length is what a start pays. So the numbers are searched by halves over runs of equal answers, in one
// program.
namespace atl::sandbox::native {

constexpr std::uint32_t refuse_with(int error) {
  return SECCOMP_RET_ERRNO | static_cast<std::uint32_t>(error);
}

// The answer to one call number: at once, or by a look at its arguments.
struct Answer {
  std::uint32_t verdict = SECCOMP_RET_ALLOW;
  // Ends in a return on every way. Empty: the verdict.
  std::vector<sock_filter> by_arguments;

  bool operator==(const Answer& other) const {
    return by_arguments.empty() && other.by_arguments.empty() && verdict == other.verdict;
  }
};

// A choice by one word of an argument: the first row that fits answers.
class ArgumentBlock {
 public:
  // Looks at the low 32 bits of argument `index` from here on, with `mask` laid over.
  ArgumentBlock& look_at(unsigned index, std::uint32_t mask = ~0U);
  // The high 32 bits of it.
  ArgumentBlock& look_at_high(unsigned index);
  ArgumentBlock& when(std::uint32_t value, std::uint32_t verdict);
  ArgumentBlock& when_any_of(std::uint32_t bits, std::uint32_t verdict);
  // The rows of `block`, which answers everything, apply if the word is `value`.
  ArgumentBlock& when(std::uint32_t value, const std::vector<sock_filter>& block);
  std::vector<sock_filter> otherwise(std::uint32_t verdict);
  std::vector<sock_filter> otherwise_block(const std::vector<sock_filter>& block);

 private:
  std::vector<sock_filter> code_;
};

// `answers` by call number of this machine's own ABI; numbers that are not in it get `unknown`, calls of
// other ABIs (32-bit, x32) `foreign`.
std::vector<sock_filter> assemble(const std::map<std::uint32_t, Answer>& answers, std::uint32_t unknown,
                                  std::uint32_t foreign);

}  // namespace atl::sandbox::native
