#include "session/audited/process.h"

#include <fmt/format.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <csignal>

namespace atl::session::audited {
namespace {

using audit::Kind;

std::string object_of(const std::string& session_id, const sandbox::ProcessInfo& info) {
  return fmt::format("{}:{}", session_id, info.pid);
}

// A signal that asks a process to end is possible on a full disk; others change what goes on.
bool ends(int number) {
  return number == SIGKILL || number == SIGTERM || number == SIGINT || number == SIGHUP || number == SIGQUIT;
}

class AuditedProcess final : public sandbox::Process {
 public:
  AuditedProcess(std::shared_ptr<sandbox::Process> inner, Trail trail, const std::string& session_id)
      : inner_(std::move(inner)), trail_(std::move(trail)), object_(object_of(session_id, inner_->info())) {}

  const sandbox::ProcessInfo& info() const override { return inner_->info(); }
  std::unique_ptr<sandbox::ProcessStream> attach(sandbox::Replay replay) override {
    trail_.log().fold(trail_.entry("process.read", object_));
    return inner_->attach(replay);
  }
  Task<void> write_stdin(std::string bytes) override {
    return trail_.look<void>(trail_.entry("process.write", object_), inner_->write_stdin(std::move(bytes)));
  }
  Task<void> close_stdin() override { return inner_->close_stdin(); }
  Task<void> resize(sandbox::PtySize size) override { return inner_->resize(size); }
  Task<void> signal(int number) override {
    auto what = trail_.entry("process.signal", object_);
    what.details = fmt::format(R"({{"signal":{}}})", number);
    return trail_.change<void>(ends(number) ? Kind::ending : Kind::change, std::move(what),
                               inner_->signal(number));
  }
  Task<sandbox::Outcome> wait() override { return inner_->wait(); }

 private:
  std::shared_ptr<sandbox::Process> inner_;
  Trail trail_;
  std::string object_;
};

boost::asio::awaitable<void> close_of(std::shared_ptr<sandbox::Process> process, Trail trail,
                                      std::string object) {
  const auto outcome = co_await process->wait();
  audit::Entry entry = trail.entry("terminal.close", std::move(object));
  if (!outcome) {
    entry.outcome = audit::Outcome::error;
    entry.reason = outcome.error().message();
  }
  (void)trail.log().append(entry);
}

}  // namespace

std::shared_ptr<sandbox::Process> with_entries(std::shared_ptr<sandbox::Process> process, Trail trail,
                                               const std::string& session_id) {
  return std::make_shared<AuditedProcess>(std::move(process), std::move(trail), session_id);
}

void tell_close(const boost::asio::any_io_executor& executor, std::shared_ptr<sandbox::Process> process,
                Trail trail, const std::string& session_id) {
  std::string object = object_of(session_id, process->info());
  boost::asio::co_spawn(executor, close_of(std::move(process), std::move(trail), std::move(object)),
                        boost::asio::detached);
}

}  // namespace atl::session::audited
