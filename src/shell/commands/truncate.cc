#include <fmt/format.h>

#include "shell/commands/commands.h"
#include "shell/commands/file_names.h"
#include "shell/commands/options.h"
#include "shell/commands/text_io.h"
#include "shell/commands/walk.h"

namespace atl::shell {

int run_truncate(Invocation& call) {
  static constexpr Option kOptions[] = {{'c', 'c', "no-create"}, {'o', 'o', "io-blocks"}, {'r', 'r', "reference", Arg::required}, {'s', 's', "size", Arg::required}};
  CommandLine options(call, kOptions);
  if (options.stopped()) return options.status();
  bool create = true, has_size = false, has_base = false;
  char mode = 0;
  std::uint64_t size = 0, base = 0;
  std::string reference;
  for (auto& [id, value] : options.found()) {
    if (id == 'c') create = false;
    if (id == 'r') {
      reference = value;
      has_base = true;
    }
    if (id == 's') {
      std::string_view text = value;
      while (text.starts_with(' ')) text.remove_prefix(1);
      if (!text.empty() && std::string_view("+-<>/%").find(text[0]) != std::string_view::npos) mode = text[0], text.remove_prefix(1);
      if (!parse_size(text, size)) return call.fail(fmt::format("Invalid number: {}", quoted(value)));
      if ((mode == '/' || mode == '%') && size == 0) return call.fail("division by zero");
      has_size = true;
    }
  }
  if (has_base && has_size && !mode) return usage_error(call, "you must specify a relative '--size' with '--reference'");
  if (has_base) {
    auto path = call.resolve(reference);
    auto stat = path ? call.fs().stat(*path) : Result<vfs::Stat>(fail(path.error()));
    if (!stat) return call.fail(fmt::format("cannot stat {}: {}", quoted(reference), reason(stat.error())));
    base = stat->size;
    if (!has_size) size = base;
  }
  if (!has_size && !has_base) return usage_error(call, "you must specify either '--size' or '--reference'");
  if (options.operands().empty()) return usage_error(call, "missing file operand");
  int status = 0;
  for (const std::string& operand : options.operands()) {
    auto path = call.resolve(operand);
    auto work = [&]() -> Result<void> {
      if (!path) return fail(path.error());
      vfs::OpenOptions open;
      open.write = true;
      open.create = create;
      open.mode = 0666 & ~call.umask();
      auto stat = call.fs().find(*path);
      if (!stat && !create) return {};
      auto file = call.fs().open(*path, open);
      if (!file) return fail(file.error());
      std::uint64_t old = has_base ? base : stat ? stat->size : 0, target = size;
      switch (mode) {
        case '+': target = old + size; break;
        case '-': target = old > size ? old - size : 0; break;
        case '<': target = std::min(old, size); break;
        case '>': target = std::max(old, size); break;
        case '/': target = old / size * size; break;
        case '%': target = (old + size - 1) / size * size; break;
        default: break;
      }
      if (target > (1ULL << 40)) return fail(Code::no_space, "");
      call.charge_memory(0);
      auto done = (*file)->truncate(target);
      if (!done) return done;
      return (*file)->close();
    };
    auto done = work();
    if (!done) {
      call.complain(fmt::format("cannot open {} for writing: {}", quoted(operand), reason(done.error())));
      status = 1;
    }
  }
  return status;
}

int run_mkfifo(Invocation& call) {
  static constexpr Option kOptions[] = {{'m', 'm', "mode", Arg::required}};
  CommandLine options(call, kOptions);
  if (options.stopped()) return options.status();
  std::uint32_t mode = 0666 & ~call.umask();
  for (auto& [id, value] : options.found()) {
    mode = 0666;
    if (!apply_mode(value, mode, false, call.umask())) return call.fail("invalid mode");
    if (mode & ~0777U) return call.fail("mode must specify only file permission bits");
  }
  if (options.operands().empty()) return usage_error(call, "missing operand");
  int status = 0;
  for (const std::string& operand : options.operands()) {
    auto path = call.resolve(operand);
    auto made = path ? call.fs().make_fifo(*path, mode) : Result<void>(fail(path.error()));
    if (made) continue;
    call.complain(fmt::format("cannot create fifo {}: {}", quoted(operand), reason(made.error())));
    status = 1;
  }
  return status;
}

int run_link(Invocation& call) {
  CommandLine options(call, {});
  if (options.stopped()) return options.status();
  auto& operands = options.operands();
  if (operands.size() < 2) return usage_error(call, operands.empty() ? "missing operand" : fmt::format("missing operand after {}", quoted(operands[0])));
  if (operands.size() > 2) return usage_error(call, fmt::format("extra operand {}", quoted(operands[2])));
  auto from = call.resolve(operands[0]), to = call.resolve(operands[1]);
  auto made = from && to ? call.fs().make_link(*from, *to) : Result<void>(fail(from ? to.error() : from.error()));
  if (!made) return call.fail(fmt::format("cannot create link {} to {}: {}", quoted(operands[1]), quoted(operands[0]), reason(made.error())));
  return 0;
}

int run_unlink(Invocation& call) {
  CommandLine options(call, {});
  if (options.stopped()) return options.status();
  auto& operands = options.operands();
  if (operands.size() != 1) return usage_error(call, operands.empty() ? "missing operand" : fmt::format("extra operand {}", quoted(operands[1])));
  auto path = call.resolve(operands[0]);
  auto removed = path ? call.fs().remove_file(*path) : Result<void>(fail(path.error()));
  if (!removed) return call.fail(fmt::format("cannot unlink {}: {}", quoted(operands[0]), reason(removed.error())));
  return 0;
}

int run_install(Invocation& call) {
  static constexpr Option kOptions[] = {{'d', 'd', "directory"}, {'D', 'D', ""}, {'m', 'm', "mode", Arg::required}, {'t', 't', "target-directory", Arg::required},
                                        {'T', 'T', "no-target-directory"}, {'v', 'v', "verbose"}, {'p', 'p', "preserve-timestamps"}, {'c', 'c', ""},
                                        {'C', 'C', "compare"}};
  CommandLine options(call, kOptions);
  if (options.stopped()) return options.status();
  bool directories = false, parents = false, verbose = false, as_name = false, keep_times = false, compare = false;
  std::uint32_t mode = 0755;
  std::string target;
  for (auto& [id, value] : options.found()) {
    if (id == 'd') directories = true;
    if (id == 'D') parents = true;
    if (id == 'v') verbose = true;
    if (id == 'T') as_name = true;
    if (id == 'p') keep_times = true;
    if (id == 'C') compare = true;
    if (id == 't') target = value;
    if (id == 'm') {
      mode = 0;
      if (!apply_mode(value, mode, false, 0)) return call.fail(fmt::format("invalid mode {}", quoted(value)));
    }
  }
  auto operands = options.operands();
  if (operands.empty()) return usage_error(call, "missing file operand");
  int status = 0;
  if (directories) {
    for (const std::string& operand : operands) {
      auto path = call.resolve(operand);
      auto made = path ? call.fs().make_directory(*path, 0755, vfs::Parents::create) : Result<void>(fail(path.error()));
      if (made) (void)call.fs().set_mode(*path, mode);
      else {
        call.complain(fmt::format("cannot create directory {}: {}", quoted(operand), reason(made.error())));
        status = 1;
      }
    }
    return status;
  }
  if (target.empty()) {
    if (operands.size() < 2) return usage_error(call, fmt::format("missing destination file operand after {}", quoted(operands[0])));
    target = operands.back();
    operands.pop_back();
    auto path = call.resolve(target);
    bool there = path && call.fs().is_directory(*path);
    if (as_name && there) return call.fail(fmt::format("cannot overwrite directory {} with non-directory", quoted(target)));
    if (operands.size() > 1 && !there) return call.fail(fmt::format("target {}: {}", quoted(target), path && call.fs().find(*path) ? "Not a directory" : "No such file or directory"));
    as_name = !there;
  } else if (parents) {
    if (auto path = call.resolve(target)) (void)call.fs().make_directory(*path, 0755, vfs::Parents::create);
  }
  for (const std::string& from : operands) {
    std::string to = as_name ? target : join_shown(target, base_name(from));
    auto source = call.resolve(from), path = call.resolve(to);
    auto content = source ? call.fs().read(*source) : Result<vfs::Content>(fail(source.error()));
    if (!content) {
      call.complain(content.error().code() == Code::is_a_directory ? fmt::format("omitting directory {}", quoted(from)) : fmt::format("cannot stat {}: {}", quoted(from), reason(content.error())));
      status = 1;
      continue;
    }
    if (compare && path)
      if (auto old = call.fs().read(*path); old && *old == *content) continue;
    vfs::WriteOptions write;
    write.mode = mode;
    write.parents = parents ? vfs::Parents::create : vfs::Parents::must_exist;
    auto written = path ? call.fs().write(*path, std::move(*content), write) : Result<void>(fail(path.error()));
    if (!written) {
      call.complain(fmt::format("cannot create regular file {}: {}", quoted(to), reason(written.error())));
      status = 1;
      continue;
    }
    (void)call.fs().set_mode(*path, mode);
    if (auto stat = call.fs().find(*source); stat && keep_times) (void)call.fs().set_times(*path, {stat->accessed, stat->modified});
    if (verbose) call.out().write(fmt::format("{} -> {}\n", quoted(from), quoted(to)));
  }
  return status;
}

}  // namespace atl::shell
