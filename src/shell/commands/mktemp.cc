#include <fmt/format.h>

#include <random>

#include "shell/arguments/command_line.h"
#include "shell/arguments/usage.h"
#include "shell/command.h"
#include "shell/command_entries.h"
#include "shell/files/inputs.h"
#include "shell/files/walk.h"
#include "shell/text/quotes.h"

namespace atl::shell::mktemp_program {

int run_mktemp(Invocation& call) {
  enum { kSuffix = 256 };
  static constexpr Option kOptions[] = {{'d', 'd', "directory"},
                                        {'u', 'u', "dry-run"},
                                        {'q', 'q', "quiet"},
                                        {kSuffix, 0, "suffix", Arg::required},
                                        {'p', 'p', "", Arg::required},
                                        {'P', 0, "tmpdir", Arg::optional},
                                        {'t', 't', ""}};
  CommandLine options(call, kOptions);
  if (options.stopped()) return options.status();
  bool directory = false, dry = false, quiet = false, in_tmp = false, from_variable = false;
  std::string suffix, base;
  for (auto& [id, value] : options.found()) {
    switch (id) {
      case 'd': directory = true; break;
      case 'u': dry = true; break;
      case 'q': quiet = true; break;
      case kSuffix: suffix = value; break;
      case 'p':
      case 'P':
        base = value;
        in_tmp = true;
        break;
      case 't':
        in_tmp = true;
        from_variable = true;
        break;
      default: break;
    }
  }
  auto& operands = options.operands();
  if (operands.size() > 1) return usage_error(call, "too many templates");
  std::string pattern = operands.empty() ? "tmp.XXXXXXXXXX" : operands[0];
  if (operands.empty()) in_tmp = true;
  std::size_t end = pattern.rfind('X');
  if (end == std::string::npos)
    return quiet ? 1 : call.fail(fmt::format("too few X's in template {}", quote_operand(pattern)));
  std::string tail = pattern.substr(end + 1) + suffix;
  std::size_t start = end;
  while (start > 0 && pattern[start - 1] == 'X') --start;
  if (end - start + 1 < 3)
    return quiet ? 1 : call.fail(fmt::format("too few X's in template {}", quote_operand(pattern)));
  if (!suffix.empty() && end + 1 != pattern.size())
    return call.fail(fmt::format("with --suffix, template {} must end in X", quote_operand(pattern)));
  if (tail.find('/') != std::string::npos)
    return call.fail(fmt::format("invalid suffix {}, contains directory separator", quote_operand(tail)));
  if (in_tmp) {
    if (from_variable && !call.variable("TMPDIR").value_or("").empty()) base.clear();
    std::string place = base.empty() ? call.variable("TMPDIR").value_or("/tmp") : base;
    if (place.empty()) place = "/tmp";
    if (pattern.starts_with('/') && !operands.empty())
      return call.fail(
          fmt::format("invalid template, {}; with --tmpdir, it may not be absolute", quote_operand(pattern)));
    if (from_variable && pattern.find('/') != std::string::npos)
      return call.fail(
          fmt::format("invalid template, {}, contains directory separator", quote_operand(pattern)));
    start += join_shown(place, "").size();
    end += join_shown(place, "").size();
    pattern = join_shown(place, pattern);
  }
  static constexpr std::string_view kLetters =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
  std::random_device random;
  for (int attempt = 0; attempt < 100; ++attempt) {
    std::string name = pattern.substr(0, end + 1);
    for (std::size_t i = start; i <= end; ++i) name[i] = kLetters[random() % kLetters.size()];
    name += tail;
    auto path = call.resolve(name);
    if (!path)
      return quiet ? 1
                   : call.fail(fmt::format("failed to create {} via template {}: {}",
                                           directory ? "directory" : "file", quote_operand(pattern + suffix),
                                           reason(path.error())));
    if (call.fs().find(*path, vfs::Follow::no)) continue;
    if (!dry) {
      vfs::WriteOptions write;
      write.mode = 0600;
      write.parents = vfs::Parents::must_exist;
      auto made =
          directory ? call.fs().make_directory(*path, 0700) : call.fs().write(*path, vfs::Content(), write);
      if (!made)
        return quiet ? 1
                     : call.fail(fmt::format("failed to create {} via template {}: {}",
                                             directory ? "directory" : "file",
                                             quote_operand(pattern + suffix), reason(made.error())));
    }
    call.out().write(name + "\n");
    return 0;
  }
  return call.fail("cannot find a free name");
}

}  // namespace atl::shell::mktemp_program
