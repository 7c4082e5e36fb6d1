// The command line as words: order, mistakes, completion, manual, tables.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/completion.h"
#include "cli/detach_keys.h"
#include "cli/manual.h"
#include "cli/mistakes.h"
#include "cli/progress.h"
#include "cli/table.h"

namespace atl::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

OptionFacts option(std::vector<std::string> names, std::string value = "") {
  return {.names = std::move(names), .value = std::move(value), .about = "about it"};
}

OptionFacts argument(const char* name, const char* value = "TEXT", bool repeats = false) {
  return {.names = {name},
          .value = value,
          .about = "an argument",
          .positional = true,
          .required = true,
          .repeats = repeats};
}

CommandFacts program() {
  const CommandFacts run{
      .name = "run",
      .about = "Run it",
      .options = {option({"-m", "--memory"}, "SIZE"), option({"-i", "--interactive"}),
                  option({"-t", "--pty"}), option({"--time"}, "SECONDS"), option({"--help"}),
                  option({"--provider"}, "native|virtual"), argument("command", "TEXT", true)}};
  const CommandFacts keys{
      .name = "keys",
      .about = "Keys",
      .options = {option({"--data"}, "DIR"), option({"--help"})},
      .commands = {{.name = "list", .about = "List them", .options = {option({"--json"})}},
                   {.name = "revoke", .about = "End one", .options = {argument("KEY_ID")}}}};
  const CommandFacts session{
      .name = "session",
      .about = "Sessions",
      .options = {option({"--url"}, "URL"), option({"--json"})},
      .commands = {{.name = "run",
                    .about = "Run",
                    .options = {argument("ID", "SESSION"), argument("command", "TEXT", true)}},
                   {.name = "show",
                    .about = "Show",
                    .options = {argument("ID", "SESSION"), option({"--watch"}, "[SECONDS=2]")}},
                   {.name = "rm", .about = "End", .options = {argument("ID", "SESSION", true)}},
                   {.name = "put",
                    .about = "Copy in",
                    .options = {argument("ID", "SESSION"), argument("LOCAL", "FILE")}}}};
  return {.name = "atoll",
          .about = "Sandboxes",
          .notes = "Say 'hello'.\n.not an order",
          .options = {option({"--version"}), option({"-h", "--help"})},
          .commands = {run,
                       keys,
                       session,
                       {.name = "help", .about = "Help"},
                       {.name = "secret", .about = "x", .hidden = true}}};
}

std::string mistake(const Words& words) {
  const CommandFacts facts = program();
  return mistake_in(facts, put_in_order(facts, words)).value_or("");
}

TEST(OrderTest, FlagsBeforeACommandMeanTheSameAsBehindIt) {
  const CommandFacts facts = program();
  EXPECT_THAT(put_in_order(facts, {"--data", "run", "keys", "--json", "list", "x"}),
              ElementsAre("keys", "list", "--data", "run", "--json", "x"));
  EXPECT_THAT(put_in_order(facts, {"-m", "256M", "run", "--", "keys", "list"}),
              ElementsAre("run", "-m", "256M", "--", "keys", "list"));
  EXPECT_THAT(put_in_order(facts, {"--memory=1M", "run", "true"}), ElementsAre("run", "--memory=1M", "true"));
}

TEST(OrderTest, HelpIsAFlagOfTheCommand) {
  const CommandFacts facts = program();
  EXPECT_THAT(put_in_order(facts, {"help", "keys", "list"}), ElementsAre("keys", "list", "--help"));
  EXPECT_THAT(put_in_order(facts, {"help"}), ElementsAre("--help"));
  EXPECT_THAT(put_in_order(facts, {"--help", "keys"}), ElementsAre("keys", "--help"));
}

TEST(OrderTest, ANumberThatMayBeLeftOutIsFilledIn) {
  const CommandFacts facts = program();
  EXPECT_THAT(put_in_order(facts, {"session", "show", "--watch", "x"}),
              ElementsAre("session", "show", "--watch=2", "x"));
  EXPECT_THAT(put_in_order(facts, {"session", "show", "x", "--watch"}),
              ElementsAre("session", "show", "x", "--watch=2"));
  EXPECT_THAT(put_in_order(facts, {"session", "show", "x", "--watch", "0.5"}),
              ElementsAre("session", "show", "x", "--watch", "0.5"));
  EXPECT_THAT(put_in_order(facts, {"session", "show", "x", "--watch=7"}),
              ElementsAre("session", "show", "x", "--watch=7"));
  EXPECT_THAT(put_in_order(facts, {"--watch", "session", "show", "x"}),
              ElementsAre("session", "show", "--watch=2", "x"));
  EXPECT_THAT(put_in_order(facts, {"--watch", "3", "session", "show", "x"}),
              ElementsAre("session", "show", "--watch", "3", "x"));
  EXPECT_THAT(put_in_order(facts, {"session", "run", "x", "--", "ls", "--watch"}),
              ElementsAre("session", "run", "x", "--", "ls", "--watch"));
  EXPECT_EQ(option({"--a"}, "SECONDS").value_left_out(), "");
  EXPECT_EQ(option({"--a"}, "[SECONDS]").value_left_out(), "");
}

