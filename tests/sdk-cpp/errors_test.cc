#include "service.h"

// Each kind of failure is the exception that says what to do.
namespace service {
namespace {

struct ErrorsTest : ServiceTest {};

TEST_F(ErrorsTest, OptionsThatCannotBeUsed) {
  EXPECT_THROW(SandboxClient("ftp://x", "k"), ConfigurationError);
  EXPECT_THROW(SandboxClient("http://", "k"), ConfigurationError);
  EXPECT_THROW(SandboxClient("unix:", "k"), ConfigurationError);
  EXPECT_THROW(SandboxClient(client.url(), "key\n"), ConfigurationError);
  EXPECT_THROW(SandboxClient({.retries = -1}), ConfigurationError);
  EXPECT_THROW(SandboxClient({.url = "https://127.0.0.1:1", .retries = 0, .ca_file = "/nowhere"}).version(),
               AtollError);
}

TEST_F(ErrorsTest, NobodyListens) {
  SandboxClient nobody({.url = "http://127.0.0.1:1", .retries = 0});
  try {
    nobody.create();
    FAIL();
  } catch (const ConnectError& error) {
    EXPECT_TRUE(error.retryable());
    EXPECT_NE(error.hint().find("ATOLL_URL"), std::string::npos);
  }
  EXPECT_FALSE(nobody.healthy());
  EXPECT_THROW(SandboxClient({.url = "unix:/nowhere.sock", .retries = 0}).version(), ConnectError);
}

TEST_F(ErrorsTest, AWrongKey) {
  SandboxClient stranger(client.url(), "e2b_ffffffffffffffffffffffffffffffffffffffff");
  try {
    stranger.create();
    FAIL();
  } catch (const UnauthenticatedError& error) {
    EXPECT_EQ(error.http_status(), 401);
    EXPECT_EQ(error.category(), "user");
    EXPECT_EQ(error.code(), "unauthenticated");
    EXPECT_FALSE(error.request_id().empty());
    EXPECT_FALSE(error.retryable());
  }
}

TEST_F(ErrorsTest, AFieldThatIsWrong) {
  try {
    client.create({.limits = Json::object({{"memory_mb", -1}})});
    FAIL();
  } catch (const InvalidArgumentError& error) {
    EXPECT_NE(error.field().find("memory_mb"), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find("field"), std::string::npos);
  }
  EXPECT_THROW(client.create({.environment = "nowhere"}), ServiceError);
  EXPECT_THROW(client.create({.ttl_seconds = -1}), InvalidArgumentError);
}

TEST_F(ErrorsTest, WhatIsNotThere) {
  EXPECT_THROW(client.get("nobody"), NotFoundError);
  EXPECT_THROW(client.connect("a/../b"), NotFoundError);
  EXPECT_THROW(client.remove_snapshot("none"), NotFoundError);
  EXPECT_THROW(client.artifact("sha256:00"), ServiceError);
  EXPECT_THROW(client.get_json("/api/nothing"), NotFoundError);
  EXPECT_THROW(client.remove_tool("none"), NotFoundError);
  EXPECT_THROW(client.render_prompt("none"), NotFoundError);
}

TEST_F(ErrorsTest, FilesThatAreNot) {
  Session session = client.create({.provider = "virtual"});
  Files files = session.files();
  EXPECT_THROW(files.read("/home/user/none"), NotFoundError);
  EXPECT_THROW(files.read("/home/user"), IsADirectoryError);
  EXPECT_THROW(files.open_read("/home/user"), IsADirectoryError);
  EXPECT_THROW(files.open_read("/home/user/none"), NotFoundError);
  files.write("/home/user/f", "x");
  EXPECT_THROW(files.list("/home/user/f"), NotADirectoryError);
  EXPECT_THROW(files.write("relative", "x"), InvalidArgumentError);
  files.write("/home/user/d/f", "x");
  EXPECT_THROW(files.remove("/home/user/d"), NotEmptyError);
  EXPECT_THROW(files.make_directory("/home/user/f"), AlreadyExistsError);
  EXPECT_THROW(files.move("/home/user/none", "/home/user/g"), NotFoundError);
  EXPECT_THROW(files.stat("/"), InvalidArgumentError);
  EXPECT_THROW(files.stat("/home/user/none"), NotFoundError);
  EXPECT_FALSE(files.exists("/home/user/f/x"));
  EXPECT_THROW(files.unpack("/home/user", "no archive"), ServiceError);
}

TEST_F(ErrorsTest, ASessionThatHasEnded) {
  Session session = client.create({.provider = "virtual"});
  session.end();
  EXPECT_EQ(session.state(), "stopped");
  EXPECT_THROW(session.commands().run("true"), ServiceError);
  EXPECT_THROW(session.files().read("/home/user/x"), ServiceError);
  EXPECT_NO_THROW(session.end());
}

TEST_F(ErrorsTest, AnotherSandbox) {
  Session session = client.create({.provider = "virtual"});
  EXPECT_THROW(session.end("another"), ServiceError);
  EXPECT_EQ(session.refresh().state, "running");
}

TEST_F(ErrorsTest, WhatAProviderLacks) {
  Session session = client.create({.provider = "virtual"});
  EXPECT_THROW(session.execute("1", {.language = "python"}), ServiceError);
  EXPECT_THROW(session.terminal(), ServiceError);
}

TEST_F(ErrorsTest, NoAnswerInTime) {
  Session session = client.create();
  EXPECT_THROW(session.execute("import time; time.sleep(600)", {}, {.timeout = Milliseconds(300)}),
               RequestTimeoutError);
  EXPECT_THROW(
      session.commands().run("sleep 600", {.on_stdout = [](auto) {}}, {.timeout = Milliseconds(300)}),
      RequestTimeoutError);
}

TEST_F(ErrorsTest, ABlockingCallOnTheClientsOwnThread) {
  Session session = client.create({.provider = "virtual"});
  auto wrong = [](Session& used) -> Async<void> {
    co_await used.refresh_async();
    used.refresh();  // goes on on the client's thread
  };
  EXPECT_THROW(wrong(session).get(), ConfigurationError);
}

TEST_F(ErrorsTest, AnAnswerOfSomebodyElse) {
  SandboxClient other(setting("ATOLL_CONTROL_URL"), "none");
  EXPECT_THROW(other.create(), ProtocolError);
  EXPECT_THROW(other.get_json("/text"), ProtocolError);
}

}  // namespace
}  // namespace service
