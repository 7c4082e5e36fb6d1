#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "os/fd.h"

namespace atl::store {

// What was acknowledged and is not in the database yet: one append instead of one transaction each. An entry
// that append() took survives the end of this process; docs/formats/store.md has the bytes. One process at a
// time; not for several threads at once.
class Journal {
 public:
  // Creates the file if need be and locks it. Code::conflict if another process has it.
  static Result<Journal> open(std::string path);

  // Gives every whole entry after number `applied` to `each`, in order. An append that was cut off is shorter
  // than it says, was never acknowledged and is left out. Code::data_loss if anything else is damaged, the
  // last entry included; whatever could still be read was given, those behind a damaged payload too.
  Result<void> replay(
      std::uint64_t applied,
      const std::function<Result<void>(std::uint64_t number, std::string_view payload)>& each);
  // The entry's number, one more than the last one's. A failed append leaves the journal as it was.
  Result<std::uint64_t> append(std::string_view payload);
  // Everything in it is in the database.
  Result<void> clear();
  // Keeps what is damaged beside it, as `path`.damaged, and starts anew.
  Result<void> set_aside();

  void continue_after(std::uint64_t number) { last_ = number; }
  std::uint64_t bytes() const { return size_; }

 private:
  Journal(std::string path, os::Fd fd, std::uint64_t size);

  std::string path_;
  os::Fd fd_;
  std::uint64_t size_ = 0;  // of what is whole
  std::uint64_t last_ = 0;
  bool torn_ = false;  // bytes of a failed append may follow size_
};

}  // namespace atl::store
