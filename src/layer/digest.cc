#include "layer/digest.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <openssl/evp.h>
#include <unistd.h>

#include <cerrno>

#include "base/bytes.h"
#include "layer/walk.h"

namespace atl::layer {
namespace {

constexpr std::string_view kHeader = "atoll layer 1\n";

// Printable, without spaces: one entry is one line whatever its name holds.
std::string escaped(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (const char c : text) {
    if (c > 0x20 && c < 0x7f && c != '\\')
      out += c;
    else
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
  }
  return out;
}

class Writer {
 public:
  explicit Writer(Owners owners) : owners_(owners) { hash_.update(kHeader); }

  Result<void> add(const Entry& entry, int fd) {
    ++inventory_.entries;
    const std::string path = entry.path.empty() ? "." : escaped(entry.path);
    switch (entry.kind) {
      case Kind::whiteout: hash_.update(fmt::format("w {}\n", path)); return {};
      case Kind::hard_link: hash_.update(fmt::format("h {} {}\n", path, escaped(entry.target))); return {};
      case Kind::symlink:
        hash_.update(fmt::format("l {} {} {}\n", stamp(entry), path, escaped(entry.target)));
        return {};
      case Kind::directory:
        hash_.update(fmt::format("{} {} {}\n", entry.opaque ? 'o' : 'd', stamp(entry), path));
        break;
      case Kind::file: {
        inventory_.bytes += static_cast<std::uint64_t>(entry.info.st_size);
        const std::string content = TRY(digest_of_file(fd));
        hash_.update(fmt::format("f {} {} {} {}\n", stamp(entry), entry.info.st_size, content, path));
        break;
      }
    }
    for (const auto& [name, value] : entry.attributes)
      if (owners_ == Owners::kept || name.starts_with("user."))
        hash_.update(fmt::format("x {} {}\n", escaped(name), to_hex(value)));
    return {};
  }

  Inventory finish() {
    inventory_.digest = hash_.finish();
    return inventory_;
  }

 private:
  // Mode, owner and time.
  std::string stamp(const Entry& entry) const {
    const bool kept = owners_ == Owners::kept;
    return fmt::format("{:04o} {} {} {}", S_ISLNK(entry.info.st_mode) ? 0777 : entry.info.st_mode & 07777,
                       kept ? entry.info.st_uid : 0, kept ? entry.info.st_gid : 0, entry.info.st_mtim.tv_sec);
  }

  Owners owners_;
  Sha256 hash_;
  Inventory inventory_;
};

}  // namespace

Sha256::Sha256() : state_(EVP_MD_CTX_new(), &EVP_MD_CTX_free) {
  EVP_DigestInit_ex(state_.get(), EVP_sha256(), nullptr);
}

void Sha256::update(std::string_view bytes) {
  EVP_DigestUpdate(state_.get(), bytes.data(), bytes.size());
}

std::string Sha256::finish() {
  std::string raw(32, '\0');
  EVP_DigestFinal_ex(state_.get(), reinterpret_cast<unsigned char*>(raw.data()), nullptr);
  return to_hex(raw);
}

bool is_digest(std::string_view text) {
  return text.size() == 64 && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

Result<std::string> digest_of_file(int fd) {
  Sha256 hash;
  std::string block(1 << 18, '\0');
  for (;;) {
    const ssize_t got = ::read(fd, block.data(), block.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return fail(errno_error(errno, "read a file"));
    if (got == 0) return hash.finish();
    hash.update(std::string_view(block).substr(0, static_cast<std::size_t>(got)));
  }
}

Result<Inventory> take_inventory(int tree, Owners owners) {
  Writer writer(owners);
  TRY(walk(tree, attributes_for(owners), [&](const Entry& entry, int fd) { return writer.add(entry, fd); }));
  return writer.finish();
}

}  // namespace atl::layer
