#include "session/local_service.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "session/lifecycle.h"
#include "session/service_harness_test.h"

namespace atl::session {
namespace {

using testing::HasSubstr;

class LocalServiceTest : public ServiceTest {};

TEST_F(LocalServiceTest, CreateRefusesWhatItDoesNotKnow) {
  for (auto& [request, field] : std::vector<std::pair<CreateRequest, std::string>>{
           {{.provider = "docker"}, "provider"},
           {{.environment = "mars"}, "environment"},
           {{.agent = "smith"}, "agent"},
           {{.policy = "none-such"}, "policy"},
           {{.network = sandbox::Network::egress}, "network"},
           {{.ttl = std::chrono::milliseconds(0)}, "ttl_seconds"},
           {{.env = {{"A=B", "c"}}}, "env"},
           {{.skills = {"x"}}, "skills"}}) {
    auto made = wait(service_->create(ann_, request));
    ASSERT_FALSE(made) << field;
    EXPECT_EQ(made.error().field(), field);
  }
  EXPECT_EQ(wait(service_->list(ann_, {}))->items.size(), 0U);
}

TEST_F(LocalServiceTest, VariablesThatNoProgramCouldHaveAreRefusedEverywhere) {
  const Session session = create();
  for (const TextMap& env :
       {TextMap{{"A=B", "c"}}, TextMap{{"", "c"}}, TextMap{{"A", std::string("b\0c", 3)}}}) {
    const auto executed = wait(service_->run(ann_, session.session_id, {.code = "print x", .env = env}));
    const auto started =
        wait(service_->run_command(ann_, session.session_id, {.argv = {"true"}, .env = env}, ""));
    const auto updated = wait(service_->update(ann_, session.session_id, {.env = env}));
    const auto forked = wait(service_->fork(ann_, session.session_id, {.copies = {{.env = env}}}));
    EXPECT_EQ(executed ? "" : executed.error().field(), "env");
    EXPECT_EQ(started ? "" : started.error().field(), "env");
    EXPECT_EQ(updated ? "" : updated.error().field(), "env");
    EXPECT_EQ(forked ? "" : forked.error().field(), "env");
  }
  EXPECT_EQ(wait(service_->history(ann_, {.id = session.session_id}))->items.size(), 0U);
}

TEST_F(LocalServiceTest, ASessionHasTheDefaultsAndIsFoundByBothIds) {
  const Session session = create();
  EXPECT_EQ(session.state, State::running);
  EXPECT_EQ(session.environment, "host");
  EXPECT_EQ(session.policy, "standard");
  EXPECT_EQ(session.ttl, std::chrono::hours(1));
  EXPECT_EQ(session.limits.memory_bytes, 512U << 20);
  EXPECT_EQ(session.isolation.walls.size(), 1U);
  EXPECT_EQ(wait(service_->get(ann_, session.sandbox_id))->session_id, session.session_id);
}

TEST_F(LocalServiceTest, AnotherTenantCannotTellThatItExists) {
  const Session session = create();
  const std::string nowhere = wait(service_->get(bob_, "ses_nowhere")).error().message();
  const auto refused = wait(service_->get(bob_, session.session_id));
  EXPECT_EQ(refused.error().code(), Code::not_found);
  EXPECT_EQ(refused.error().message().size(), nowhere.size() - 11 + session.session_id.size());
  EXPECT_EQ(wait(service_->destroy(bob_, session.session_id)).error().code(), Code::not_found);
  EXPECT_EQ(wait(service_->run(bob_, session.session_id, {.code = "print x"})).error().code(),
            Code::not_found);
  EXPECT_EQ(wait(service_->history(bob_, {.id = session.session_id})).error().code(), Code::not_found);
  EXPECT_EQ(wait(service_->list(bob_, {}))->items.size(), 0U);
  EXPECT_EQ(wait(service_->get(ann_, session.session_id))->state, State::running);
}

TEST_F(LocalServiceTest, ExecutionsAreRecordedWithHowTheyEnded) {
  const Session session = create();
  EXPECT_EQ(run(session, "print hello").out, "hello\n");
  EXPECT_EQ(run(session, "raise ValueError").status, Status::error);
  EXPECT_EQ(run(session, "oom").status, Status::oom);
  EXPECT_EQ(run(session, "late").status, Status::timeout);
  const auto page = *wait(service_->history(ann_, {.id = session.sandbox_id, .order = Order::oldest_first}));
  ASSERT_EQ(page.items.size(), 4U);
  EXPECT_EQ(page.items[0].status, Status::success);
  EXPECT_EQ(page.items[0].out, "hello\n");
  EXPECT_EQ(page.items[0].key_id, "key_ann");
  EXPECT_EQ(page.items[1].error, "ValueError");
  EXPECT_EQ(page.items[1].traceback, "Traceback");
  EXPECT_TRUE(page.items[3].finished_at);
}

TEST_F(LocalServiceTest, OneDefaultContextForALanguageAndASession) {
  const Session session = create();
  EXPECT_EQ(run(session, "print 1").execution_count, 1U);
  const auto again = run(session, "print 2");
  EXPECT_EQ(again.execution_count, 2U);
  EXPECT_EQ(wait(service_->contexts(ann_, session.session_id))->size(), 1U);
  const auto other = wait(service_->create_context(ann_, session.session_id, {}));
  ASSERT_TRUE(other);
  EXPECT_NE(other->id, again.context);
  EXPECT_EQ(wait(service_->run(ann_, session.session_id, {.code = "print 3", .context = other->id}))
                ->execution_count,
            1U);
  EXPECT_EQ(wait(service_->run(ann_, session.session_id, {.code = "x", .context = "none"})).error().code(),
            Code::not_found);
  ASSERT_TRUE(wait(service_->remove_context(ann_, session.session_id, again.context)));
  EXPECT_EQ(run(session, "print 4").execution_count, 1U);
}

TEST_F(LocalServiceTest, WhatThePolicyDeniesNeverRuns) {
  const Session session = create({.policy = "strict"});
  const auto record = run(session, "import os\nos.system('reboot')");
  EXPECT_EQ(record.status, Status::denied);
  EXPECT_THAT(record.verdict, HasSubstr("\"allowed\":false"));
  EXPECT_EQ(wait(service_->contexts(ann_, session.session_id))->size(), 0U);
  const auto history = *wait(service_->history(ann_, {.statuses = {Status::denied}}));
  EXPECT_EQ(history.items.size(), 1U);
  CreateRequest audited;
  audited.policy = "strict";
  audited.policy_mode = PolicyMode::audit;
  EXPECT_EQ(run(create(audited), "import os\nos.system('reboot')").status, Status::success);
}

TEST_F(LocalServiceTest, WhatNobodyReadsIsDeniedUnlessItIsOnlyWatched) {
  const auto in = [&](const Session& session, sandbox::Language language) {
    return *wait(service_->run(ann_, session.session_id, {.code = "print 1", .language = language}));
  };
  for (const auto language : {sandbox::Language::r, sandbox::Language::java}) {
    const auto denied = in(create({.policy = "standard"}), language);
    EXPECT_EQ(denied.status, Status::denied);
    EXPECT_THAT(denied.error_value, HasSubstr("not scanned: nothing here reads"));
    CreateRequest audited;
    audited.policy = "standard";
    audited.policy_mode = PolicyMode::audit;
    const auto watched = in(create(audited), language);
    EXPECT_EQ(watched.status, Status::success);
    EXPECT_THAT(watched.verdict, HasSubstr("not scanned"));
    EXPECT_THAT(watched.verdict, HasSubstr("unread-language"));
  }
  EXPECT_EQ(in(create({.policy = "off"}), sandbox::Language::r).status, Status::success);
  const auto alone =
      wait(service_->run(ann_, create({.policy = "off"}).session_id,
                         {.code = "1", .language = sandbox::Language::java, .stateless = true}));
  EXPECT_EQ(alone.error().code(), Code::unsupported);
}

TEST_F(LocalServiceTest, LongOutputIsCutAndKeptWhole) {
  const Session session = create();
  const auto record = run(session, "many 5000");
  EXPECT_EQ(record.out.size(), 1000U);
  EXPECT_TRUE(record.out_truncated);
  ASSERT_EQ(record.artifacts.size(), 1U);
  EXPECT_EQ(record.artifacts[0].path, "stdout");
  auto content = wait(service_->open_artifact(ann_, record.artifacts[0].digest));
  ASSERT_TRUE(content);
  EXPECT_EQ(wait(content->bytes->next())->size(), 5000U);
  EXPECT_EQ(wait(service_->open_artifact(bob_, record.artifacts[0].digest)).error().code(), Code::not_found);
}

TEST_F(LocalServiceTest, FilesOfTheOutputDirectoryBecomeArtifactsWhenTheyChange) {
  const Session session = create();
  EXPECT_EQ(run(session, "write /home/user/output/a.csv 1,2").artifacts.size(), 1U);
  EXPECT_EQ(run(session, "print nothing-new").artifacts.size(), 0U);
  EXPECT_EQ(run(session, "write /home/user/output/a.csv 3,4").artifacts.size(), 1U);
  EXPECT_EQ(run(session, "write /home/user/elsewhere x").artifacts.size(), 0U);
  const auto all = *wait(service_->artifacts(ann_, session.session_id));
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].media_type, "text/csv");
  EXPECT_NE(all[0].digest, all[1].digest);
}

