#include "sandbox/native/checkpoint_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>
#include <xxhash.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <span>
#include <utility>

#include "guest/protocol.h"
#include "os/file.h"
#include "sandbox/native/page_map.h"

namespace atl::sandbox::native {
namespace {

using guest::Reader;
using Writer = guest::Writer<std::string>;

constexpr char kMagic[8] = {'A', 'T', 'L', 'P', 'A', 'R', 'K', '\n'};
constexpr std::uint32_t kVersion = 2;
constexpr std::uint32_t kInterpretersMax = 256;
constexpr std::uint64_t kIndexMax = 4U << 20, kMemoryMax = 64U << 20;
constexpr std::size_t kPiece = 256U << 10;
constexpr std::size_t kStretchesMax = 512;  // the kernel takes 1024 at once

struct Head {
  char magic[8] = {};
  std::uint32_t version = 0;
  std::uint32_t interpreters = 0;
  std::uint64_t index_at = 0, index_size = 0, index_checksum = 0;
  std::uint64_t size = 0;      // of the file
  std::uint64_t checksum = 0;  // of the fields before
};
static_assert(sizeof(Head) == 56);
// Behind the head, outside of every checksum: for each interpreter, 32 bits, how often somebody has begun to
// go on from it.
constexpr off_t kRevivalsAt = 64;
static_assert(kRevivalsAt + kInterpretersMax * sizeof(std::uint32_t) <= kPage);

Error damaged(std::string_view what) {
  return Error(Code::data_loss, fmt::format("the file of parked interpreters is damaged: {}", what));
}

std::uint64_t checksum_of(std::string_view bytes) {
  return XXH3_64bits(bytes.data(), bytes.size());
}

void put(Writer& out, const std::string& text) {
  out.text(text.data(), text.size());
}

std::string get(Reader& in) {
  const guest::Text text = in.text();
  return text.data == nullptr ? std::string() : std::string(text.data, text.size);
}

// A count is believed no further than the bytes reach.
template <class Take>
void each(Reader& in, Take take) {
  for (std::uint32_t left = in.u32(); left > 0 && in.ok(); --left) take();
}

void put_runs(Writer& out, const std::vector<Run>& runs) {
  out.u32(static_cast<std::uint32_t>(runs.size()));
  for (const Run& run : runs) out.u64(run.address), out.u64(run.size), out.u64(run.offset);
}

std::vector<Run> get_runs(Reader& in) {
  std::vector<Run> runs;
  each(in, [&] {
    Run run;
    run.address = in.u64(), run.size = in.u64(), run.offset = in.u64();
    runs.push_back(run);
  });
  return runs;
}

std::string encode(const ProcessImage& image) {
  std::string bytes;
  Writer out(bytes);
  out.u8(static_cast<std::uint8_t>(image.extent)), out.u32(image.mask);
  put(out, image.directory), put(out, image.credentials);
  out.u32(static_cast<std::uint32_t>(image.areas.size()));
  for (const Area& area : image.areas) {
    out.u64(area.start), out.u64(area.end), out.u64(area.offset), out.u32(area.protection);
    out.u8(area.shared ? 1 : 0), out.u8(area.at_fork), put(out, area.file), put(out, area.name),
        put(out, area.state);
  }
  out.u32(static_cast<std::uint32_t>(image.files.size()));
  for (const OpenFile& file : image.files) {
    out.u32(static_cast<std::uint32_t>(file.number)), out.u32(static_cast<std::uint32_t>(file.same_as));
    out.u32(file.flags), out.u64(file.position), put(out, file.path);
  }
  put_runs(out, image.runs), put_runs(out, image.dropped);
  return bytes;
}

ProcessImage get_memory(Reader& in) {
  ProcessImage image;
  image.extent = static_cast<Extent>(in.u8()), image.mask = in.u32();
  image.directory = get(in), image.credentials = get(in);
  each(in, [&] {
    Area area;
    area.start = in.u64(), area.end = in.u64(), area.offset = in.u64(), area.protection = in.u32();
    area.shared = in.u8() != 0, area.at_fork = in.u8(), area.file = get(in), area.name = get(in),
    area.state = get(in);
    image.areas.push_back(std::move(area));
  });
  each(in, [&] {
    OpenFile file;
    file.number = static_cast<int>(in.u32()), file.same_as = static_cast<int>(in.u32());
    file.flags = in.u32(), file.position = in.u64(), file.path = get(in);
    image.files.push_back(std::move(file));
  });
  image.runs = get_runs(in), image.dropped = get_runs(in);
  return image;
}

std::string encode(const std::vector<CheckpointedInterpreter>& interpreters) {
  std::string bytes;
  Writer out(bytes);
  for (const CheckpointedInterpreter& one : interpreters) {
    put(out, one.id), put(out, one.directory), put(out, one.user), put(out, one.zygote);
    out.u64(one.layout), out.u8(static_cast<std::uint8_t>(one.extent));
    out.u32(static_cast<std::uint32_t>(one.pid)), out.u32(static_cast<std::uint32_t>(one.control));
    out.u64(one.memory_at), out.u64(one.memory_size), out.u64(one.memory_checksum);
    out.u64(one.pages_at), out.u64(one.pages_size), out.u64(one.pages_checksum);
  }
  return bytes;
}

CheckpointedInterpreter get_interpreter(Reader& in) {
  CheckpointedInterpreter one;
  one.id = get(in), one.directory = get(in), one.user = get(in), one.zygote = get(in);
  one.layout = in.u64(), one.extent = static_cast<Extent>(in.u8());
  one.pid = static_cast<std::int32_t>(in.u32()), one.control = static_cast<std::int32_t>(in.u32());
  one.memory_at = in.u64(), one.memory_size = in.u64(), one.memory_checksum = in.u64();
  one.pages_at = in.u64(), one.pages_size = in.u64(), one.pages_checksum = in.u64();
  return one;
}

Result<std::string> read_at(int file, std::uint64_t at, std::uint64_t size) {
  std::string bytes(size, '\0');
  for (std::uint64_t got = 0; got < size;) {
    const ssize_t count = ::pread(file, bytes.data() + got, size - got, static_cast<off_t>(at + got));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return fail(errno_error(errno, "read parked interpreters"));
    if (count == 0) return fail(damaged("it is cut short"));
    got += static_cast<std::uint64_t>(count);
  }
  return bytes;
}

bool lies_within(std::uint64_t at, std::uint64_t size, std::uint64_t end) {
  return at <= end && size <= end - at;
}

// Numbers from a file that may be damaged or hostile: every offset and size lies inside, and the process and
// its control stream are not ones that the kernel or the runner uses for itself.
bool is_within(const CheckpointedInterpreter& one, std::uint64_t size) {
  return one.extent <= Extent::whole && lies_within(one.memory_at, one.memory_size, size) &&
         one.memory_size <= kMemoryMax && lies_within(one.pages_at, one.pages_size, size) &&
         one.pages_at % kPage == 0 && one.pid > 1 && one.control > 2;
}

bool is_sealed(int file) {
  const int seals = ::fcntl(file, F_GET_SEALS);
  return seals >= 0 && (seals & F_SEAL_WRITE) != 0;
}

// Pages from all over a process's memory, one behind the other.
class PageReader {
 public:
  PageReader(const LiveProcess& process, os::Fd image, Extent extent)
      : process_(process),
        memory_(std::move(image)),
        extent_(extent),
        piece_(std::make_unique_for_overwrite<char[]>(kPiece)) {}
  bool is_full() const { return wanted_ == kPiece || from_.size() == kStretchesMax; }
  std::size_t wanted() const { return wanted_; }
  // How much of it will be read by the next read().
  std::uint64_t want(std::uint64_t address, std::uint64_t size) {
    const std::size_t part = std::min<std::uint64_t>(size, kPiece - wanted_);
    // JUSTIFICATION: addresses of another process are numbers here, and pointers in an iovec.
    from_.push_back({reinterpret_cast<void*>(address), part});
    wanted_ += part;
    return part;
  }
  struct Piece {
    std::vector<iovec> from;
    std::span<char> bytes;
  };
  // Everything that was wanted; good until the next call.
  Result<Piece> read() {
    const std::span<char> bytes(piece_.get(), std::exchange(wanted_, 0));
    std::vector<iovec> from = std::exchange(from_, {});
    const iovec here{piece_.get(), bytes.size()};
    // The process is named by its number; the caller checks afterwards that the number was not reused
    // meanwhile. This call pins what it reads and gives the process its own copy of every page that it shares
    // with its zygote, so it is not used to read a whole state.
    const bool at_once = extent_ == Extent::difference &&
                         ::process_vm_readv(process_.pid(), &here, 1, from.data(), from.size(), 0) ==
                             static_cast<ssize_t>(bytes.size());
    if (!at_once) TRY(read_singly(from));
    return Piece{std::move(from), bytes};
  }

