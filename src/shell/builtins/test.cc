#include <fmt/format.h>

#include "shell/builtins/builtins.h"
#include "shell/programs.h"
#include "shell/stack.h"

namespace atl::shell {

bool test_unary(ShellRunner& shell, char op, const std::string& operand) {
  switch (op) {
    case 'n': return !operand.empty();
    case 'z': return operand.empty();
    // A variable that is set but empty counts.
    case 'v': return shell.variables().is_set(operand);
    case 'R': {
      const Variable* variable = shell.variables().find(operand);
      return variable && variable->is(attr::nameref);
    }
    case 'o': {
      for (std::size_t i = 0; i < opt_rows.size(); ++i)
        if (opt_rows[i].name == operand) return shell.options().set[i];
      return false;
    }
    case 't': {
      std::int64_t fd = 0;
      if (!builtins::parse_int(operand, fd)) return false;
      auto file = shell.descriptors().file(static_cast<int>(fd));
      return file && file->is_terminal();
    }
    default: break;
  }
  if (operand.empty()) return false;
  // Devices and descriptors are the shell's own, not files of the filesystem.
  std::string full = operand.starts_with('/') ? operand : shell.descriptors().cwd().str() + "/" + operand;
  if (full.starts_with("/dev/")) {
    bool known = is_device(full) || full == "/dev/stdin" || full == "/dev/stdout" || full == "/dev/stderr";
    if (full.starts_with("/dev/fd/")) {
      std::int64_t fd = 0;
      known = builtins::parse_int(full.substr(8), fd) && shell.descriptors().file(static_cast<int>(fd));
      if (known && op == 'p') return shell.descriptors().file(static_cast<int>(fd))->is_pipe();
    }
    if (known) {
      if (op == 'c') return is_device(full);
      if (op == 'h' || op == 'L') return full.starts_with("/dev/std");
      return op == 'e' || op == 'a' || op == 'r' || op == 'w';
    }
  }
  auto path = shell.descriptors().path_of(operand);
  if (!path) return false;
  if (op == 'h' || op == 'L') {
    auto link = shell.machine().fs.find(*path, vfs::Follow::no);
    return link && link->is_symlink();
  }
  auto stat = shell.machine().fs.find(*path);
  if (!stat) return false;
  // A slash at the end asks for a directory, as the kernel reads it.
  if (operand.size() > 1 && operand.back() == '/' && !stat->is_directory()) return false;
  switch (op) {
    case 'a':
    case 'e': return true;
    case 'f': return stat->is_file();
    case 'd': return stat->is_directory();
    case 'p': return stat->type == vfs::Type::fifo;
    // On real filesystems a directory has a size.
    case 's': return stat->is_directory() || stat->size > 0;
    case 'r': return shell.descriptors().permitted(*stat, 4);
    case 'w': return shell.descriptors().permitted(*stat, 2);
    case 'x': return shell.descriptors().permitted(*stat, 1);
    case 'u': return stat->mode & 04000;
    case 'g': return stat->mode & 02000;
    case 'k': return stat->mode & 01000;
    case 'O':
    case 'G': return stat->uid == 1000;
    case 'N': return stat->accessed && stat->modified > *stat->accessed;
    default: return false;
  }
}

bool test_files(ShellRunner& shell, std::string_view op, const std::string& left, const std::string& right) {
  auto find = [&](const std::string& name) -> std::optional<vfs::Stat> {
    auto path = shell.descriptors().path_of(name);
    return path ? shell.machine().fs.find(*path) : std::nullopt;
  };
  auto a = find(left), b = find(right);
  if (op == "-ef") return a && b && a->inode == b->inode;
  // A file that exists is newer than one that does not, as in bash.
  if (op == "-nt") return a && (!b || a->modified > b->modified);
  return b && (!a || a->modified < b->modified);
}

namespace {

bool is_unary(std::string_view op) {
  return op.size() == 2 && op[0] == '-' &&
         std::string_view("abcdefghknoprstuvwxzGLNORS").find(op[1]) != std::string_view::npos;
}
bool is_binary(std::string_view op) {
  for (std::string_view one :
       {"=", "==", "!=", "<", ">", "-eq", "-ne", "-lt", "-le", "-gt", "-ge", "-nt", "-ot", "-ef"})
    if (op == one) return true;
  return false;
}

class Tester {
 public:
  Tester(ShellRunner& shell, std::string_view who, std::span<const std::string> args)
      : shell_(shell), who_(who), args_(args) {}

  int run() {
    bool value = by_count();
    if (failed_) return 2;
    return value ? 0 : 1;
  }

 private:
  bool fail(const std::string& message) {
    if (!failed_) shell_.error(fmt::format("{}: {}", who_, message));
    failed_ = true;
    return false;
  }

