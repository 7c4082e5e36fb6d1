// Interpreters: zygotes, and who is born of them.
#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "guest/zygote/birth.h"
#include "os/file.h"
#include "os/process.h"
#include "sandbox/native/memory.h"
#include "sandbox/native/spawner_loop.h"

namespace atl::sandbox::native {

Zygote* Spawner::last_zygote(const ZygoteKind& kind, std::optional<Zygote::State> state) {
  for (auto one = zygotes_.rbegin(); one != zygotes_.rend(); ++one)
    if ((*one)->kind() == kind && (!state || (*one)->state() == *state)) return one->get();
  return nullptr;
}

Result<std::unique_ptr<Zygote>> Spawner::start_zygote(const ZygoteKind& kind, std::uint64_t layout) {
  if (shop_.standing().rootless) return fail(Code::unsupported, "a zygote needs root");
  if (!options_.zygote.enabled) return fail(Code::unsupported, "zygotes are turned off");
  if (zygotes_.size() >= kZygotesMax && !drop_idle_zygote())
    return fail(Code::resource_exhausted, "there are too many kinds of zygotes");
  Zygote::Start start{.kind = kind, .proc = shop_.proc(), .generation = ++generations_, .layout = layout};
  start.layers = TRY(shop_.zygote_layers(kind.layers));
  auto zygote = TRY(Zygote::start(std::move(start)));
  watch(zygote->socket(), Source::zygote);
  return zygote;
}

bool Spawner::has_children(const Zygote& zygote) const {
  return std::ranges::any_of(living_, [&](const auto& living) {
    return std::ranges::any_of(living.second->interpreters,
                               [&](const auto& one) { return one.second.generation == zygote.generation(); });
  });
}

bool Spawner::drop_idle_zygote() {
  const auto idle = std::ranges::find_if(zygotes_, [&](const auto& one) {
    return one->state() != Zygote::State::starting && one.get() != last_zygote(kind_of({}), std::nullopt) &&
           !has_children(*one);
  });
  if (idle == zygotes_.end()) return false;
  if (os::Fd process = (*idle)->end(); process.is_open()) reap(std::move(process));
  zygotes_.erase(idle);
  return true;
}

void Spawner::raise_zygote(const ZygoteKind& kind) {
  constexpr std::uint32_t attempts = 3;
  constexpr std::size_t remembered_max = 256;
  if (failed_zygotes_.size() > remembered_max) failed_zygotes_.clear();
  Failure& failure = failed_zygotes_[kind];
  Zygote* const last = last_zygote(kind, std::nullopt);
  const bool is_useful = last != nullptr && last->state() != Zygote::State::dead && !last->is_worn(options_.zygote);
  if (failure.count >= attempts || is_useful) return;
  // Of the older ones those stay that can still be asked for siblings of living interpreters.
  std::erase_if(zygotes_, [&](const auto& zygote) {
    const bool is_over = zygote->kind() == kind &&
                         (zygote->state() == Zygote::State::dead || !has_children(*zygote)) &&
                         zygote->state() != Zygote::State::starting;
    if (os::Fd process = is_over ? zygote->end() : os::Fd(); process.is_open()) reap(std::move(process));
    return is_over;
  });
  auto zygote = start_zygote(kind, Zygote::new_layout());
  if (!zygote) {
    failure = {attempts, zygote.error().message()};
    return;
  }
  zygotes_.push_back(std::move(*zygote));
}

void Spawner::on_zygote(int fd) {
  for (const auto& zygote : zygotes_) {
    if (zygote->socket() != fd) continue;
    zygote->hear();
    const ZygoteKind kind = zygote->kind();
    if (zygote->state() == Zygote::State::ready) {
      // It only forks from here on: whoever waits for a birth waits for the spawner too.
      const sched_param priority{.sched_priority = 1};
      if (shop_.realtime()) ::sched_setscheduler(zygote->pid(), SCHED_FIFO, &priority);
      raise_copier();
    }
    if (zygote->state() == Zygote::State::dead) {
      Failure& failure = failed_zygotes_[kind];
      ++failure.count, failure.reason = zygote->complaint();
      raise_zygote(kind);
    }
    break;
  }
  if (std::ranges::any_of(zygotes_, [](const auto& one) { return one->state() == Zygote::State::starting; })) return;
  for (Expecting& waiting : std::exchange(expecting_, {})) {
    waiting.request.text = "late";
    serve(waiting.request, std::move(waiting.beside));
  }
}

void Spawner::bear(const Request& request) {
  Living& living = *find(request.name);
  os::Fd users;
  auto cradle = cradle_in(living, request, users);
  if (!cradle) return answer_error(request, std::move(cradle).error());
  const ZygoteKind kind = kind_of(living.spec);
  Zygote* const ready = last_zygote(kind, Zygote::State::ready);
  if (ready == nullptr) {
    raise_zygote(kind);
    if (request.text != "late" && last_zygote(kind, Zygote::State::starting) != nullptr &&
        expecting_.size() < kWaitingMax)
      return expecting_.push_back({request, os::Fd()});
    const std::string& why = failed_zygotes_[kind].reason;
    return answer_error(request, Error(Code::unavailable, why.empty() ? "no zygote is ready" : why));
  }
  auto born = ready->bear(*cradle);
  if (!born) return answer_error(request, std::move(born).error());
  hand_over({.verb = request.verb, .token = request.token, .name = request.name}, living, std::move(*born));
  raise_zygote(kind);
}

ZygoteKind Spawner::kind_of(const Spec& spec) const {
  ZygoteKind kind{.modules = options_.zygote.modules};
  kind.modules.insert(kind.modules.end(), spec.preimport.begin(), spec.preimport.end());
  if (spec.trusted_layers) kind.layers = spec.layers;
  return kind;
}

Result<Cradle> Spawner::cradle_in(const Living& living, const Request& request, os::Fd& users) {
  const char* const programs = living.spec.layers.empty() ? "usr" : "root/usr";
  if (!living.built.plain_usr || !is_empty(living.built.upper.get(), programs))
    return fail(Code::unsupported, "the sandbox's programs are not the zygote's");
  if (living.frozen || living.freezing) return fail(Code::conflict, "the sandbox is paused");
  // Not kept for each sandbox: a thousand descriptors would be copied with every helper.
  users = TRY(os::open_at(shop_.proc(), fmt::format("{}/ns/user", living.built.pid).c_str(), O_RDONLY));
  return Cradle{.guest_pidfd = living.built.pidfd.get(),
                .user_namespace = users.get(),
                .filter = shop_.filter(),
                .open_files = living.spec.limits.open_files_max,
                .set_uid = living.spec.sudo,
                .doors = TRY(shop_.cgroups().open_doors(living.built.parts.group)),
                .user = request.user,
                .directory = request.directory};
}

void Spawner::hand_over(Reply reply, Living& living, Born born) {
  // Those that ended are forgotten when they have become many.
  if (living.interpreters.size() >= 16)
    std::erase_if(living.interpreters, [&](const auto& one) {
      return !Subject::open(shop_.proc(), one.second.place.pid, one.second.place.born_at);
    });
  living.interpreters[born.pid] = {born.generation, {born.host_pid, born.born_at}};
  reply.pid = static_cast<std::uint32_t>(born.pid);
  const int fds[] = {born.control.get(), born.out.get(), born.err.get()};
  answer(std::move(reply), fds);
}

Zygote* Spawner::zygote_of(std::uint64_t generation) {
  for (const auto& zygote : zygotes_)
    if (zygote->generation() == generation && zygote->state() == Zygote::State::ready) return zygote.get();
  return nullptr;
}

Zygote* Spawner::zygote_for(const ParkedKernel& kernel, const ZygoteKind& kind, bool& is_coming) {
  const auto fits = [&](const auto& one) {
    return kernel.extent == Extent::whole ? one->layout() == kernel.layout && one->kind() == kind
                                          : one->id() == kernel.zygote;
  };
  const bool may_come = is_coming && kernel.extent == Extent::whole;
  is_coming = false;
  for (const auto& one : zygotes_) {
    if (one->state() == Zygote::State::ready && fits(one)) return one.get();
    is_coming |= may_come && one->state() == Zygote::State::starting && fits(one);
  }
  if (is_coming || !may_come) return nullptr;
  auto zygote = start_zygote(kind, kernel.layout);
  if (!zygote) return nullptr;
  is_coming = true;
  // Not the last: that one is everybody's.
  zygotes_.insert(zygotes_.begin(), std::move(*zygote));
  return nullptr;
}

Result<Born> Spawner::bear_copy(Zygote& zygote, const Living& living, const ParkedKernel& kernel) {
  if (guest::control_number(living.spec.limits.open_files_max) != kernel.control)
    return fail(Code::conflict, "the limit of open files is another one");
  os::Fd users;
  Request place;
  place.user = kernel.user, place.directory = "/";
  Cradle cradle = TRY(cradle_in(living, place, users));
  cradle.pid = kernel.pid, cradle.copy = true;
  auto born = zygote.bear(cradle);
  // Its helper may have got that very number: it moves on.
  for (int again = 0; again < 3 && !born && born.error().code() == Code::already_exists; ++again)
    born = zygote.bear(cradle);
  if (!born) return born;
  constexpr timeval patience{.tv_sec = 20, .tv_usec = 0};
  ::setsockopt(born->control.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  return born;
}

Result<void> Spawner::write_copy(Copying copying, int file, std::uint32_t index) {
  const Born& born = *copying.born;
  const Zygote* const zygote = zygote_of(born.generation);
  if (zygote == nullptr) return fail(Code::conflict, "its zygote is gone");
  const ReviveJob job{.proc = shop_.proc(),
                      .file = file,
                      .index = index,
                      .process = {born.host_pid, born.born_at},
                      .zygote = {zygote->pid(), zygote->born_at()},
                      .control = born.control.get()};
  return assign(std::move(copying), job);
}

// A child of the kernel's own zygote, of the kernel's own number, is made into it by a process of ours.
void Spawner::revive(const Request& request, os::Fd file) {
  Living& living = *find(request.name);
  if (!file.is_open()) return answer_error(request, Error(Code::internal, "the file of parked kernels is missing"));
  // Whoever reads a pipe or a device may wait for ever.
  struct stat info {};
  if (::fstat(file.get(), &info) < 0 || !S_ISREG(info.st_mode))
    return answer_error(request, Error(Code::invalid_argument, "parked kernels come in a file"));
  if (expecting_.size() + patient_.size() >= kWaitingMax)
    return answer_error(request, Error(Code::resource_exhausted, "too many kernels are coming back at once"));
  const ParkedKernel& kernel = request.kernel;
  if (take_early(living, request, kernel, file)) return;
  bool is_coming = request.text != "late";
  Zygote* const zygote = zygote_for(kernel, kind_of(living.spec), is_coming);
  if (zygote == nullptr && is_coming) return expecting_.push_back({request, std::move(file)});
  if (zygote == nullptr) return answer_error(request, Error(Code::conflict, "its zygote is gone"));
  if (is_reviving_enough()) return patient_.push_back({request, std::move(file)});
  auto born = bear_copy(*zygote, living, kernel);
  if (!born) return answer_error(request, std::move(born).error());
  Copying copying{.verb = request.verb, .token = request.token, .name = request.name};
  copying.born = std::move(*born);
  if (auto begun = write_copy(std::move(copying), file.get(), request.number); !begun)
    answer_error(request, std::move(begun).error());
}

// Where this fails, whoever asks for the copy will be told why.
void Spawner::bear_early(Living& living, const ParkedKernel& kernel) {
  bool is_coming = false;
  Zygote* const zygote = zygote_for(kernel, kind_of(living.spec), is_coming);
  if (zygote == nullptr || is_reviving_enough()) return;
  auto born = bear_copy(*zygote, living, kernel);
  if (born) living.early = Living::Early{.kernel = kernel, .born = std::move(*born)};
}

void Spawner::write_early(const std::string& target, const std::vector<std::string>& carried, int file) {
  Living* const living = standby_ && standby_->spec.snapshot == target ? find(standby_->name) : nullptr;
  if (living == nullptr || !living->early) return;
  Living::Early& early = *living->early;
  struct stat info {};
  // A capture that is large lies on the disk.
  if (carried.empty() || carried.front() != early.kernel.id || file < 0 || ::fstat(file, &info) < 0)
    return drop_early(*living);
  early.device = info.st_dev, early.file = info.st_ino;
  Copying copying{.verb = Verb::revive, .name = standby_->name};
  copying.is_early = true, copying.born = std::exchange(early.born, std::nullopt);
  if (!write_copy(std::move(copying), file, 0)) drop_early(*living);
}

void Spawner::finish_early(Copying copying, Reply reply) {
  Living* const living = find(copying.name);
  if (reply.error || living == nullptr || !living->early) {
    (void)os::pidfd_kill(copying.born->pidfd.get(), SIGKILL);
    if (living == nullptr || !living->early) return;
    Living::Early early = std::move(*std::exchange(living->early, std::nullopt));
    if (early.asked) serve(*early.asked, std::move(early.beside));
    return;
  }
  Living::Early& early = *living->early;
  early.born = std::move(copying.born), early.is_alive = true;
  if (!early.asked) return;
  reply.token = early.asked->token, reply.name = early.asked->name;
  Born born = std::move(*early.born);
  living->early.reset();
  hand_over(std::move(reply), *living, std::move(born));
}

bool Spawner::take_early(Living& living, const Request& request, const ParkedKernel& kernel, os::Fd& file) {
  if (!living.early) return false;
  Living::Early& early = *living.early;
  struct stat info {};
  const bool is_it = ::fstat(file.get(), &info) == 0 && info.st_dev == early.device &&
                     info.st_ino == early.file && request.number == 0 && kernel.id == early.kernel.id;
  if (!is_it) return false;
  if (!early.is_alive) {
    early.asked = request, early.beside = std::move(file);
    return true;
  }
  Born born = std::move(*early.born);
  living.early.reset();
  hand_over({.verb = request.verb, .token = request.token, .name = request.name}, living, std::move(born));
  return true;
}

void Spawner::drop_early(Living& living) {
  if (living.early && living.early->born) (void)os::pidfd_kill(living.early->born->pidfd.get(), SIGKILL);
  living.early.reset();
}

}  // namespace atl::sandbox::native
