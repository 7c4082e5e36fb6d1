#include "guest/runners.h"

#include "embedded/guest_runners.h"
#include "embedded/guest_started_module.h"
#include "embedded/guest_zygote_module.h"
#ifdef ATOLL_TYPESCRIPT
#include "embedded/guest_typescript.h"
#endif

namespace atl::guest {

std::string_view runner(std::string_view name) {
  for (const embedded::File& file : embedded::guest_runners())
    if (file.path == name) return file.bytes;
  return {};
}

std::string_view zygote_module() {
  return embedded::guest_zygote_module().front().bytes;
}

std::string_view started_module() {
  return embedded::guest_started_module().front().bytes;
}

std::string_view type_stripper() {
#ifdef ATOLL_TYPESCRIPT
  return embedded::guest_typescript().front().bytes;
#else
  return {};
#endif
}

}  // namespace atl::guest
