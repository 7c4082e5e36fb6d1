#include "daemon/certificate.h"

#include <fcntl.h>
#include <unistd.h>

#include "config/checked.h"
#include "os/fd.h"

namespace atl::daemon {
namespace {

constexpr std::size_t kPemBytesMax = 1 << 20;

Result<void> write_file(const std::string& path, std::string_view bytes, mode_t mode) {
  os::Fd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode));
  if (!file.is_open()) return fail(errno_error(errno, "write " + path));
  if (::write(file.get(), bytes.data(), bytes.size()) != static_cast<ssize_t>(bytes.size())) {
    return fail(errno_error(errno, "write " + path));
  }
  return {};
}

}  // namespace

Result<net::Certificate> load_certificate(const std::string& data, const std::string& certificate_file,
                                          const std::string& key_file) {
  if (certificate_file.empty() != key_file.empty()) {
    return fail(Code::invalid_argument, "tls.certificate and tls.key belong together: give both or none");
  }
  std::string chain_path = certificate_file.empty() ? data + "/tls-certificate.pem" : certificate_file;
  std::string key_path = key_file.empty() ? data + "/tls-key.pem" : key_file;
  bool made_before = ::access(chain_path.c_str(), F_OK) == 0 && ::access(key_path.c_str(), F_OK) == 0;
  if (certificate_file.empty() && !made_before) {
    net::Certificate made =
        TRY(net::make_self_signed({"localhost", "*.localhost", "*.e2b.localhost", "127.0.0.1", "::1"}));
    TRY(write_file(key_path, made.key_pem, 0600));
    TRY(write_file(chain_path, made.chain_pem, 0644));
    return made;
  }
  net::Certificate certificate;
  certificate.chain_pem = TRY(config::read_input(chain_path, kPemBytesMax));
  certificate.key_pem = TRY(config::read_input(key_path, kPemBytesMax));
  return certificate;
}

}  // namespace atl::daemon
