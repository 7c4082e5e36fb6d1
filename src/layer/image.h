#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "os/fd.h"

// Images as OCI layouts and `docker save` describe them: which blobs make up which layers.
namespace atl::layer {

struct ImageLayer {
  std::string path;     // below the bundle
  std::string digest;   // of the blob as it lies there; empty: not stated
  std::string diff_id;  // of its decompressed bytes
};

struct Image {
  std::vector<ImageLayer> layers;  // lowest first
  std::map<std::string, std::string> env;
  std::string user;
  std::string working_directory;
};

enum class Bundle { oci_layout, docker_archive, none };

// What the directory is, by the files in it.
Bundle bundle_kind(int directory);
// The image to be used of the bundle: the one called `wanted`, or the only one for this machine. Checks the
// digest of every document on the way. Follows indexes at most a few levels.
Result<Image> find_image(int directory, Bundle kind, const std::string& wanted);

// A file of the bundle, never outside of it. Links within are followed: older versions of docker use them.
Result<os::Fd> open_in_bundle(int directory, const std::string& path, int flags);
Result<std::string> read_in_bundle(int directory, const std::string& path);

}  // namespace atl::layer
