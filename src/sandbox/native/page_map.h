#pragma once

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "sandbox/native/process_image.h"

// Which pages of a process are its own. For reading() and restore_process_image().
namespace atl::sandbox::native {

inline constexpr std::uint64_t kPage = 4096;
// Above it nothing of a process can be.
inline constexpr std::uint64_t kAddressEnd = 0x7fff'ffff'f000;
// Address space of which the pages are looked at one by one.
inline constexpr std::uint64_t kSpaceMax = 64ULL << 30;

// The kernel's own, and the memory that is never copied.
bool is_untouchable(const Area& area);
bool is_same_backing(const Area& a, const Area& b, std::uint64_t at);
// The area that holds the address, of a list in order; null if none does.
const Area* area_at(const std::vector<Area>& areas, std::uint64_t address);
// True if it begins a run.
bool append_page(std::vector<Run>& runs, std::uint64_t address);

struct OwnPages {
  std::vector<Run> own;      // anonymous, and not the very frames that the other process has there
  std::vector<Run> dropped;  // the other has an anonymous page there, this one nothing
};
// Pages of `areas` of `process`, compared with `zygote`; none of areas that a fork wipes. Code::too_large
// beyond kSpaceMax. `before` are the zygote's areas. Both lists tell which areas have pages of their own.
Result<OwnPages> own_pages(const std::vector<Area>& areas, const LiveProcess& process,
                           const LiveProcess& zygote, const std::vector<Area>& before);
// Anonymous ones that no other process has: in a fresh child of a zygote, those that it has written to.
Result<std::vector<Run>> exclusive_pages(const std::vector<Area>& areas, const LiveProcess& process);
// All anonymous ones.
Result<std::vector<Run>> anonymous_pages(const std::vector<Area>& areas, const LiveProcess& process);

}  // namespace atl::sandbox::native
