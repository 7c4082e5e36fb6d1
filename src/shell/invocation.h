#pragma once

#include <optional>
#include <string>
#include <vector>

#include "shell/command.h"
#include "shell/runner.h"

namespace atl::shell {

// A command's own reading of an open file that others may read too: it alone has what it was given, until it
// gives back at its end what it did not use. Null: nothing to read.
class ClaimedInput final : public Input {
 public:
  explicit ClaimedInput(OpenFilePtr file) : file_(std::move(file)) {}
  ~ClaimedInput() override;
  ClaimedInput(const ClaimedInput&) = delete;
  ClaimedInput& operator=(const ClaimedInput&) = delete;
  std::string_view fill() override;
  void consume(std::size_t count) override;
  void held(std::size_t bytes) override {
    if (file_) file_->held(bytes);
  }
  std::uint64_t inode() const override { return file_ ? file_->inode() : 0; }

 private:
  OpenFilePtr file_;
  Claim claim_;
  std::string_view block_;
  std::size_t at_ = 0;
};

// What a command of commands/ is given when a ShellRunner runs it. Refers to the shell and to its arguments,
// which must outlive it.
// On the stack of the fiber that runs the command. The contract of the members is Invocation's (command.h).
class CommandInvocation final : public Invocation {
 public:
  CommandInvocation(ShellRunner& shell, const Args& args) : shell_(shell), args_(args) {}

  std::span<const std::string> args() const override { return args_; }
  // Claimed when it is first asked for, and for the life of the invocation.
  Input& in() override;
  Output& out() override { return shell_.descriptors().out(); }
  Output& err() override { return shell_.descriptors().err(); }
  vfs::FileSystem& fs() override { return shell_.machine().fs; }
  const vfs::Path& cwd() const override { return shell_.descriptors().cwd(); }
  Result<vfs::Path> resolve(std::string_view text) const override {
    return shell_.descriptors().path_of(text);
  }
  Result<std::unique_ptr<Input>> open_input(std::string_view text) override;
  Result<std::unique_ptr<Output>> open_output(std::string_view text, bool append) override;
  std::optional<std::string> variable(std::string_view name) const override;
  std::vector<std::pair<std::string, std::string>> environment() const override {
    return shell_.variables().environment();
  }
  std::uint32_t umask() const override { return shell_.descriptors().umask(); }
  WallTime now() const override { return shell_.machine().clock.now(); }
  void charge(std::uint64_t work) override { shell_.machine().charge(work); }
  const Limits& limits() const override { return shell_.machine().limits; }
  [[noreturn]] void stop(Limit limit) override { shell_.machine().stop_limit(limit); }
  void charge_memory(std::int64_t bytes) override { shell_.machine().charge_memory(bytes); }
  int run(std::vector<std::string> argv, const Redirects& redirects) override;
  int run_script(std::string_view script, const Redirects& redirects) override;
  void sleep(Duration how_long) override { shell_.machine().sleep(how_long); }
  ShellRunner& runner() override { return shell_; }

 private:
  // Runs `body` in a subshell whose standard streams are those of the redirects, and gives its status.
  int run_in(const Redirects& redirects, const std::function<int(ShellRunner&)>& body);

  ShellRunner& shell_;
  const Args& args_;
  std::optional<ClaimedInput> in_;
};

}  // namespace atl::shell
