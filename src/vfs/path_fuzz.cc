#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "vfs/path.h"

// Whatever the text, a Path is normal: parsing its text again gives the same, and its parts fit together.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace atl::vfs;
  std::string_view text(reinterpret_cast<const char*>(data), size);
  auto path = Path::posix(text);
  (void)Path::parse(text);
  if (!path) return 0;
  auto check = [](bool holds) {
    if (!holds) std::abort();
  };
  check(Path::posix(path->str()).value() == *path);
  check(path->str().front() == '/' && (path->is_root() || path->str().back() != '/'));
  check(path->str().size() <= kPathBytesMax && path->str().find("//") == std::string::npos);
  if (!path->is_root()) {
    check(path->parent().child(path->name()).value() == *path);
    check(path->is_child_of(path->parent()));
    check(std::string(path->stem()) + std::string(path->extension()) == path->name());
  }
  check(path->relative_to(path->parent()).below(path->parent()).value() == *path);
  return 0;
}
