/* Part of builds for coverage only.

   A process that leaves by _exit() writes down what it has run, as one that leaves by exit() does. Most processes of a
   native sandbox's outside (the spawner, its makers of images and of copies) leave so.

   What was forked and then got a root of its own, or is killed, can write nothing down. So the counters are memory that
   a process shares with all that are forked from it, and whoever is left outside writes down what the others have run.
   They are counted atomically (-fprofile-update=atomic), and coverage_counters.ld puts them onto pages of their own. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

extern char atoll_counters_begin[], atoll_counters_end[];

void __gcov_dump(void);
void __real__exit(int status) __attribute__((noreturn));
void __wrap__exit(int status) __attribute__((noreturn));

__attribute__((constructor(101))) static void share_counters(void) {
  const size_t bytes = (size_t)(atoll_counters_end - atoll_counters_begin);
  if (bytes == 0) return;
  /* Nothing has been counted so far: the pages are as empty as the ones that they replace. */
  if (mmap(atoll_counters_begin, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED | MAP_ANONYMOUS, -1, 0) == MAP_FAILED)
    abort();
}

/* Writing counters down adds to them what is in the file already. Where they are shared, each process that ends would
   add it once more, for all that go on. */
__attribute__((destructor(102))) static void stop_sharing(void) {
  const size_t bytes = (size_t)(atoll_counters_end - atoll_counters_begin);
  if (bytes == 0) return;
  void* const kept = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (kept == MAP_FAILED) return;
  memcpy(kept, atoll_counters_begin, bytes);
  (void)mremap(kept, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, atoll_counters_begin);
}

void __wrap__exit(int status) {
  stop_sharing();
  __gcov_dump();
  __real__exit(status);
}
