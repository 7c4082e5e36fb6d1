#pragma once

#include <string>
#include <vector>

namespace atl::egress {

// Keeps given texts out of a stream: each occurrence becomes as many asterisks, wherever the pieces are cut.
// What a server hides in another encoding it cannot see.
class Redactor {
 public:
  // Texts shorter than this are left alone: they would hit by chance.
  static constexpr std::size_t kShortest = 6;
  void keep_out(std::string text);
  bool empty() const { return texts_.empty(); }

  // What can be passed on of all that came so far; the rest is held until it is known.
  std::string pass(std::string bytes);
  // The end: everything that was held.
  std::string finish();

 private:
  void cover();
  std::vector<std::string> texts_;
  std::size_t longest_ = 0;
  std::string held_;
};

}  // namespace atl::egress
