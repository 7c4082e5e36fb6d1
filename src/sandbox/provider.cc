#include "sandbox/provider.h"

#include <fcntl.h>

#include "os/file.h"

namespace atl::sandbox {

Task<void> Provider::discard_snapshot(std::string directory) {
  co_return os::remove_tree(AT_FDCWD, directory);
}

}  // namespace atl::sandbox