TEST(MistakeTest, ACommandThatIsLeftOutIsAskedFor) {
  EXPECT_THAT(mistake({"keys"}), HasSubstr("`atoll keys` alone does nothing; there are list, revoke\n"));
  EXPECT_EQ(mistake({"keys", "--help"}), "");
  EXPECT_EQ(mistake({}), "");
}

TEST(OrderTest, AProgramsOwnWordsStayWhereTheyAre) {
  const CommandFacts facts = program();
  EXPECT_THAT(put_in_order(facts, {"run", "--", "ls", "--data", "x"}),
              ElementsAre("run", "--", "ls", "--data", "x"));
  EXPECT_THAT(put_in_order(facts, {"--version", "run"}), ElementsAre("--version", "run"));
  EXPECT_THAT(put_in_order(facts, {}), ElementsAre());
}

TEST(MistakeTest, AProgramWithoutDashesGetsTheLineThatWorks) {
  const std::string told = mistake({"run", "python3", "-c", "print('a b')"});
  EXPECT_THAT(told, HasSubstr("  atoll run -- python3 -c 'print('\\''a b'\\'')'\n"));
  EXPECT_THAT(told, Not(HasSubstr("meant for atoll")));
  EXPECT_THAT(mistake({"run", "-m", "1M", "ls", "-la"}), HasSubstr("  atoll run -m 1M -- ls -la\n"));
  EXPECT_THAT(mistake({"session", "run", "ses_1", "ls", "-la"}),
              HasSubstr("  atoll session run ses_1 -- ls -la\n"));
}

TEST(MistakeTest, AFlagOfOursBehindTheProgramHasTwoLines) {
  const std::string told = mistake({"run", "true", "--time", "5", "x"});
  EXPECT_THAT(told, HasSubstr("  atoll run -- true --time 5 x\n"));
  EXPECT_THAT(told, HasSubstr("  atoll run --time 5 -- true x\n"));
}

TEST(MistakeTest, WhatIsGoodIsLeftAlone) {
  for (const Words& words : std::vector<Words>{{"run", "-it", "--", "bash", "-l"},
                                               {"run", "-m256M", "true"},
                                               {"run", "--memory", "-3", "--", "x"},
                                               {"run", "true", "x"},
                                               {"keys", "list", "--data", "x"},
                                               {"session", "rm", "a", "b"},
                                               {"--help"},
                                               {}})
    EXPECT_EQ(mistake(words), "") << words.size();
}

TEST(MistakeTest, CommandsOfOtherProgramsAreTranslated) {
  EXPECT_THAT(mistake({"keys", "ls"}), HasSubstr("  atoll keys list\n"));
  EXPECT_THAT(mistake({"keys", "rm", "key_1"}), HasSubstr("  atoll keys revoke key_1\n"));
  EXPECT_THAT(mistake({"keys", "lsit"}), HasSubstr("  atoll keys list\n"));
  EXPECT_THAT(mistake({"sessions"}), HasSubstr("  atoll session --help\n"));
  EXPECT_THAT(mistake({"keys", "frobnicate"}), HasSubstr("there are list, revoke"));
  EXPECT_THAT(mistake({"\x1b[31m"}), Not(HasSubstr("\x1b")));
}

TEST(MistakeTest, UnknownFlagsSayWhoseTheyAre) {
  EXPECT_THAT(mistake({"keys", "list", "--memory", "1M"}), HasSubstr("it is one of `atoll run`"));
  EXPECT_THAT(mistake({"keys", "list", "--jsn"}), HasSubstr("--json"));
  EXPECT_THAT(mistake({"run", "--colour"}), HasSubstr("`atoll run` has no option --colour"));
}

TEST(MistakeTest, WordsAreQuotedForAShell) {
  EXPECT_EQ(quoted_for_shell("a.b/c-1"), "a.b/c-1");
  EXPECT_EQ(quoted_for_shell(""), "''");
  EXPECT_EQ(quoted_for_shell("it's"), "'it'\\''s'");
}