 private:
  // There is memory that its owner may not read, and that the call above does not read either.
  Result<void> read_singly(const std::vector<iovec>& from) {
    char* to = piece_.get();
    for (const iovec& one : from)
      for (std::size_t done = 0; done < one.iov_len;) {
        // JUSTIFICATION: addresses of another process are numbers here, and pointers in an iovec.
        const auto at = static_cast<off_t>(reinterpret_cast<std::uint64_t>(one.iov_base) + done);
        const ssize_t got = ::pread(memory_.get(), to, one.iov_len - done, at);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return fail(errno_error(errno, "read an interpreter's memory"));
        done += static_cast<std::size_t>(got), to += got;
      }
    return {};
  }

  const LiveProcess& process_;
  os::Fd memory_;
  Extent extent_;
  std::unique_ptr<char[]> piece_;
  std::vector<iovec> from_;
  std::size_t wanted_ = 0;
};

// Leaves out pages that are the same in the zygote, since every child of it has them. There are many: CPython
// counts references inside of objects, so that a page which was only read was written to and written back.
class Sieve {
 public:
  Sieve(os::Fd original, const ImageReading& reading)
      : original_(std::move(original)),
        reading_(reading),
        piece_(std::make_unique_for_overwrite<char[]>(kPiece)) {}
  // What is left of the piece, moved together; its runs, with their places from `offset` on, go behind
  // `runs`.
  std::span<char> sift(const PageReader::Piece& piece, std::uint64_t offset, std::vector<Run>& runs) {
    std::size_t at = 0, kept = 0;
    for (const iovec& stretch : piece.from) {
      // JUSTIFICATION: addresses of another process are numbers here, and pointers in an iovec.
      const auto address = reinterpret_cast<std::uint64_t>(stretch.iov_base);
      const std::size_t known = look(address, stretch.iov_len);
      for (std::size_t done = 0; done < stretch.iov_len; done += kPage, at += kPage) {
        const bool is_same =
            done + kPage <= known && std::memcmp(&piece.bytes[at], &piece_[done], kPage) == 0;
        if (is_same && is_inherited(address + done)) continue;
        if (kept != at) std::memcpy(&piece.bytes[kept], &piece.bytes[at], kPage);
        if (append_page(runs, address + done)) runs.back().offset = offset + kept;
        kept += kPage;
      }
    }
    return piece.bytes.first(kept);
  }

