#include <fmt/format.h>

#include "shell/command.h"
#include "shell/command_entries.h"
#include "shell/commands/find/expression.h"
#include "shell/files/inputs.h"
#include "shell/text/quotes.h"

namespace atl::shell::find_program {

int run_find(Invocation& call) {
  auto args = call.args();
  bool follow = false, follow_arguments = false;
  std::size_t at = 1;
  for (; at < args.size(); ++at) {
    if (args[at] == "-L")
      follow = true;
    else if (args[at] == "-H")
      follow_arguments = true;
    else if (args[at] == "-P")
      follow = follow_arguments = false;
    else if (args[at].starts_with("-O") && args[at].size() > 2)
      continue;
    else if (args[at] == "-D" && at + 1 < args.size())
      ++at;
    else if (args[at] == "--") {
      ++at;
      break;
    } else
      break;
  }
  std::vector<std::string> starts;
  while (at < args.size() && !(args[at].size() > 1 && args[at][0] == '-') && args[at] != "(" &&
         args[at] != ")" && args[at] != "!" && args[at] != ",")
    starts.push_back(args[at++]);
  if (starts.empty()) starts.push_back(".");
  std::vector<std::string> rest(args.begin() + static_cast<std::ptrdiff_t>(at), args.end());
  for (const std::string& arg : rest) follow |= arg == "-follow";
  if (rest.size() == 1 && (rest[0] == "--help" || rest[0] == "-help")) {
    call.out().write("Usage: find [-H] [-L] [-P] [path...] [expression]\n");
    return 0;
  }
  find::Settings settings;
  auto expression = find::parse(call, rest, settings);
  if (!expression) return call.fail(expression.error().message());
  Sink out(call.out());
  find::Context context{call, out, follow};
  auto visit = [&](const Visit& v, const std::string& start) {
    if (v.depth < settings.min_depth || v.depth > settings.max_depth) return true;
    find::Subject subject{&v, &start, std::nullopt};
    bool matched = !*expression || (*expression)->test(context, subject);
    if (matched && !settings.has_action) out.line(v.shown);
    return !context.quit;
  };
  auto failed = [&](const std::string& shown, const Error& why) {
    call.complain(fmt::format("{}: {}", quote_operand(shown), reason(why)));
    context.status = 1;
  };
  for (const std::string& start : starts) {
    if (context.quit) break;
    // Contents come before their directory: those wait on a stack until the walk leaves them.
    std::vector<Visit> open;
    auto leave = [&](int depth) {
      while (!open.empty() && open.back().depth >= depth) {
        Visit v = std::move(open.back());
        open.pop_back();
        if (!visit(v, start)) return false;
      }
      return true;
    };
    auto path = call.resolve(start);
    auto stat = path ? call.fs().stat(*path, vfs::Follow::no) : Result<vfs::Stat>(fail(path.error()));
    if (!stat) {
      failed(start, stat.error());
      continue;
    }
    bool top_link = stat->is_symlink() && !follow && !follow_arguments && !start.ends_with('/');
    walk(
        call, start, follow,
        [&](const Visit& original) {
          Visit v = original;
          if (v.depth == 0 && top_link) v.type = vfs::Type::symlink;
          context.prune = false;
          if (settings.depth_first) {
            if (!leave(v.depth)) return Step::stop;
            if (v.type == vfs::Type::directory) {
              open.push_back(v);
              return v.depth < settings.max_depth ? Step::into : Step::over;
            }
            return visit(v, start) ? Step::over : Step::stop;
          }
          if (!visit(v, start)) return Step::stop;
          bool into = v.type == vfs::Type::directory && !context.prune && v.depth < settings.max_depth;
          return into ? Step::into : Step::over;
        },
        failed);
    if (settings.depth_first && !context.quit) leave(0);
  }
  if (*expression) (*expression)->finish(context);
  return out.finish(call, context.status);
}

}  // namespace atl::shell::find_program
