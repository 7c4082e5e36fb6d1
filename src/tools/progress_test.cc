// What a tool tells while it runs, in pieces cut anywhere.
#include "tools/progress.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tools/virtual_tools_test.h"

namespace atl::tools {
namespace {

namespace bj = boost::json;
using testing::ElementsAre;
using Kind = ToolEvent::Kind;
using Shown = ProgressReader::Shown;

std::string shown(const ToolEvent& event) {
  switch (event.kind) {
    case Kind::started: return "started";
    case Kind::out: return "out:" + event.text;
    case Kind::err: return "err:" + event.text;
    case Kind::progress: break;
  }
  std::string text = fmt::format("{}", *event.progress);
  if (event.total) text += fmt::format("/{}", *event.total);
  return event.text.empty() ? text : text + " " + event.text;
}

std::vector<std::string> shown(const std::vector<ToolEvent>& events) {
  std::vector<std::string> all;
  for (const ToolEvent& event : events) all.push_back(shown(event));
  return all;
}

sandbox::Output err(std::string bytes) {
  return {sandbox::Stream::err, std::move(bytes)};
}
sandbox::Output out(std::string bytes) {
  return {sandbox::Stream::out, std::move(bytes)};
}

TEST(Progress, LinesThatAreNoReport) {
  for (const std::string& line : std::vector<std::string>{
           "", "text", "{}", "{\"progress\"}", R"({"progress": "3"})", R"({"progress": null})",
           R"({"progress": 1e999})", R"({"total": 3})", R"([{"progress": 1}])", R"({"progress": 1} more)",
           R"( {"progress": 1})", R"({"progress": 1)", R"({"progress": 1, "a": [[[[[[1]]]]]]})",
           "{\"progress\": 1, \"message\": \"" + std::string(20'000, 'x') + "\"}"})
    EXPECT_FALSE(parse_progress(line)) << line.substr(0, 60);
}

TEST(Progress, OnlyTheNumberMustBeThere) {
  EXPECT_EQ(shown(*parse_progress("{\"progress\": 3}\r\n")), "3");
  EXPECT_EQ(shown(*parse_progress(R"({"progress": 0.5, "total": 2, "message": "page"})")), "0.5/2 page");
  EXPECT_EQ(shown(*parse_progress(R"({"progress": 1, "total": "x", "message": 5, "more": {}})")), "1");
  EXPECT_EQ(
      parse_progress("{\"progress\": 1, \"message\": \"" + std::string(9'000, 'x') + "\"}")->text.size(),
      4096U)
      << "a message is cut";
}

TEST(Progress, ReportsAreFoundWhereverThePiecesAreCut) {
  const std::string text = "first\n{\"progress\": 1}\nsecond\nthird ü\n{\"progress\": 2}\nlast";
  for (std::size_t size = 1; size <= text.size(); ++size) {
    ProgressReader reader(Shown::errors_only);
    std::vector<double> told;
    std::string rest;
    const auto take = [&](const std::vector<ToolEvent>& events) {
      for (const ToolEvent& event : events) {
        if (event.kind == Kind::progress) told.push_back(*event.progress);
        if (event.kind == Kind::err) rest += event.text;
      }
    };
    for (std::size_t at = 0; at < text.size(); at += size) take(reader.add(err(text.substr(at, size))));
    take(reader.finish());
    EXPECT_THAT(told, ElementsAre(1, 2)) << size;
    EXPECT_EQ(rest, "first\nsecond\nthird ü\nlast") << size;
    EXPECT_TRUE(reader.finish().empty());
  }
}

TEST(Progress, LinesOfOnePieceAreOneEvent) {
  ProgressReader reader(Shown::errors_only);
  EXPECT_THAT(shown(reader.add(err("a\nb\n{\"progress\":1}\nc\n"))),
              ElementsAre("err:a\nb\n", "1", "err:c\n"));
}

// A line without an end is not waited for for ever.
TEST(Progress, ALongLineIsPassedOnByWholeCharacters) {
  ProgressReader reader(Shown::errors_only);
  const auto events = reader.add(err(std::string(16U << 10, 'x') + "y\xc3"));
  ASSERT_EQ(events.size(), 1U);
  EXPECT_EQ(events[0].text, std::string(16U << 10, 'x') + "y");
  EXPECT_THAT(shown(reader.add(err("\xbc\n"))), ElementsAre("err:ü\n"));
}

TEST(Progress, OutputIsShownWhereItIsWantedByWholeCharacters) {
  ProgressReader hidden(Shown::errors_only);
  EXPECT_TRUE(hidden.add(out("{\"progress\": 1}\n")).empty());
  EXPECT_TRUE(hidden.finish().empty());
  ProgressReader reader(Shown::everything);
  EXPECT_TRUE(reader.add(out("\xc3")).empty());
  EXPECT_THAT(shown(reader.add(out("\xbcx\xe2\x82"))), ElementsAre("out:üx"));
  EXPECT_THAT(shown(reader.add(out("{\"progress\": 1}\n"))),
              ElementsAre("out:\xef\xbf\xbd\xef\xbf\xbd{\"progress\": 1}\n"));
  EXPECT_TRUE(reader.add(out("\xe2")).empty());
  EXPECT_THAT(shown(reader.finish()), ElementsAre("out:\xef\xbf\xbd")) << "what never became a character";
}

class WatchedToolTest : public VirtualToolTest {
 protected:
  void declare_all() override {
    declare(
        "steps",
        R"(run: {command: [sh, -c, "for i in 1 2; do echo '{\"progress\": '$i'}' >&2; done; printf last >&2; echo 7"]})");
    declare("coded", R"(run: {code: "echo '{\"progress\": 1}' >&2; echo 7", language: shell})");
    declare("endless", R"(run: {command: [sh, -c, "while true; do echo x >&2; done"]})");
  }
  ToolWatcher collect() {
    return [this](ToolEvent event) -> Task<void> {
      told_.push_back(shown(event));
      co_return Result<void>();
    };
  }
  std::vector<std::string> told_;
};

TEST_F(WatchedToolTest, ACallTellsHowFarItIsAndWhatItHeldBack) {
  const auto done = call("steps", bj::object(), std::nullopt, collect());
  ASSERT_TRUE(done) << done.error().message();
  EXPECT_EQ(done->output, 7);
  EXPECT_THAT(told_, ElementsAre("started", "1", "2", "err:last"));
  told_.clear();
  EXPECT_EQ(call("coded", bj::object(), std::nullopt, collect())->output, 7);
  EXPECT_THAT(told_, ElementsAre("started", "1"));
  told_.clear();
  call("run_command", {{"command", "echo out; echo err >&2"}}, std::nullopt, collect()).value();
  EXPECT_THAT(told_, testing::UnorderedElementsAre("started", "out:out\n", "err:err\n"));
}

TEST_F(WatchedToolTest, AWatcherThatFailsEndsTheCall) {
  int heard = 0;
  const auto done = call("endless", bj::object(), std::nullopt, [&](ToolEvent) -> Task<void> {
    if (++heard > 3) co_return fail(Code::canceled, "the caller has left");
    co_return Result<void>();
  });
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code(), Code::canceled);
  EXPECT_EQ(heard, 4);
  // Its record is closed as killed, in the background.
  EXPECT_TRUE(until([&] {
    const auto page = wait(service_->history(ann_, {.id = session_}));
    for (const auto& record : page->items)
      if (record.kind == "tool" && record.status == session::Status::killed) return true;
    return false;
  }));
}

}  // namespace
}  // namespace atl::tools
