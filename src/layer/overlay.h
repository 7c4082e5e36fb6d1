#pragma once

#include <sys/stat.h>

#include <map>
#include <string>
#include <string_view>

#include "base/result.h"

// How overlayfs writes down what a layer hides: a deleted name is a character device 0:0, a directory that
// replaces the one below carries an attribute. Everything else in a layer is plain files.
namespace atl::layer {

// Which attributes overlayfs reads: "trusted.overlay." when mounted with privileges, "user.overlay." when
// mounted without (option userxattr).
enum class OverlayAttributes { trusted, user };

// A character device 0:0.
bool is_whiteout(const struct stat& info);
Result<void> make_whiteout(int dir, const char* name);

Result<void> mark_opaque(int directory, OverlayAttributes attributes);
bool is_opaque(int directory, OverlayAttributes attributes);

// What of a file's extended attributes is part of a layer: "user." ones and file capabilities. Never one that
// overlayfs itself would read, so that nobody forges a whiteout.
bool is_kept_attribute(std::string_view name);

using Attributes = std::map<std::string, std::string>;
// The kept ones, sorted.
Result<Attributes> read_attributes(int fd);

}  // namespace atl::layer
