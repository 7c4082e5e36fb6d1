#include "session/live.h"

#include <fmt/format.h>

#include "sandbox/proxy_endpoint.h"

namespace atl::session {

Live::Live(boost::asio::any_io_executor executor, Clock& clock, Session facts, std::string incarnation,
           sandbox::Provider* provider, LocalRequest local)
    : clock_(clock),
      facts_(std::move(facts)),
      incarnation_(std::move(incarnation)),
      local_(std::move(local)),
      provider_(provider),
      turn_(executor),
      interpreters_(executor),
      last_used_(clock.steady()) {}

const sandbox::Traits& Live::traits() const {
  static const sandbox::Traits none{};
  return provider_ == nullptr ? none : provider_->traits();
}

Error Live::wrong_state(std::string_view id) const {
  return Error(Code::conflict, fmt::format("session {} is {}", id, to_string(state())));
}

Error Live::lacks(std::string_view trait) const {
  return Error(Code::unsupported, fmt::format("provider {} lacks the trait '{}'", facts_.provider, trait));
}

bool Live::set_state(State state, std::string reason, std::chrono::milliseconds to_disk_after) {
  if (!may_become(facts_.state, state)) return false;
  facts_.state = state;
  facts_.reason = std::move(reason);
  to_disk_at_.reset();
  // A paused session does not expire; its time to live begins anew when it is resumed.
  if (state == State::paused) {
    facts_.expires_at.reset();
    ends_at_.reset();
    set_to_disk_after(to_disk_after);
  }
  if (is_final(state)) facts_.ended_at = clock_.now();
  return true;
}

bool Live::counts_as_running() const {
  return state() == State::creating || state() == State::running || waking_;
}

void Live::touch() {
  set_used_now();
  if (facts_.extend_on_use) set_end(facts_.ttl, false);
  mark_changed();
}

void Live::set_used_now() {
  facts_.last_used_at = clock_.now();
  last_used_ = clock_.steady();
}

void Live::set_created_now() {
  set_used_now();
  facts_.created_at = facts_.last_used_at;
}

void Live::set_end(std::chrono::milliseconds ttl, bool extend_only) {
  const SteadyTime end = clock_.steady() + ttl;
  if (extend_only && ends_at_ && *ends_at_ >= end) return;
  facts_.ttl = ttl;
  if (state() == State::paused) return;
  ends_at_ = end;
  facts_.expires_at = clock_.now() + ttl;
  if (sandbox_) sandbox_->set_time_left(ttl);
}

void Live::restore_end() {
  last_used_ = clock_.steady();
  if (facts_.expires_at && state() == State::running)
    // The steady clock of an earlier service means nothing here: only the wall-clock time was stored.
    ends_at_ = clock_.steady() + (*facts_.expires_at - clock_.now());
}

void Live::follow_wall_clock() {
  if (!ends_at_) return;
  facts_.expires_at = clock_.now() + (*ends_at_ - clock_.steady());
  mark_changed();
}

bool Live::is_expired() const {
  return ends_at_ && *ends_at_ <= clock_.steady();
}

bool Live::is_idle(std::chrono::milliseconds idle_after) const {
  return idle_after.count() > 0 && busy_ == 0 && last_used_ + idle_after <= clock_.steady();
}

bool Live::take_due_for_disk() {
  if (!to_disk_at_ || *to_disk_at_ > clock_.steady()) return false;
  to_disk_at_.reset();
  return true;
}

void Live::set_to_disk_after(std::chrono::milliseconds after) {
  if (after.count() > 0) to_disk_at_ = clock_.steady() + after;
}

void Live::apply(const UpdateRequest& request) {
  if (request.metadata) facts_.metadata = *request.metadata;
  if (request.attributes) facts_.attributes = *request.attributes;
  if (request.env) facts_.env = *request.env;
  if (request.extend_on_use) facts_.extend_on_use = *request.extend_on_use;
  if (request.on_expiry) facts_.on_expiry = *request.on_expiry;
  if (request.auto_resume) facts_.auto_resume = *request.auto_resume;
  if (request.ttl) set_end(*request.ttl, request.extend_only);
}

void Live::attach(std::shared_ptr<sandbox::Sandbox> sandbox, const std::string& why_lost) {
  sandbox_ = std::move(sandbox);
  // A new sandbox counts its processor time from zero.
  cpu_.start_anew();
  background_ = {};
  refresh_isolation();
  // Where a template decides, its limits are in force, and not what was asked for.
  if (traits().templates) facts_.limits = sandbox_->limits();
  facts_.left_behind = sandbox_->revival().left_behind;
  find_interpreters(why_lost);
  outputs_.clear();
  egress_.proxy.reset();
  egress_.trusts_authority = false;
}

void Live::find_interpreters(const std::string& why_lost) {
  facts_.default_contexts =
      interpreters_.match(facts_.default_contexts, sandbox_->interpreters(), facts_.left_behind, why_lost);
}

std::shared_ptr<sandbox::Sandbox> Live::detach() {
  interpreters_.clear();
  egress_.proxy.reset();
  return std::exchange(sandbox_, nullptr);
}

void Live::set_hibernated(std::string state_name, std::uint64_t bytes, std::vector<std::string> left_behind) {
  facts_.default_contexts = interpreters_.contexts();
  facts_.left_behind = std::move(left_behind);
  facts_.hibernation = std::move(state_name);
  facts_.hibernation_bytes = bytes;
  facts_.hibernated_at = clock_.now();
}

void Live::set_woken(const std::vector<std::string>& left_behind) {
  // Losses of the pause count as much as those of the restart.
  facts_.left_behind.insert(facts_.left_behind.begin(), left_behind.begin(), left_behind.end());
  facts_.snapshot = clear_hibernation();
}

void Live::add_interpreter(sandbox::Language language, std::shared_ptr<sandbox::Interpreter> interpreter) {
  facts_.default_contexts[std::string(to_string(language))] = interpreter->info().id;
  interpreters_.add(language, std::move(interpreter));
}

void Live::remove_interpreter(const std::string& context) {
  std::erase_if(facts_.default_contexts, [&](const auto& entry) { return entry.second == context; });
  interpreters_.remove(context);
}

void Live::set_network(sandbox::Network mode, egress::RuleTexts rules) {
  facts_.network = mode;
  facts_.egress = std::move(rules);
  sandbox::say_network(facts_.isolation, mode);
}

bool Live::take_sample_due(std::chrono::milliseconds every) {
  if (next_sample_ > clock_.steady()) return false;
  next_sample_ = clock_.steady() + every;
  return true;
}

void Live::mark_saving() {
  unsaved_ = false;
  saved_at_ = clock_.steady();
}

}  // namespace atl::session
