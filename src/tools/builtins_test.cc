// The operations that come with the program, in sandboxes of the virtual provider: refusals first.
#include "tools/builtins.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/bytes.h"
#include "tools/virtual_tools_test.h"

namespace atl::tools {
namespace {

namespace bj = boost::json;
using testing::HasSubstr;
using testing::StartsWith;

class BuiltinsTest : public VirtualToolTest {
 protected:
  Result<BuiltinAnswer> run(const std::string& name, bj::value input) {
    BuiltinCall call{service_.get(), ann_, session_, std::chrono::milliseconds(5'000), {}};
    return wait(run_builtin(name, std::move(call), std::move(input)));
  }
};

TEST_F(BuiltinsTest, WhatIsNoOperationIsADefectOfOurs) {
  EXPECT_FALSE(is_builtin("rm_all"));
  EXPECT_TRUE(is_builtin("edit_file"));
  EXPECT_EQ(run("rm_all", bj::object()).error().code(), Code::internal);
}

// A tenant declares them with schemas of its own, which may allow anything.
TEST_F(BuiltinsTest, WhatMakesNoSenseIsRefusedAlsoWhereASchemaAllowsIt) {
  for (const char* name :
       {"read_file", "write_file", "edit_file", "list_files", "search_files", "run_code", "run_command"})
    EXPECT_EQ(run(name, "a text").error().code(), Code::invalid_argument) << name;
  write("/tmp/n", "a\nb\n");
  const auto empty =
      run("edit_file",
          bj::object{{"path", "/tmp/n"}, {"old_text", ""}, {"new_text", "x"}, {"replace_all", true}});
  ASSERT_TRUE(empty);
  EXPECT_EQ(empty->error, "TextNotFound") << "it would occur for ever";
  for (const double number : {-1.0, 0.0, 0.5, 1e300}) {
    SCOPED_TRACE(number);
    EXPECT_TRUE(run("read_file", bj::object{{"path", "/tmp/n"}, {"offset", number}, {"length", number}}));
    EXPECT_TRUE(run("list_files", bj::object{{"path", "/tmp"}, {"depth", number}, {"limit", number}}));
    EXPECT_TRUE(run("search_files", bj::object{{"path", "/tmp"}, {"pattern", "a"}, {"limit", number}}));
  }
  EXPECT_EQ(run("read_file", bj::object{{"path", "/tmp/n"}, {"offset", -5}})->output.at("content"), "a\nb\n");
}

TEST_F(BuiltinsTest, AnEditMakesNoFileWithoutEnd) {
  write("/tmp/grow", std::string(1'000'000, 'a'));
  EXPECT_THAT(refusal("edit_file", {{"path", "/tmp/grow"},
                                    {"old_text", "a"},
                                    {"new_text", std::string(1'000'000, 'b')},
                                    {"replace_all", true}}),
              HasSubstr("would have more than"));
  EXPECT_EQ(output("read_file", {{"path", "/tmp/grow"}}).at("total"), 1'000'000);
  EXPECT_EQ(output("edit_file",
                   {{"path", "/tmp/grow"}, {"old_text", "a"}, {"new_text", "bb"}, {"replace_all", true}})
                .at("replacements"),
            1'000'000);
}

// What is wrong with the session is no answer of the tool.
TEST_F(BuiltinsTest, ASessionThatIsNotThereIsAnError) {
  session_ = "ses_none";
  for (const char* name :
       {"read_file", "write_file", "edit_file", "list_files", "search_files", "run_code", "run_command"})
    EXPECT_EQ(run(name, bj::object{{"path", "/x"}, {"code", "true"}, {"command", "true"}}).error().code(),
              Code::not_found)
        << name;
}

TEST_F(BuiltinsTest, WhatIsWrongWithFilesIsTheAnswer) {
  write("/tmp/plain", "text");
  const std::pair<const char*, bj::object> cases[] = {
      {"read_file", {{"path", "/tmp/none"}}},
      {"read_file", {{"path", "/tmp"}}},
      {"read_file", {{"path", "/tmp/plain/below"}}},
      {"write_file", {{"path", "/tmp"}, {"content", "x"}}},
      {"write_file", {{"path", "/tmp/plain/below"}, {"content", "x"}}},
      {"edit_file", {{"path", "/tmp/none"}, {"old_text", "a"}, {"new_text", "b"}}},
      {"edit_file", {{"path", "/tmp"}, {"old_text", "a"}, {"new_text", "b"}}},
      {"list_files", {{"path", "/tmp/none"}}},
      {"search_files", {{"path", "/tmp/none"}, {"pattern", "x"}}}};
  for (const auto& [name, input] : cases)
    EXPECT_THAT(refusal(name, input), StartsWith("FileError: ")) << name << " " << input;
  EXPECT_THAT(refusal("search_files", {{"path", "/tmp"}, {"pattern", "("}}), HasSubstr("'pattern': "));
  EXPECT_EQ(refusal("write_file", {{"path", "/tmp/x"}, {"content", "%%%"}, {"encoding", "base64"}}),
            "InvalidContent: 'content' is not base64");
  EXPECT_EQ(output("read_file", {{"path", "/tmp/plain"}}).at("content"), "text") << "nothing was changed";
}

TEST_F(BuiltinsTest, AFileIsReadWholeOrInParts) {
  write("/tmp/t", "one two");
  EXPECT_EQ(output("read_file", {{"path", "/tmp/t"}}),
            (bj::object{{"content", "one two"}, {"encoding", "utf-8"}, {"total", 7}, {"truncated", false}}));
  EXPECT_EQ(output("read_file", {{"path", "/tmp/t"}, {"offset", 4}, {"length", 2}}),
            (bj::object{{"content", "tw"}, {"encoding", "utf-8"}, {"total", 7}, {"truncated", true}}));
  EXPECT_EQ(output("read_file", {{"path", "/tmp/t"}, {"offset", 4}}).at("truncated"), false);
  EXPECT_EQ(output("read_file", {{"path", "/tmp/t"}, {"offset", 70}}).at("content"), "");
  // Over 1 MiB it is cut, and says so.
  for (int i = 0; i < 3; ++i)
    output("write_file", {{"path", "/tmp/l"}, {"content", std::string(500'000, 'x')}, {"append", true}});
  const bj::value part = output("read_file", {{"path", "/tmp/l"}, {"offset", 1'000'000}});
  EXPECT_EQ(part.at("total"), 1'500'000);
  EXPECT_EQ(part.at("content").as_string().size(), 500'000U);
}

TEST_F(BuiltinsTest, WhatIsNoTextIsGivenInBase64) {
  const std::string bytes("\0\xff\x01", 3);
  EXPECT_EQ(output("write_file", {{"path", "/tmp/b"}, {"content", to_base64(bytes)}, {"encoding", "base64"}}),
            (bj::object{{"path", "/tmp/b"}, {"bytes_written", 3}, {"size", 3}}));
  const bj::value read = output("read_file", {{"path", "/tmp/b"}});
  EXPECT_EQ(read.at("encoding"), "base64");
  EXPECT_EQ(read.at("content").as_string(), to_base64(bytes));
}

TEST_F(BuiltinsTest, WritingMakesParentsReplacesOrAppends) {
  write("/tmp/a/b/c", "one");
  EXPECT_EQ(output("write_file", {{"path", "/tmp/a/b/c"}, {"content", "+two"}, {"append", true}}),
            (bj::object{{"path", "/tmp/a/b/c"}, {"bytes_written", 4}, {"size", 7}}));
  EXPECT_EQ(output("read_file", {{"path", "/tmp/a/b/c"}}).at("content"), "one+two");
  write("/tmp/a/b/c", "");
  EXPECT_EQ(output("read_file", {{"path", "/tmp/a/b/c"}}).at("total"), 0);
}

TEST_F(BuiltinsTest, AnEditChangesOnePlaceOrAllThatAreMeant) {
  const auto edit = [](const char* before, const char* after) {
    return bj::object{{"path", "/tmp/e"}, {"old_text", before}, {"new_text", after}};
  };
  write("/tmp/e", "aXbXc");
  EXPECT_EQ(refusal("edit_file", edit("Y", "")), "TextNotFound: old_text does not occur in /tmp/e");
  EXPECT_THAT(refusal("edit_file", edit("X", "")), HasSubstr("TextNotUnique: old_text occurs 2 times"));
  EXPECT_EQ(output("read_file", {{"path", "/tmp/e"}}).at("content"), "aXbXc");
  EXPECT_EQ(output("edit_file", edit("aX", "1")), (bj::object{{"path", "/tmp/e"}, {"replacements", 1}}));
  write("/tmp/e", "XXX");
  bj::object all = edit("X", "XX");
  all["replace_all"] = true;
  EXPECT_EQ(output("edit_file", all).at("replacements"), 3);
  EXPECT_EQ(output("read_file", {{"path", "/tmp/e"}}).at("content"), "XXXXXX");
  for (int i = 0; i < 3; ++i)
    output("write_file", {{"path", "/tmp/e"}, {"content", std::string(400'000, 'y')}, {"append", true}});
  EXPECT_THAT(refusal("edit_file", edit("X", "Z")), HasSubstr("edit it with run_command"));
}

TEST_F(BuiltinsTest, ADirectoryIsListedToADepthAndALimit) {
  output("run_command", {{"command", "mkdir -p /tmp/l/d; echo 1 > /tmp/l/d/deep; ln -s deep /tmp/l/link"}});
  const bj::value top = output("list_files", {{"path", "/tmp/l"}});
  EXPECT_EQ(top.at("total"), 2);
  EXPECT_EQ(top.at("truncated"), false);
  std::map<std::string, std::string> types;
  const bj::value deep = output("list_files", {{"path", "/tmp/l"}, {"depth", 2}});
  for (const bj::value& one : deep.at("entries").as_array())
    types[std::string(one.at("path").as_string())] = one.at("type").as_string();
  EXPECT_EQ(types, (std::map<std::string, std::string>{
                       {"/tmp/l/d", "directory"}, {"/tmp/l/d/deep", "file"}, {"/tmp/l/link", "symlink"}}));
  const bj::value cut = output("list_files", {{"path", "/tmp/l"}, {"depth", 2}, {"limit", 1}});
  EXPECT_EQ(cut.at("entries").as_array().size(), 1U);
  EXPECT_EQ(cut.at("total"), 3);
  EXPECT_EQ(cut.at("truncated"), true);
  const bj::value device = output("list_files", {{"path", "/dev"}, {"limit", 100}});
  EXPECT_THAT(bj::serialize(device), HasSubstr("\"other\""));
}

TEST_F(BuiltinsTest, ASearchFindsLinesAndNames) {
  write("/tmp/s/a.txt", "One\ntwo\nTWO " + std::string(600, 'x') + "\n");
  write("/tmp/s/b.md", "two");
  output("write_file",
         {{"path", "/tmp/s/bin"}, {"content", to_base64(std::string("two\0", 4))}, {"encoding", "base64"}});
  const auto search = [&](bj::object more) {
    more["path"] = "/tmp/s";
    return output("search_files", std::move(more));
  };
  const bj::value found = search({{"pattern", "^two"}, {"name", "*.txt"}});
  EXPECT_EQ(found.at("matches"), (bj::array{{{"path", "/tmp/s/a.txt"}, {"line", 2}, {"text", "two"}}}));
  EXPECT_EQ(found.at("files_searched"), 1);
  EXPECT_EQ(search({{"pattern", "two"}}).at("matches").as_array().size(), 2U) << "not in what is no text";
  const bj::value any = search({{"pattern", "two"}, {"ignore_case", true}});
  ASSERT_EQ(any.at("matches").as_array().size(), 3U);
  EXPECT_EQ(any.at("matches").at(1).at("text").as_string().size(), 500U) << "a long line is cut";
  EXPECT_EQ(any.at("truncated"), false);
  const bj::value cut = search({{"pattern", "two"}, {"ignore_case", true}, {"limit", 1}});
  EXPECT_EQ(cut.at("matches").as_array().size(), 1U);
  EXPECT_EQ(cut.at("truncated"), true);
  const bj::value names = search({{"name", "*.md"}});
  EXPECT_EQ(names.at("matches"), (bj::array{{{"path", "/tmp/s/b.md"}, {"line", 0}, {"text", ""}}}));
  EXPECT_EQ(search({{"name", "*"}, {"limit", 2}}).at("truncated"), true);
}

TEST_F(BuiltinsTest, PatternsThatCostTooMuchAreRefusedOrSeeTheBeginningOfALine) {
  std::string large = "[ab]*a";
  for (int i = 0; i < 8; ++i) large += "[ab]{1000}";
  EXPECT_THAT(refusal("search_files", {{"path", "/tmp"}, {"pattern", large}}),
              HasSubstr("'pattern' is too large"));
  write("/tmp/q/long", std::string(400'000, 'y') + std::string(1'000, 'x') + "\n" + std::string(1'000, 'x'));
  const bj::value cut = output("search_files", {{"path", "/tmp/q"}, {"pattern", "x{1000}"}});
  EXPECT_EQ(cut.at("truncated"), true) << "the end of its first line was not looked at";
  ASSERT_EQ(cut.at("matches").as_array().size(), 1U) << "the next line was";
  EXPECT_EQ(cut.at("matches").at(0).at("line"), 2);
  EXPECT_EQ(output("search_files", {{"path", "/tmp/q"}, {"pattern", "xx$"}}).at("matches").as_array().size(),
            2U);
}

TEST_F(BuiltinsTest, AThreadBesideTheLoopFindsTheSame) {
  for (int i = 0; i < 5; ++i) write("/tmp/w/f" + std::to_string(i), "one\ntwo\n");
  os::FairPool pool(2);
  for (os::FairPool* workers : {static_cast<os::FairPool*>(nullptr), &pool}) {
    BuiltinCall call{service_.get(), ann_, session_, std::chrono::milliseconds(5'000), {}, workers};
    const auto found = wait(run_builtin("search_files", std::move(call),
                                        bj::object{{"path", "/tmp/w"}, {"pattern", "o$"}, {"limit", 4}}));
    ASSERT_TRUE(found) << found.error().message();
    EXPECT_EQ(found->output.at("matches").as_array().size(), 4U);
    EXPECT_EQ(found->output.at("matches").at(3).at("path"), "/tmp/w/f3");
    EXPECT_EQ(found->output.at("truncated"), true);
  }
  pool.join();
}

TEST_F(BuiltinsTest, FilesThatAreTooLargeToSearchArePassedOver) {
  output("run_command", {{"command", "mkdir /tmp/h; truncate -s 5M /tmp/h/huge; echo x >> /tmp/h/huge"}});
  write("/tmp/h/small", "x");
  const bj::value found = output("search_files", {{"path", "/tmp/h"}, {"pattern", "x"}});
  EXPECT_EQ(found.at("matches").as_array().size(), 1U);
  EXPECT_EQ(found.at("files_searched"), 1);
}

TEST_F(BuiltinsTest, CodeAnswersWithWhatItDid) {
  const bj::value good = output("run_code", {{"code", "echo out; echo err >&2"}, {"language", "shell"}});
  EXPECT_EQ(good.at("stdout"), "out\n");
  EXPECT_EQ(good.at("stderr"), "err\n");
  EXPECT_EQ(good.at("status"), "success");
  const bj::value bad = output("run_code", {{"code", "echo x; exit 3"}, {"language", "shell"}});
  EXPECT_EQ(bad.at("status"), "error") << "a program that fails is what was asked for";
  const auto unknown = run("run_code", bj::object{{"code", "x"}, {"language", "cobol"}});
  ASSERT_TRUE(unknown);
  EXPECT_EQ(unknown->error, "UnknownLanguage");
  EXPECT_THAT(unknown->error_value, HasSubstr("'cobol'"));
}

TEST_F(BuiltinsTest, CommandsHaveTheirInputPlaceAndTime) {
  EXPECT_EQ(output("run_command", {{"command", "cat; pwd; exit 3"}, {"stdin", "in\n"}, {"cwd", "/tmp"}}),
            (bj::object{{"exit_code", 3}, {"stdout", "in\n/tmp\n"}, {"stderr", ""}, {"truncated", false}}));
  const auto late = call("run_command", {{"command", "sleep 60"}}, std::chrono::milliseconds(200));
  ASSERT_TRUE(late) << late.error().message();
  EXPECT_EQ(late->status, session::Status::timeout) << "a limit is the tool's own failure";
  EXPECT_TRUE(late->output.is_null());
}

// What a policy has read as one language must not run as another.
TEST(CodeOf, IsWhatWouldRun) {
  const auto of = [](const char* name, const char* text) {
    bj::value input = bj::parse(text);
    const BuiltinCode code = code_of(name, input);
    return std::tuple(code.text, code.language, bj::serialize(input));
  };
  using policy::Language;
  EXPECT_EQ(of("run_command", R"({"command":"ls"})"),
            std::tuple("ls", Language::shell, R"({"command":"ls"})"));
  EXPECT_EQ(of("run_code", R"({"code":"x"})"),
            std::tuple("x", Language::python, R"({"code":"x","language":"python"})"));
  EXPECT_EQ(std::get<1>(of("run_code", R"({"code":"x","language":"deno"})")), Language::javascript);
  EXPECT_EQ(std::get<1>(of("run_code", R"({"code":"x","language":"shell"})")), Language::shell);
  EXPECT_EQ(std::get<1>(of("run_code", R"({"code":"x","language":"r"})")), Language::r);
  EXPECT_EQ(std::get<1>(of("run_code", R"({"code":"x","language":"java"})")), Language::java);
  EXPECT_EQ(std::get<0>(of("read_file", R"({"path":"/x"})")), "");
  EXPECT_EQ(std::get<0>(of("run_code", "[]")), "");
}

}  // namespace
}  // namespace atl::tools
