#include "session/artifacts.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/bytes.h"

namespace atl::session {
namespace {

constexpr std::uint32_t kDepthMax = 8;
constexpr std::size_t kEntriesMax = 2000;
// Room is taken in pieces: each costs a look at everything that the tenant has.
constexpr std::uint64_t kPieceOfRoom = 4U << 20;

struct Suffix {
  std::string_view suffix, type;
};
constexpr std::array kTypes = {
    Suffix{".txt", "text/plain"},        Suffix{".csv", "text/csv"},        Suffix{".html", "text/html"},
    Suffix{".json", "application/json"}, Suffix{".md", "text/markdown"},    Suffix{".png", "image/png"},
    Suffix{".jpg", "image/jpeg"},        Suffix{".jpeg", "image/jpeg"},     Suffix{".svg", "image/svg+xml"},
    Suffix{".pdf", "application/pdf"},   Suffix{".gif", "image/gif"},       Suffix{".py", "text/x-python"},
    Suffix{".js", "text/javascript"},    Suffix{".zip", "application/zip"}, Suffix{".xml", "application/xml"},
};

Task<std::string> copy_in(sandbox::Sandbox& from, store::Blobs* blobs, std::string path,
                          std::uint64_t bytes_max) {
  CO_TRY(auto reader, co_await from.files().open_read(std::move(path), 0, std::nullopt, std::string()));
  CO_TRY(auto writing, co_await blobs->create());
  while (true) {
    CO_TRY(std::string bytes, co_await reader->next());
    if (bytes.empty()) break;
    if (writing->size() + bytes.size() > bytes_max)
      co_return fail(Code::too_large, "an artifact over its limit");
    CO_CHECK(co_await writing->write(std::move(bytes)));
  }
  co_return co_await writing->finish();
}

}  // namespace

std::string media_type_of(std::string_view path) {
  const auto* found = std::ranges::find_if(kTypes, [&](const Suffix& s) { return path.ends_with(s.suffix); });
  return std::string(found == kTypes.end() ? "application/octet-stream" : found->type);
}

Task<std::uint64_t> ArtifactRoom::take(std::uint64_t bytes) {
  if (inventory_ == nullptr) co_return bytes;
  CO_TRY(quota::Reservation taken, co_await inventory_->reserve_up_to(holder_, bytes));
  const std::uint64_t fits = taken.bytes();
  taken_.push_back(std::move(taken));
  co_return fits;
}

// finish() may come at every wait in here.
Task<void> OutputKeeper::add(std::string_view bytes) {
  if (finished_) co_return Result<void>{};
  const std::string_view all = bytes;
  const std::uint64_t before = total_;
  total_ += bytes.size();
  if (text_.size() < text_max_) text_ += bytes.substr(0, text_max_ - text_.size());
  if (total_ <= text_max_ || blobs_ == nullptr) co_return Result<void>{};
  if (!file_) {
    CO_TRY(auto made, co_await blobs_->create());
    std::string head = text_.substr(0, before);
    CO_TRY(const std::uint64_t first, co_await room_.take(head.size() + kPieceOfRoom));
    if (finished_) co_return Result<void>{};
    file_ = std::move(made);
    granted_ = first;
    if (head.size() > granted_) head.resize(granted_);
    const std::shared_ptr<store::Blobs::Writing> file = file_;
    CO_CHECK(co_await file->write(std::move(head)));
    if (finished_) co_return Result<void>{};
  }
  const std::uint64_t wanted = std::min<std::uint64_t>(file_->size() + all.size(), file_max_);
  // Once something did not fit, nothing more is written: the file would have a gap that nobody sees.
  if (wanted > granted_ && file_->size() < file_max_ && !full_) {
    CO_TRY(const std::uint64_t more, co_await room_.take(std::max(wanted - granted_, kPieceOfRoom)));
    if (finished_) co_return Result<void>{};
    granted_ += more;
    full_ = wanted > granted_;
  }
  const std::uint64_t most = std::min(file_max_, granted_);
  std::string part(all.substr(0, most > file_->size() ? most - file_->size() : 0));
  if (part.empty()) co_return Result<void>{};
  const std::shared_ptr<store::Blobs::Writing> file = file_;
  co_return co_await file->write(std::move(part));
}

Task<std::optional<Artifact>> OutputKeeper::finish(std::string name) {
  finished_ = true;
  const std::shared_ptr<store::Blobs::Writing> file = std::exchange(file_, nullptr);
  if (!file) co_return std::optional<Artifact>();
  Artifact artifact{.path = std::move(name), .media_type = "text/plain", .size_bytes = file->size()};
  CO_TRY(artifact.digest, co_await file->finish());
  co_return std::optional<Artifact>(std::move(artifact));
}

std::string OutputKeeper::text() const {
  return to_valid_utf8(text_);
}

namespace {

// A change within the same tick of the file system's clock shows no new time.
constexpr std::chrono::milliseconds kSettled{50};

// What is in the output directory; nothing, after one short question, if nothing ever was.
Task<std::vector<sandbox::FileInfo>> look(LivePtr live, std::shared_ptr<sandbox::Sandbox> from,
                                          WallTime now) {
  auto directory = co_await from->files().stat(std::string(kOutputDirectory), std::string());
  if (directory && live->outputs().is_still_empty(directory->modified_at))
    co_return std::vector<sandbox::FileInfo>();
  live->outputs().note_listed(std::nullopt);
  CO_TRY(auto listed,
         co_await from->files().list(std::string(kOutputDirectory), kDepthMax, kEntriesMax, std::string()));
  if (directory && listed.empty() && now - directory->modified_at > kSettled)
    live->outputs().note_listed(directory->modified_at);
  co_return listed;
}

}  // namespace

Task<std::vector<Artifact>> collect_artifacts(LivePtr live, store::Blobs* blobs, ArtifactLimits limits,
                                              WallTime now, std::string record_id, ArtifactRoom& room) {
  std::vector<Artifact> artifacts;
  const std::shared_ptr<sandbox::Sandbox> from = live->sandbox();
  if (blobs == nullptr || !from) co_return artifacts;
  auto listed = co_await look(live, from, now);
  if (!listed) co_return artifacts;
  std::uint64_t room_left = 0;
  for (sandbox::FileInfo& file : *listed) {
    if (file.type != sandbox::FileType::file || file.size > limits.file_bytes_max) continue;
    if (!live->outputs().is_new(file.path, file.size, file.modified_at)) continue;
    if (artifacts.size() == limits.files_max) break;
    if (file.size > room_left) {
      CO_TRY(const std::uint64_t more, co_await room.take(std::max(file.size - room_left, kPieceOfRoom)));
      room_left += more;
    }
    if (file.size > room_left) continue;
    if (!live->outputs().note(file.path, file.size, file.modified_at)) continue;
    room_left -= file.size;
    auto digest = co_await copy_in(*from, blobs, file.path, limits.file_bytes_max);
    if (!digest) continue;
    artifacts.push_back({std::move(*digest), file.path, media_type_of(file.path), file.size, now, record_id});
  }
  co_return artifacts;
}

}  // namespace atl::session
