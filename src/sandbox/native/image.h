#pragma once

#include <compare>
#include <cstdint>
#include <string>

#include "base/result.h"
#include "os/fd.h"
#include "os/process.h"

// Writable layers on disk: sparse ext4 images on loop devices, for disk limits that should not count as
// memory. An image has no name anywhere: it is gone with its last mount. All of this waits for the disk: it
// runs in a process of its own (image_maker.h), and in the spawner only before it serves anybody.
namespace atl::sandbox::native {

struct ImageSize {
  std::uint64_t bytes = 0, inodes = 0;
  auto operator<=>(const ImageSize&) const = default;
};
// The size that an image has for somebody who asks for this: at least so many bytes, in one of four steps to
// each doubling, and inodes in powers of two, as far as their table leaves half of the room. So that there
// are few kinds of images, whatever is asked for.
ImageSize image_class(std::uint64_t bytes, std::uint64_t inodes);

// Where images are made.
struct ImagePlace {
  os::Fd control;    // /dev/loop-control
  os::Fd directory;  // on the host's filesystem; allows O_TMPFILE
  // A machine without loop devices gives one in which nothing can be made.
  static ImagePlace open(const std::string& directory);
  bool usable() const { return control.is_open() && directory.is_open(); }
};

// An empty file of that size. Code::invalid_argument if the disk is too small for it by far.
Result<os::Fd> nameless_file(const ImagePlace& place, std::uint64_t bytes);
// mke2fs in a child, whose descriptor this is. `host_mounts` is the namespace that it is found in.
Result<os::Fd> start_format(int file, std::uint64_t inodes, int host_mounts);
// What its end means.
Result<void> format_ended(const os::Exit& exit);
// A detached mount of a copy of that formatted file: its few blocks that are no holes. `nodes` is a directory
// in which device nodes may be made.
Result<os::Fd> mount_copy(const ImagePlace& place, int original, std::uint64_t bytes,
                          const std::string& nodes);
// All of it at once. The descriptors given by these are the caller's; a failure leaves no file, mount or
// device behind.
Result<os::Fd> make_image(const ImagePlace& place, ImageSize size, const std::string& nodes, int host_mounts);

}  // namespace atl::sandbox::native
