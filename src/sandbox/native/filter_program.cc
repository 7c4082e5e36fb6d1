#include "sandbox/native/filter_program.h"

#include <linux/audit.h>

#include <cstddef>
#include <span>

namespace atl::sandbox::native {
namespace {

constexpr std::uint32_t kX32 = 0x4000'0000;

sock_filter load(std::size_t offset) {
  return BPF_STMT(BPF_LD | BPF_W | BPF_ABS, static_cast<std::uint32_t>(offset));
}
sock_filter give(std::uint32_t verdict) {
  return BPF_STMT(BPF_RET | BPF_K, verdict);
}
// Skips the next instruction unless the word compares.
sock_filter unless(std::uint16_t comparison, std::uint32_t value) {
  return BPF_JUMP(BPF_JMP | comparison | BPF_K, value, 0, 1);
}

// All numbers from `first` to the next run's have one answer.
struct SyscallRun {
  std::uint32_t first = 0;
  Answer answer;
};

std::vector<SyscallRun> runs_of(const std::map<std::uint32_t, Answer>& answers, std::uint32_t unknown,
                                std::uint32_t foreign) {
  std::vector<SyscallRun> runs{{0, {.verdict = unknown}}};
  const auto add = [&](std::uint32_t first, const Answer& answer) {
    if (runs.back().first == first)
      runs.back().answer = answer;
    else if (!(runs.back().answer == answer))
      runs.push_back({first, answer});
    // What became equal to the one before it is one run with it.
    if (runs.size() > 1 && runs[runs.size() - 2].answer == runs.back().answer) runs.pop_back();
  };
  for (const auto& [number, answer] : answers) {
    add(number, answer);
    add(number + 1, {.verdict = unknown});
  }
  add(kX32, {.verdict = foreign});
  return runs;
}

void search(std::span<const SyscallRun> runs, std::vector<sock_filter>& code) {
  if (runs.size() == 1) {
    const Answer& answer = runs.front().answer;
    if (answer.by_arguments.empty())
      code.push_back(give(answer.verdict));
    else
      code.insert(code.end(), answer.by_arguments.begin(), answer.by_arguments.end());
    return;
  }
  const std::size_t half = runs.size() / 2;
  std::vector<sock_filter> lower;
  search(runs.first(half), lower);
  // Conditional jumps reach 255 instructions.
  const auto over = static_cast<std::uint32_t>(lower.size());
  if (over <= 255) {
    code.push_back(BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, runs[half].first, static_cast<std::uint8_t>(over), 0));
  } else {
    code.push_back(unless(BPF_JGE, runs[half].first));
    code.push_back(BPF_STMT(BPF_JMP | BPF_JA, over));
  }
  code.insert(code.end(), lower.begin(), lower.end());
  search(runs.subspan(half), code);
}

}  // namespace

ArgumentBlock& ArgumentBlock::look_at(unsigned index, std::uint32_t mask) {
  code_.push_back(load(offsetof(seccomp_data, args) + index * sizeof(std::uint64_t)));
  if (mask != ~0U) code_.push_back(BPF_STMT(BPF_ALU | BPF_AND | BPF_K, mask));
  return *this;
}

ArgumentBlock& ArgumentBlock::look_at_high(unsigned index) {
  code_.push_back(load(offsetof(seccomp_data, args) + index * sizeof(std::uint64_t) + sizeof(std::uint32_t)));
  return *this;
}

ArgumentBlock& ArgumentBlock::when(std::uint32_t value, std::uint32_t verdict) {
  code_.insert(code_.end(), {unless(BPF_JEQ, value), give(verdict)});
  return *this;
}

ArgumentBlock& ArgumentBlock::when_any_of(std::uint32_t bits, std::uint32_t verdict) {
  code_.insert(code_.end(), {unless(BPF_JSET, bits), give(verdict)});
  return *this;
}

ArgumentBlock& ArgumentBlock::when(std::uint32_t value, const std::vector<sock_filter>& block) {
  code_.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, static_cast<std::uint8_t>(block.size())));
  code_.insert(code_.end(), block.begin(), block.end());
  return *this;
}

std::vector<sock_filter> ArgumentBlock::otherwise(std::uint32_t verdict) {
  code_.push_back(give(verdict));
  return std::move(code_);
}

std::vector<sock_filter> ArgumentBlock::otherwise_block(const std::vector<sock_filter>& block) {
  code_.insert(code_.end(), block.begin(), block.end());
  return std::move(code_);
}

std::vector<sock_filter> assemble(const std::map<std::uint32_t, Answer>& answers, std::uint32_t unknown,
                                  std::uint32_t foreign) {
  std::vector<sock_filter> code{load(offsetof(seccomp_data, arch)),
                                BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AUDIT_ARCH_X86_64, 1, 0), give(foreign),
                                load(offsetof(seccomp_data, nr))};
  const std::vector<SyscallRun> runs = runs_of(answers, unknown, foreign);
  search(runs, code);
  return code;
}

}  // namespace atl::sandbox::native
