#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace atl::audit {

// Where a log ended when the last entry was written.
struct End {
  std::uint64_t seq = 0;  // 0: nothing was ever written
  std::string digest;
  std::string boot;  // which boot of the machine it was
};

// A small file that the writing process has mapped: where the log ends, and what is under way. Writing to it
// costs no system call and survives the end of the process, also by SIGKILL; a power failure may lose it.
//
// Not signed: it catches what changes the log carelessly between two signed heads. Calls belong under the
// lock of its log, but read_end(), which any process may call at any time.
class Mark {
 public:
  static constexpr std::size_t kSlots = 4096;
  static constexpr std::size_t kSlotBytes = 2048;
  static constexpr std::size_t kIntentBytesMax = kSlotBytes - 8;

  // Makes the file at its full size if it is not there. Code::no_space if the disk has no room for it.
  static Result<Mark> open(const std::string& path);
  Mark(Mark&& other) noexcept;
  Mark& operator=(Mark&&) = delete;
  ~Mark();

  void set_end(const End& end);

  // A slot for what is about to happen. Code::resource_exhausted if too much is under way.
  Result<std::uint32_t> put(std::string_view intent);
  void clear(std::uint32_t slot);
  // What the last process left: intents whose outcome nobody wrote. Empty once clear_all() was called.
  std::vector<std::string> left() const;
  void clear_all();

  // Code::not_found if there is no such file, Code::data_loss if it is damaged.
  static Result<End> read_end(const std::string& path);

 private:
  explicit Mark(char* map) : map_(map) {}
  char* slot(std::uint32_t number) const;

  char* map_ = nullptr;
  std::uint64_t generation_ = 0;
  std::vector<std::uint32_t> free_;  // the last is used next, so that few pages are touched
};

// The kernel's name for the present boot; empty where it does not tell.
std::string boot_id();

}  // namespace atl::audit
