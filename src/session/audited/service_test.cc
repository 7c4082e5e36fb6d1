// Entries of the session service, on the provider for tests: refusals first, then every call.
#include "session/audited/service.h"

#include <gmock/gmock.h>

#include <csignal>

#include "audit/entry.h"
#include "audit/pages.h"
#include "session/audited/observer.h"
#include "session/service_harness_test.h"

namespace atl::session::audited {
namespace {

using audit::Outcome;
using audit::StoredEntry;
using testing::HasSubstr;

class NoObserver final : public Observer {
 public:
  void created(const Session&, std::chrono::nanoseconds, const trace::Context&) override {}
  void create_failed(std::string_view, Code) override {}
  void changed(const Session&, State, State, const trace::Context&) override { ++changes; }
  void finished(const Session&, const ExecutionRecord&, std::chrono::nanoseconds) override {}
  int changes = 0;
};

class AuditedTest : public ServiceTest {
 protected:
  void SetUp() override {
    char name[] = "/tmp/atoll-audited-XXXXXX";
    data_ = ::mkdtemp(name);
    log_ = *audit::Log::open({.data = data_});
    told_ = std::make_unique<AuditedObserver>(nobody_, log_);
    observer_ = told_.get();
    ServiceTest::SetUp();
    ASSERT_TRUE(wait(service_->start()));
    audited_ = std::make_unique<AuditedService>(loop_.get_executor(), *service_, log_);
    session_ = create();
    session_ = *wait(audited_->get(ann_, session_.session_id));
  }
  void TearDown() override {
    ServiceTest::TearDown();
    audited_.reset();
    log_->close();
    std::filesystem::remove_all(data_);
  }
  std::vector<StoredEntry> entries(const std::string& action) {
    audit::Query query;
    query.action = action;
    query.limit = 1000;
    std::vector<StoredEntry> found;
    const audit::Page page = *audit::read_page(data_, query);
    for (const std::string& line : page.lines) found.push_back(*audit::parse_line(line));
    return found;
  }
  StoredEntry last(const std::string& action) {
    const auto all = entries(action);
    EXPECT_FALSE(all.empty()) << action;
    return all.empty() ? StoredEntry{} : all.back();
  }
  void expect_ok(const std::string& action, const std::string& object) {
    const StoredEntry stored = last(action);
    EXPECT_EQ(stored.entry.outcome, Outcome::ok) << action << ": " << stored.entry.reason;
    EXPECT_EQ(stored.entry.object, object) << action;
    EXPECT_EQ(stored.entry.actor.key_id, "key_ann") << action;
    EXPECT_EQ(stored.entry.actor.tenant, "one") << action;
  }

