#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "egress/proxy.h"
#include "os/turn.h"
#include "sandbox/provider.h"
#include "sandbox/sandbox.h"
#include "session/background_use.h"
#include "session/cpu_share.h"
#include "session/default_interpreters.h"
#include "session/network_log.h"
#include "session/sample_series.h"
#include "session/seen_outputs.h"
#include "session/types.h"

namespace atl::session {

// Sets a flag for as long as it lives.
class During {
 public:
  explicit During(bool& flag) : flag_(flag) { flag_ = true; }
  ~During() { flag_ = false; }
  During(const During&) = delete;
  During& operator=(const During&) = delete;

 private:
  bool& flag_;
};

// The proxy through which the present sandbox reaches the network. Only SessionNetworks changes it; it starts
// afresh with every sandbox.
struct EgressState {
  std::shared_ptr<egress::Proxy> proxy;  // null until it was opened; the sandbox shares it
  bool trusts_authority = false;         // the sandbox trusts our certificate authority
  bool open_on_resume = false;  // it was taken back while paused: the proxy is opened when it runs again
};

// One session that has a sandbox, is about to get one, or waits on the disk: its facts, its sandbox, and what
// the service keeps in memory about both. A session that ended is not a Live any more, only a row of the
// store.
//
// Shared: SessionTable owns it while the session lives; executions and watchers under way hold it until they
// are done, which may be later. The sandbox is shared as well, because handles that clients hold (files,
// streams) must stay valid objects when the sandbox is replaced or ended.
//
// Everything here belongs to the loop thread. Whoever changes the state or replaces the sandbox holds
// take_turn(); reading needs no turn, but what was read may have changed after the next co_await. Nothing
// here writes to the store: methods that change facts say mark_changed() where a later write is enough, and
// SessionTable::save() writes at once.
class Live {
 public:
  // `provider` is null for a stored session whose provider this service does not have: such a session can be
  // read and ended, but not resumed. `incarnation` is the id of its sandbox; a new sandbox of the same
  // session gets a new one.
  Live(boost::asio::any_io_executor executor, Clock& clock, Session facts, std::string incarnation,
       sandbox::Provider* provider, LocalRequest local = {});
  Live(const Live&) = delete;
  Live& operator=(const Live&) = delete;

  const Session& facts() const { return facts_; }
  State state() const { return facts_.state; }
  const std::string& incarnation() const { return incarnation_; }
  const LocalRequest& local() const { return local_; }
  sandbox::Provider* provider() const { return provider_; }
  // All false without a provider.
  const sandbox::Traits& traits() const;
  // Null while it is created or restored, while it is on the disk, and after its end.
  const std::shared_ptr<sandbox::Sandbox>& sandbox() const { return sandbox_; }

  // True once its end has begun: a failure of the sandbox is then no failure of the provider.
  bool is_ending() const { return state() == State::stopping || is_final(state()); }
  bool is_on_disk() const { return !facts_.hibernation.empty(); }
  // Code::conflict "session ID is STATE"; `id` as the caller spelled it.
  Error wrong_state(std::string_view id) const;
  // Code::unsupported "provider P lacks the trait 'T'".
  Error lacks(std::string_view trait) const;

  // The request that makes it, until it runs.
  const trace::Context& trace() const { return trace_; }
  void set_trace(const trace::Context& trace) { trace_ = trace; }

  // One call at a time pauses, resumes, restores, copies or ends a session, first come first served.
  Task<os::Turn::Hold> take_turn() { return turn_.take(); }

  // State and time. set_state() changes nothing and returns false where the table of state.h has no such
  // change. `to_disk_after`: how long a pause in memory lasts before is_due_for_disk(); zero: for ever.
  bool set_state(State state, std::string reason, std::chrono::milliseconds to_disk_after);
  void set_reason(std::string reason) { facts_.reason = std::move(reason); }
  During mark_pausing() { return During(facts_.pausing); }
  During mark_waking() { return During(waking_); }
  // It runs, or is on its way to: it counts against the bounds of what may run.
  bool counts_as_running() const;
  // Somebody used it: what is idle starts anew, and so does the time to live where the session wants that.
  void touch();
  // It is used now, for the first time since it was created or resumed.
  void set_used_now();
  void set_created_now();
  // The end becomes now + ttl, but if `extend_only` never earlier than it is. A paused one has no end; it
  // only notes its ttl.
  void set_end(std::chrono::milliseconds ttl, bool extend_only);
  // After a start of the service: the end that the store names, by this process's clock.
  void restore_end();
  // The wall clock was set: the end stays when it is, and what people are told about it follows.
  void follow_wall_clock();
  bool is_expired() const;
  // Running nothing, and unused for that long.
  bool is_idle(std::chrono::milliseconds idle_after) const;
  // True once in a pause.
  bool take_due_for_disk();
  void set_to_disk_after(std::chrono::milliseconds after);
  // Changes every member that is set. The caller has checked them.
  void apply(const UpdateRequest& request);