  // POSIX decides by the number of arguments up to four, so that operands which look like operators stay
  // operands: test ! = ! compares.
  bool by_count() {
    switch (args_.size()) {
      case 0: return false;
      case 1: return !args_[0].empty();
      case 2:
        if (args_[0] == "!") return args_[1].empty();
        if (is_unary(args_[0])) return unary(args_[0], args_[1]);
        return fail(fmt::format("{}: unary operator expected", args_[0]));
      case 3:
        if (is_binary(args_[1])) return binary(args_[0], args_[1], args_[2]);
        if (args_[1] == "-a") return !args_[0].empty() && !args_[2].empty();
        if (args_[1] == "-o") return !args_[0].empty() || !args_[2].empty();
        if (args_[0] == "!") {
          args_ = args_.subspan(1);
          return !by_count() && !failed_;
        }
        if (args_[0] == "(" && args_[2] == ")") return !args_[1].empty();
        return fail(fmt::format("{}: binary operator expected", args_[1]));
      case 4:
        if (args_[0] == "!") {
          args_ = args_.subspan(1);
          return !by_count() && !failed_;
        }
        if (args_[0] == "(" && args_[3] == ")") {
          args_ = args_.subspan(1, 2);
          return by_count();
        }
        break;
      default: break;
    }
    bool value = or_();
    if (!failed_ && at_ < args_.size()) return fail("too many arguments");
    return value;
  }

  bool or_() {
    bool value = and_();
    while (!failed_ && at_ < args_.size() && args_[at_] == "-o") {
      ++at_;
      bool right = and_();
      value = value || right;
    }
    return value;
  }
  bool and_() {
    bool value = not_();
    while (!failed_ && at_ < args_.size() && args_[at_] == "-a") {
      ++at_;
      bool right = not_();
      value = value && right;
    }
    return value;
  }
  bool not_() {
    if (at_ >= args_.size()) return fail("argument expected");
    need_stack();
    if (args_[at_] == "!") {
      ++at_;
      return !not_() && !failed_;
    }
    if (at_ + 2 < args_.size() && is_binary(args_[at_ + 1]) && args_[at_] != "(") {
      at_ += 3;
      return binary(args_[at_ - 3], args_[at_ - 2], args_[at_ - 1]);
    }
    if (args_[at_] == "(") {
      ++at_;
      bool value = or_();
      if (failed_) return false;
      if (at_ >= args_.size() || args_[at_] != ")")
        return fail(at_ >= args_.size() ? "`)' expected" : fmt::format("`)' expected, found {}", args_[at_]));
      ++at_;
      return value;
    }
    if (is_unary(args_[at_]) && at_ + 1 < args_.size()) {
      at_ += 2;
      return unary(args_[at_ - 2], args_[at_ - 1]);
    }
    return !args_[at_++].empty();
  }

  bool unary(const std::string& op, const std::string& operand) {
    if (op == "-t") {
      std::int64_t fd = 0;
      if (!builtins::parse_int(operand, fd))
        return fail(fmt::format("{}: integer expression expected", operand));
    }
    return test_unary(shell_, op[1], operand);
  }

  bool binary(const std::string& left, const std::string& op, const std::string& right) {
    if (op == "=" || op == "==") return left == right;
    if (op == "!=") return left != right;
    if (op == "<") return left < right;
    if (op == ">") return left > right;
    if (op == "-nt" || op == "-ot" || op == "-ef") return test_files(shell_, op, left, right);
    std::int64_t a = 0, b = 0;
    if (!builtins::parse_int(left, a)) return fail(fmt::format("{}: integer expression expected", left));
    if (!builtins::parse_int(right, b)) return fail(fmt::format("{}: integer expression expected", right));
    if (op == "-eq") return a == b;
    if (op == "-ne") return a != b;
    if (op == "-lt") return a < b;
    if (op == "-le") return a <= b;
    if (op == "-gt") return a > b;
    return a >= b;
  }

  ShellRunner& shell_;
  std::string_view who_;
  std::span<const std::string> args_;
  std::size_t at_ = 0;
  bool failed_ = false;
};

}  // namespace

int test_expression(ShellRunner& shell, std::string_view who, std::span<const std::string> args) {
  return Tester(shell, who, args).run();
}

namespace builtins {

int test(ShellRunner& shell, const Args& args) {
  std::span<const std::string> words(args);
  if (args[0] == "[") {
    if (args.back() != "]" || args.size() < 2) {
      shell.error("[: missing `]'");
      return 2;
    }
    words = words.first(words.size() - 1);
  }
  return test_expression(shell, args[0], words.subspan(1));
}

}  // namespace builtins

}  // namespace atl::shell