 private:
  // How many bytes the zygote has there. Not by the call that reads at once: that would part it from its
  // children.
  std::size_t look(std::uint64_t address, std::size_t size) {
    if (!original_.is_open()) return 0;
    const ssize_t got = ::pread(original_.get(), piece_.get(), size, static_cast<off_t>(address));
    return got < 0 ? 0 : static_cast<std::size_t>(got);
  }
  // Another child has it mapped like this since it was forked (process_image_restore.cc). Not the stack: what
  // the zygote has there changes with every fork.
  bool is_inherited(std::uint64_t address) const {
    const Area *mine = area_at(reading_.image.areas, address), *original = area_at(*reading_.before, address);
    return mine != nullptr && original != nullptr && mine->name != "[stack]" &&
           is_same_backing(*mine, *original, address);
  }

  os::Fd original_;
  const ImageReading& reading_;
  std::unique_ptr<char[]> piece_;
};

}  // namespace

Result<CheckpointWriter> CheckpointWriter::begin(os::Fd file) {
  CheckpointWriter writer;
  writer.file_ = std::move(file);
  // The head is written last, over this: a file that was not finished has no magic word.
  TRY(os::write_all(writer.file_.get(), std::string(kPage, '\0')));
  writer.at_ = kPage;
  return writer;
}

Result<CheckpointWriter> CheckpointWriter::create(int directory) {
  return begin(TRY(os::open_at(directory, kCheckpointName, O_RDWR | O_CREAT | O_EXCL, 0600)));
}

Result<CheckpointWriter> CheckpointWriter::in_memory() {
  os::Fd file(::memfd_create(kCheckpointName, MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!file.is_open()) return fail(errno_error(errno, "park interpreters"));
  CheckpointWriter writer = TRY(begin(std::move(file)));
  writer.in_memory_ = true;
  return writer;
}

Result<void> CheckpointWriter::pad() {
  // Pages begin at a multiple of a page, so that the file can be mapped.
  const std::uint64_t more = (kPage - at_ % kPage) % kPage;
  at_ += more;
  return os::write_all(file_.get(), std::string(more, '\0'));
}

Result<void> CheckpointWriter::add(CheckpointedInterpreter interpreter, ImageReading reading,
                                   const LiveProcess& process, const LiveProcess& zygote) {
  ProcessImage& image = reading.image;
  interpreter.extent = image.extent;
  interpreter.pages_at = at_;
  const std::unique_ptr<XXH3_state_t, decltype(&XXH3_freeState)> sum(XXH3_createState(), &XXH3_freeState);
  XXH3_64bits_reset(sum.get());
  // A whole state goes to children of another zygote.
  Sieve sieve(image.extent == Extent::difference ? TRY(zygote.open_file("mem", O_RDONLY)) : os::Fd(),
              reading);
  // Hundreds of runs, most of one page: read and written together.
  PageReader reader(process, TRY(process.open_file("mem", O_RDONLY)), image.extent);
  const std::vector<Run> all = std::exchange(image.runs, {});
  const auto write = [&]() -> Result<void> {
    const PageReader::Piece piece = TRY(reader.read());
    const std::span<char> kept = sieve.sift(piece, at_ - interpreter.pages_at, image.runs);
    if (!in_memory_) XXH3_64bits_update(sum.get(), kept.data(), kept.size());
    at_ += kept.size();
    return os::write_all(file_.get(), {kept.data(), kept.size()});
  };
  for (const Run& run : all)
    for (std::uint64_t done = 0; done < run.size;) {
      done += reader.want(run.address + done, run.size - done);
      if (reader.is_full()) TRY(write());
    }
  TRY(write());
  // The process still lives, so every page that was read by its number was its own.
  if (!process.is_alive()) return fail(Code::not_found, "the interpreter has ended");
  interpreter.pages_size = at_ - interpreter.pages_at,
  interpreter.pages_checksum = in_memory_ ? 0 : XXH3_64bits_digest(sum.get());
  const std::string description = encode(image);
  if (description.size() > kMemoryMax) return fail(Code::too_large, "its memory is in too many pieces");
  interpreter.memory_at = at_, interpreter.memory_size = description.size(),
  interpreter.memory_checksum = checksum_of(description);
  TRY(os::write_all(file_.get(), description));
  at_ += description.size();
  interpreters_.push_back(std::move(interpreter));
  return pad();
}

Result<void> CheckpointWriter::finish() {
  const std::string index = encode(interpreters_);
  if (interpreters_.size() > kInterpretersMax || index.size() > kIndexMax)
    return fail(Code::too_large, "too many interpreters");
  Head head;
  std::memcpy(head.magic, kMagic, sizeof kMagic);
  head.version = kVersion, head.interpreters = static_cast<std::uint32_t>(interpreters_.size());
  head.index_at = at_, head.index_size = index.size(), head.index_checksum = checksum_of(index);
  head.size = at_ + index.size();
  const auto* const bytes = reinterpret_cast<const char*>(&head);
  head.checksum = checksum_of({bytes, offsetof(Head, checksum)});
  TRY(os::write_all(file_.get(), index));
  if (::pwrite(file_.get(), &head, sizeof head, 0) != sizeof head)
    return fail(errno_error(errno, "park interpreters"));
  constexpr int seals = F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE;
  if (in_memory_ && ::fcntl(file_.get(), F_ADD_SEALS, seals) < 0)
    return fail(errno_error(errno, "seal parked interpreters"));
  return {};
}

Result<std::vector<CheckpointedInterpreter>> read_checkpoint(int file) {
  const std::string bytes = TRY(read_at(file, 0, sizeof(Head)));
  Head head;
  std::memcpy(&head, bytes.data(), sizeof head);
  if (std::memcmp(head.magic, kMagic, sizeof kMagic) != 0)
    return fail(Code::data_loss, "this is not a file of parked interpreters");
  if (head.version != kVersion)
    return fail(Code::unsupported, fmt::format("parked interpreters of version {}; this program reads {}",
                                               head.version, kVersion));
  struct stat info {};
  if (head.checksum != checksum_of({bytes.data(), offsetof(Head, checksum)}) || ::fstat(file, &info) < 0)
    return fail(damaged("its beginning"));
  if (static_cast<std::uint64_t>(info.st_size) != head.size)
    return fail(damaged(fmt::format("it has {} bytes of {}", info.st_size, head.size)));
  if (head.interpreters > kInterpretersMax || head.index_size > kIndexMax ||
      !lies_within(head.index_at, head.index_size, head.size))
    return fail(damaged("its index"));
  const std::string index = TRY(read_at(file, head.index_at, head.index_size));
  if (checksum_of(index) != head.index_checksum) return fail(damaged("its index"));
  Reader in(index.data(), index.size());
  std::vector<CheckpointedInterpreter> interpreters;
  for (std::uint32_t i = 0; i < head.interpreters && in.ok(); ++i)
    interpreters.push_back(get_interpreter(in));
  if (!in.done() ||
      !std::ranges::all_of(interpreters, [&](const auto& one) { return is_within(one, head.size); }))
    return fail(damaged("its index"));
  return interpreters;
}

Result<std::uint32_t> count_revival(int proc, int file, std::uint32_t index) {
  if (index >= kInterpretersMax)
    return fail(Code::invalid_argument, "there is no such interpreter in the file");
  // The caller opened the file for reading only: open it again for writing.
  const os::Fd writable = TRY(os::open_at(proc, fmt::format("self/fd/{}", file).c_str(), O_RDWR));
  const off_t at = kRevivalsAt + static_cast<off_t>(index * sizeof(std::uint32_t));
  std::uint32_t before = 0;
  if (::pread(writable.get(), &before, sizeof before, at) != sizeof before)
    return fail(errno_error(errno, "read parked interpreters"));
  const std::uint32_t now = before + 1;
  if (::pwrite(writable.get(), &now, sizeof now, at) != sizeof now)
    return fail(errno_error(errno, "mark parked interpreters"));
  return before;
}

Result<CheckpointPages> CheckpointPages::open(int file, const CheckpointedInterpreter& interpreter) {
  CheckpointPages pages;
  const std::string description = TRY(read_at(file, interpreter.memory_at, interpreter.memory_size));
  Reader in(description.data(), description.size());
  if (checksum_of(description) == interpreter.memory_checksum) pages.memory_ = get_memory(in);
  const ProcessImage& image = pages.memory_;
  const bool fits = std::ranges::all_of(
      image.runs, [&](const Run& run) { return lies_within(run.offset, run.size, interpreter.pages_size); });
  if (!in.done() || image.extent != interpreter.extent || !is_sound(image) || !fits)
    return fail(damaged("the description of an interpreter"));
  if (interpreter.pages_size == 0) return pages;
  void* const at = ::mmap(nullptr, interpreter.pages_size, PROT_READ, MAP_PRIVATE | MAP_POPULATE, file,
                          static_cast<off_t>(interpreter.pages_at));
  if (at == MAP_FAILED) return fail(errno_error(errno, "read parked interpreters"));
  pages.bytes_ = static_cast<const char*>(at), pages.size_ = interpreter.pages_size;
  // A sealed memory file cannot have changed since it was written; checking it would read all pages once
  // more.
  if (!is_sealed(file) && checksum_of({pages.bytes_, pages.size_}) != interpreter.pages_checksum)
    return fail(damaged("the memory of an interpreter"));
  return pages;
}

CheckpointPages::CheckpointPages(CheckpointPages&& other) noexcept
    : memory_(std::move(other.memory_)),
      bytes_(std::exchange(other.bytes_, nullptr)),
      size_(std::exchange(other.size_, 0)) {}

CheckpointPages::~CheckpointPages() {
  // JUSTIFICATION: munmap takes what mmap gave, which we hold as const.
  if (bytes_ != nullptr) ::munmap(const_cast<char*>(bytes_), size_);
}

}  // namespace atl::sandbox::native
