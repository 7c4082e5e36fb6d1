// Cases 53, 57 and 59: changes a tree without pause under whoever reads, copies or removes it.
//   race exchange A B     A and B change places (a directory and a link, say)
//   race wander A B       A is called B, then A again
//   race breathe FILE     FILE grows, and is emptied now and then
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static char block[65536];

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  const time_t end = time(NULL) + 600;
  int file = strcmp(argv[1], "breathe") == 0 ? open(argv[2], O_WRONLY | O_CREAT | O_APPEND, 0644) : -1;
  memset(block, 'x', sizeof block);
  for (unsigned long round = 0; time(NULL) < end; ++round) {
    if (file >= 0) {
      if (round % 64 == 63 && ftruncate(file, 0) != 0) return 1;
      if (write(file, block, 1 + round * 997 % sizeof block) < 0) return 1;
    } else if (strcmp(argv[1], "exchange") == 0) {
      renameat2(AT_FDCWD, argv[2], AT_FDCWD, argv[3], RENAME_EXCHANGE);
    } else {
      rename(round % 2 == 0 ? argv[2] : argv[3], round % 2 == 0 ? argv[3] : argv[2]);
    }
  }
  return 0;
}
