// Every runner is held to the table in runner_protocol.h: what it sends or handles is there, and what every
// runner must send or handle it does.
#include "guest/runner_protocol.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "embedded/guest_runners.h"

namespace atl::guest {
namespace {

struct Letters {
  std::set<char> sent, handled;
};

// How a language's runner writes a letter down where it sends a message, and where it takes one. Python's
// runner compares numbers of characters.
struct Grammar {
  const char* extension;
  std::vector<const char*> sends, handles;
};
const Grammar kGrammars[] = {
    {".py", {R"(message\((\d+),)"}, {R"(kind == (\d+):)"}},
    {".js", {R"(message\('(.)',)", R"(bytes\('(.) \d)"}, {R"(kind === '(.)')"}},
    {".java", {R"(put\(\w+, '(.)',)"}, {R"(kind == '(.)')"}},
    {".R",
     {R"rx(message_of\("(.)",)rx"},
     {R"(\b([A-Z]) = (?:mark <<-|execute\(|changes <<-|set_variable\())"}},
    {".sh", {R"(printf '(.) [%\d])"}, {R"(\n *([A-Z])\) )"}},
};

std::set<char> letters(const std::string& text, const std::vector<const char*>& patterns) {
  std::set<char> found;
  for (const char* const pattern : patterns) {
    const std::regex wanted(pattern);
    for (auto one = std::sregex_iterator(text.begin(), text.end(), wanted); one != std::sregex_iterator();
         ++one) {
      const std::string said = (*one)[1];
      found.insert(said.size() > 1 ? static_cast<char>(std::stoi(said)) : said.front());
    }
  }
  return found;
}

// By file name: every file of runners/ that says that it is ready.
std::map<std::string, Letters> runners() {
  std::map<std::string, Letters> all;
  for (const embedded::File& file : embedded::guest_runners()) {
    const std::string name(file.path), text(file.bytes);
    for (const Grammar& grammar : kGrammars) {
      if (!name.ends_with(grammar.extension)) continue;
      const Letters spoken{letters(text, grammar.sends), letters(text, grammar.handles)};
      if (spoken.sent.contains(static_cast<char>(FromRunner::ready))) all[name] = spoken;
    }
  }
  return all;
}

std::set<char> of(Direction direction, bool only_every) {
  std::set<char> all;
  for (const RunnerMessage& row : kRunnerMessages)
    if (row.direction == direction && (!only_every || row.spoken == Spoken::every)) all.insert(row.letter);
  return all;
}

std::string missing(const std::set<char>& wanted, const std::set<char>& there) {
  std::string all;
  for (const char letter : wanted)
    if (!there.contains(letter)) all += letter;
  return all;
}

std::string source(const std::string& path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), {}};
}

TEST(RunnerProtocol, HasOneRowForEachLetterOfADirection) {
  for (const Direction direction : {Direction::to_runner, Direction::from_runner}) {
    std::size_t rows = 0;
    for (const RunnerMessage& row : kRunnerMessages) rows += row.direction == direction ? 1 : 0;
    EXPECT_EQ(rows, of(direction, false).size());
  }
  for (const RunnerMessage& row : kRunnerMessages) {
    EXPECT_EQ(find_message(row.direction, row.letter), &row);
    EXPECT_NE(row.in, 0) << row.letter;
    EXPECT_FALSE(row.has_mark && row.in != states(InterpreterState::busy)) << row.letter;
  }
  EXPECT_EQ(find_message(Direction::from_runner, 'x'), nullptr);
}

// Whoever adds a language adds its way to write letters down, if it has one of its own.
TEST(RunnerProtocol, EveryFileOfKernelsIsReadByAGrammar) {
  for (const embedded::File& file : embedded::guest_runners()) {
    bool known = false;
    for (const Grammar& grammar : kGrammars) known |= file.path.ends_with(grammar.extension);
    EXPECT_TRUE(known) << file.path;
  }
  const auto all = runners();
  for (const char* const name : {"python.py", "node.js", "Runner.java", "r.R", "bash.sh"})
    EXPECT_TRUE(all.contains(name)) << name;
}

TEST(RunnerProtocol, RunnersSendAndHandleWhatIsInTheTable) {
  for (const auto& [name, spoken] : runners()) {
    EXPECT_EQ(missing(spoken.sent, of(Direction::from_runner, false)), "")
        << name << " sends what nobody knows";
    EXPECT_EQ(missing(spoken.handled, of(Direction::to_runner, false)), "")
        << name << " handles what nobody sends";
    EXPECT_EQ(missing(of(Direction::from_runner, true), spoken.sent), "") << name << " never sends";
    EXPECT_EQ(missing(of(Direction::to_runner, true), spoken.handled), "") << name << " does not handle";
  }
}

// And nothing is in the table that nobody speaks: what no runner does, a program around it does.
TEST(RunnerProtocol, EveryRowIsSpokenBySomebody) {
  Letters all;
  for (const auto& [name, spoken] : runners()) {
    all.sent.insert(spoken.sent.begin(), spoken.sent.end());
    all.handled.insert(spoken.handled.begin(), spoken.handled.end());
  }
  const std::string module = source("src/guest/zygote/module.cc"), park = source("src/guest/zygote/park.cc"),
                    boot = source("src/sandbox/kernel_boot.cc") + source("src/sandbox/interpreter_boot.cc");
  ASSERT_FALSE(module.empty() || park.empty() || boot.empty()) << "run this in the root of the source tree";
  all.sent.merge(letters(module + park, {R"rx("(.) (?:%d|\d+)\\n)rx"}));
  all.sent.merge(letters(boot, {R"(printf '(.) %d)"}));
  EXPECT_EQ(missing(of(Direction::from_runner, false), all.sent), "");
  // The line that starts an interpreter reads the runner, and whoever parks is woken by the host's next
  // letter.
  all.handled.insert(static_cast<char>(ToRunner::source));
  if (park.find("read_all(control, go") != std::string::npos)
    all.handled.insert(static_cast<char>(ToRunner::unpark));
  EXPECT_EQ(missing(of(Direction::to_runner, false), all.handled), "");
}

}  // namespace
}  // namespace atl::guest
