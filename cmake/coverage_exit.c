/* Part of builds for coverage only: a process that leaves by _exit() writes down what it has run, as one that leaves by
   exit() does. Most processes of a native sandbox's outside (the spawner, its makers of images and of copies) leave so. */
#include <stdlib.h>

void __gcov_dump(void);
void __real__exit(int status) __attribute__((noreturn));
void __wrap__exit(int status) __attribute__((noreturn));

void __wrap__exit(int status) {
  __gcov_dump();
  __real__exit(status);
}