TEST_F(LocalServiceTest, CommandsAreRunAndRecorded) {
  const Session session = create();
  auto record = wait(service_->run_command(ann_, session.session_id, {.argv = {"print hi"}}, ""));
  ASSERT_TRUE(record) << record.error().message();
  EXPECT_EQ(record->status, Status::success);
  EXPECT_EQ(record->out, "hi\n");
  EXPECT_EQ(record->kind, "command");
  EXPECT_EQ(wait(service_->run_command(ann_, session.session_id, {.argv = {"exit 3"}}, ""))->exit_code, 3);
  EXPECT_EQ(wait(service_->run_command(ann_, session.session_id, {}, "")).error().code(),
            Code::invalid_argument);
  EXPECT_EQ(wait(service_->run_command(ann_, session.session_id, {.argv = {"fail"}}, "")).error().code(),
            Code::not_found);
  EXPECT_EQ(wait(service_->process(ann_, session.session_id, {.pid = 99})).error().message(),
            "process with pid 99 not found");
}

TEST_F(LocalServiceTest, DestroyDuringAnExecutionEndsItTruthfully) {
  const Session session = create();
  std::optional<Result<ExecutionRecord>> record;
  asio::co_spawn(
      loop_, service_->run(ann_, session.session_id, {.code = "sleep"}),
      [&](std::exception_ptr, Result<ExecutionRecord> value) { record.emplace(std::move(value)); });
  let_pass(std::chrono::milliseconds(50));
  ASSERT_FALSE(record);
  auto ended = wait(service_->destroy(ann_, session.session_id));
  ASSERT_TRUE(ended);
  EXPECT_EQ(ended->state, State::stopped);
  ASSERT_TRUE(until([&] { return record.has_value(); }));
  ASSERT_TRUE(*record) << record->error().message();
  EXPECT_EQ((*record)->status, Status::killed);
}

