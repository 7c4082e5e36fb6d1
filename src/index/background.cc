#include "index/background.h"

#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>

namespace atl::index {

void enter_background(const char* name) {
  constexpr int kNiceness = 10;
  pthread_setname_np(pthread_self(), name);
  (void)::setpriority(PRIO_PROCESS, static_cast<id_t>(::gettid()), kNiceness);
}

}  // namespace atl::index
