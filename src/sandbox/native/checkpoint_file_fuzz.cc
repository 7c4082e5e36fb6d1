// Whatever a file of parked interpreters holds, reading it must stay whole and what it gives must be what
// headers promise. The first byte says how the rest is taken: as the whole file, as its index, as an
// interpreter's description (both with checksums that are right, which nobody finds by chance), or as lines
// of /proc/<pid>/maps.
#include <sys/mman.h>
#include <unistd.h>
#include <xxhash.h>

#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

#include "guest/protocol.h"
#include "os/fd.h"
#include "sandbox/native/checkpoint_file.h"
#include "sandbox/native/page_map.h"

namespace {

using namespace atl;
using namespace atl::sandbox::native;

constexpr std::uint64_t kPages = 2 * kPage;

void check(bool holds) {
  if (!holds) std::abort();
}

std::uint64_t checksum_of(std::string_view bytes) {
  return XXH3_64bits(bytes.data(), bytes.size());
}

void put_number(std::string& out, std::uint64_t value, std::size_t size) {
  out.append(reinterpret_cast<const char*>(&value), size);
}

// docs/formats/parked-interpreters.md
std::string file_of(const std::string& description, std::string index, std::uint32_t interpreters) {
  std::string file(kPage, '\0');
  file.append(kPages, 'p');
  const std::uint64_t memory_at = file.size();
  file += description;
  if (index.empty()) {
    guest::Writer<std::string> out(index);
    for (const char* text : {"id", "/", "user", "zygote"}) out.text(text, std::strlen(text));
    out.u64(1), out.u8(description.empty() ? 0 : static_cast<std::uint8_t>(description[0])), out.u32(2),
        out.u32(900);
    out.u64(memory_at), out.u64(description.size()), out.u64(checksum_of(description));
    out.u64(kPage), out.u64(kPages), out.u64(checksum_of(std::string(kPages, 'p')));
  }
  const std::uint64_t index_at = file.size();
  file += index;
  std::string head = "ATLPARK\n";
  put_number(head, 1, 4), put_number(head, interpreters, 4);
  for (const std::uint64_t value :
       {index_at, std::uint64_t{index.size()}, checksum_of(index), std::uint64_t{file.size()}})
    put_number(head, value, 8);
  put_number(head, checksum_of(head), 8);
  return file.replace(0, head.size(), head);
}

// Every address and size that somebody would use.
void use(const CheckpointPages& pages, const CheckpointedInterpreter& interpreter) {
  const ProcessImage& image = pages.image();
  check(is_sound(image) && image.extent == interpreter.extent);
  std::uint64_t sum = 0;
  for (const Run& run : image.runs) {
    check(run.size > 0 && run.offset <= interpreter.pages_size &&
          run.size <= interpreter.pages_size - run.offset);
    sum += static_cast<unsigned char>(pages.bytes()[run.offset]);
    sum += static_cast<unsigned char>(pages.bytes()[run.offset + run.size - 1]);
  }
  for (const Area& area : image.areas)
    check(area.start < area.end && area_at(image.areas, area.start) == &area);
  volatile std::uint64_t seen = sum;
  (void)seen;
}

void read(const std::string& bytes) {
  const os::Fd file(::memfd_create("fuzz", MFD_CLOEXEC));
  if (::write(file.get(), bytes.data(), bytes.size()) != static_cast<ssize_t>(bytes.size())) return;
  const auto interpreters = read_checkpoint(file.get());
  if (!interpreters) return;
  for (const CheckpointedInterpreter& interpreter : *interpreters)
    if (const auto pages = CheckpointPages::open(file.get(), interpreter)) use(*pages, interpreter);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string rest(reinterpret_cast<const char*>(data) + 1, size - 1);
  switch (data[0] % 4) {
    case 0: read(rest); break;
    case 1: read(file_of("", rest, size > 1 ? data[1] % 8U : 0U)); break;
    case 2: read(file_of(rest, "", 1)); break;
    default:
      for (const Area& area : parse_areas(rest)) check(area.protection < 8);
  }
  return 0;
}