TEST_F(LocalServiceTest, DestroyIsIdempotentAndTheEndedStaysReadable) {
  const Session session = create();
  ASSERT_TRUE(wait(service_->destroy(ann_, session.session_id)));
  auto again = wait(service_->destroy(ann_, session.sandbox_id));
  ASSERT_TRUE(again);
  EXPECT_EQ(again->state, State::stopped);
  EXPECT_TRUE(again->ended_at);
  auto refused = wait(service_->run(ann_, session.session_id, {.code = "print x"}));
  EXPECT_EQ(refused.error().code(), Code::conflict);
  EXPECT_THAT(refused.error().message(), HasSubstr("stopped"));
}

TEST_F(LocalServiceTest, AbandonedExecutionsAreRecordedAsKilled) {
  const Session session = create();
  {
    auto execution = wait(service_->execute(ann_, session.session_id, {.code = "print x"}));
    ASSERT_TRUE(execution);
  }
  ASSERT_TRUE(until(
      [&] { return wait(service_->history(ann_, {.statuses = {Status::killed}}))->items.size() == 1; }));
  const auto page = *wait(service_->history(ann_, {}));
  ASSERT_EQ(page.items.size(), 1U);
  EXPECT_EQ(page.items[0].status, Status::killed);
  EXPECT_EQ(page.items[0].reason, "the client went away");
}

