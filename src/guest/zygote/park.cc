// Parking and going on: the two ends of a live copy. What parks saves what the kernel knows and memory does
// not; what arrives exchanges its memory step by step, standing on a stack that is not exchanged, and then
// goes on from where the other parked. From the first step on nothing here may rely on memory outside that
// stack and this file's code: system calls are made by hand, and nothing of the C library is called.
#include "guest/zygote/park.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include "guest/zygote/system_call.h"

namespace atl::guest {
namespace {

struct KernelAction {
  unsigned long handler, flags, restorer, mask;
};

struct Parked {
  uint64_t context[8];
  KernelAction actions[64];
  unsigned long blocked;
  stack_t alternate;
  volatile uint32_t waking;
};
Parked parked;

// As setjmp and longjmp, without what the C library does to the registers and without the compiler's ideas of
// them. 0, and then 1 from go_back().
__attribute__((naked, noinline, returns_twice)) int mark_place(uint64_t*) {
  asm("mov %rbx, 0(%rdi)\n\t"
      "mov %rbp, 8(%rdi)\n\t"
      "mov %r12, 16(%rdi)\n\t"
      "mov %r13, 24(%rdi)\n\t"
      "mov %r14, 32(%rdi)\n\t"
      "mov %r15, 40(%rdi)\n\t"
      "lea 8(%rsp), %rax\n\t"
      "mov %rax, 48(%rdi)\n\t"
      "mov (%rsp), %rax\n\t"
      "mov %rax, 56(%rdi)\n\t"
      "xor %eax, %eax\n\t"
      "ret");
}
__attribute__((naked, noinline, noreturn)) void go_back(const uint64_t*) {
  asm("mov 0(%rdi), %rbx\n\t"
      "mov 8(%rdi), %rbp\n\t"
      "mov 16(%rdi), %r12\n\t"
      "mov 24(%rdi), %r13\n\t"
      "mov 32(%rdi), %r14\n\t"
      "mov 40(%rdi), %r15\n\t"
      "mov 48(%rdi), %rsp\n\t"
      "mov $1, %eax\n\t"
      "jmp *56(%rdi)");
}

void save() {
  for (int number = 1; number <= 64; ++number)
    call(SYS_rt_sigaction, number_of(number), 0, address_of(&parked.actions[number - 1]),
         sizeof(unsigned long));
  call(SYS_rt_sigprocmask, SIG_SETMASK, 0, address_of(&parked.blocked), sizeof parked.blocked);
  call(SYS_sigaltstack, 0, address_of(&parked.alternate));
}

void restore() {
  for (int number = 1; number <= 64; ++number)
    if (number != SIGKILL && number != SIGSTOP)
      call(SYS_rt_sigaction, number_of(number), address_of(&parked.actions[number - 1]), 0,
           sizeof(unsigned long));
  if ((parked.alternate.ss_flags & SS_DISABLE) == 0) call(SYS_sigaltstack, address_of(&parked.alternate), 0);
  call(SYS_rt_sigprocmask, SIG_SETMASK, address_of(&parked.blocked), 0, sizeof parked.blocked);
}

bool timers_run() {
  for (int kind = ITIMER_REAL; kind <= ITIMER_PROF; ++kind) {
    itimerval now{};
    if (call(SYS_getitimer, number_of(kind), address_of(&now)) == 0 &&
        (now.it_value.tv_sec != 0 || now.it_value.tv_usec != 0))
      return true;
  }
  return false;
}

bool read_all(int fd, void* to, size_t size) {
  auto* at = static_cast<char*>(to);
  while (size > 0) {
    const long got = call(SYS_read, number_of(fd), address_of(at), size);
    if (got == -EINTR) continue;
    if (got <= 0) return false;
    at += got, size -= static_cast<size_t>(got);
  }
  return true;
}

void tell(int fd, long error, uint32_t step) {
  const Arrived arrived{static_cast<int32_t>(error), step};
  (void)call(SYS_write, number_of(fd), address_of(&arrived), sizeof arrived);
}

[[noreturn]] void leave(int status) {
  for (;;) call(SYS_exit_group, number_of(status));
}

long put_at(long fd, int number, uint32_t flags) {
  if (fd == number) return 0;
  const long done = call(SYS_dup3, static_cast<uint64_t>(fd), number_of(number), flags & O_CLOEXEC);
  call(SYS_close, static_cast<uint64_t>(fd));
  return done;
}

long map_file(const Step& step, const char* path) {
  const long fd = call(SYS_openat, number_of(AT_FDCWD), address_of(path), O_RDONLY | O_CLOEXEC | O_NOCTTY, 0);
  if (fd < 0) return fd;
  const long done = call(SYS_mmap, step.address, step.size, step.protection, MAP_PRIVATE | MAP_FIXED,
                         static_cast<uint64_t>(fd), step.offset);
  call(SYS_close, static_cast<uint64_t>(fd));
  return done;
}

long open_file(const Step& step, const char* path) {
  constexpr uint32_t kept = O_ACCMODE | O_APPEND | O_NONBLOCK | O_DIRECTORY | O_SYNC | O_PATH;
  const long fd =
      call(SYS_openat, number_of(AT_FDCWD), address_of(path), (step.flags & kept) | O_CLOEXEC | O_NOCTTY, 0);
  if (fd < 0) return fd;
  if ((step.flags & (O_PATH | O_DIRECTORY)) == 0)
    call(SYS_lseek, static_cast<uint64_t>(fd), step.offset, SEEK_SET);
  // Where the file would be opened at its very number, the flag is wrong: asked for once more.
  if (fd == step.number && (step.flags & O_CLOEXEC) == 0)
    call(SYS_fcntl, static_cast<uint64_t>(fd), F_SETFD, 0);
  return put_at(fd, step.number, step.flags);
}

// Nothing but the kernel's answer: a negative one is an error.
long take(const Step& step, const char* path) {
  switch (static_cast<Move>(step.move)) {
    case Move::unmap: return call(SYS_munmap, step.address, step.size);
    case Move::map_anonymous:
      return call(SYS_mmap, step.address, step.size, step.protection,
                  (step.flags == kMapDroppable ? kMapDroppable : unsigned{MAP_PRIVATE}) | MAP_ANONYMOUS |
                      MAP_FIXED | MAP_NORESERVE,
                  ~0ULL, 0);
    case Move::map_file: return map_file(step, path);
    case Move::protect: return call(SYS_mprotect, step.address, step.size, step.protection);
    case Move::advise: return call(SYS_madvise, step.address, step.size, step.flags);
    case Move::forget: return call(SYS_madvise, step.address, step.size, MADV_DONTNEED);
    case Move::set_break: return call(SYS_brk, step.address) == static_cast<long>(step.address) ? 0 : -ENOMEM;
    case Move::touch:
      // JUSTIFICATION: the kernel takes addresses as numbers.
      *reinterpret_cast<volatile char*>(step.address) = 0;
      return 0;
    case Move::open: return open_file(step, path);
    case Move::duplicate: return call(SYS_dup3, step.flags, number_of(step.number), O_CLOEXEC);
    case Move::directory: return call(SYS_chdir, address_of(path));
    case Move::mask: return call(SYS_umask, step.flags);
    default: return -EINVAL;
  }
}

[[noreturn]] __attribute__((noinline)) void follow(long control) {
  const int fd = static_cast<int>(control);
  tell(fd, 0, 0);
  for (uint32_t count = 1;; ++count) {
    Step step;
    char path[PATH_MAX];
    if (!read_all(fd, &step, sizeof step) || step.path_size >= sizeof path ||
        !read_all(fd, path, step.path_size))
      leave(1);
    path[step.path_size] = 0;
    if (step.move == static_cast<uint32_t>(Move::go_on)) {
      parked.waking = step.flags;
      go_back(parked.context);
    }
    if (step.move == static_cast<uint32_t>(Move::sync)) {
      tell(fd, 0, count);
      continue;
    }
    if (const long done = take(step, path); done < 0 && done > -4096) {
      tell(fd, -done, count);
      leave(1);
    }
  }
}

}  // namespace

bool reserve_memory() {
  // JUSTIFICATION: the kernel takes addresses as numbers.
  return mmap(reinterpret_cast<void*>(kReservedAt), kReservedSize, PROT_READ | PROT_WRITE,
              MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1,
              0) == reinterpret_cast<void*>(kReservedAt);
}

[[noreturn]] void become_other(int control) {
  // Onto the reserved stack, never to return.
  const uint64_t top = kReservedAt + kReservedSize - 64;
  asm volatile(
      "mov %0, %%rsp\n\t"
      "xor %%ebp, %%ebp\n\t"
      "call *%1\n\t"
      "ud2"
      :
      : "r"(top), "r"(&follow), "D"(static_cast<long>(control))
      : "memory");
  __builtin_unreachable();
}

__attribute__((noinline)) Waking park(int control) {
  save();
  if (mark_place(parked.context) == 0) {
    const bool timer = timers_run();
    char go[4];
    const char* const words = timer ? "B 7\na timer" : "B 0\n";
    const long size = timer ? 11 : 4;
    if (call(SYS_write, number_of(control), address_of(words), static_cast<uint64_t>(size)) != size ||
        !read_all(control, go, sizeof go))
      leave(0);
    return Waking::same;
  }
  restore();
  return static_cast<Waking>(parked.waking);
}

}  // namespace atl::guest
