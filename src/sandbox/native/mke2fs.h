#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>

#include "base/result.h"

namespace atl::sandbox::native {

// With a journal a filesystem survives a loss of power; disks of sandboxes end with their sandbox and have
// none.
enum class Journal : std::uint8_t { no, yes };

// Its exit status if there is no mke2fs (package e2fsprogs).
inline constexpr int kNoMke2fs = 127;

// Begins to format the file as ext4, owned by root, in a child that the caller reaps. mke2fs is not ours: it
// has nothing but the image open, and ends with this process. `prepare` runs in the child before that, must
// not allocate, and ends the child with status 1 if it is false.
Result<pid_t> start_mke2fs(int file, std::uint64_t inodes, Journal journal,
                           const std::function<bool()>& prepare);

}  // namespace atl::sandbox::native
