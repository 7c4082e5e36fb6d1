#pragma once

#include <memory>
#include <string>
#include <vector>

#include "os/task.h"
#include "quota/inventory.h"
#include "session/live.h"
#include "session/types.h"
#include "store/blobs.h"

namespace atl::session {

inline constexpr std::string_view kOutputDirectory = "/home/user/output";

struct ArtifactLimits {
  std::size_t files_max = 100;                 // of one execution
  std::uint64_t file_bytes_max = 64ULL << 20;  // a bigger file is left where it is
  std::uint64_t output_bytes_max = 64ULL << 20;
};

// Room for the artifacts of one execution within what its tenant may store (quota/inventory.h). Held until
// its record, which names them, is written. Belongs to the loop thread; the inventory must outlive it.
class ArtifactRoom {
 public:
  // Without an inventory there is room for everything.
  ArtifactRoom(quota::Inventory* inventory, quota::Holder holder)
      : inventory_(inventory), holder_(std::move(holder)) {}
  // Of these bytes so many as fit.
  Task<std::uint64_t> take(std::uint64_t bytes);

 private:
  quota::Inventory* inventory_;
  quota::Holder holder_;
  std::vector<quota::Reservation> taken_;
};

// What of a stream is kept: the first part as text, and all of it as a file once it is longer than that.
class OutputKeeper {
 public:
  // The room must outlive it.
  OutputKeeper(store::Blobs* blobs, std::size_t text_max, std::uint64_t file_max, ArtifactRoom& room)
      : blobs_(blobs), text_max_(text_max), file_max_(file_max), room_(room) {}
  Task<void> add(std::string_view bytes);
  // Nothing if everything fits the text. What is added from here on is not kept: the record is written,
  // although somebody may still read the stream.
  Task<std::optional<Artifact>> finish(std::string name);
  bool truncated() const { return total_ > text_.size(); }
  // Always well-formed UTF-8.
  std::string text() const;

 private:
  store::Blobs* blobs_;
  std::size_t text_max_;
  std::uint64_t file_max_;
  ArtifactRoom& room_;
  std::uint64_t granted_ = 0;  // of the room, for the file
  bool full_ = false;          // there was no room for more
  std::string text_;
  std::uint64_t total_ = 0;
  bool finished_ = false;
  std::shared_ptr<store::Blobs::Writing> file_;
};

// Files of the output directory that are new or changed since the last look, copied into the artifact store.
// What cannot be read (removed meanwhile, too big, a directory gone) is left out, not an error; so is what
// there is no room for, until a later look finds some.
Task<std::vector<Artifact>> collect_artifacts(LivePtr live, store::Blobs* blobs, ArtifactLimits limits,
                                              WallTime now, std::string record_id, ArtifactRoom& room);

std::string media_type_of(std::string_view path);

}  // namespace atl::session
