#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "layer/overlay.h"

// The environment `host`: the host's programs, read-only, and nothing else of it. /usr is shown (without
// /usr/local, /usr/src and /usr/etc); /etc, /home, /root, /var, /opt, /srv and everything unknown are not.
// /etc inside is made up: accounts of its own, and copies of a short list of files that programs need and
// that hold no secrets.
namespace atl::layer {

enum class UsrLocal {
  hide,
  show,
  automatic,  // show it only if python3 or node is there and not in /usr/bin
};

struct HostViewOptions {
  UsrLocal usr_local = UsrLocal::automatic;
};

// A directory of the host that is mounted as it is, and where.
struct HostPart {
  std::string host_path;
  std::string inside;
};

// "/usr" always; "/bin", "/lib" and so on where they are directories of their own and not links into /usr.
std::vector<HostPart> host_parts();

// Fills the empty directory `target` with everything that is not a host part: /etc, links, mount points,
// homes. Owners are the numbers inside (root 0, user 1000); needs CAP_CHOWN for that, and goes on without.
Result<void> build_skeleton(const std::string& target);

// Fills the empty directory `target` with what covers parts of /usr that are not shown: an overlay layer to
// be stacked over the host's. OverlayAttributes::trusted needs CAP_SYS_ADMIN.
Result<void> build_usr_cover(const std::string& target, const HostViewOptions& options,
                             OverlayAttributes attributes);

}  // namespace atl::layer