  std::string data_;
  std::shared_ptr<audit::Log> log_;
  NoObserver nobody_;
  std::unique_ptr<AuditedObserver> told_;
  std::unique_ptr<AuditedService> audited_;
  Session session_;
};

TEST_F(AuditedTest, AnothersSessionIsAnErrorInTheCallersName) {
  EXPECT_FALSE(wait(audited_->pause(bob_, session_.session_id, {})));
  const StoredEntry stored = last("session.pause");
  EXPECT_EQ(stored.entry.outcome, Outcome::error);
  EXPECT_EQ(stored.entry.actor.tenant, "two");
  EXPECT_FALSE(wait(audited_->files(bob_, session_.session_id)));
  EXPECT_EQ(last("file.read").entry.outcome, Outcome::error);
}

TEST_F(AuditedTest, APolicyThatDeniesIsDenied) {
  CreateRequest strict;
  strict.policy = "strict";
  const auto session = wait(audited_->create(ann_, strict));
  ASSERT_TRUE(session);
  ASSERT_TRUE(wait(audited_->execute(ann_, session->session_id, {.code = "import os\nos.system('reboot')"})));
  StoredEntry stored = last("session.execute");
  EXPECT_EQ(stored.entry.outcome, Outcome::denied);
  EXPECT_THAT(stored.entry.reason, HasSubstr("policy strict"));
  EXPECT_THAT(stored.entry.details, HasSubstr("record_id"));
  EXPECT_THAT(stored.entry.details, testing::Not(HasSubstr("reboot"))) << "code is not in the log";
  ASSERT_TRUE(wait(audited_->run(ann_, session->session_id, {.code = "import os\nos.system('reboot')"})));
  EXPECT_EQ(entries("session.execute").size(), 2U);
  EXPECT_EQ(last("session.execute").entry.outcome, Outcome::denied);
  EXPECT_THAT(last("session.execute").entry.reason, HasSubstr("policy strict"));
  ASSERT_TRUE(wait(audited_->validate(ann_, {.code = "import os\nos.system('reboot')", .policy = "strict"})));
  EXPECT_EQ(last("policy.check").entry.outcome, Outcome::denied);
}

TEST_F(AuditedTest, AClosedLogStopsChangesAndNotLooks) {
  log_->close();
  EXPECT_EQ(wait(audited_->create(ann_, {})).error().code(), Code::unavailable);
  EXPECT_EQ(wait(audited_->update(ann_, session_.session_id, {})).error().code(), Code::unavailable);
  EXPECT_TRUE(wait(audited_->get(ann_, session_.session_id)));
  EXPECT_EQ(service_->peek_all().size(), 1U) << "nothing was begun";
}

TEST_F(AuditedTest, AFailedCreateIsAnError) {
  CreateRequest request;
  request.environment = "no-such";
  EXPECT_FALSE(wait(audited_->create(ann_, request)));
  const StoredEntry stored = last("session.create");
  EXPECT_EQ(stored.entry.outcome, Outcome::error);
  EXPECT_EQ(stored.entry.object, "no-such");
}

TEST_F(AuditedTest, SessionsByEitherIdHaveOneName) {
  const std::string& id = session_.session_id;
  ASSERT_TRUE(wait(audited_->update(ann_, session_.sandbox_id, {})));
  expect_ok("session.update", id);
  ASSERT_TRUE(wait(audited_->execute(ann_, session_.sandbox_id, {.code = "1+1"})));
  expect_ok("session.execute", id);
  ASSERT_TRUE(wait(audited_->list(ann_, {})));
  expect_ok("session.list", "");
  EXPECT_FALSE(wait(audited_->update(ann_, "inosuch", {})));
  EXPECT_EQ(last("session.update").entry.object, "inosuch");
}

TEST_F(AuditedTest, TheLifeOfASession) {
  const auto made = wait(audited_->create(ann_, {}));
  ASSERT_TRUE(made);
  const std::string& id = made->session_id;
  expect_ok("session.create", id);
  const auto snapshot = wait(audited_->snapshot(ann_, id, "s", {}));
  if (snapshot) {
    expect_ok("session.snapshot", id);
    EXPECT_THAT(last("session.snapshot").entry.details, HasSubstr(snapshot->snapshot_id));
    ASSERT_TRUE(wait(audited_->restore(ann_, id, snapshot->snapshot_id)));
    expect_ok("session.restore", id);
    ASSERT_TRUE(wait(audited_->list_snapshots(ann_, id, 10, "")));
    expect_ok("snapshot.list", id);
    ASSERT_TRUE(wait(audited_->get_snapshot(ann_, snapshot->snapshot_id)));
    expect_ok("snapshot.read", snapshot->snapshot_id);
  } else {
    EXPECT_EQ(last("session.snapshot").entry.outcome, Outcome::error);
  }
  const auto forked = wait(audited_->fork(ann_, id, {}));
  EXPECT_EQ(last("session.fork").entry.outcome, forked ? Outcome::ok : Outcome::error);
  if (forked && forked->sessions.front()) {
    expect_ok("session.create", forked->sessions.front()->session_id);
    EXPECT_THAT(last("session.create").entry.details, HasSubstr(id));
  }
  ASSERT_TRUE(wait(audited_->pause(ann_, id, {})));
  expect_ok("session.pause", id);
  ASSERT_TRUE(wait(audited_->resume(ann_, id, std::nullopt)));
  expect_ok("session.resume", id);
  ASSERT_TRUE(wait(audited_->destroy(ann_, id)));
  expect_ok("session.end", id);
  EXPECT_EQ(entries("session.end").size(), 1U) << "told once: who asked for it tells it";
  if (!snapshot) return;
  const auto removed = wait(audited_->remove_snapshot(ann_, snapshot->snapshot_id));
  ASSERT_TRUE(removed) << removed.error().message();
  expect_ok("snapshot.delete", snapshot->snapshot_id);
}

TEST_F(AuditedTest, Files) {
  const std::string& id = session_.session_id;
  const auto files = *wait(audited_->files(ann_, id));
  auto writer = wait(files->open_write("/f", {}));
  ASSERT_TRUE(writer);
  EXPECT_TRUE(entries("file.write").empty()) << "not before it is finished";
  ASSERT_TRUE(wait((*writer)->write("hello")));
  ASSERT_TRUE(wait((*writer)->finish()));
  expect_ok("file.write", id + ":/f");
  auto given_up = wait(files->open_write("/g", {}));
  ASSERT_TRUE(given_up);
  given_up->reset();
  EXPECT_EQ(last("file.write").entry.outcome, Outcome::error);
  EXPECT_THAT(last("file.write").entry.reason, HasSubstr("cut off"));
  const auto tell = [&](const char* action, const auto& result) {
    const StoredEntry stored = last(action);
    EXPECT_EQ(stored.entry.outcome, result ? Outcome::ok : Outcome::error) << action;
    EXPECT_THAT(stored.entry.object, testing::StartsWith(id + ":/")) << action;
  };
  tell("file.read", wait(files->open_read("/f", 0, std::nullopt, "")));
  tell("file.read", wait(files->open_read("/none", 0, std::nullopt, "")));
  tell("file.stat", wait(files->stat("/f", "")));
  tell("file.list", wait(files->list("/", 1, 100, "")));
  tell("file.mkdir", wait(files->make_directory("/d", "", sandbox::Ownership::users)));
  tell("file.copy", wait(files->copy("/f", "/c", "", sandbox::Overwrite::no)));
  tell("file.move", wait(files->move("/f", "/m", "", sandbox::Overwrite::no)));
  EXPECT_THAT(last("file.move").entry.details, HasSubstr("/m"));
  tell("file.chmod", wait(files->chmod("/m", 0600, "")));
  tell("file.watch", wait(files->watch("/", sandbox::Recursive::no, "")));
  tell("file.delete", wait(files->remove("/m", sandbox::Recursive::no, "")));
}

TEST_F(AuditedTest, CommandsTerminalsSignals) {
  const std::string& id = session_.session_id;
  CommandRequest request;
  request.argv = {"sleep", "1"};
  request.background = true;
  auto start = wait(audited_->start(ann_, id, request));
  ASSERT_TRUE(start);
  auto& command = std::get<Command>(*start);
  const std::string object = id + ":" + std::to_string(command.process->info().pid);
  expect_ok("command.start", object);
  ASSERT_TRUE(wait(audited_->processes(ann_, id)));
  expect_ok("process.list", id);
  const auto process = wait(audited_->process(ann_, id, {.pid = command.process->info().pid}));
  ASSERT_TRUE(process);
  EXPECT_FALSE(wait(audited_->process(ann_, id, {.pid = 4711})));
  const auto stream = (*process)->attach(sandbox::Replay::none);
  expect_ok("process.read", object);
  (void)wait((*process)->write_stdin("x"));
  EXPECT_EQ(last("process.write").entry.object, object);
  (void)wait((*process)->close_stdin());
  (void)wait((*process)->resize({}));
  (void)wait((*process)->signal(SIGUSR1));
  EXPECT_THAT(last("process.signal").entry.details, HasSubstr("10"));
  (void)wait((*process)->signal(SIGKILL));
  EXPECT_THAT(last("process.signal").entry.details, HasSubstr("9"));
  EXPECT_EQ(last("process.signal").entry.object, object);

  const auto tool = wait(audited_->admit_tool(ann_, id, {.name = "word_count"}));
  ASSERT_TRUE(tool);
  expect_ok("tool.run", id + ":word_count");
  EXPECT_TRUE(wait(audited_->finish_tool(ann_, *tool)));

  request.pty = sandbox::PtySize{};
  auto terminal = wait(audited_->start(ann_, id, request));
  ASSERT_TRUE(terminal);
  auto& shell = std::get<Command>(*terminal);
  EXPECT_EQ(last("terminal.open").entry.outcome, Outcome::ok);
  (void)wait(shell.process->signal(SIGKILL));
  EXPECT_TRUE(until([&] { return !entries("terminal.close").empty(); }));

  request.pty.reset();
  request.background = false;
  request.argv = {"true", "fail"};
  EXPECT_FALSE(wait(audited_->start(ann_, id, request)));
  EXPECT_EQ(last("command.start").entry.outcome, Outcome::error);
  EXPECT_FALSE(wait(audited_->run_command(ann_, id, request, "")));
  EXPECT_EQ(last("command.start").entry.outcome, Outcome::error);
}

TEST_F(AuditedTest, ContextsPortsNetworkObservation) {
  const std::string& id = session_.session_id;
  const auto context = wait(audited_->create_context(ann_, id, {}));
  ASSERT_TRUE(context);
  expect_ok("context.create", id);
  (void)wait(audited_->contexts(ann_, id));
  expect_ok("context.list", id);
  (void)wait(audited_->prepare_environment(ann_, id, sandbox::Language::python));
  expect_ok("context.prepare", id);
  (void)wait(audited_->interrupt_context(ann_, id, context->id));
  EXPECT_EQ(last("context.interrupt").entry.object, id + ":" + context->id);
  (void)wait(audited_->restart_context(ann_, id, context->id));
  EXPECT_EQ(last("context.restart").entry.object, id + ":" + context->id);
  (void)wait(audited_->remove_context(ann_, id, context->id));
  EXPECT_EQ(last("context.delete").entry.object, id + ":" + context->id);
  (void)wait(audited_->connect(ann_, id, 80));
  (void)wait(audited_->connect(ann_, id, 80));
  EXPECT_EQ(entries("port.open").size(), 1U) << "folded";
  EXPECT_EQ(last("port.open").entry.object, id + ":80");
  (void)wait(audited_->listening_ports(ann_, id));
  (void)wait(audited_->network(ann_, id));
  (void)wait(audited_->update_network(ann_, id, {}));
  (void)wait(audited_->usage(ann_, id));
  (void)wait(audited_->metrics(ann_, id, std::nullopt, std::nullopt));
  (void)wait(audited_->history(ann_, {}));
  (void)wait(audited_->artifacts(ann_, id));
  (void)wait(audited_->open_artifact(ann_, "none"));
  for (const char* action : {"port.list", "network.read", "network.update", "history.read", "artifact.list"})
    EXPECT_FALSE(entries(action).empty()) << action;
  EXPECT_EQ(last("artifact.read").entry.outcome, Outcome::error);
  EXPECT_FALSE(audited_->providers().empty());
  EXPECT_EQ(&audited_->registry(), &service_->registry());
  EXPECT_EQ(&audited_->ceilings(), &service_->ceilings());
  EXPECT_TRUE(audited_->peek(id));
  EXPECT_TRUE(audited_->peek_if([](const Session&) { return true; }));
}

TEST_F(AuditedTest, WhatNobodyAskedForIsTheSystems) {
  audited_->tell_adopted();
  const StoredEntry adopted = last("session.adopt");
  EXPECT_EQ(adopted.entry.object, session_.session_id);
  EXPECT_EQ(adopted.entry.actor.key_id, "system");
  EXPECT_EQ(adopted.entry.actor.tenant, "one");
  Session lost = session_;
  lost.reason = "its sandbox ended";
  told_->changed(lost, State::running, State::lost, {});
  EXPECT_EQ(last("session.lose").entry.outcome, Outcome::error);
  EXPECT_EQ(last("session.lose").entry.reason, "its sandbox ended");
  told_->changed(lost, State::running, State::paused, {});
  EXPECT_EQ(last("session.pause").entry.actor.key_id, "system");
  const auto before = log_->facts().seq;
  told_->changed(lost, State::creating, State::failed, {});
  told_->changed(lost, State::running, State::running, {});
  lost.reason = kByRequest;
  told_->changed(lost, State::running, State::stopped, {});
  EXPECT_EQ(log_->facts().seq, before);
  ASSERT_TRUE(wait(service_->shut_down("the service was stopped")));
  EXPECT_THAT(last("session.end").entry.reason, HasSubstr("stopped"));
  EXPECT_GT(nobody_.changes, 0);
}

}  // namespace
}  // namespace atl::session::audited