  // Sandbox. attach() takes a new one, which nothing of the old one's belongs to, and finds the default
  // interpreters in it; `why_lost` is the reason for those that are missing. adopt() takes one of an earlier
  // service, which may be any time before find_interpreters().
  void attach(std::shared_ptr<sandbox::Sandbox> sandbox, const std::string& why_lost);
  void adopt(std::shared_ptr<sandbox::Sandbox> sandbox) { sandbox_ = std::move(sandbox); }
  void find_interpreters(const std::string& why_lost);
  // Lets go of the sandbox with its interpreters and its proxy, and gives it to the caller, who ends it. May
  // be null.
  std::shared_ptr<sandbox::Sandbox> detach();
  void set_incarnation(std::string incarnation) { incarnation_ = std::move(incarnation); }
  // Reads again what isolates the sandbox.
  void refresh_isolation() { facts_.isolation = sandbox_->isolation(); }
  // The snapshot it stands on; gives the one before.
  std::string set_snapshot(std::string id) { return std::exchange(facts_.snapshot, std::move(id)); }
  // Its state is on the disk under this name.
  void set_hibernated(std::string state_name, std::uint64_t bytes, std::vector<std::string> left_behind);
  // Undoes that; gives the name.
  std::string clear_hibernation() { return std::exchange(facts_.hibernation, std::string()); }
  // It was woken from the disk and stands on that state now. `left_behind`: what the pause could not carry.
  void set_woken(const std::vector<std::string>& left_behind);

  // Interpreters.
  DefaultInterpreters& interpreters() { return interpreters_; }
  const DefaultInterpreters& interpreters() const { return interpreters_; }
  void add_interpreter(sandbox::Language language, std::shared_ptr<sandbox::Interpreter> interpreter);
  void remove_interpreter(const std::string& context);

  // Network.
  EgressState& egress() { return egress_; }
  const EgressState& egress() const { return egress_; }
  NetworkLog& network_log() { return network_log_; }
  const NetworkLog& network_log() const { return network_log_; }
  void set_network(sandbox::Network mode, egress::RuleTexts rules);

  // Observation.
  CpuShare& cpu() { return cpu_; }
  BackgroundUse& background() { return background_; }
  SeenOutputs& outputs() { return outputs_; }
  SampleSeries& samples() { return samples_; }
  // True if a sample is due now; the next is `every` later.
  bool take_sample_due(std::chrono::milliseconds every);
  void set_sample_due_now() { next_sample_ = clock_.steady(); }

  // Storing.
  void mark_changed() { unsaved_ = true; }
  void mark_saving();
  // Changed, and not tried to be stored for that long.
  bool is_save_due(Duration every) const { return unsaved_ && saved_at_ + every <= clock_.steady(); }

  // An execution or a foreground command is under way for as long as this lives. The Live must outlive it.
  class Busy {
   public:
    explicit Busy(Live& live) : live_(live) { ++live_.busy_; }
    ~Busy() { --live_.busy_; }
    Busy(const Busy&) = delete;
    Busy& operator=(const Busy&) = delete;

   private:
    Live& live_;
  };

 private:
  Clock& clock_;
  Session facts_;
  std::string incarnation_;
  LocalRequest local_;
  sandbox::Provider* provider_;
  trace::Context trace_;
  std::shared_ptr<sandbox::Sandbox> sandbox_;
  os::Turn turn_;
  DefaultInterpreters interpreters_;
  EgressState egress_;
  NetworkLog network_log_;
  CpuShare cpu_;
  BackgroundUse background_;
  SeenOutputs outputs_;
  SampleSeries samples_;
  SteadyTime next_sample_{};
  bool waking_ = false;
  std::uint32_t busy_ = 0;
  bool unsaved_ = false;
  SteadyTime saved_at_{};
  // These decide about the end. facts_.expires_at and last_used_at say the same to people, by a clock that
  // may be set.
  std::optional<SteadyTime> ends_at_;
  SteadyTime last_used_;
  std::optional<SteadyTime> to_disk_at_;
};

// Shared by the table and by every coroutine that acts on the session: one that was removed from the table
// lives until the last of them has ended.
using LivePtr = std::shared_ptr<Live>;

}  // namespace atl::session
