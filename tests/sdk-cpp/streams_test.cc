#include "service.h"

// Calls that stream, and terminals that outlive their connections.
namespace service {
namespace {

class StreamsTest : public ServiceTest {};

CallOptions minute() {
  return {.timeout = Milliseconds(60'000), .stop = {}};
}

std::string read_all(Transfer& transfer) {
  std::string all;
  while (true) {
    std::string piece = transfer.read(minute());
    if (piece.empty()) return all;
    all += piece;
  }
}

// Reads until `text` was seen; false if the terminal ended before.
bool read_until(Terminal& terminal, std::string& seen, const std::string& text) {
  while (seen.find(text) == std::string::npos) {
    std::string piece = terminal.read(minute());
    if (piece.empty()) return false;
    seen += piece;
  }
  return true;
}

TEST_F(StreamsTest, RefusalsAreTheServicesOwn) {
  Transfer none = client.open({.path = "/api/sessions/ses_none/files?path=/x"});
  EXPECT_THROW(none.head(minute()), NotFoundError);
  EXPECT_THROW(client.follow({.path = "/api/sessions/ses_none/files/watch?path=/"}), NotFoundError);
  SandboxClient nobody("http://127.0.0.1:1", "key");
  EXPECT_THROW(nobody.follow({.path = "/api/events"}), ConnectError);
}

TEST_F(StreamsTest, AnUploadOfAKnownLengthThatEndsEarlyIsNoFile) {
  Session session = client.create();
  session.files().write("/home/user/kept", "what was there");
  for (const char* name : {"half", "kept"}) {
    std::string path = "/api/sessions/" + session.id() + "/files?path=/home/user/" + name;
    Transfer cut = client.open({.method = "PUT", .path = path, .headers = {{"Content-Length", "1000000"}}},
                               BodyForm::sized);
    cut.write("half of it");
  }
  EXPECT_TRUE(wait_for(
      [&] { return session.commands().run("ls -A").stdout_text.find("half") == std::string::npos; }));
  EXPECT_FALSE(session.files().exists("/home/user/half"));
  EXPECT_EQ(session.commands().run("cat kept").stdout_text, "what was there");
}

TEST_F(StreamsTest, BodiesFlowBothWays) {
  Session session = client.create();
  std::string path = "/api/sessions/" + session.id() + "/files?path=/home/user/large";
  const std::string piece(100'000, 'x');
  for (auto form : {BodyForm::pieces, BodyForm::sized}) {
    Request request{.method = "PUT", .path = path};
    if (form == BodyForm::sized) request.headers["Content-Length"] = std::to_string(20 * piece.size());
    Transfer up = client.open(request, form);
    for (int count = 0; count < 20; ++count) up.write(piece);
    up.finish();
    EXPECT_LT(up.head(minute()).status, 300);
    read_all(up);
    Transfer down = client.open({.path = path});
    Answer head = down.head(minute());
    EXPECT_EQ(head.status, 200);
    EXPECT_EQ(head.header("Accept-Ranges"), "bytes");
    EXPECT_EQ(read_all(down).size(), 20 * piece.size());
  }
}

TEST_F(StreamsTest, EventsAsTheyCome) {
  Session session = client.create();
  std::string target = "/api/sessions/" + session.id();
  EventStream stream = client.follow(
      {.method = "POST", .path = target + "/commands", .body = R"({"command":"echo a; echo b"})"});
  std::string names, data;
  while (auto event = stream.next(minute())) {
    names += event->name + " ";
    data += event->data;
    if (event->name == "exit") break;
  }
  EXPECT_TRUE(names.starts_with("start stdout")) << names;
  EXPECT_TRUE(names.ends_with("exit ")) << names;
  EXPECT_NE(data.find("a\\n"), std::string::npos) << data;
  EXPECT_TRUE(stream.answer().empty());
}

TEST_F(StreamsTest, AStreamEndsWhenItIsGivenUp) {
  Session session = client.create();
  EventStream stream =
      client.follow({.path = "/api/sessions/" + session.id() + "/files/watch?path=/home/user"});
  EXPECT_EQ(stream.next(minute())->name, "start");
  std::stop_source stop;
  std::jthread later([&] { stop.request_stop(); });
  EXPECT_THROW(stream.next({.timeout = {}, .stop = stop.get_token()}), CallCanceledError);
}

TEST_F(StreamsTest, AKeptTerminalIsComeBackToWithoutLoss) {
  Session session = client.create();
  SandboxClient through(Faults::options());
  Session same = through.get(session.id());
  same.keep();
  std::string seen;
  Terminal first = same.terminal({.columns = 90, .rows = 20, .keep = true});
  first.send("for i in $(seq 200); do echo line-$i; sleep 0.01; done; echo o''ver\n");
  ASSERT_TRUE(read_until(first, seen, "line-20\r"));
  Faults::cut_all();
  EXPECT_THROW(
      {
        while (true) seen += first.read(minute());
      },
      ConnectionLostError);
  ASSERT_GT(first.pid(), 0);
  Terminal second = same.terminal(
      {.columns = 90, .rows = 20, .keep = true, .process = first.pid(), .from = first.position()});
  ASSERT_TRUE(read_until(second, seen, "over\r"));
  EXPECT_EQ(second.lost(), 0U);
  std::size_t at = 0;
  for (int number = 1; number <= 200; ++number) {
    std::string line = "line-" + std::to_string(number) + "\r\n";
    std::size_t found = seen.find(line, at);
    ASSERT_NE(found, std::string::npos) << line;
    EXPECT_EQ(seen.find(line, found + 1), std::string::npos) << line << " came twice";
    at = found;
  }
  second.send("exit 3\n");
  while (!second.read(minute()).empty()) {
  }
  ASSERT_TRUE(second.exit());
  EXPECT_EQ(second.exit()->exit_code, 3);
  EXPECT_THROW(same.terminal({.keep = true, .process = 4'000'000}), NotFoundError);
}

}  // namespace
}  // namespace service
