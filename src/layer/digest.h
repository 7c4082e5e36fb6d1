#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "layer/overlay.h"

struct evp_md_ctx_st;

namespace atl::layer {

// SHA-256 of bytes that come piece by piece.
class Sha256 {
 public:
  Sha256();
  void update(std::string_view bytes);
  // 64 hexadecimal digits. Once.
  std::string finish();

 private:
  std::unique_ptr<evp_md_ctx_st, void (*)(evp_md_ctx_st*)> state_;
};

// 64 lower-case hexadecimal digits.
bool is_digest(std::string_view text);
// Of everything from the descriptor's position to its end.
Result<std::string> digest_of_file(int fd);

// Whether numbers of owners on disk are those inside (the store of a privileged service), or everything
// belongs to whoever runs the service and counts as root inside (the store of an ordinary user).
enum class Owners : std::uint8_t { kept, mine };

struct Inventory {
  std::string digest;
  std::uint64_t bytes = 0;  // of file content; hard links once
  std::uint64_t entries = 0;
};

// The name of a tree: the digest of its canonical serialisation (docs/formats/layers.md), which holds
// everything that a sandbox can see of it but access and change times.
Result<Inventory> take_inventory(int tree, Owners owners);

constexpr OverlayAttributes attributes_for(Owners owners) {
  return owners == Owners::kept ? OverlayAttributes::trusted : OverlayAttributes::user;
}

}  // namespace atl::layer
