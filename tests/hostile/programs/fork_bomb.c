// Case 1: forks as fast as it can, in every child again.
#include <unistd.h>

int main(void) {
  for (;;) fork();
}
