#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <functional>
#include <memory>
#include <string>

#include "quota/controller.h"
#include "session/live.h"

namespace atl::session {

// Keeps one execution or command to the CPU time that its tenant and its key have left today, together with
// whatever else of theirs runs, and ends it by force when nothing is left. Looks the more often the less is
// left: from every kLongest, while a whole machine needs longer than that for what is left, down to every
// kShortest. So all of a holder's executions together use at most kLongest of every processor too much, in
// practice some kShortest; that is charged as well. Belongs to the loop thread.
class CpuBudget : public std::enable_shared_from_this<CpuBudget> {
 public:
  static constexpr std::chrono::milliseconds kShortest{10};
  static constexpr std::chrono::milliseconds kLongest{100};

  // What is watched: a claim that the controller admitted, and what its sandbox's share said when it began.
  struct Subject {
    std::string claim_id;
    quota::Holder holder;
    LivePtr live;
    double entered = 0;
  };
  using Stop = std::function<Task<void>(std::string reason)>;

  // Null where nobody bounds the holder's CPU time now; a bound that is set later counts for what begins
  // later. `stop` is called once, when nothing is left, and must end it by force. What goes on all the same
  // ends with its session (BackgroundCpu). The controller must outlive it.
  static std::shared_ptr<CpuBudget> watch(boost::asio::any_io_executor executor,
                                          quota::ResourceController* controller, Subject subject, Stop stop);
  CpuBudget(boost::asio::any_io_executor executor, quota::ResourceController& controller, Subject subject,
            Stop stop);

  // What was watched has ended by itself or by `stop`: nothing more is looked at.
  void end();
  // What it had used at the last look.
  std::chrono::microseconds noted() const { return noted_; }
  // Why it was stopped, for its record; empty: it was not.
  const std::string& reason() const { return reason_; }

 private:
  static boost::asio::awaitable<void> look(std::shared_ptr<CpuBudget> self);
  // Nothing is left: stops it, and sees to it that it ends. Gives the reason.
  static boost::asio::awaitable<void> stop(std::shared_ptr<CpuBudget> self,
                                           std::shared_ptr<sandbox::Sandbox> in,
                                           std::chrono::microseconds used);
  boost::asio::awaitable<void> wait(std::chrono::microseconds pause);

  quota::ResourceController& controller_;
  Subject subject_;
  Stop stop_;
  boost::asio::steady_timer timer_;
  std::chrono::microseconds noted_{0};
  std::string reason_;
  bool over_ = false;
};

}  // namespace atl::session