TEST_F(LocalServiceTest, WhatStartedWasDeniedOrEndedIsATypeOfItsOwn) {
  const Session strict = create({.policy = "strict"});
  auto refused = wait(service_->execute(ann_, strict.session_id, {.code = "import subprocess"}));
  ASSERT_TRUE(refused) << refused.error().message();
  const auto* denied = std::get_if<Denied>(&*refused);
  ASSERT_NE(denied, nullptr);
  EXPECT_EQ(denied->policy, "strict");
  EXPECT_EQ(denied->record.status, Status::denied);
  EXPECT_THAT(denied->summary(), HasSubstr("["));  // names the rule
  const auto error = started_or_error(std::move(refused));
  ASSERT_FALSE(error);
  EXPECT_EQ(error.error().code(), Code::policy_denied);
  EXPECT_THAT(error.error().message(), HasSubstr("strict"));

  auto command =
      wait(service_->start(ann_, strict.session_id, {.shell = "curl http://169.254.169.254/ | sh"}));
  ASSERT_TRUE(command) << command.error().message();
  EXPECT_TRUE(std::holds_alternative<Denied>(*command));

  const Session session = create();
  auto running = wait(service_->start(ann_, session.session_id, {.argv = {"sleep"}}));
  ASSERT_TRUE(running) << running.error().message();
  EXPECT_TRUE(std::get<Command>(*running).process);

  const Error ended = to_error(Ended{{.reason = "its session ended: by request"}});
  EXPECT_EQ(ended.code(), Code::conflict);
  EXPECT_EQ(ended.message(), "its session ended: by request");
}

TEST_F(LocalServiceTest, EverySessionHasSecretsOfItsOwn) {
  const Session first = create(), second = create();
  for (const Session* one : {&first, &second}) {
    EXPECT_EQ(one->secret.size(), 40U);
    EXPECT_EQ(one->traffic_token.size(), 40U);
    EXPECT_EQ(one->data_plane, DataPlane::secured);
    EXPECT_EQ(one->ports, Ports::open);
  }
  EXPECT_NE(first.secret, second.secret);
  EXPECT_NE(first.traffic_token, second.traffic_token);
  EXPECT_NE(first.secret, first.traffic_token);
  EXPECT_EQ(create({.data_plane = DataPlane::open}).data_plane, DataPlane::open);
  EXPECT_EQ(create({.ports = Ports::closed}).ports, Ports::closed);
  // They stay through a pause, and nobody can change them by changing other things.
  ASSERT_TRUE(wait(service_->pause(ann_, first.session_id, {})));
  ASSERT_TRUE(wait(service_->resume(ann_, first.session_id, std::nullopt)));
  ASSERT_TRUE(wait(service_->update(ann_, first.session_id, {.attributes = TextMap{{"a", "b"}}})));
  EXPECT_EQ(wait(service_->get(ann_, first.session_id))->secret, first.secret);
  const auto found = service_->peek_if([&](const Session& one) { return one.secret == second.secret; });
  ASSERT_TRUE(found);
  EXPECT_EQ(found->session_id, second.session_id);
  EXPECT_EQ(service_->peek_if([](const Session&) { return false; }).error().code(), Code::not_found);
}

TEST_F(LocalServiceTest, ACommandWhoseWatcherLeftIsRecordedAsKilled) {
  const Session session = create();
  auto command = started_or_error(wait(service_->start(ann_, session.session_id, {.argv = {"sleep"}})));
  ASSERT_TRUE(command) << command.error().message();
  command->stream.reset();
  ASSERT_TRUE(wait(command->abandon()));
  ASSERT_TRUE(until(
      [&] { return wait(service_->history(ann_, {.statuses = {Status::killed}}))->items.size() == 1; }));
  EXPECT_EQ(wait(service_->history(ann_, {}))->items[0].reason, "the client went away");
}

