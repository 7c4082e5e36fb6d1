#include <fmt/format.h>

#include <algorithm>

#include "shell/arguments/command_line.h"
#include "shell/arguments/usage.h"
#include "shell/command.h"
#include "shell/command_entries.h"
#include "shell/files/file_names.h"
#include "shell/files/inputs.h"
#include "shell/text/numbers.h"
#include "shell/text/quotes.h"

namespace atl::shell::truncate_program {

int run_truncate(Invocation& call) {
  static constexpr Option kOptions[] = {{'c', 'c', "no-create"},
                                        {'o', 'o', "io-blocks"},
                                        {'r', 'r', "reference", Arg::required},
                                        {'s', 's', "size", Arg::required}};
  CommandLine options(call, kOptions);
  if (options.stopped()) return options.status();
  bool create = true, has_size = false, has_base = false;
  char mode = 0;
  std::uint64_t size = 0, base = 0, unit = 1;  // -o: the size is in blocks
  std::string reference;
  for (auto& [id, value] : options.found()) {
    if (id == 'c') create = false;
    if (id == 'o') unit = 4096;
    if (id == 'r') {
      reference = value;
      has_base = true;
    }
    if (id == 's') {
      std::string_view text = value;
      while (text.starts_with(' ')) text.remove_prefix(1);
      if (!text.empty() && std::string_view("+-<>/%").find(text[0]) != std::string_view::npos)
        mode = text[0], text.remove_prefix(1);
      if (!parse_size(text, size)) return call.fail(fmt::format("Invalid number: {}", quote_operand(value)));
      if ((mode == '/' || mode == '%') && size == 0) return call.fail("division by zero");
      has_size = true;
    }
  }
  if (unit > 1 && !has_size) return usage_error(call, "'--io-blocks' was specified but '--size' was not");
  if (__builtin_mul_overflow(size, unit, &size)) return call.fail("size is too large");
  if (has_base && has_size && !mode)
    return usage_error(call, "you must specify a relative '--size' with '--reference'");
  if (has_base) {
    auto path = call.resolve(reference);
    auto stat = path ? call.fs().stat(*path) : Result<vfs::Stat>(fail(path.error()));
    if (!stat)
      return call.fail(fmt::format("cannot stat {}: {}", quote_operand(reference), reason(stat.error())));
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
      call.complain(
          fmt::format("cannot open {} for writing: {}", quote_operand(operand), reason(done.error())));
      status = 1;
    }
  }
  return status;
}

int run_mkfifo(Invocation& call) {
  static constexpr Option kOptions[] = {
      {'m', 'm', "mode", Arg::required}, {'Z', 'Z', ""}, {256, 0, "context", Arg::optional}};
  CommandLine options(call, kOptions);
  if (options.stopped()) return options.status();
  std::uint32_t mode = 0666 & ~call.umask();
  for (auto& [id, value] : options.found()) {
    if (id == 256 && !value.empty())
      call.complain("warning: ignoring --context; it requires an SELinux/SMACK-enabled kernel");
    if (id != 'm') continue;
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
    call.complain(fmt::format("cannot create fifo {}: {}", quote_operand(operand), reason(made.error())));
    status = 1;
  }
  return status;
}

int run_link(Invocation& call) {
  CommandLine options(call, {});
  if (options.stopped()) return options.status();
  auto& operands = options.operands();
  if (operands.size() < 2)
    return usage_error(call, operands.empty()
                                 ? "missing operand"
                                 : fmt::format("missing operand after {}", quote_operand(operands[0])));
  if (operands.size() > 2)
    return usage_error(call, fmt::format("extra operand {}", quote_operand(operands[2])));
  auto from = call.resolve(operands[0]), to = call.resolve(operands[1]);
  auto made =
      from && to ? call.fs().make_link(*from, *to) : Result<void>(fail(from ? to.error() : from.error()));
  if (!made)
    return call.fail(fmt::format("cannot create link {} to {}: {}", quote_operand(operands[1]),
                                 quote_operand(operands[0]), reason(made.error())));
  return 0;
}

int run_unlink(Invocation& call) {
  CommandLine options(call, {});
  if (options.stopped()) return options.status();
  auto& operands = options.operands();
  if (operands.size() != 1)
    return usage_error(call, operands.empty() ? "missing operand"
                                              : fmt::format("extra operand {}", quote_operand(operands[1])));
  auto path = call.resolve(operands[0]);
  auto removed = path ? call.fs().remove_file(*path) : Result<void>(fail(path.error()));
  if (!removed)
    return call.fail(
        fmt::format("cannot unlink {}: {}", quote_operand(operands[0]), reason(removed.error())));
  return 0;
}

}  // namespace atl::shell::truncate_program
