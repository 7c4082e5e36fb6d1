// Case 1: every child leaves the session and loses its parent at once, so that nothing but the time of its birth tells
// whose it is.
#include <signal.h>
#include <unistd.h>

int main(void) {
  for (int i = 1; i < 65; ++i) signal(i, SIG_IGN);
  for (;;) {
    if (fork() == 0) {
      setsid();
      if (fork() != 0) _exit(0);
    }
  }
}