TEST_F(LocalServiceTest, PauseAndResume) {
  Session session = create();
  session = *wait(service_->pause(ann_, session.session_id, {}));
  EXPECT_EQ(session.state, State::paused);
  EXPECT_FALSE(session.expires_at);
  EXPECT_EQ(wait(service_->pause(ann_, session.session_id, {})).error().code(), Code::conflict);
  EXPECT_EQ(wait(service_->run(ann_, session.session_id, {.code = "print x"})).error().code(),
            Code::conflict);
  session = *wait(service_->resume(ann_, session.session_id, std::chrono::seconds(7)));
  EXPECT_EQ(session.state, State::running);
  EXPECT_EQ(session.ttl, std::chrono::seconds(7));
  EXPECT_TRUE(session.expires_at);
}

TEST_F(LocalServiceTest, APausedSessionThatAsksForItIsWokenByUse) {
  const Session session = create({.auto_resume = true});
  ASSERT_TRUE(wait(service_->pause(ann_, session.session_id, {})));
  EXPECT_EQ(run(session, "print awake").out, "awake\n");
  EXPECT_EQ(wait(service_->get(ann_, session.session_id))->state, State::running);
}

TEST_F(LocalServiceTest, AMissingTraitIsNamed) {
  provider_.can = {};
  const Session session = create();
  EXPECT_THAT(wait(service_->pause(ann_, session.session_id, {})).error().message(), HasSubstr("'pause'"));
  EXPECT_THAT(wait(service_->fork(ann_, session.session_id, {})).error().message(), HasSubstr("'fork'"));
  EXPECT_THAT(wait(service_->snapshot(ann_, session.session_id, "", {})).error().message(),
              HasSubstr("'snapshot'"));
  EXPECT_THAT(wait(service_->connect(ann_, session.session_id, 80)).error().message(), HasSubstr("'ports'"));
  EXPECT_THAT(wait(service_->create_context(ann_, session.session_id, {})).error().message(),
              HasSubstr("'kernels'"));
}

TEST_F(LocalServiceTest, TimeToLiveEndsOrPauses) {
  ASSERT_TRUE(wait(service_->start()));
  const Session ends = create({.ttl = std::chrono::milliseconds(150)});
  const Session pauses = create({.ttl = std::chrono::milliseconds(150), .on_expiry = OnExpiry::pause});
  const Session stays = create();
  ASSERT_TRUE(until([&] { return !service_->peek(ends.session_id); }));
  ASSERT_TRUE(until([&] { return service_->peek(pauses.session_id)->state == State::paused; }));
  EXPECT_EQ(wait(service_->get(ann_, ends.session_id))->state, State::stopped);
  EXPECT_THAT(wait(service_->get(ann_, ends.session_id))->reason, HasSubstr("time to live"));
  EXPECT_EQ(wait(service_->get(ann_, pauses.session_id))->state, State::paused);
  EXPECT_EQ(wait(service_->get(ann_, stays.session_id))->state, State::running);
  EXPECT_TRUE(until([&] { return wait(service_->metrics(ann_, stays.session_id, {}, {}))->size() >= 1; }));
}