std::vector<std::string> offered(const std::vector<std::string>& before, const std::string& current) {
  const auto names = [](std::string_view kind) {
    return kind == "SESSION" ? std::vector<Candidate>{{"ses_one", ""}, {"ses_two", ""}}
                             : std::vector<Candidate>{};
  };
  std::vector<std::string> words;
  const Completion found = complete(program(), before, current, names);
  for (const Candidate& one : found.words) words.push_back(one.word);
  if (found.files == Completion::Files::files) words.emplace_back(":files");
  if (found.files == Completion::Files::directories) words.emplace_back(":directories");
  return words;
}

TEST(CompletionTest, OffersCommandsThatPeopleUse) {
  EXPECT_THAT(offered({}, ""), ElementsAre("run", "keys", "session", "help"));
  EXPECT_THAT(offered({"keys"}, "l"), ElementsAre("list"));
  EXPECT_THAT(offered({"--data", "keys", "keys"}, "r"), ElementsAre("revoke"));
}

TEST(CompletionTest, OffersFlagsOfTheCommandAndThoseAboveIt) {
  EXPECT_THAT(offered({"keys", "list"}, "--"), ElementsAre("--json", "--data", "--version"));
  EXPECT_THAT(offered({"run"}, "--me"), ElementsAre("--memory"));
  EXPECT_THAT(offered({"run", "--"}, "--"), ElementsAre(":files"));
}

TEST(CompletionTest, OffersValuesByKind) {
  EXPECT_THAT(offered({"session", "rm"}, "ses_t"), ElementsAre("ses_two"));
  EXPECT_THAT(offered({"session", "rm", "ses_two"}, ""), ElementsAre("ses_one", "ses_two"));
  EXPECT_THAT(offered({"session", "put", "ses_one"}, ""), ElementsAre(":files"));
  EXPECT_THAT(offered({"session", "put", "ses_one", "x"}, ""), ElementsAre());
  EXPECT_THAT(offered({"run", "--provider"}, "v"), ElementsAre("virtual"));
  EXPECT_THAT(offered({"run", "--provider", "="}, "v"), ElementsAre("virtual"));
  EXPECT_THAT(offered({"run"}, "--provider=v"), ElementsAre("--provider=virtual"));
  EXPECT_THAT(offered({"keys", "--data"}, ""), ElementsAre(":directories"));
  EXPECT_THAT(offered({"run", "--nonsense"}, "--nonsense=x"), ElementsAre());
}

TEST(CompletionTest, ThereIsAScriptForThreeShells) {
  for (const char* shell : {"bash", "zsh", "fish"}) {
    const auto script = completion_script(shell);
    ASSERT_TRUE(script) << shell;
    EXPECT_THAT(*script, HasSubstr("__complete"));
  }
  const auto refused = completion_script("tcsh");
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message(), HasSubstr("SHELL: 'tcsh'"));
}

TEST(ManualTest, HasAPageForEveryCommandThatPeopleUse) {
  std::vector<std::string> files;
  for (const ManualPage& page : manual(program(), "1.2")) files.push_back(page.file);
  EXPECT_THAT(
      files, ElementsAre("atoll.1", "atoll-run.1", "atoll-keys.1", "atoll-keys-list.1", "atoll-keys-revoke.1",
                         "atoll-session.1", "atoll-session-run.1", "atoll-session-show.1",
                         "atoll-session-rm.1", "atoll-session-put.1", "atoll-help.1"));
}

TEST(ManualTest, APageHasTheOptionsOfTheCommandsAboveButNotTheirHelp) {
  for (const ManualPage& page : manual(program(), "1.2"))
    if (page.file == "atoll-keys-list.1") {
      EXPECT_THAT(page.text, HasSubstr("\\-\\-data"));
      EXPECT_THAT(page.text, Not(HasSubstr("help")));
    }
}

TEST(ManualTest, TextIsNoOrderForRoff) {
  const std::string text = manual(program(), "1.2").front().text;
  EXPECT_THAT(text, HasSubstr(".TH ATOLL 1 \"\" \"atoll 1.2\""));
  EXPECT_THAT(text, HasSubstr("\n\\&.not an order"));
  EXPECT_THAT(text, HasSubstr("EXIT STATUS"));
  EXPECT_THAT(manual(program(), "1")[1].text, HasSubstr("[OPTIONS] \\-\\- COMMAND..."));
}

