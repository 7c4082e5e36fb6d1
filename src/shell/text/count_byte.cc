#include "shell/text/count_byte.h"

#include <algorithm>
#include <cstring>

namespace atl::shell {

// Sixteen at a time: what every x86-64 and every arm64 has.
std::size_t count_byte(std::string_view text, char byte) {
  using Block = unsigned char __attribute__((vector_size(16)));
  const Block wanted = Block{} + static_cast<unsigned char>(byte);
  std::size_t count = 0;
  while (text.size() >= 2 * sizeof(Block)) {
    Block even{}, odd{};  // sums by lane, each 255 at most
    std::size_t pairs = std::min<std::size_t>(text.size() / (2 * sizeof(Block)), 255);
    for (std::size_t i = 0; i < pairs; ++i) {
      Block next[2];
      memcpy(next, text.data() + i * sizeof next, sizeof next);
      // JUSTIFICATION: a vector of comparisons has the same bytes as a vector of numbers.
      even -= reinterpret_cast<Block>(next[0] == wanted);
      odd -= reinterpret_cast<Block>(next[1] == wanted);
    }
    for (std::size_t lane = 0; lane < sizeof(Block); ++lane)
      count += static_cast<std::size_t>(even[lane]) + odd[lane];
    text.remove_prefix(pairs * 2 * sizeof(Block));
  }
  return count + static_cast<std::size_t>(std::count(text.begin(), text.end(), byte));
}

}  // namespace atl::shell
