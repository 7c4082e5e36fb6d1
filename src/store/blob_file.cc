#include "store/blob_file.h"

#include <fcntl.h>
#include <unistd.h>

#include "os/fd.h"

namespace atl::store {

std::string blob_path(const std::string& directory, const std::string& digest) {
  return directory + "/" + digest.substr(0, 2) + "/" + digest.substr(2);
}

Result<std::string> beginning_of_blob(const std::string& directory, const std::string& digest,
                                      std::size_t bytes) {
  if (digest.size() != 64 || digest.find_first_not_of("0123456789abcdef") != std::string::npos)
    return fail(Code::not_found, "that is no digest");
  const os::Fd file(::open(blob_path(directory, digest).c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.is_open()) return fail(Code::not_found, "no such artifact");
  std::string text(bytes, '\0');
  std::size_t size = 0;
  while (size < bytes) {
    const ssize_t got = ::read(file.get(), text.data() + size, bytes - size);
    if (got < 0) return fail(errno_error(errno, "read an artifact"));
    if (got == 0) break;
    size += static_cast<std::size_t>(got);
  }
  text.resize(size);
  return text;
}

}  // namespace atl::store
