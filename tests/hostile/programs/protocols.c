// Case 36: asks for every family, type and protocol, and for what else makes the kernel look for a module. Says what it
// got that is not on the list.
#include <errno.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

static int allowed(int family, int type, int protocol) {
  if (family == AF_UNIX) return 1;
  if (family == AF_NETLINK) return protocol == 0;
  if (family != AF_INET && family != AF_INET6) return 0;
  if (type == SOCK_STREAM) return protocol == 0 || protocol == IPPROTO_TCP;
  return type == SOCK_DGRAM && (protocol == 0 || protocol == IPPROTO_UDP);
}

int main(void) {
  int wrong = 0, asked = 0;
  for (int family = 0; family < 50; ++family)
    for (int type = 0; type < 11; ++type)
      for (int protocol = 0; protocol < 264; ++protocol) {
        int pair[2];
        const int fd = socket(family, type, protocol);
        const int both = family == AF_UNIX ? -1 : socketpair(family, type, protocol, pair);
        ++asked;
        if ((fd >= 0 || both == 0) && !allowed(family, type, protocol))
          ++wrong, printf("GOT family %d type %d protocol %d\n", family, type, protocol);
        if (fd >= 0) close(fd);
      }
  const int fd = socket(AF_INET, SOCK_DGRAM, 0);
  const unsigned long requests[] = {SIOCGIFBR, SIOCSIFBR, SIOCBRADDBR, SIOCBRDELBR, SIOCGIFVLAN, SIOCSIFVLAN};
  unsigned long arguments[4] = {0};
  for (unsigned i = 0; i < sizeof requests / sizeof *requests; ++i)
    if (ioctl(fd, requests[i], arguments) == 0 || errno != ENOPKG) ++wrong, printf("REACHED ioctl %lx\n", requests[i]);
  printf("asked %d wrong %d\n", asked, wrong);
  return wrong != 0;
}
