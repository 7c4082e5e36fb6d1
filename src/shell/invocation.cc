#include "shell/invocation.h"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>

namespace atl::shell {

namespace {

class SharedOutput final : public Output {
 public:
  explicit SharedOutput(OpenFilePtr file) : file_(std::move(file)) {}
  bool write(std::string_view bytes) override { return file_->write(bytes); }
  std::string_view error() const override { return file_->error(); }
  void flush() override { file_->flush(); }
  std::uint64_t inode() const override { return file_->inode(); }

 private:
  OpenFilePtr file_;
};

// The other way round: a stream that a command lends to one that it runs, and takes back (end()) when that
// has ended: a job it left behind may still hold the file.
class LentFile final : public OpenFile {
 public:
  LentFile(Input* in, Output* out) : in_(in), out_(out) {}
  void end() {
    settle();
    in_ = nullptr;
    out_ = nullptr;
  }
  std::string_view fill() override {
    settle();
    return in_ ? in_->fill() : std::string_view();
  }
  void consume(std::size_t count) override {
    if (in_) in_->consume(count);
  }
  // What is taken is consumed when it is clear how much of it was used.
  std::string_view take(Claim& claim) override {
    claim.bytes = fill();
    taken_ = claim.bytes.size();
    holder_ = &claim;
    return claim.bytes;
  }
  void give_back(Claim& claim, std::string_view rest) override {
    if (holder_ != &claim) return;
    taken_ -= rest.size();
    settle();
  }
  void held(std::size_t bytes) override {
    if (in_) in_->held(bytes);
  }
  bool write(std::string_view bytes) override {
    if (!out_) return OpenFile::write(bytes);
    if (out_->write(bytes)) return true;
    error_ = out_->error();
    return false;
  }
  std::uint64_t inode() const override { return in_ ? in_->inode() : out_ ? out_->inode() : 0; }
  bool readable() const override { return in_ != nullptr; }
  bool writable() const override { return out_ != nullptr; }

 private:
  void settle() {
    if (in_ && taken_ > 0) in_->consume(taken_);
    taken_ = 0;
    holder_ = nullptr;
  }

  Input* in_;
  Output* out_;
  std::size_t taken_ = 0;
  const Claim* holder_ = nullptr;
};

// The files that a command lends while it runs another.
class Loan {
 public:
  ~Loan() {
    for (const auto& file : files_) file->end();
  }
  Loan() = default;
  Loan(const Loan&) = delete;
  Loan& operator=(const Loan&) = delete;
  OpenFilePtr file(Input* in, Output* out) {
    files_.push_back(std::make_shared<LentFile>(in, out));
    return files_.back();
  }

