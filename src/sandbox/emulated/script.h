#pragma once

#include <boost/asio/steady_timer.hpp>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "sandbox/emulated/console.h"
#include "shell/shell.h"

namespace atl::sandbox::emulated {

struct ScriptLimits {
  std::optional<std::chrono::milliseconds> wall_time;
  std::optional<std::uint64_t> output_bytes;
};

class Script;

// CPU time of all scripts of a sandbox, those that run included. Belongs to the loop thread.
class CpuMeter {
 public:
  std::chrono::microseconds total() const;
  void began(const Script* script) { running_.push_back(script); }
  void ended(const Script* script, std::chrono::microseconds used);

 private:
  std::chrono::microseconds ended_{0};
  std::vector<const Script*> running_;
};

// One run of a shell on a thread of its own, from start() to its Outcome. Everything but the run itself is
// the loop's. Shared by its handle (a process or an execution) and by its thread, which keeps it until the
// outcome was told; the shell is shared with the interpreter whose variables it holds.
class Script : public std::enable_shared_from_this<Script> {
 public:
  Script(boost::asio::any_io_executor executor, std::shared_ptr<shell::SandboxShell> shell,
         std::shared_ptr<CpuMeter> meter)
      : executor_(executor),
        console_(std::make_shared<Console>(executor)),
        shell_(std::move(shell)),
        meter_(std::move(meter)),
        timer_(executor) {}
  ~Script();
  Script(const Script&) = delete;
  Script& operator=(const Script&) = delete;

  // `on_end` runs on the loop once the outcome is known, before listeners hear of it.
  void start(std::string text, const ScriptLimits& limits,
             std::function<void(Outcome&, const shell::Executed&)> on_end);
  // Before start(): another shell than the one it was made with.
  void use(std::shared_ptr<shell::SandboxShell> shell) { shell_ = std::move(shell); }
  // Ends it; the first reason counts. The outcome follows within milliseconds.
  void end(Ending ending, int signal, std::string reason);
  const std::shared_ptr<Console>& console() const { return console_; }
  // What it used until now, while it runs.
  std::chrono::microseconds cpu_time() const;

 private:
  // On the thread; never throws.
  void run(const std::string& text);
  void ended(const shell::Executed& executed, std::chrono::microseconds cpu_time);
  // How it ended in the words of every provider: by itself, by a limit, or because somebody ended it.
  Outcome outcome_of(const shell::Executed& executed) const;

  boost::asio::any_io_executor executor_;
  std::shared_ptr<Console> console_;
  std::shared_ptr<shell::SandboxShell> shell_;
  std::shared_ptr<CpuMeter> meter_;
  boost::asio::steady_timer timer_;
  mutable std::thread thread_;  // its clock is asked for by a handle that is not const
  std::stop_source stop_;
  std::function<void(Outcome&, const shell::Executed&)> on_end_;
  ScriptLimits limits_;
  std::chrono::steady_clock::time_point started_;
  std::optional<Outcome> forced_;  // why we ended it
  bool running_ = false;
};

}  // namespace atl::sandbox::emulated
