#include "guest/zygote/chance.h"

#include <dlfcn.h>
#include <link.h>
#include <string.h>

namespace atl::guest {
namespace {

// Debian's, and those that wheels bring along under names of their own. The loader's own texts: no library is
// unloaded meanwhile, as there is one thread.
constexpr int kLibrariesMax = 8;
struct Found {
  const char* paths[kLibrariesMax];
  int count = 0;
};

int look(dl_phdr_info* object, size_t, void* into) {
  auto* const found = static_cast<Found*>(into);
  const char* const slash = object->dlpi_name != nullptr ? strrchr(object->dlpi_name, '/') : nullptr;
  if (slash == nullptr || strncmp(slash, "/libcrypto", 10) != 0) return 0;
  found->paths[found->count++] = object->dlpi_name;
  return found->count == kLibrariesMax ? 1 : 0;
}

}  // namespace

void reseed_libraries() {
  Found found;
  dl_iterate_phdr(look, &found);
  for (int i = 0; i < found.count; ++i) {
    void* const library = dlopen(found.paths[i], RTLD_LAZY | RTLD_NOLOAD);
    if (library == nullptr) continue;
    // JUSTIFICATION: dlsym() gives functions as pointers to nothing.
    if (void* const poll = dlsym(library, "RAND_poll"); poll != nullptr) reinterpret_cast<int (*)()>(poll)();
    dlclose(library);
  }
}

}  // namespace atl::guest
