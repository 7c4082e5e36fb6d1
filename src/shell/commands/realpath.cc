#include <fmt/format.h>

#include <tuple>

#include "shell/arguments/command_line.h"
#include "shell/arguments/usage.h"
#include "shell/command.h"
#include "shell/command_entries.h"
#include "shell/files/inputs.h"
#include "shell/files/relative.h"

namespace atl::shell::realpath_program {

namespace {

enum class Missing : unsigned char { none, last, any };

// The text of the path made absolute, symlinks followed as far as things exist.
Result<vfs::Path> canonical(Invocation& call, const std::string& text, Missing missing, bool no_links) {
  std::string whole = text.starts_with('/') ? text : call.cwd().str() + "/" + text;
  if (text.empty()) return fail(Code::not_found, "");
  vfs::Path at;
  std::string_view rest = whole;
  std::vector<std::string> pending;
  auto push = [&](std::string_view path) {
    std::vector<std::string> parts;
    while (true) {
      auto part = vfs::next_component(path);
      if (part.empty()) break;
      parts.emplace_back(part);
    }
    pending.insert(pending.end(), parts.rbegin(), parts.rend());
  };
  push(rest);
  int links = 0;
  while (!pending.empty()) {
    std::string part = std::move(pending.back());
    pending.pop_back();
    call.charge(1);
    if (part == ".") continue;
    if (part == "..") {
      at = at.parent();
      continue;
    }
    auto next = at.child(part);
    if (!next) return fail(next.error());
    auto stat = call.fs().find(*next, vfs::Follow::no);
    if (stat && stat->is_symlink() && !no_links) {
      if (++links > vfs::kLinksFollowedMax) return fail(Code::loop, "");
      auto target = call.fs().read_link(*next);
      if (!target) return fail(target.error());
      if (target->starts_with('/')) at = vfs::Path();
      push(*target);
      continue;
    }
    bool final = pending.empty();
    if (!stat && missing == Missing::none) return fail(Code::not_found, "");
    if (!stat && missing == Missing::last && !final) return fail(Code::not_found, "");
    if (stat && !stat->is_directory() && !stat->is_symlink() && (!final || text.ends_with('/')) &&
        missing != Missing::any)
      return fail(Code::not_a_directory, "");
    at = *next;
  }
  return at;
}

constexpr Option kLinkOptions[] = {
    {'f', 'f', "canonicalize"},
    {'e', 'e', "canonicalize-existing"},
    {'m', 'm', "canonicalize-missing"},
    {'n', 'n', "no-newline"},
    {'q', 'q', "quiet"},
    {'q', 's', "silent"},
    {'v', 'v', "verbose"},
    {'z', 'z', "zero"},
};

enum Long { kRelativeTo = 256, kRelativeBase };

constexpr Option kRealOptions[] = {
    {'e', 'e', "canonicalize-existing"},
    {'m', 'm', "canonicalize-missing"},
    {'L', 'L', "logical"},
    {'P', 'P', "physical"},
    {'q', 'q', "quiet"},
    {kRelativeTo, 0, "relative-to", Arg::required},
    {kRelativeBase, 0, "relative-base", Arg::required},
    {'s', 's', "strip"},
    {'s', 0, "no-symlinks"},
    {'z', 'z', "zero"},
};

}  // namespace

int run_readlink(Invocation& call) {
  CommandLine options(call, kLinkOptions);
  if (options.stopped()) return options.status();
  char mode = 0;
  bool newline = true, verbose = false;
  char end = '\n';
  for (auto& [id, value] : options.found()) {
    switch (id) {
      case 'f':
      case 'e':
      case 'm': mode = static_cast<char>(id); break;
      case 'n': newline = false; break;
      case 'v': verbose = true; break;
      case 'q': verbose = false; break;
      case 'z': end = '\0'; break;
      default: break;
    }
  }
  auto& operands = options.operands();
  if (operands.empty()) return usage_error(call, "missing operand");
  int status = 0;
  for (const std::string& operand : operands) {
    Result<std::string> text = std::string();
    if (mode) {
      auto path = canonical(call, operand,
                            mode == 'e'   ? Missing::none
                            : mode == 'm' ? Missing::any
                                          : Missing::last,
                            false);
      if (path)
        text = path->str();
      else
        text = fail(path.error());
    } else {
      auto path = call.resolve(operand);
      text = path ? call.fs().read_link(*path) : Result<std::string>(fail(path.error()));
    }
    if (!text) {
      if (verbose) call.complain(fmt::format("{}: {}", operand, reason(text.error())));
      status = 1;
      continue;
    }
    if (newline || operands.size() > 1) *text += end;
    call.out().write(*text);
  }
  return status;
}

int run_realpath(Invocation& call) {
  CommandLine options(call, kRealOptions);
  if (options.stopped()) return options.status();
  Missing missing = Missing::last;
  bool quiet = false, no_links = false, logical = false;
  char end = '\n';
  std::string to, base;
  bool has_to = false, has_base = false;
  for (auto& [id, value] : options.found()) {
    switch (id) {
      case 'e': missing = Missing::none; break;
      case 'm': missing = Missing::any; break;
      case 'q': quiet = true; break;
      case 's':
        no_links = true;
        logical = false;
        break;
      case 'L':
        no_links = false;
        logical = true;
        break;
      case 'P': no_links = logical = false; break;
      case 'z': end = '\0'; break;
      case kRelativeTo:
        to = value;
        has_to = true;
        break;
      case kRelativeBase:
        base = value;
        has_base = true;
        break;
      default: break;
    }
  }
  if (options.operands().empty()) return usage_error(call, "missing operand");
  // -L: what ".." takes away goes before links are followed.
  auto find = [&](const std::string& text) -> Result<vfs::Path> {
    if (!logical) return canonical(call, text, missing, no_links);
    auto path = canonical(call, text, missing, true);
    return path ? canonical(call, path->str(), missing, false) : path;
  };
  std::optional<vfs::Path> to_path, base_path;
  for (auto [given, text, out] :
       {std::tuple{has_to, &to, &to_path}, std::tuple{has_base, &base, &base_path}}) {
    if (!given) continue;
    auto path = find(*text);
    if (!path) return call.fail(fmt::format("{}: {}", *text, reason(path.error())));
    *out = *path;
  }
  if (base_path && !to_path) to_path = base_path;
  if (base_path && to_path && !to_path->is_same_or_child_of(*base_path)) to_path.reset();
  int status = 0;
  for (const std::string& operand : options.operands()) {
    auto path = find(operand);
    if (!path) {
      if (!quiet) call.complain(fmt::format("{}: {}", operand, reason(path.error())));
      status = 1;
      continue;
    }
    bool relative = to_path && (!base_path || path->is_same_or_child_of(*base_path));
    call.out().write((relative ? relative_path(*path, *to_path) : path->str()) + end);
  }
  return status;
}

}  // namespace atl::shell::realpath_program
