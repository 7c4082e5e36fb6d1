#include "sandbox/native/spawner_zygotes.h"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <utility>

namespace atl::sandbox::native {
namespace {

// A zygote that fails is tried again at once, so often; then after each of these pauses.
constexpr std::uint32_t kZygoteAttempts = 3;
constexpr std::chrono::seconds kZygotePause{10};
// Those of environments import modules of their own, which may never work: their pauses double up to this.
constexpr std::chrono::minutes kZygotePauseMax{10};
// How much of what is away is told by name.
constexpr std::size_t kNamedMax = 3;

}  // namespace

ZygoteKind SpawnerZygotes::kind_of(const Spec& spec) const {
  ZygoteKind kind{.modules = options_.modules};
  kind.modules.insert(kind.modules.end(), spec.preimport.begin(), spec.preimport.end());
  if (spec.trusted_layers) kind.layers = spec.layers;
  return kind;
}

Zygote* SpawnerZygotes::last(const ZygoteKind& kind, std::optional<Zygote::State> state) const {
  for (auto one = all_.rbegin(); one != all_.rend(); ++one)
    if ((*one)->kind() == kind && (!state || (*one)->state() == *state)) return one->get();
  return nullptr;
}

Zygote* SpawnerZygotes::of(std::uint64_t generation) {
  for (const auto& zygote : all_)
    if (zygote->generation() == generation && zygote->state() == Zygote::State::ready) return zygote.get();
  return nullptr;
}

Zygote* SpawnerZygotes::fitting(const CheckpointedInterpreter& interpreter, const ZygoteKind& kind,
                                bool& is_coming) {
  const auto fits = [&](const auto& one) {
    return interpreter.extent == Extent::whole ? one->layout() == interpreter.layout && one->kind() == kind
                                               : one->id() == interpreter.zygote;
  };
  const bool may_come = is_coming && interpreter.extent == Extent::whole;
  is_coming = false;
  for (const auto& one : all_) {
    if (one->state() == Zygote::State::ready && fits(one)) return one.get();
    is_coming |= may_come && one->state() == Zygote::State::starting && fits(one);
  }
  if (is_coming || !may_come) return nullptr;
  auto zygote = start(kind, interpreter.layout);
  if (!zygote) return nullptr;
  is_coming = true;
  // Not at the end of the list: the last zygote of a kind is the one in general use.
  all_.insert(all_.begin(), std::move(*zygote));
  return nullptr;
}

Result<std::unique_ptr<Zygote>> SpawnerZygotes::start(const ZygoteKind& kind, std::uint64_t layout) {
  if (builder_.privileges().rootless) return fail(Code::unsupported, "a zygote needs root");
  if (!options_.enabled) return fail(Code::unsupported, "zygotes are turned off");
  if (all_.size() >= kMax && !drop_idle())
    return fail(Code::resource_exhausted, "there are too many kinds of zygotes");
  Zygote::Start start{.kind = kind, .proc = builder_.proc(), .generation = ++generations_, .layout = layout};
  start.layers = TRY(builder_.zygote_layers(kind.layers));
  auto zygote = TRY(Zygote::start(std::move(start)));
  events_.watch(zygote->socket(), Source::zygote);
  return zygote;
}

bool SpawnerZygotes::drop_idle() {
  const auto idle = std::ranges::find_if(all_, [&](const auto& one) {
    return one->state() != Zygote::State::starting && one.get() != last(kind_of({}), std::nullopt) &&
           !sandboxes_.has_children_of(one->generation());
  });
  if (idle == all_.end()) return false;
  if (os::Fd process = (*idle)->end(); process.is_open()) children_.reap(std::move(process));
  all_.erase(idle);
  return true;
}

void SpawnerZygotes::ensure(const ZygoteKind& kind) {
  // Kinds are users' choice (modules to import), so what is remembered of them has a bound.
  constexpr std::size_t remembered_max = 256;
  if (failed_.size() > remembered_max) failed_.clear();
  Failure& failure = failed_[kind];
  Zygote* const latest = last(kind, std::nullopt);
  const bool is_useful =
      latest != nullptr && latest->state() != Zygote::State::dead && !latest->is_worn(options_);
  const bool is_resting =
      failure.count >= kZygoteAttempts && Clock::machine().steady() < failure.last + kZygotePause;
  if (is_resting || is_useful) return;
  // Of the older ones those stay that can still be asked for siblings of living interpreters.
  std::erase_if(all_, [&](const auto& zygote) {
    const bool is_over =
        zygote->kind() == kind &&
        (zygote->state() == Zygote::State::dead || !sandboxes_.has_children_of(zygote->generation())) &&
        zygote->state() != Zygote::State::starting;
    if (os::Fd process = is_over ? zygote->end() : os::Fd(); process.is_open())
      children_.reap(std::move(process));
    return is_over;
  });
  auto zygote = start(kind, Zygote::new_layout());
  if (!zygote) return note_failure(kind, kZygoteAttempts, zygote.error().message());
  all_.push_back(std::move(*zygote));
}

bool SpawnerZygotes::is_any_starting() const {
  return std::ranges::any_of(all_, [](const auto& one) { return one->state() == Zygote::State::starting; });
}

void SpawnerZygotes::on_readable(int socket) {
  for (const auto& zygote : all_) {
    if (zygote->socket() != socket) continue;
    zygote->hear();
    const ZygoteKind kind = zygote->kind();
    if (zygote->state() == Zygote::State::ready) {
      // From here on it only forks, and those who wait for a fork wait for the spawner as well.
      const sched_param priority{.sched_priority = 1};
      if (builder_.realtime()) ::sched_setscheduler(zygote->pid(), SCHED_FIFO, &priority);
      children_.ensure_copier();
    }
    if (zygote->state() == Zygote::State::dead) {
      note_failure(kind, 1, zygote->complaint());
      ensure(kind);  // may remove the zygote from the list, so the walk ends here
    }
    break;
  }
  tell();
}

bool SpawnerZygotes::can_be() const {
  return !builder_.privileges().rootless && options_.enabled;
}

void SpawnerZygotes::note_failure(const ZygoteKind& kind, std::uint32_t failures, std::string why) {
  Failure& failure = failed_[kind];
  failure.count += failures, failure.reason = std::move(why), failure.last = Clock::machine().steady();
  plan(kind, failure);
}

bool SpawnerZygotes::is_wanted(const ZygoteKind& kind) const {
  return kind == kind_of({}) || std::ranges::any_of(sandboxes_.all(), [&](const auto& one) {
           return !one.second->ended && kind_of(one.second->spec) == kind;
         });
}

void SpawnerZygotes::plan(const ZygoteKind& kind, Failure& failure) {
  if (!can_be() || failure.count < kZygoteAttempts) return;
  std::chrono::seconds pause = kZygotePause;
  for (std::uint32_t i = kZygoteAttempts; kind != kind_of({}) && i < failure.count && pause < kZygotePauseMax;
       ++i)
    pause = std::min<std::chrono::seconds>(pause * 2, kZygotePauseMax);
  failure.due = failure.last + pause;
  wake_by(*failure.due);
}

void SpawnerZygotes::wake_by(SteadyTime when) {
  due_ = due_ ? std::min(*due_, when) : when;
}

void SpawnerZygotes::note_success(const ZygoteKind& kind) {
  if (const auto failed = failed_.find(kind); failed != failed_.end()) failed->second = {};
}

std::string SpawnerZygotes::reason(const ZygoteKind& kind) const {
  const auto failed = failed_.find(kind);
  return failed == failed_.end() ? std::string() : failed->second.reason;
}

std::string SpawnerZygotes::whose(const ZygoteKind& kind) const {
  const std::size_t usual = std::min(options_.modules.size(), kind.modules.size());
  std::string names;
  for (std::size_t at = usual; at < kind.modules.size() && at < usual + kNamedMax; ++at)
    names += (at == usual ? "" : ", ") + kind.modules[at].substr(0, 64);
  if (kind.modules.size() > usual + kNamedMax)
    names += fmt::format(" and {} more", kind.modules.size() - usual - kNamedMax);
  if (!names.empty()) return "those with " + names;
  return kind.layers.empty() ? "" : "those of images";
}

std::string SpawnerZygotes::away() const {
  if (!can_be()) return {};
  std::string away;
  std::size_t kinds = 0;
  for (const auto& [kind, failure] : failed_) {
    const bool is_away = failure.count > 0 && last(kind, Zygote::State::ready) == nullptr && is_wanted(kind);
    if (!is_away || ++kinds > kNamedMax) continue;
    const std::string of = whose(kind);
    away += away.empty() ? "" : "; ";
    away += of.empty() ? of : of + ": ";
    away += failure.reason.empty() ? "no zygote is ready" : failure.reason;
  }
  if (kinds > kNamedMax) away += fmt::format("; and {} more kinds", kinds - kNamedMax);
  return away;
}

void SpawnerZygotes::tell() {
  std::string away_now = away();
  if (away_now == told_away_) return;
  told_away_ = away_now;
  connection_.answer(Reply{.verb = Verb::zygotes, .answer = answers::Zygotes{std::move(away_now)}});
}

void SpawnerZygotes::on_sandbox_gone() {
  if (!told_away_.empty()) tell();
}

void SpawnerZygotes::try_again(SteadyTime now) {
  if (!due_ || now < *due_) return;
  due_.reset();
  std::vector<ZygoteKind> due;
  for (const auto& [kind, failure] : failed_) {
    if (!failure.due || last(kind, Zygote::State::ready) != nullptr) continue;
    if (now >= *failure.due)
      due.push_back(kind);
    else
      wake_by(*failure.due);
  }
  for (const ZygoteKind& kind : due) {
    failed_[kind].due.reset();
    if (is_wanted(kind))
      ensure(kind);
    else
      failed_.erase(kind);
  }
  tell();
}

}  // namespace atl::sandbox::native
