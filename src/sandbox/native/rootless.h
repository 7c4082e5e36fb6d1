#pragma once

#include <string_view>

#include "sandbox/native/slot.h"
#include "sandbox/rootless.h"

namespace atl::sandbox::native {

// How ids inside are numbered in the namespace of such a spawner: the same for every sandbox on the host's
// view.
IdMap rootless_ids(const Privileges& privileges);
// For one on layers. Those are files of the user who runs it and count as root's, so root inside is that
// user. With one id only, `user` is the one that is asked for: root, or another.
IdMap rootless_layer_ids(const Privileges& privileges, std::string_view user);

}  // namespace atl::sandbox::native
