#include <fmt/format.h>

#include <optional>
#include <random>
#include <string>
#include <string_view>

#include "shell/arguments/command_line.h"
#include "shell/arguments/usage.h"
#include "shell/command.h"
#include "shell/command_entries.h"
#include "shell/files/inputs.h"
#include "shell/files/walk.h"
#include "shell/text/quotes.h"

namespace atl::shell::mktemp_program {

namespace {

struct Settings {
  bool directory = false, dry = false, quiet = false, in_tmp = false, from_variable = false;
  std::string suffix, base;
};

// What stands before the name's random letters, where they are, and what follows them.
struct Template {
  std::string pattern;
  std::size_t start = 0, end = 0;  // the first and the last X
  std::string tail;
};

enum { kSuffix = 256 };

Settings settings_of(const CommandLine& options) {
  Settings s;
  for (auto& [id, value] : options.found()) {
    switch (id) {
      case 'd': s.directory = true; break;
      case 'u': s.dry = true; break;
      case 'q': s.quiet = true; break;
      case kSuffix: s.suffix = value; break;
      case 'p':
      case 'P':
        s.base = value;
        s.in_tmp = true;
        break;
      case 't':
        s.in_tmp = true;
        s.from_variable = true;
        break;
      default: break;
    }
  }
  return s;
}

// Nothing after a complaint.
std::optional<Template> read_template(Invocation& call, std::string pattern, const Settings& s) {
  Template t{.pattern = std::move(pattern)};
  const auto too_few = [&]() -> std::optional<Template> {
    if (!s.quiet) call.fail(fmt::format("too few X's in template {}", quote_operand(t.pattern)));
    return std::nullopt;
  };
  t.end = t.pattern.rfind('X');
  if (t.end == std::string::npos) return too_few();
  t.tail = t.pattern.substr(t.end + 1) + s.suffix;
  t.start = t.end;
  while (t.start > 0 && t.pattern[t.start - 1] == 'X') --t.start;
  if (t.end - t.start + 1 < 3) return too_few();
  if (!s.suffix.empty() && t.end + 1 != t.pattern.size()) {
    call.fail(fmt::format("with --suffix, template {} must end in X", quote_operand(t.pattern)));
    return std::nullopt;
  }
  if (t.tail.find('/') != std::string::npos) {
    call.fail(fmt::format("invalid suffix {}, contains directory separator", quote_operand(t.tail)));
    return std::nullopt;
  }
  return t;
}

// Puts the template into the directory for temporary files. False after a complaint.
bool put_into_tmp(Invocation& call, const Settings& s, bool given, Template& t) {
  const std::string variable = call.variable("TMPDIR").value_or("");
  std::string place = s.base;
  if (place.empty() || (s.from_variable && !variable.empty())) place = variable.empty() ? "/tmp" : variable;
  if (t.pattern.starts_with('/') && given) {
    call.fail(
        fmt::format("invalid template, {}; with --tmpdir, it may not be absolute", quote_operand(t.pattern)));
    return false;
  }
  if (s.from_variable && t.pattern.find('/') != std::string::npos) {
    call.fail(fmt::format("invalid template, {}, contains directory separator", quote_operand(t.pattern)));
    return false;
  }
  t.start += join_shown(place, "").size();
  t.end += join_shown(place, "").size();
  t.pattern = join_shown(place, t.pattern);
  return true;
}

std::string random_name(const Template& t, std::random_device& random) {
  static constexpr std::string_view kLetters =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
  std::string name = t.pattern.substr(0, t.end + 1);
  for (std::size_t i = t.start; i <= t.end; ++i) name[i] = kLetters[random() % kLetters.size()];
  return name + t.tail;
}

Result<void> make(Invocation& call, const vfs::Path& path, const Settings& s) {
  if (s.dry) return {};
  if (s.directory) return call.fs().make_directory(path, 0700);
  vfs::WriteOptions write;
  write.mode = 0600;
  write.parents = vfs::Parents::must_exist;
  return call.fs().write(path, vfs::Content(), write);
}

}  // namespace

int run_mktemp(Invocation& call) {
  static constexpr Option kOptions[] = {{'d', 'd', "directory"},
                                        {'u', 'u', "dry-run"},
                                        {'q', 'q', "quiet"},
                                        {kSuffix, 0, "suffix", Arg::required},
                                        {'p', 'p', "", Arg::required},
                                        {'P', 0, "tmpdir", Arg::optional},
                                        {'t', 't', ""}};
  CommandLine options(call, kOptions);
  if (options.stopped()) return options.status();
  Settings s = settings_of(options);
  auto& operands = options.operands();
  if (operands.size() > 1) return usage_error(call, "too many templates");
  const bool given = !operands.empty();
  if (!given) s.in_tmp = true;
  auto t = read_template(call, given ? operands[0] : "tmp.XXXXXXXXXX", s);
  if (!t || (s.in_tmp && !put_into_tmp(call, s, given, *t))) return 1;
  std::random_device random;
  for (int attempt = 0; attempt < 100; ++attempt) {
    const std::string name = random_name(*t, random);
    const auto path = call.resolve(name);
    if (path && call.fs().find(*path, vfs::Follow::no)) continue;
    const Result<void> made = path ? make(call, *path, s) : Result<void>(fail(path.error()));
    if (!made)
      return s.quiet ? 1
                     : call.fail(fmt::format("failed to create {} via template {}: {}",
                                             s.directory ? "directory" : "file",
                                             quote_operand(t->pattern + s.suffix), reason(made.error())));
    call.out().write(name + "\n");
    return 0;
  }
  return call.fail("cannot find a free name");
}

}  // namespace atl::shell::mktemp_program