TEST(ManualTest, EveryErrorCodeHasAnExitStatus) {
  std::string all;
  for (const auto& [status, meaning] : exit_statuses()) all += status + " " + meaning + "\n";
  for (int at = 0; at <= static_cast<int>(Code::internal); ++at)
    EXPECT_THAT(all, HasSubstr(std::string(row(static_cast<Code>(at)).name)));
  EXPECT_THAT(all, Not(HasSubstr("an error (")));
}

TEST(TableTest, IsAlignedAndPlainInPipes) {
  Table table({{"ID"}, {"N", Table::Align::right}, {"NOTE"}});
  table.add({{"a"}, {"1"}, {""}});
  table.add({{"long\x1b"}, {"100"}, {"x", Tone::good}});
  EXPECT_EQ(table.text(Paint::never), "ID          N  NOTE\na           1\nlong\\x1b  100  x\n");
  EXPECT_THAT(table.text(Paint::always), HasSubstr("\033[32mx\033[0m"));
  EXPECT_EQ(table.text(Paint::never, 4), "ID\na\nlong\n");
  EXPECT_EQ(table.size(), 2U);
}

TEST(TableTest, ShortValues) {
  EXPECT_EQ(short_bytes(0), "0");
  EXPECT_EQ(short_bytes(1536), "1.5K");
  EXPECT_EQ(short_bytes(23U << 20U), "23M");
  EXPECT_EQ(short_bytes((1ULL << 30U) - 1), "1.0G");
  EXPECT_EQ(short_time(-1), "0s");
  EXPECT_EQ(short_time(61), "1m");
  EXPECT_EQ(short_time(7200), "2h");
  EXPECT_EQ(short_time(3.0 * 86400), "3d");
  EXPECT_EQ(spark_line({0, 50, 100}, 100, 4), "  ▄█");
  EXPECT_EQ(spark_line({1}, 0, 1), " ");
  EXPECT_EQ(tone_of("paused"), Tone::waiting);
  EXPECT_EQ(tone_of("lost"), Tone::bad);
}

TEST(ProgressTest, TellsShareRateAndTimeLeft) {
  EXPECT_EQ(progress_line("a", 50 << 20, 100 << 20, 5),
            "a  [============            ]  50 %  50M of 100M  10M/s  5s left");
  EXPECT_EQ(progress_line("a", 1024, 0, 1), "a  1.0K  1.0K/s");
  EXPECT_THAT(progress_line("a", 0, 10, 0), HasSubstr("? left"));
  EXPECT_EQ(progress_line("vectors", 500, 2000, 10, Counting::things),
            "vectors  [======                  ]  25 %  500 of 2000  50/s  30s left");
}

TEST(ProgressTest, OfABuildTellsLayersPackagesAndTimeLeft) {
  EXPECT_EQ(build_line("b", {.layer = 0, .layers = 2, .share = 0.5, .done = 30, .all = 60}, 0, 20, 10),
            "b  [======                  ]  25 %  layer 1 of 2  30 of 60 packages  3/s  1m left");
  // Half of it was there before: the other half is half done.
  EXPECT_EQ(build_line("b", {.layer = 3, .layers = 4}, 0.5, 30, 7),
            "b  [==================      ]  75 %  layer 4 of 4  for 7s  30s left");
  EXPECT_THAT(build_line("b", {.layer = 1, .layers = 2}, 0.5, 30, 7), HasSubstr("? left"));
  EXPECT_EQ(share_of({}), 0);
}

TEST(DetachKeysTest, AreHeldBackOnlyAsLongAsTheyMayBecomeTheSequence) {
  auto keys = DetachKeys::parse("ctrl-p,ctrl-q");
  ASSERT_TRUE(keys);
  EXPECT_EQ(keys->take("ab\x10").pass, "ab");
  const auto other = keys->take("x");
  EXPECT_EQ(other.pass, "\x10x");
  EXPECT_FALSE(other.detach);
  EXPECT_EQ(keys->take("\x10\x10").pass, "\x10");
  const auto left = keys->take("\x11more");
  EXPECT_TRUE(left.detach);
  EXPECT_EQ(left.pass, "");
}

TEST(DetachKeysTest, AreRefusedWhereTheyAreNone) {
  for (const char* bad : {"", "ctrl-", "ctrl-1", "alt-x", "a,,b"})
    EXPECT_FALSE(DetachKeys::parse(bad)) << bad;
  EXPECT_TRUE(DetachKeys::parse("~,."));
  EXPECT_TRUE(DetachKeys::parse("ctrl-]"));
}

}  // namespace
}  // namespace atl::cli