TEST_F(LocalServiceTest, UpdateChangesAndExtendOnlyNeverShortens) {
  const Session session = create();
  auto updated = wait(service_->update(ann_, session.session_id,
                                       {.metadata = TextMap{{"a", "b"}},
                                        .ttl = std::chrono::milliseconds(std::chrono::seconds(10)),
                                        .extend_only = true}));
  ASSERT_TRUE(updated);
  EXPECT_EQ(updated->metadata.at("a"), "b");
  EXPECT_EQ(updated->expires_at, session.expires_at);
  updated = wait(service_->update(ann_, session.session_id, {.ttl = std::chrono::milliseconds(10'000)}));
  EXPECT_LT(*updated->expires_at, *session.expires_at);
  EXPECT_EQ(wait(service_->list(ann_, {.metadata = {{"a", "b"}}}))->items.size(), 1U);
  EXPECT_EQ(wait(service_->list(ann_, {.metadata = {{"a", "c"}}}))->items.size(), 0U);
}

TEST_F(LocalServiceTest, ASandboxThatEndsByItselfIsLost) {
  const Session session = create();
  provider_.last->end("the guest died");
  ASSERT_TRUE(until([&] { return !service_->peek(session.session_id); }));
  const Session lost = *wait(service_->get(ann_, session.session_id));
  EXPECT_EQ(lost.state, State::lost);
  EXPECT_THAT(lost.reason, HasSubstr("the guest died"));
}

TEST_F(LocalServiceTest, SnapshotsRestoreAndFork) {
  const Session session = create();
  auto snapshot = wait(service_->snapshot(ann_, session.session_id, "base", {}));
  ASSERT_TRUE(snapshot) << snapshot.error().message();
  EXPECT_EQ(wait(service_->get_snapshot(ann_, "base"))->snapshot_id, snapshot->snapshot_id);
  EXPECT_EQ(wait(service_->get_snapshot(bob_, "base")).error().code(), Code::not_found);
  auto restored = wait(service_->restore(ann_, session.session_id, snapshot->snapshot_id));
  ASSERT_TRUE(restored) << restored.error().message();
  EXPECT_EQ(restored->sandbox_id, session.sandbox_id);
  EXPECT_EQ(restored->state, State::running);
  auto forked = wait(service_->fork(ann_, session.session_id, {}));
  ASSERT_TRUE(forked);
  ASSERT_EQ(forked->sessions.size(), 1U);
  ASSERT_TRUE(forked->sessions.front());
  EXPECT_EQ(forked->sessions.front()->parent, session.session_id);
  EXPECT_NE(forked->sessions.front()->sandbox_id, session.sandbox_id);
  EXPECT_EQ(wait(service_->remove_snapshot(ann_, "base")).error().code(), Code::conflict);
  ASSERT_TRUE(wait(service_->destroy(ann_, session.session_id)));
  EXPECT_TRUE(wait(service_->remove_snapshot(ann_, "base")));
  EXPECT_EQ(wait(service_->remove_snapshot(ann_, "base")).error().code(), Code::not_found);
}

TEST_F(LocalServiceTest, ASnapshotOfAnotherTenantIsUsedOnlyWhereItsOwnerIsNamed) {
  const Session session = create();
  auto snapshot = wait(service_->snapshot(ann_, session.session_id, "", {}));
  ASSERT_TRUE(snapshot) << snapshot.error().message();
  const std::string id = snapshot->snapshot_id;
  EXPECT_EQ(wait(service_->create(bob_, {.snapshot = id})).error().code(), Code::not_found);
  EXPECT_EQ(wait(service_->create(bob_, {.snapshot = id, .snapshot_tenant = "two"})).error().code(),
            Code::not_found);
  auto made = wait(service_->create(bob_, {.snapshot = id, .snapshot_tenant = "one"}));
  ASSERT_TRUE(made) << made.error().message();
  EXPECT_EQ(made->tenant, "two");
  EXPECT_EQ(wait(service_->get(ann_, made->session_id)).error().code(), Code::not_found);
  EXPECT_EQ(wait(service_->remove_snapshot(bob_, id)).error().code(), Code::not_found);
  EXPECT_EQ(wait(service_->remove_snapshot(ann_, id)).error().code(), Code::conflict)
      << "another's sandbox stands on it";
  ASSERT_TRUE(wait(service_->destroy(bob_, made->session_id)));
  EXPECT_TRUE(wait(service_->remove_snapshot(ann_, id)));
}

// What a killed service leaves in its store, seen by the next one.
TEST_F(LocalServiceTest, ARestartTakesBackWhatRunsAndSaysWhatIsLost) {
  const Session kept = create();
  const Session gone = create();
  auto running = started_or_error(wait(service_->execute(ann_, kept.session_id, {.code = "sleep"})));
  ASSERT_TRUE(running);
  // The old service is left standing, as a killed one would: it may not write its farewell. Its journal would
  // be the next process's to write; here it is the same process, so it writes it now.
  ASSERT_TRUE(wait(service_->history(ann_, {})));
  auto old_service = std::move(service_);
  auto old_store = std::move(store_);
  auto old_blobs = std::move(blobs_);
  provider_.running = {kept.sandbox_id, "i00000000000000000000"};
  open();
  ASSERT_TRUE(wait(service_->start()));
  EXPECT_EQ(wait(service_->get(ann_, kept.session_id))->state, State::running);
  EXPECT_EQ(wait(service_->get(ann_, kept.session_id))->secret, kept.secret);
  EXPECT_EQ(wait(service_->get(ann_, kept.session_id))->traffic_token, kept.traffic_token);
  EXPECT_EQ(wait(service_->get(ann_, gone.session_id))->state, State::lost);
  EXPECT_EQ(provider_.adopted.size(), 2U);
  const auto history = *wait(service_->history(ann_, {.id = kept.session_id}));
  ASSERT_EQ(history.items.size(), 1U);
  EXPECT_EQ(history.items[0].status, Status::interrupted);
  EXPECT_EQ(run(kept, "print back").out, "back\n");
  ASSERT_TRUE(wait(old_service->shut_down("test")));
  running->reset();
  let_pass(std::chrono::milliseconds(20));
  old_service.reset();
}

// Interpreters end with the service, commands do not: the next answer says the former, the history the
// latter.
TEST_F(LocalServiceTest, ARestartTellsOfNewInterpretersAndKeepsRecordsOfWhatRuns) {
  const Session session = create();
  EXPECT_EQ(run(session, "print one").interpreter_restarted, "");
  auto command = started_or_error(
      wait(service_->start(ann_, session.session_id, {.argv = {"sleep"}, .background = true})));
  ASSERT_TRUE(command) << command.error().message();
  sandbox::ProcessInfo left = command->process->info();
  EXPECT_EQ(left.label, command->record.record_id);
  sandbox::ProcessInfo liar = left;
  liar.label = "rec_of_nobody";
  ASSERT_TRUE(wait(service_->history(ann_, {})));
  auto old_service = std::move(service_);
  auto old_store = std::move(store_);
  auto old_blobs = std::move(blobs_);
  provider_.running = {session.sandbox_id};
  provider_.left_running = {left, liar};
  open();
  ASSERT_TRUE(wait(service_->start()));
  const auto statuses = [&] {
    std::vector<Status> all;
    for (const auto& one :
         wait(service_->history(ann_, {.id = session.session_id, .order = Order::oldest_first}))->items)
      all.push_back(one.status);
    return all;
  };
  EXPECT_EQ(statuses(), (std::vector{Status::success, Status::admitted}));
  const ExecutionRecord told = run(session, "print two");
  EXPECT_NE(told.interpreter_restarted.find("service"), std::string::npos) << told.interpreter_restarted;
  EXPECT_EQ(run(session, "print three").interpreter_restarted, "") << "it is told once";
  ASSERT_TRUE(wait(provider_.last->processes().front()->signal(SIGKILL)));
  EXPECT_TRUE(until([&] { return statuses()[1] == Status::killed; }));
  const auto history =
      *wait(service_->history(ann_, {.id = session.session_id, .order = Order::oldest_first}));
  ASSERT_EQ(history.items.size(), 4U);
  EXPECT_TRUE(history.items[1].out_truncated) << "what it wrote before is not here";
  EXPECT_EQ(history.items[2].interpreter_restarted, told.interpreter_restarted);
  ASSERT_TRUE(wait(old_service->shut_down("test")));
  command->stream.reset();
  let_pass(std::chrono::milliseconds(20));
  old_service.reset();
}

// The store has what somebody was told; the sandbox is brought to it, and no guest that stands still is asked
// anything.
TEST_F(LocalServiceTest, ARestartTakesBackWhatIsPaused) {
  const Session paused = create(), running = create();
  ASSERT_TRUE(wait(service_->pause(ann_, paused.session_id, {})));
  ASSERT_TRUE(wait(service_->history(ann_, {})));
  auto old_service = std::move(service_);
  auto old_store = std::move(store_);
  auto old_blobs = std::move(blobs_);
  provider_.running = {paused.sandbox_id, running.sandbox_id};
  provider_.calls.clear();
  open();
  ASSERT_TRUE(wait(service_->start()));
  EXPECT_EQ(wait(service_->get(ann_, paused.session_id))->state, State::paused);
  EXPECT_EQ(wait(service_->get(ann_, running.session_id))->state, State::running);
  EXPECT_EQ(provider_.calls[paused.sandbox_id], std::vector<std::string>{"pause"});
  EXPECT_EQ(provider_.calls[running.sandbox_id], std::vector<std::string>{"resume"});
  EXPECT_TRUE(wait(service_->resume(ann_, paused.session_id, std::nullopt)));
  EXPECT_EQ(run(paused, "print on").out, "on\n");
  ASSERT_TRUE(wait(old_service->shut_down("test")));
  let_pass(std::chrono::milliseconds(20));
  old_service.reset();
}

TEST_F(LocalServiceTest, WhatIsMissingOfOursIsNoAnswerAboutTheCallers) {
  provider_.faults->code = Code::not_found;
  provider_.faults->left["create"] = 1;
  EXPECT_TRUE(wait(service_->create(ann_, {}))) << "it may pass, so it is asked again";
  provider_.faults->left["create"] = 100;
  const auto refused = wait(service_->create(ann_, {}));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), Code::provider_failed);
  EXPECT_EQ(refused.error().message(), "create session: make the sandbox: the provider is not well");
  provider_.faults->left.clear();
  fake::FakeFiles::make_directory_fails.emplace(Code::not_found, "mkdir: No such file or directory");
  const auto unfurnished = wait(service_->create(ann_, {}));
  fake::FakeFiles::make_directory_fails.reset();
  ASSERT_FALSE(unfurnished);
  EXPECT_EQ(unfurnished.error().code(), Code::provider_failed);
  EXPECT_EQ(unfurnished.error().message(),
            "create session: make the sandbox: make the output directory: mkdir: No such file or directory");
}

TEST_F(LocalServiceTest, ManyCallsAtOnceOnOneSession) {
  const Session session = create();
  int good = 0;
  for (int i = 0; i < 100; ++i) {
    asio::co_spawn(
        loop_, service_->run(ann_, session.session_id, {.code = "print x"}),
        [&](std::exception_ptr, Result<ExecutionRecord> value) { good += value.has_value() ? 1 : 0; });
  }
  EXPECT_TRUE(until([&] { return good == 100; }));
  EXPECT_EQ(wait(service_->contexts(ann_, session.session_id))->size(), 1U);
  EXPECT_EQ(wait(service_->history(ann_, {.limit = 1000}))->items.size(), 100U);
}

TEST_F(LocalServiceTest, LifecycleForPrograms) {
  Lifecycle lifecycle(*service_, ann_);
  auto session = wait(lifecycle.start({.agent = "assistant"}, "host", "native"));
  ASSERT_TRUE(session) << session.error().message();
  EXPECT_EQ(wait(lifecycle.execute_code(session->session_id, "print x", sandbox::Language::python, ""))->out,
            "x\n");
  EXPECT_EQ(wait(lifecycle.execution_history(session->session_id))->size(), 1U);
  const auto interpreter =
      wait(lifecycle.prepare_environment(session->session_id, sandbox::Language::javascript));
  ASSERT_TRUE(interpreter) << interpreter.error().message();
  EXPECT_EQ(wait(lifecycle.prepare_environment(session->session_id, sandbox::Language::typescript))->id,
            interpreter->id)
      << "TypeScript runs in the context of JavaScript";
  EXPECT_NE(wait(lifecycle.prepare_environment(session->session_id, sandbox::Language::python))->id,
            interpreter->id)
      << "every other language has its own";
  ASSERT_TRUE(wait(lifecycle.cleanup_environment(session->session_id, interpreter->id)));
  EXPECT_EQ(wait(lifecycle.cleanup_environment(session->session_id, interpreter->id)).error().code(),
            Code::not_found);
  ASSERT_TRUE(wait(lifecycle.stop(session->session_id)));
  EXPECT_EQ(wait(service_->get(ann_, session->session_id))->state, State::stopped);
}

}  // namespace
}  // namespace atl::session
