#include "layer/archive.h"

#include <archive.h>
#include <archive_entry.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <locale>

namespace atl::layer {
namespace {

constexpr std::size_t kBlockBytes = 1 << 18;

// libarchive turns names of pax headers into the locale's encoding. Names are bytes to us: UTF-8 whatever the
// process was started with.
class Utf8Names {
 public:
  Utf8Names() : mine_(::newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr)) {
    if (mine_ != nullptr) before_ = ::uselocale(mine_);
  }
  ~Utf8Names() {
    if (mine_ == nullptr) return;
    ::uselocale(before_);
    ::freelocale(mine_);
  }
  Utf8Names(const Utf8Names&) = delete;
  Utf8Names& operator=(const Utf8Names&) = delete;

 private:
  locale_t mine_, before_ = nullptr;
};

std::string reason(archive* reader) {
  const char* text = archive_error_string(reader);
  return text == nullptr ? "unknown format" : text;
}

}  // namespace

Inflater::~Inflater() {
  archive_read_free(reader_);
}

long Inflater::take(archive* reader, void* self, const void** bytes) {
  auto& me = *static_cast<Inflater*>(self);
  ssize_t got = 0;
  do {
    got = ::read(me.fd_, me.in_.data(), me.in_.size());
  } while (got < 0 && errno == EINTR);
  if (got < 0) {
    archive_set_error(reader, errno, "cannot be read");
    return ARCHIVE_FATAL;
  }
  me.bytes_in_ += static_cast<std::uint64_t>(got);
  *bytes = me.in_.data();
  return got;
}

Result<std::unique_ptr<Inflater>> Inflater::open(int fd, const ArchiveLimits& limits, Moved moved) {
  std::unique_ptr<Inflater> self(new Inflater(fd, limits, std::move(moved)));
  struct stat info {};
  if (::fstat(fd, &info) < 0) return fail(errno_error(errno, "look at the archive"));
  if (S_ISREG(info.st_mode)) self->bytes_all_ = static_cast<std::uint64_t>(info.st_size);
  self->in_.resize(kBlockBytes);
  self->out_.resize(kBlockBytes);
  self->reader_ = archive_read_new();
  archive* reader = self->reader_;
  archive_read_support_filter_gzip(reader);
  archive_read_support_filter_zstd(reader);
  archive_read_support_filter_xz(reader);
  archive_read_support_filter_bzip2(reader);
  archive_read_support_format_raw(reader);
  archive_read_support_format_empty(reader);
  if (archive_read_open(reader, self.get(), nullptr, &Inflater::take, nullptr) != ARCHIVE_OK)
    return fail(Code::invalid_argument, "the archive cannot be read: " + reason(reader));
  // The compression and the plain bytes below it.
  if (archive_filter_count(reader) > 2)
    return fail(Code::invalid_argument, "the archive is compressed more than once");
  archive_entry* entry = nullptr;
  const int status = archive_read_next_header(reader, &entry);
  self->empty_ = status == ARCHIVE_EOF;
  if (status != ARCHIVE_OK && status != ARCHIVE_EOF)
    return fail(Code::invalid_argument, "the archive cannot be read: " + reason(reader));
  return self;
}

Result<std::string_view> Inflater::next() {
  if (empty_) return std::string_view();
  if (moved_) TRY(moved_(bytes_in_, bytes_all_));
  const la_ssize_t got = archive_read_data(reader_, out_.data(), out_.size());
  if (got < 0) return fail(Code::invalid_argument, "the archive is damaged: " + reason(reader_));
  bytes_out_ += static_cast<std::uint64_t>(got);
  if (bytes_out_ > limits_.bytes_max)
    return fail(Code::too_large, fmt::format("the archive is larger than {} bytes", limits_.bytes_max));
  if (bytes_out_ > limits_.ratio_from_bytes && bytes_out_ / limits_.ratio_max > bytes_in_)
    return fail(Code::too_large, fmt::format("the archive grows more than {} times", limits_.ratio_max));
  const std::string_view piece(out_.data(), static_cast<std::size_t>(got));
  hash_.update(piece);
  return piece;
}

Result<std::string> Inflater::finish() {
  while (!TRY(next()).empty()) {
  }
  return hash_.finish();
}

TarReader::~TarReader() {
  archive_read_free(reader_);
}

long TarReader::take(archive* reader, void* self, const void** bytes) {
  auto& me = *static_cast<TarReader*>(self);
  auto piece = me.bytes_.next();
  if (!piece) {
    archive_set_error(reader, EIO, "%s", piece.error().message().c_str());
    me.failure_ = std::move(piece).error();
    return ARCHIVE_FATAL;
  }
  *bytes = piece->data();
  return static_cast<long>(piece->size());
}

Error TarReader::broken(const char* what) {
  if (failure_) return *failure_;
  return {Code::invalid_argument, fmt::format("{}: {}", what, reason(reader_))};
}

Result<std::unique_ptr<TarReader>> TarReader::open(Inflater& bytes, const ArchiveLimits& limits) {
  std::unique_ptr<TarReader> self(new TarReader(bytes, limits));
  self->reader_ = archive_read_new();
  archive_read_support_format_tar(self->reader_);
  if (archive_read_open(self->reader_, self.get(), nullptr, &TarReader::take, nullptr) != ARCHIVE_OK)
    return fail(self->broken("this is not a tar archive"));
  return self;
}

Result<archive_entry*> TarReader::next() {
  const Utf8Names names;
  archive_entry* entry = nullptr;
  const int status = archive_read_next_header(reader_, &entry);
  if (status == ARCHIVE_EOF) return nullptr;
  // A warning means that libarchive had to guess.
  if (status != ARCHIVE_OK)
    return fail(broken(entries_ == 0 ? "this is not a tar archive" : "the archive is damaged"));
  if (++entries_ > limits_.entries_max)
    return fail(Code::too_large, fmt::format("the archive has more than {} entries", limits_.entries_max));
  const la_int64_t size = archive_entry_size_is_set(entry) != 0 ? archive_entry_size(entry) : 0;
  if (size < 0) return fail(Code::invalid_argument, "the archive is damaged: a negative size");
  if (static_cast<std::uint64_t>(size) > limits_.bytes_max - bytes_declared_)
    return fail(Code::too_large, fmt::format("the archive is larger than {} bytes", limits_.bytes_max));
  bytes_declared_ += static_cast<std::uint64_t>(size);
  return entry;
}

Result<TarReader::Piece> TarReader::content() {
  const void* bytes = nullptr;
  std::size_t size = 0;
  la_int64_t offset = 0;
  do {
    const int status = archive_read_data_block(reader_, &bytes, &size, &offset);
    if (status == ARCHIVE_EOF) return Piece{};
    if (status != ARCHIVE_OK) return fail(broken("the archive is damaged"));
  } while (size == 0);
  if (offset < 0) return fail(Code::invalid_argument, "the archive is damaged: a negative offset");
  return Piece{{static_cast<const char*>(bytes), size}, static_cast<std::uint64_t>(offset)};
}

}  // namespace atl::layer
