#pragma once

#include <cstddef>

namespace atl::store {

// A row may hold megabytes that a tenant wrote; a page of a thousand of them must not. A page ends after the
// row whose text reaches this.
inline constexpr std::size_t kPageBytes = 8U << 20;

}  // namespace atl::store
