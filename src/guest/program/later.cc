#include <errno.h>

#include "guest/program/guest.h"
namespace atl::guest {
void request_file(uint32_t c, Type, Reader) {
  send_failed(c, ENOSYS, "not built into this guest");
}
void request_tree(uint32_t c, Type, const char*, size_t) {
  send_failed(c, ENOSYS, "not built into this guest");
}
void request_watch(uint32_t c, Reader) {
  send_failed(c, ENOSYS, "not built into this guest");
}
void request_connect(uint32_t c, Reader) {
  send_failed(c, ENOSYS, "not built into this guest");
}
void request_listen(uint32_t c, Reader) {
  send_failed(c, ENOSYS, "not built into this guest");
}
void request_ports(uint32_t c) {
  send_failed(c, ENOSYS, "not built into this guest");
}
bool tree_ended(pid_t, int) {
  return false;
}
}  // namespace atl::guest
