#include "sandbox/native/process_image_restore.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <set>
#include <string_view>

#include "guest/protocol.h"
#include "guest/zygote/restore_steps.h"
#include "sandbox/native/page_map.h"

namespace atl::sandbox::native {
namespace {

using guest::Move;
using guest::Step;

Step step_of(Move move) {
  Step step;
  step.move = static_cast<std::uint32_t>(move);
  return step;
}

// Steps for the child, as bytes for its control stream.
class Route {
 public:
  void add(Step step, std::string_view path = {}) {
    step.path_size = static_cast<std::uint32_t>(path.size());
    bytes_.append(reinterpret_cast<const char*>(&step), sizeof step);
    bytes_.append(path);
  }
  void range(Move move, std::uint64_t start, std::uint64_t end, std::uint32_t protection = 0) {
    Step step = step_of(move);
    step.address = start, step.size = end - start, step.protection = protection;
    add(step);
  }
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

Result<void> send_all(int control, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = ::write(control, bytes.data(), bytes.size());
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return fail(errno_error(errno, "speak to the new interpreter"));
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  return {};
}

Result<void> await(int control, std::string_view what) {
  guest::Arrived arrived;
  auto* at = reinterpret_cast<char*>(&arrived);
  for (std::size_t got = 0; got < sizeof arrived;) {
    const ssize_t size = ::read(control, at + got, sizeof arrived - got);
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) return fail(Code::provider_failed, fmt::format("the new interpreter went away: {}", what));
    got += static_cast<std::size_t>(size);
  }
  if (arrived.error != 0)
    return fail(errno_error(arrived.error, fmt::format("{}, step {}", what, arrived.step)));
  return {};
}

Result<void> walk(int control, Route route, std::string_view what) {
  route.add(step_of(Move::sync));
  TRY(send_all(control, route.bytes()));
  return await(control, what);
}

const Area* named(const std::vector<Area>& areas, std::string_view name) {
  const auto found = std::ranges::find(areas, name, &Area::name);
  return found == areas.end() ? nullptr : &*found;
}

// The steps stand on code of files that are mapped at the same place in both; where they are not, this child
// is of another layout.
Result<void> check_layout(const ProcessImage& image, const std::vector<Area>& present) {
  const auto differs = [](std::string_view what) {
    return fail(Code::conflict, fmt::format("the layout is another one: {}", what));
  };
  for (const char* name : {"[heap]", "[vdso]"}) {
    const Area *want = named(image.areas, name), *have = named(present, name);
    if (want != nullptr && have != nullptr && want->start != have->start) return differs(name);
  }
  const Area *want_stack = named(image.areas, "[stack]"), *have_stack = named(present, "[stack]");
  if (want_stack == nullptr || have_stack == nullptr || want_stack->end != have_stack->end)
    return differs("[stack]");
  for (const Area& have : present) {
    if (is_untouchable(have) || have.file.empty() || (have.protection & PROT_EXEC) == 0) continue;
    const Area* const want = area_at(image.areas, have.start);
    if (want == nullptr || !is_same_backing(*want, have, have.start)) return differs(have.name);
  }
  return {};
}

// The kernel's own marks, which later growth starts from.
Route grow(const std::vector<Area>& wanted, const std::vector<Area>& present) {
  Route route;
  const Area *heap = nullptr, *old_heap = nullptr;
  for (const Area& area : wanted)
    if (area.name == "[heap]") heap = &area;
  for (const Area& area : present)
    if (area.name == "[heap]") old_heap = &area;
  if (heap != nullptr && (old_heap == nullptr || old_heap->end != heap->end)) {
    Step step = step_of(Move::set_break);
    step.address = heap->end;
    route.add(step);
  }
  const Area *stack = named(wanted, "[stack]"), *old_stack = named(present, "[stack]");
  if (stack != nullptr && old_stack != nullptr && stack->start < old_stack->start) {
    Step step = step_of(Move::touch);
    step.address = stack->start;
    route.add(step);
  }
  return route;
}

// An area that a fork empties (wiped, absent or droppable): it is made empty whatever is there now, and gets
// the same advice for its own forks.
void rebuild_emptied(const Area& want, const Area* have, std::uint64_t start, std::uint64_t end,
                     Route& route) {
  if (want.file.empty()) {
    Step step = step_of(Move::map_anonymous);
    step.address = start, step.size = end - start, step.protection = want.protection;
    step.flags = (want.at_fork & kDroppable) != 0 ? guest::kMapDroppable : 0;
    route.add(step);
  } else if (have != nullptr && is_same_backing(want, *have, start)) {
    route.range(Move::forget, start, end);
    route.range(Move::protect, start, end, want.protection);
  } else {
    Step step = step_of(Move::map_file);
    step.address = start, step.size = end - start, step.protection = want.protection;
    step.offset = want.offset + (start - want.start);
    route.add(step, want.name);
  }
  const auto advise = [&](std::uint32_t advice) {
    Step step = step_of(Move::advise);
    step.address = start, step.size = end - start, step.flags = advice;
    route.add(step);
  };
  // What is droppable is wiped by that alone.
  if ((want.at_fork & (kWipedByFork | kDroppable)) == kWipedByFork) advise(MADV_WIPEONFORK);
  if ((want.at_fork & kAbsentAfterFork) != 0) advise(MADV_DONTFORK);
}

void rebuild_piece(const Area* want, const Area* have, std::uint64_t start, std::uint64_t end, Route& route) {
  if (want == nullptr) {
    if (have != nullptr) route.range(Move::unmap, start, end);
    return;
  }
  if (want->at_fork != 0) return rebuild_emptied(*want, have, start, end, route);
  if (have != nullptr && is_same_backing(*want, *have, start)) {
    if (want->protection != have->protection) route.range(Move::protect, start, end, want->protection);
    return;
  }
  if (want->file.empty()) return route.range(Move::map_anonymous, start, end, want->protection);
  Step step = step_of(Move::map_file);
  step.address = start, step.size = end - start, step.protection = want->protection;
  step.offset = want->offset + (start - want->start);
  route.add(step, want->name);
}

// Both maps in pieces that neither divides further.
Route rebuild(const std::vector<Area>& wanted, const std::vector<Area>& present) {
  Route route;
  std::vector<std::uint64_t> cuts;
  for (const auto* list : {&wanted, &present})
    for (const Area& area : *list)
      if (!is_untouchable(area)) cuts.push_back(area.start), cuts.push_back(area.end);
  std::ranges::sort(cuts);
  cuts.erase(std::ranges::unique(cuts).begin(), cuts.end());
  for (std::size_t i = 0; i + 1 < cuts.size(); ++i) {
    const Area *want = area_at(wanted, cuts[i]), *have = area_at(present, cuts[i]);
    if ((want != nullptr && is_untouchable(*want)) || (have != nullptr && is_untouchable(*have))) continue;
    rebuild_piece(want, have, cuts[i], cuts[i + 1], route);
  }
  return route;
}

// Drops the pages that this child has written to since it was forked; they are not part of the image.
Route clear(const ProcessImage& image, const std::vector<Area>& present) {
  Route route;
  if (image.extent == Extent::difference) {
    for (const Run& run : image.dropped) route.range(Move::forget, run.address, run.address + run.size);
    return route;
  }
  for (const Area& area : present)
    if (!is_untouchable(area) && !area.shared) route.range(Move::forget, area.start, area.end);
  return route;
}

void reopen(const ProcessImage& image, Route& route) {
  for (const OpenFile& file : image.files) {
    Step step = step_of(file.same_as >= 0 ? Move::duplicate : Move::open);
    step.number = file.number;
    step.flags = file.same_as >= 0 ? static_cast<std::uint32_t>(file.same_as) : file.flags;
    step.offset = file.position;
    route.add(step, file.path);
  }
  route.add(step_of(Move::directory), image.directory);
  Step mask = step_of(Move::mask);
  mask.flags = image.mask;
  route.add(mask);
}

// Files are mapped by name: checks that each is the file that was mapped when the image was taken.
Result<void> check_files(const ProcessImage& image, const std::vector<Area>& present,
                         const LiveProcess& process) {
  std::set<std::string> seen;
  for (const Area& want : image.areas) {
    if (want.file.empty() || is_untouchable(want) || want.shared) continue;
    // Every child of one zygote has it since it was forked.
    if (image.extent == Extent::difference && want.state.empty()) continue;
    if (!seen.insert(want.name).second) continue;
    const Area* const have = area_at(present, want.start);
    if (have == nullptr || process.state_of(*have) != want.state)
      return fail(Code::conflict, fmt::format("the mapped file {} has changed", want.name));
  }
  return {};
}

Result<void> write_at(int image, const char* from, std::uint64_t size, std::uint64_t address) {
  while (size > 0) {
    const ssize_t put = ::pwrite(image, from, size, static_cast<off_t>(address));
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) return fail(errno_error(errno, "write an interpreter's memory"));
    from += put, address += static_cast<std::uint64_t>(put), size -= static_cast<std::uint64_t>(put);
  }
  return {};
}

// It has changed no protection since it was forked: what it could not write to then it has not written to.
std::vector<Area> writable(const std::vector<Area>& areas) {
  std::vector<Area> some;
  std::ranges::copy_if(areas, std::back_inserter(some),
                       [](const Area& area) { return (area.protection & PROT_WRITE) != 0; });
  return some;
}

// Restores the zygote's content of pages that this child has written to since it was forked and the image's
// process had not.
Result<void> undo(const ProcessImage& image, const std::vector<Area>& areas, const Recipient& to, int bytes) {
  const os::Fd original = TRY(to.zygote.open_file("mem", O_RDONLY));
  const std::vector<Run> mine = TRY(exclusive_pages(areas, to.process));
  char page[kPage];
  std::size_t next = 0;
  for (const Run& run : mine)
    for (std::uint64_t at = run.address; at < run.address + run.size; at += kPage) {
      while (next < image.runs.size() && image.runs[next].address + image.runs[next].size <= at) ++next;
      if (next < image.runs.size() && image.runs[next].address <= at) continue;
      if (::pread(original.get(), page, kPage, static_cast<off_t>(at)) != static_cast<ssize_t>(kPage))
        std::memset(page, 0, kPage);
      TRY(write_at(bytes, page, kPage, at));
    }
  return {};
}

}  // namespace

