#include "session/session_lifecycle.h"

#include <fmt/format.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>

#include "session/artifacts.h"
#include "session/environment_choice.h"
#include "session/retry.h"
#include "session/skill_place.h"
#include "session/subject.h"

namespace atl::session {
namespace {

void fill_in(const LocalRequest& from, sandbox::Spec& spec) {
  spec.host_mounts = from.host_mounts;
  if (from.layers) spec.layers = *from.layers, spec.trusted_layers = false;
  if (from.hostname) spec.hostname = *from.hostname;
  if (from.user) spec.user = *from.user;
  if (from.working_directory) spec.working_directory = *from.working_directory;
  if (from.sudo) spec.sudo = *from.sudo;
}

// A provider's failure to make a sandbox, in terms of whoever asked for one.
Error error_for_caller(Error error, const LocalRequest& local) {
  const auto as = [&](Code code, std::string message) {
    return Error(code, std::move(message)).with_detail(error.detail());
  };
  // The machine ran out of something, which the caller cannot give back.
  if (error.code() == Code::resource_exhausted) return as(Code::unavailable, error.message());
  // If one of our own files is missing or unreadable, that says nothing about what the caller named. Only a
  // caller on this machine can have named directories.
  const bool is_ours = error.field().empty() && local.host_mounts.empty() && !local.layers &&
                       (error.code() == Code::not_found || error.code() == Code::permission_denied ||
                        error.code() == Code::already_exists || error.code() == Code::not_a_directory);
  if (is_ours) return as(Code::provider_failed, "make the sandbox: " + error.message());
  return error;
}

Task<void> make_output_directory(std::shared_ptr<sandbox::Sandbox> in) {
  std::string path(kOutputDirectory), user;
  auto made = co_await in->files().make_directory(std::move(path), std::move(user));
  // A user of an image may not be allowed to make it, and a storage may be read-only; such a session has no
  // artifacts.
  if (!made && made.error().code() != Code::already_exists &&
      made.error().code() != Code::permission_denied && made.error().code() != Code::read_only)
    co_return fail(std::move(made).error().context("make the output directory"));
  co_return Result<void>{};
}

}  // namespace

Task<std::vector<sandbox::HostMount>> SessionLifecycle::volume_mounts(Session facts) const {
  std::vector<sandbox::HostMount> mounts;
  for (const auto& [path, name] : facts.volumes) {
    if (dependencies_.volumes == nullptr)
      co_return fail(Error(Code::unsupported, "this service keeps no volumes").with_field("volumes"));
    CO_TRY(const volume::Volume volume, co_await dependencies_.volumes->get(facts.tenant, name));
    CO_TRY(std::string directory, co_await dependencies_.volumes->mountable(volume));
    const auto ids = volume::Volumes::keeps_ids() ? sandbox::MountIds::inside : sandbox::MountIds::owner;
    mounts.push_back({std::move(directory), path, true, ids});
  }
  co_return mounts;
}

Task<std::vector<sandbox::HostMount>> SessionLifecycle::skill_mounts(Session facts,
                                                                     std::string directory) const {
  const SessionSkills& skills = *dependencies_.skills;
  auto look = [&skills, facts = std::move(facts), directory = std::move(directory)] {
    return skills.mounts(facts, directory);
  };
  co_return co_await skills.off_loop<std::vector<sandbox::HostMount>>(std::move(look));
}

// Both are asked of the guest together: one after the other would cost two more switches between processes.
Task<void> SessionLifecycle::prepare_inside(LivePtr live, std::string directory) {
  using namespace boost::asio::experimental::awaitable_operators;
  lead_to_skills(*live);
  if (live->facts().skill_view == SkillView::copy && dependencies_.skills != nullptr) {
    directory = working_directory_of(*live, std::move(directory));
    CO_CHECK(co_await dependencies_.skills->copy_into(live->sandbox(), live->facts(), std::move(directory)));
  }
  if (live->facts().network != sandbox::Network::egress)
    co_return co_await make_output_directory(live->sandbox());
  auto [output, network] =
      co_await (make_output_directory(live->sandbox()) && dependencies_.networks->open(live));
  CO_CHECK(std::move(output));
  co_return std::move(network);
}

Result<sandbox::Spec> SessionLifecycle::spec_of(const Live& live, const registry::Environment& environment,
                                                std::optional<std::string> state, Interpreters interpreters) {
  sandbox::Spec spec;
  spec.id = live.incarnation();
  spec.session_id = live.facts().session_id;
  spec.tenant = live.facts().tenant;
  spec.environment = live.facts().environment;
  spec.image = live.facts().image;
  spec.time_left = live.facts().ttl;
  // An emulated machine has no root filesystem made of layers; where the host's view would do, so does its
  // own. An image or a remote template is a root filesystem itself.
  const bool own_root = !spec.image.empty() || live.traits().templates;
  if (!own_root && (live.traits().real_processes || !environment.host_fallback)) {
    LayerUse::Taken taken =
        TRY(dependencies_.layer_use->take(live.incarnation(), environment, state.value_or(std::string())));
    spec.layers = std::move(taken.paths);
    spec.trusted_layers = !spec.layers.empty() && dependencies_.registry->ships(taken.recipe);
  }
  if (state) spec.snapshot = dependencies_.states->path(*state);
  spec.with_interpreters = interpreters == Interpreters::carried;
  if (own_root || !environment.user.empty()) spec.user = environment.user;
  if (own_root || !environment.working_directory.empty())
    spec.working_directory = environment.working_directory;
  spec.sudo = environment.sudo;
  // The host's view, which stands in for missing layers, does not have the environment's packages.
  if (!spec.layers.empty() || !environment.host_fallback) spec.preimport = environment.preimport;
  spec.network = live.facts().network;
  spec.limits = live.facts().limits;
  spec.env = live.facts().env;
  spec.required_walls = live.facts().required_walls;
  fill_in(live.local(), spec);
  const Session& facts = live.facts();
  if (!facts.storage.empty())
    spec.storage = sandbox::StorageUse{facts.storage, facts.tenant, facts.session_id};
  return spec;
}

Task<void> SessionLifecycle::build(LivePtr live, std::optional<std::string> state,
                                   Interpreters interpreters) {
  if (live->provider() == nullptr)
    co_return fail(Code::unavailable, fmt::format("provider {} is not here", live->facts().provider));
  const std::string& name = live->facts().environment;
  const registry::Environment* environment =
      environment_of(*dependencies_.registry, live->facts(), live->traits());
  if (environment == nullptr) {
    co_return fail(Error(Code::invalid_argument, fmt::format("no environment is called '{}'", name))
                       .with_field("environment"));
  }
  CO_TRY(const auto volumes, co_await volume_mounts(live->facts()));
  CO_TRY(sandbox::Spec spec, spec_of(*live, *environment, std::move(state), interpreters));
  if (live->facts().skill_view == SkillView::link && dependencies_.skills != nullptr) {
    auto skills = co_await skill_mounts(live->facts(), spec.working_directory);
    if (!skills) {
      dependencies_.layer_use->end_sandbox(live->incarnation());
      co_return fail(std::move(skills).error());
    }
    spec.host_mounts.insert(spec.host_mounts.end(), skills->begin(), skills->end());
  }
  spec.host_mounts.insert(spec.host_mounts.end(), volumes.begin(), volumes.end());
  std::string directory = spec.working_directory;
  trace::Span span(live->trace(), "provider.create");
  span.set("atoll.provider", live->facts().provider);
  span.set("atoll.environment", name);
  spec.trace = span.context();
  auto make = [live, spec = std::move(spec)]() -> Task<std::unique_ptr<sandbox::Sandbox>> {
    auto made = co_await live->provider()->create(spec);
    if (!made) co_return fail(error_for_caller(std::move(made).error(), live->local()));
    co_return std::move(*made);
  };
  auto go_on = [table = dependencies_.table] { return !table->is_ending(); };
  About about(live);
  auto made = co_await with_retries<std::unique_ptr<sandbox::Sandbox>>(
      dependencies_.executor, "create a sandbox", std::move(about), std::move(make), go_on);
  if (!made) {
    span.fail(made.error().message());
    dependencies_.layer_use->end_sandbox(live->incarnation());
    co_return fail(std::move(made).error());
  }
  span.end();
  live->attach(std::move(*made), interpreters == Interpreters::carried ? "it could not be brought here"
                                                                       : "only files were brought here");
  span = trace::Span(live->trace(), "guest.prepare");
  if (auto prepared = co_await prepare_inside(live, std::move(directory)); !prepared) {
    span.fail(prepared.error().message());
    const auto sandbox = live->detach();
    CO_CHECK(co_await sandbox->stop());
    dependencies_.layer_use->end_sandbox(live->incarnation());
    co_return fail(error_for_caller(std::move(prepared).error(), live->local()));
  }
  watch(live);
  co_return Result<void>{};
}

Task<Session> SessionLifecycle::bring_up(LivePtr live, std::optional<std::string> state,
                                         Interpreters interpreters) {
  SessionTable& table = *dependencies_.table;
  Observer* const observer = dependencies_.observer;
  const SteadyTime started = dependencies_.clock->steady();
  if (table.is_ending()) co_return fail(Code::unavailable, "the service is ending");
  if (auto admitted = table.admit(live, SessionTable::Begin::created); !admitted) {
    if (observer != nullptr) observer->create_failed(live->facts().provider, admitted.error().code());
    co_return fail(std::move(admitted).error());
  }
  table.add(live);
  table.announce(live);
  CO_TRY(auto hold, co_await live->take_turn());
  Result<void> built = co_await build(live, std::move(state), interpreters);
  if (built) {
    // Lists are ordered by when sessions were stored; their times of creation must agree with that.
    live->set_created_now();
    table.enter(live, State::running, "");
    const trace::Span storing(live->trace(), "session.store");
    built = co_await table.save(live);
    if (!built) {
      auto stopped = co_await live->sandbox()->stop();
      table.enter(live, State::lost, "it could not be stored");
    }
  } else {
    table.enter(live, State::failed, built.error().message());
    auto saved = co_await table.save(live);
    if (!saved)
      log::warn(subject_of(*live), "a failed session could not be stored",
                {{"error", saved.error().message()}});
  }
  if (!built) {
    table.forget(live);
    if (observer != nullptr) observer->create_failed(live->facts().provider, built.error().code());
    co_return fail(std::move(built).error().context("create session"));
  }
  live->set_sample_due_now();
  if (observer != nullptr)
    observer->created(live->facts(), dependencies_.clock->steady() - started, live->trace());
  live->set_trace({});
  co_return live->facts();
}

Task<void> SessionLifecycle::pause_sandbox(LivePtr live) {
  auto call = [in = live->sandbox()] { return in->pause(); };
  auto go_on = [live, in = live->sandbox()] { return live->sandbox() == in; };
  const trace::Span span(live->trace(), "sandbox.pause");
  About about(live);
  co_return co_await with_retries<void>(dependencies_.executor, "pause a sandbox", std::move(about),
                                        std::move(call), std::move(go_on));
}

Task<void> SessionLifecycle::resume_sandbox(LivePtr live) {
  auto call = [in = live->sandbox()] { return in->resume(); };
  auto go_on = [live, in = live->sandbox()] { return live->sandbox() == in; };
  const trace::Span span(live->trace(), "sandbox.resume");
  About about(live);
  co_return co_await with_retries<void>(dependencies_.executor, "resume a sandbox", std::move(about),
                                        std::move(call), std::move(go_on));
}

Task<void> SessionLifecycle::stop(LivePtr live, State end, std::string reason) {
  if (is_final(live->state())) co_return Result<void>{};
  if (end == State::stopped) dependencies_.table->enter(live, State::stopping, reason);
  const std::shared_ptr<sandbox::Sandbox> sandbox = live->sandbox();
  Result<void> stopped{};
  if (sandbox) {
    const trace::Span span(live->trace(), "sandbox.stop");
    stopped = co_await sandbox->stop();
  }
  if (!stopped) {
    log::error(subject_of(*live), "a sandbox did not end cleanly", {{"error", stopped.error().message()}});
    reason += reason.empty() ? "" : "; ";
    reason += "its sandbox did not end cleanly: " + stopped.error().message();
    end = State::lost;
  }
  dependencies_.table->enter(live, end, reason);
  live->detach();
  dependencies_.layer_use->end_sandbox(live->incarnation());
  dependencies_.states->discard(*live, {live->facts().snapshot, live->facts().hibernation});
  if (!live->facts().storage.empty() && live->provider() != nullptr) {
    // A variable of its own: g++ 12 destroys an aggregate that is made inside of an awaited call twice.
    sandbox::StorageUse use{live->facts().storage, live->facts().tenant, live->facts().session_id};
    auto removed = co_await live->provider()->discard_storage(std::move(use));
    if (!removed)
      log::warn(subject_of(*live), "the files of an ended session are still in their storage",
                {{"error", removed.error().message()}});
  }
  co_return co_await dependencies_.table->store_end(live);
}

boost::asio::awaitable<void> SessionLifecycle::stop_or_log(LivePtr live, State end, std::string reason) {
  if (auto ended = co_await stop(live, end, std::move(reason)); !ended) {
    log::error(subject_of(*live), "the end of a session could not be stored",
               {{"error", ended.error().message()}});
  }
}

void SessionLifecycle::watch(const LivePtr& live) {
  boost::asio::co_spawn(dependencies_.executor, watch_end(live, live->sandbox()), boost::asio::detached);
}

// If somebody replaced the sandbox (restore) or ended it (destroy) meanwhile, its end was expected.
boost::asio::awaitable<void> SessionLifecycle::watch_end(LivePtr live,
                                                         std::shared_ptr<sandbox::Sandbox> sandbox) {
  auto why = co_await sandbox->ended();
  if (live->sandbox() != sandbox || live->is_ending()) co_return;
  auto hold = co_await live->take_turn();
  if (!hold || live->sandbox() != sandbox || is_final(live->state())) co_return;
  const std::string reason = "its sandbox ended: " + (why ? *why : why.error().message());
  log::warn(subject_of(*live), "a sandbox ended by itself", {{"reason", reason}});
  co_await stop_or_log(live, State::lost, reason);
}

}  // namespace atl::session
