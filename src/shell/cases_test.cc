// The cases of tests/shell/*.test.sh in this process, where sanitizers and coverage see them. tests/shell/run
// asks bash as well and explains the format.

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "shell/shell.h"

namespace atl::shell {
namespace {

struct Case {
  std::string title, script, out, err;
  int status = 0;
};

std::vector<Case> load(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::vector<Case> cases;
  auto after = [](const std::string& line, std::size_t mark) {
    return line.size() > mark ? line.substr(mark) : "";
  };
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("#### ")) {
      cases.push_back({.title = line.substr(5)});
    } else if (cases.empty()) {
      continue;
    } else if (Case& now = cases.back(); line.starts_with("#|-")) {
      now.out += after(line, 4);
    } else if (line.starts_with("#|")) {
      now.out += after(line, 3) + "\n";
    } else if (line.starts_with("#!") && !line.starts_with("#!/")) {
      now.err += after(line, 3) + "\n";
    } else if (line.starts_with("#?")) {
      now.status = std::stoi(line.substr(2));
    } else if (!line.starts_with("#~")) {
      now.script += line + "\n";
    }
  }
  for (Case& each : cases)
    while (each.script.ends_with('\n')) each.script.pop_back();
  return cases;
}

ShellOptions plain_options() {
  ShellOptions options;
  options.default_environment = false;
  options.environment = {{"PATH", "/usr/bin:/bin"}, {"LANG", "C.UTF-8"},    {"LC_ALL", "C.UTF-8"},
                         {"TERM", "dumb"},          {"HOME", "/home/user"}, {"TMPDIR", "/tmp"}};
  return options;
}

class Cases : public testing::TestWithParam<std::filesystem::path> {};

TEST_P(Cases, hold) {
  std::vector<Case> cases = load(GetParam());
  ASSERT_FALSE(cases.empty());
  for (const Case& each : cases) {
    vfs::VirtualFileSystem fs(base_snapshot());
    SandboxShell shell(fs, plain_options());
    Executed done = shell.execute(each.script);
    int status = done.signal != 0 ? 256 - done.signal : done.status & 255;
    EXPECT_EQ(done.out, each.out) << each.title << "\n" << done.err;
    EXPECT_EQ(status, each.status) << each.title << "\n" << done.err;
    if (!each.err.empty()) {
      EXPECT_EQ(done.err, each.err) << each.title;
    }
  }
}

std::vector<std::filesystem::path> files() {
  std::vector<std::filesystem::path> out;
  std::error_code none;
  for (const auto& entry : std::filesystem::directory_iterator("tests/shell", none))
    if (entry.path().string().ends_with(".test.sh")) out.push_back(entry.path());
  std::sort(out.begin(), out.end());
  return out;
}

TEST(CasesThere, the_test_runs_where_they_are) {
  EXPECT_GT(files().size(), 50U) << "run from the root of the source tree";
}

INSTANTIATE_TEST_SUITE_P(Each, Cases, testing::ValuesIn(files()), [](const auto& given) {
  std::string name = given.param.stem().stem().string();
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

}  // namespace
}  // namespace atl::shell