bool is_sound(const ProcessImage& image) {
  std::uint64_t end = 0;
  for (const Area& area : image.areas) {
    const bool is_vsyscall = area.name == "[vsyscall]";
    if (area.start % kPage != 0 || area.end % kPage != 0 || area.start >= area.end || area.start < end ||
        (area.end > kAddressEnd && !is_vsyscall) ||
        area.at_fork > (kWipedByFork | kAbsentAfterFork | kDroppable) ||
        area.protection > (PROT_READ | PROT_WRITE | PROT_EXEC) || area.name.size() >= guest::kPathMax)
      return false;
    end = area.end;
  }
  for (const auto* runs : {&image.runs, &image.dropped}) {
    end = 0;
    for (const Run& run : *runs) {
      if (run.address % kPage != 0 || run.size % kPage != 0 || run.size == 0 || run.address < end ||
          run.size > kAddressEnd || run.address > kAddressEnd - run.size)
        return false;
      end = run.address + run.size;
    }
  }
  return image.directory.size() < guest::kPathMax &&
         std::ranges::all_of(image.files, [](const OpenFile& file) {
           return file.number >= 0 && file.path.size() < guest::kPathMax;
         });
}

Result<void> restore_process_image(const ProcessImage& image, const char* pages, const Recipient& to) {
  TRY(await(to.control, "begin"));
  if (credentials_of(TRY(to.process.text("status"))) != image.credentials)
    return fail(Code::conflict, "it changed what it may do");
  const std::vector<Area> first = TRY(to.process.areas(image.extent));
  TRY(check_layout(image, first));
  Route growth = grow(image.areas, first);
  const bool grows = !growth.bytes().empty();
  if (grows) TRY(walk(to.control, std::move(growth), "grow"));
  Route route = rebuild(image.areas, grows ? TRY(to.process.areas(image.extent)) : first);
  const bool remaps = !route.bytes().empty();
  reopen(image, route);
  TRY(walk(to.control, std::move(route), "map"));
  const std::vector<Area> present = grows || remaps ? TRY(to.process.areas(image.extent)) : first;
  TRY(check_files(image, present, to.process));
  if (Route route_back = clear(image, present); !route_back.bytes().empty())
    TRY(walk(to.control, std::move(route_back), "clear"));
  const os::Fd bytes = TRY(to.process.open_file("mem", O_RDWR));
  if (image.extent == Extent::difference) TRY(undo(image, writable(first), to, bytes.get()));
  for (const Run& run : image.runs) TRY(write_at(bytes.get(), pages + run.offset, run.size, run.address));
  Route last;
  Step step = step_of(Move::go_on);
  step.flags = static_cast<std::uint32_t>(to.resumed ? guest::Waking::resumed : guest::Waking::copy);
  last.add(step);
  return send_all(to.control, last.bytes());
}

}  // namespace atl::sandbox::native
