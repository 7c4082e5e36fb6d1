#include "service.h"

// Connections that are cut, answers that do not come, cancellations: what is repeated, what never is, what is
// told.
namespace service {
namespace {

const Json kCutAtOnce = Json::object({{"cut_answer_after", 0}});
const Json kCutInside = Json::object({{"cut_answer_after", 40}});
const Json kRefuse = Json::object({{"refuse", true}});
const Json kSilent = Json::object({{"silent", true}});

struct FaultsTest : ServiceTest {
  void TearDown() override { Faults::set(Json::array()); }

  // A client through the proxy.
  static SandboxClient through(int retries = 2) {
    ClientOptions options = Faults::options();
    options.retries = retries;
    return SandboxClient(options);
  }
};

TEST_F(FaultsTest, IdempotentCallsAreRepeated) {
  for (const Json& fault : {kRefuse, kCutAtOnce, kCutInside}) {
    Faults::set(Json::array({fault, fault}));
    EXPECT_FALSE(through().version().empty()) << fault.dump();
    EXPECT_EQ(Faults::connections(), 3) << fault.dump();
  }
}

TEST_F(FaultsTest, RepetitionsEnd) {
  Faults::set(Json::array({kCutAtOnce, kCutAtOnce, kCutAtOnce}));
  EXPECT_THROW(through(1).version(), ConnectionLostError);
  EXPECT_EQ(Faults::connections(), 2);
}

TEST_F(FaultsTest, OtherCallsAreNotRepeated) {
  for (const Json& fault : {kCutAtOnce, kCutInside}) {
    Faults::set(Json::array({fault, fault, fault}));
    try {
      through(5).create({.provider = "virtual", .ttl_seconds = 60, .metadata = {{"test", "cut"}}});
      FAIL();
    } catch (const ConnectionLostError& error) {
      EXPECT_NE(error.hint().find("not known"), std::string::npos);
      EXPECT_FALSE(error.retryable());
    }
    EXPECT_EQ(Faults::sent("POST"), 1);
  }
  for (const SessionInfo& left : client.list({.states = {"running"}, .metadata = {{"test", "cut"}}}))
    client.get(left.session_id).end();
}

TEST_F(FaultsTest, ARemovalWhoseAnswerWasLostIsDone) {
  Session session = client.create({.provider = "virtual"});
  session.files().write("/home/user/f", "x");
  SandboxClient cut = through();
  Session same = cut.connect(session.id());
  Faults::cut_all();
  Faults::set(Json::array({kCutAtOnce}));
  same.files().remove("/home/user/f");
  EXPECT_FALSE(session.files().exists("/home/user/f"));
  EXPECT_THROW(same.files().remove("/home/user/f"), NotFoundError);
}

TEST_F(FaultsTest, AnAppendIsNeverRepeated) {
  Session session = client.create({.provider = "virtual"});
  session.files().write("/home/user/log", "");
  Session same = through().connect(session.id());
  Faults::cut_all();
  Faults::set(Json::array({kCutAtOnce}));
  EXPECT_THROW(same.files().write("/home/user/log", "line\n", {.append = true}), ConnectionLostError);
  EXPECT_LE(session.files().read("/home/user/log").size(), 5U);
  EXPECT_LE(Faults::sent("PUT"), 1);
}

TEST_F(FaultsTest, AStreamThatIsCut) {
  Session session = client.create();
  SandboxClient cut = through();
  Session same = cut.connect(session.id());
  auto cutting = [](std::string_view) { Faults::cut_all(); };
  EXPECT_THROW(same.execute("import time\nprint(1, flush=True)\ntime.sleep(60)", {.on_stdout = cutting}),
               ConnectionLostError);
  EXPECT_THROW(same.commands().run("echo 1; sleep 60", {.on_stdout = cutting}), ConnectionLostError);
  Process process =
      same.commands().start("echo 1; while [ ! -e /home/user/go ]; do sleep 0.05; done; echo 2");
  try {
    process.wait(cutting);
    FAIL();
  } catch (const ConnectionLostError& error) {
    EXPECT_NE(std::string(error.what()).size(), 0U);
  }
  session.files().write("/home/user/go", "");
  EXPECT_TRUE(session.commands().run("pgrep -f nothing-of-this-name").status == "error");
  session.files().write("/home/user/big", std::string(5'000'000, 'x'));
  FileReader reader = same.files().open_read("/home/user/big");
  auto read_on = [&] {
    while (!reader.read().empty()) Faults::cut_all();
  };
  EXPECT_THROW(read_on(), ConnectionLostError);
}

TEST_F(FaultsTest, AWatchAndATerminalThatAreCut) {
  Session session = client.create();
  Session same = through().connect(session.id());
  Watch watch = same.files().watch("/home/user");
  Faults::cut_all();
  EXPECT_THROW(watch.next(), ConnectionLostError);
  Terminal terminal = same.terminal();
  Faults::cut_all();
  auto read_on = [&] {
    while (!terminal.read().empty()) {
    }
  };
  EXPECT_THROW(read_on(), ConnectionLostError);
}

TEST_F(FaultsTest, AServiceThatDoesNotAnswer) {
  Faults::set(Json::array({kSilent}));
  EXPECT_THROW(through().get_json("/version", {}, {.timeout = Milliseconds(200)}), RequestTimeoutError);
}

TEST_F(FaultsTest, ATokenEndsACallAndWhatItRuns) {
  Session session = client.create();
  std::stop_source stop;
  std::string seen;
  ExecuteOptions options;
  options.on_stdout = [&](std::string_view text) {
    seen += text;
    stop.request_stop();
  };
  EXPECT_THROW(session.execute("import time\nprint(1, flush=True)\ntime.sleep(600)", options,
                               {.stop = stop.get_token()}),
               CallCanceledError);
  EXPECT_EQ(seen, "1\n");
  // The interpreter is free again.
  EXPECT_EQ(session.execute("2 + 2").text(), "4");
  EXPECT_THROW(session.execute("1", {}, {.stop = stop.get_token()}), CallCanceledError);
}

TEST_F(FaultsTest, AnotherThreadEndsACall) {
  Session session = client.create();
  std::stop_source stop;
  std::thread other([&] {
    wait_for([&] { return !session.commands().list().empty(); });
    stop.request_stop();
  });
  EXPECT_THROW(session.commands().run("sleep 600", {}, {.stop = stop.get_token()}), CallCanceledError);
  other.join();
  EXPECT_TRUE(wait_for([&] { return session.commands().list().empty(); }));
}

TEST_F(FaultsTest, CancelReachesWhatACoroutineAwaits) {
  auto sleeping = [](SandboxClient used) -> Async<void> {
    CreateOptions options;  // g++ 12 wants a name for what a co_await is given
    options.metadata["test"] = "cancel";
    Session session = co_await used.create_async(options);
    co_await session.execute_async("import time; time.sleep(600)");
  };
  Async<void> running = sleeping(client);
  auto all = [&] { return client.list({.states = {"running"}, .metadata = {{"test", "cancel"}}}); };
  ASSERT_TRUE(wait_for([&] { return all().size() == 1; }));
  running.cancel();
  EXPECT_THROW(running.get(), CallCanceledError);
  // Its session ended with its scope.
  EXPECT_TRUE(wait_for([&] { return all().empty(); }));
}

TEST_F(FaultsTest, ClosingEndsEverything) {
  SandboxClient closing;
  Session session = closing.create();
  Async<Execution> running = session.execute_async("import time; time.sleep(600)");
  ASSERT_TRUE(wait_for([&] { return !client.history({.session_id = session.id()}).empty(); }));
  closing.close();
  EXPECT_THROW(running.get(), CallCanceledError);
  EXPECT_FALSE(closing.version().empty());  // a new connection
}

TEST_F(FaultsTest, ASessionThatCannotBeEndedIsTold) {
  std::string told;
  ClientOptions options = Faults::options();
  options.retries = 0;
  options.on_left_behind = [&](const std::string& id, const std::string&) { told = id; };
  std::string id;
  {
    Session session = SandboxClient(options).create({.provider = "virtual"});
    id = session.id();
    Faults::cut_all();
    Faults::set(Json::array({kRefuse}));
  }
  EXPECT_EQ(told, id);
  client.get(id).end();
}

}  // namespace
}  // namespace service