 private:
  std::vector<std::shared_ptr<LentFile>> files_;
};

}  // namespace

// What was read ahead and not used goes back, so that the next command on the same input (head -1; cat) finds
// it.
ClaimedInput::~ClaimedInput() {
  if (file_ && at_ < block_.size()) file_->give_back(claim_, block_.substr(at_));
}

std::string_view ClaimedInput::fill() {
  if (at_ == block_.size() && file_) {
    at_ = 0;
    block_ = {};  // taking may end the command
    block_ = file_->take(claim_);
  }
  return block_.substr(at_);
}

void ClaimedInput::consume(std::size_t count) {
  at_ += std::min(count, block_.size() - at_);
}

void Invocation::complain(std::string_view message) {
  err().write(fmt::format("{}: {}\n", args()[0].substr(args()[0].rfind('/') + 1), message));
}

int Invocation::fail(std::string_view message, int status) {
  complain(message);
  return status;
}

int Invocation::bad_option(std::string_view option, int status) {
  std::string name = args()[0].substr(args()[0].rfind('/') + 1);
  if (option.starts_with("--"))
    complain(fmt::format("unrecognized option '{}'", option));
  else
    complain(fmt::format("invalid option -- '{}'", option.starts_with('-') && option.size() > 1
                                                       ? option.substr(1, 1)
                                                       : option.substr(0, 1)));
  err().write(fmt::format("Try '{} --help' for more information.\n", name));
  return status;
}

Input& CommandInvocation::in() {
  if (!in_) in_.emplace(shell_.descriptors().file(0));
  return *in_;
}

Result<std::unique_ptr<Input>> CommandInvocation::open_input(std::string_view text) {
  if (text == "-") {
    OpenFilePtr in = shell_.descriptors().file(0);
    if (!in) return atl::fail(Code::invalid_argument, "Bad file descriptor");
    return std::make_unique<ClaimedInput>(std::move(in));
  }
  auto path = resolve(text);
  if (!path) return std::unexpected(path.error());
  auto stat = shell_.machine().fs.find(*path);
  if (stat && stat->is_directory()) return atl::fail(Code::is_a_directory, "Is a directory");
  OpenFilePtr file = TRY(shell_.descriptors().open(std::string(text), {.read = true}));
  return std::make_unique<ClaimedInput>(std::move(file));
}

Result<std::unique_ptr<Output>> CommandInvocation::open_output(std::string_view text, bool append) {
  OpenFilePtr file = TRY(shell_.descriptors().open(
      std::string(text), {.write = true, .append = append, .truncate = !append, .create = true}));
  return std::make_unique<SharedOutput>(std::move(file));
}

std::optional<std::string> CommandInvocation::variable(std::string_view name) const {
  const Variable* variable = shell_.variables().find(name);
  if (!variable || !variable->is(attr::exported) || !variable->set || variable->is_array())
    return std::nullopt;
  return variable->value;
}

int CommandInvocation::run_in(const Redirects& redirects, const std::function<int(ShellRunner&)>& body) {
  Loan loan;
  auto prepare = [&redirects, &loan](ShellRunner& child) {
    if (redirects.in) child.descriptors().set_file(0, loan.file(redirects.in, nullptr));
    if (redirects.out) child.descriptors().set_file(1, loan.file(nullptr, redirects.out));
    if (redirects.err) child.descriptors().set_file(2, loan.file(nullptr, redirects.err));
    if (redirects.cwd) child.descriptors().set_cwd(*redirects.cwd);
    if (redirects.environment) child.variables().replace_environment(*redirects.environment);
  };
  if (!redirects.timeout) {
    ShellRunner child(shell_, ShellRunner::Subshell::plain);
    prepare(child);
    return child.executor().finish_subshell([&] { return body(child); });
  }
  auto process = shell_.jobs().background(
      [&](ShellRunner& child) {
        child.origin().stands_for_program = true;
        prepare(child);
        return body(child);
      },
      false);
  Machine& machine = shell_.machine();
  SteadyTime deadline = std::chrono::steady_clock::now() + *redirects.timeout;
  Machine::Alarm alarm(machine, process->pid, redirects.timeout_signal, deadline);
  std::optional<Machine::Alarm> last;
  if (redirects.kill_after) last.emplace(machine, process->pid, SIGKILL, deadline + *redirects.kill_after);
  while (!process->done) machine.wait(process->waiters);
  if (redirects.timed_out) *redirects.timed_out = alarm.rang();
  return alarm.rang() && !redirects.timed_out ? 124 : process->status;
}

int CommandInvocation::run(std::vector<std::string> argv, const Redirects& redirects) {
  if (argv.empty()) return 0;
  return run_in(redirects, [&argv](ShellRunner& child) {
    std::string shown;
    bool path = argv[0].find('/') != std::string::npos;
    bool found = path || child.names().find_in_path(argv[0], &shown) || !shown.empty();
    if (found) return child.executor().run_program(argv);
    if (const Builtin* builtin = find_builtin(argv[0])) return child.executor().run_builtin(*builtin, argv);
    child.descriptors().err().write(fmt::format("{}: No such file or directory\n", argv[0]));
    return 127;
  });
}

int CommandInvocation::run_script(std::string_view script, const Redirects& redirects) {
  std::string text(script);
  return run_in(redirects, [&text](ShellRunner& child) { return child.executor().run_script(text, "-c"); });
}

}  // namespace atl::shell
