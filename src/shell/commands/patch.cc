#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "shell/arguments/command_line.h"
#include "shell/arguments/usage.h"
#include "shell/command.h"
#include "shell/command_entries.h"
#include "shell/commands/patch/parse.h"
#include "shell/files/file_names.h"
#include "shell/files/inputs.h"
#include "shell/files/walk.h"
#include "shell/text/numbers.h"
#include "shell/text/quotes.h"

namespace atl::shell::patch_program {

using patch::FilePatch;
using patch::Hunk;

namespace {

enum Long { kDryRun = 256, kBinary };

constexpr Option kOptions[] = {
    {'p', 'p', "strip", Arg::required},
    {'R', 'R', "reverse"},
    {'i', 'i', "input", Arg::required},
    {'o', 'o', "output", Arg::required},
    {'d', 'd', "directory", Arg::required},
    {'b', 'b', "backup"},
    {'N', 'N', "forward"},
    {'f', 'f', "force"},
    {'s', 's', "quiet"},
    {'s', 0, "silent"},
    {'u', 'u', "unified"},
    {'F', 'F', "fuzz", Arg::required},
    {'l', 'l', "ignore-whitespace"},
    {'t', 't', "batch"},
    {'z', 'z', "suffix", Arg::required},
    {kDryRun, 0, "dry-run"},
    {kBinary, 0, "binary"},
    {'n', 'n', "normal"},
    {'c', 'c', "context"},
};

struct Request {
  int strip = -1;
  bool reverse = false, quiet = false, dry_run = false, backup = false, ignore_space = false, forward = false,
       unasked = false;
  std::string output, suffix = ".orig", directory;
  std::uint64_t fuzz = 2;
};

std::string stripped(const std::string& name, int count) {
  if (count < 0) return std::string(base_name(name));
  std::string_view rest = name;
  for (int i = 0; i < count; ++i) {
    std::size_t slash = rest.find('/');
    if (slash == std::string_view::npos) break;
    rest.remove_prefix(slash);
    while (rest.starts_with('/')) rest.remove_prefix(1);
  }
  return std::string(rest);
}

bool same(const std::string& a, const std::string& b, bool loose) {
  if (!loose) return a == b;
  auto squeeze = [](const std::string& s) {
    std::string out;
    for (char c : s)
      if (!isspace(static_cast<unsigned char>(c)))
        out += c;
      else if (!out.ends_with(' '))
        out += ' ';
    return out;
  };
  return squeeze(a) == squeeze(b);
}

class Applier {
 public:
  Applier(Invocation& call, const Request& r, std::vector<std::string> lines)
      : call_(call), r_(r), lines_(std::move(lines)) {}

  // Where the hunk fits, dropping up to `fuzz` lines of context; false if nowhere.
  bool apply(const Hunk& hunk, long& offset, std::uint64_t& fuzz_used) {
    std::vector<const Hunk::Line*> before;
    std::size_t lead = 0, tail = 0;
    for (const auto& line : hunk.lines)
      if (line.kind != '+') before.push_back(&line);
    while (lead < hunk.lines.size() && hunk.lines[lead].kind == ' ') ++lead;
    while (tail < hunk.lines.size() - lead && hunk.lines[hunk.lines.size() - 1 - tail].kind == ' ') ++tail;
    // First with all context, near the expected line and then farther away; then with less context.
    for (std::uint64_t fuzz = 0; fuzz <= r_.fuzz; ++fuzz) {
      std::size_t cut_lead = std::min<std::size_t>(fuzz, lead), cut_tail = std::min<std::size_t>(fuzz, tail);
      if (fuzz && cut_lead == std::min<std::size_t>(fuzz - 1, lead) &&
          cut_tail == std::min<std::size_t>(fuzz - 1, tail))
        break;
      if (cut_lead + cut_tail > before.size()) break;
      std::size_t count = before.size() - cut_lead - cut_tail;
      long guess =
          static_cast<long>(hunk.old_start) - (before.empty() ? 0 : 1) + shift_ + static_cast<long>(cut_lead);
      long last = static_cast<long>(lines_.size()) - static_cast<long>(count);
      long farthest = std::max(std::abs(guess), std::abs(last - guess)) + 1;
      for (long distance = 0; distance <= farthest; ++distance) {
        for (long at : {guess + distance, guess - distance}) {
          // Hunks come in order: never before what an earlier one changed.
          if (at < static_cast<long>(done_) || at > last) continue;
          bool fits = true;
          for (std::size_t i = 0; i < count && fits; ++i)
            fits =
                same(lines_[static_cast<std::size_t>(at) + i], before[cut_lead + i]->text, r_.ignore_space);
          call_.charge(1);
          if (!fits) continue;
          replace(hunk, static_cast<std::size_t>(at), cut_lead, cut_tail, count);
          offset = at - guess;
          shift_ += offset;
          fuzz_used = fuzz;
          return true;
        }
      }
    }
    return false;
  }
  const std::vector<std::string>& lines() const { return lines_; }
  std::optional<bool> last_newline;

 private:
  void replace(const Hunk& hunk, std::size_t at, std::size_t cut_lead, std::size_t cut_tail,
               std::size_t count) {
    std::vector<std::string> fresh;
    std::size_t source = at;
    for (std::size_t i = cut_lead; i < hunk.lines.size() - cut_tail; ++i) {
      const auto& line = hunk.lines[i];
      if (line.kind == '-')
        ++source;
      else if (line.kind == ' ')
        fresh.push_back(lines_[source++]);
      else
        fresh.push_back(line.text);
      if (line.kind != '-' && i + 1 == hunk.lines.size()) last_newline = line.newline;
    }
    for (std::size_t i = hunk.lines.size(); i-- > 0;)
      if (hunk.lines[i].kind != '-') {
        if (at + count == lines_.size()) last_newline = hunk.lines[i].newline;
        break;
      }
    lines_.erase(lines_.begin() + static_cast<std::ptrdiff_t>(at),
                 lines_.begin() + static_cast<std::ptrdiff_t>(at + count));
    lines_.insert(lines_.begin() + static_cast<std::ptrdiff_t>(at), fresh.begin(), fresh.end());
    shift_ += static_cast<long>(fresh.size()) - static_cast<long>(count);
    done_ = at + fresh.size();
  }

  Invocation& call_;
  const Request& r_;
  std::vector<std::string> lines_;
  long shift_ = 0;
  std::size_t done_ = 0;
};

std::vector<std::string> split(const std::string& text, bool& newline) {
  std::vector<std::string> lines;
  newline = text.empty() || text.ends_with('\n');
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = text.find('\n', at);
    if (end == std::string::npos) end = text.size();
    lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

Hunk reversed(Hunk hunk) {
  std::swap(hunk.old_start, hunk.new_start);
  for (auto& line : hunk.lines) line.kind = line.kind == '-' ? '+' : line.kind == '+' ? '-' : ' ';
  // Removals come before additions again.
  for (std::size_t i = 0; i < hunk.lines.size();) {
    std::size_t end = i;
    while (end < hunk.lines.size() && hunk.lines[end].kind != ' ') ++end;
    std::stable_partition(hunk.lines.begin() + static_cast<std::ptrdiff_t>(i),
                          hunk.lines.begin() + static_cast<std::ptrdiff_t>(end),
                          [](const auto& l) { return l.kind == '-'; });
    i = end + 1;
  }
  return hunk;
}

// Whether the patch fits the other way round at every place: somebody applied it before.
bool already_applied(Invocation& call, const Request& r, const FilePatch& one,
                     const std::vector<std::string>& lines) {
  Applier forward(call, r, lines), backward(call, r, lines);
  bool fits = true, undone = true;
  for (const Hunk& hunk : one.hunks) {
    long offset = 0;
    std::uint64_t fuzz = 0;
    fits = fits && forward.apply(r.reverse ? reversed(hunk) : hunk, offset, fuzz);
    undone = undone && backward.apply(r.reverse ? hunk : reversed(hunk), offset, fuzz);
  }
  return !fits && undone;
}

int skip_applied(Invocation& call, const Request& r, const FilePatch& one, const std::string& shown) {
  call.out().write(
      fmt::format("Reversed (or previously applied) patch detected!  Skipping patch.\n{0} out of {0} hunk{1} "
                  "ignored{2}\n",
                  one.hunks.size(), one.hunks.size() == 1 ? "" : "s",
                  r.dry_run ? "" : fmt::format(" -- saving rejects to file {}.rej", shown)));
  return 1;
}

// Nobody can be asked for the file: there is no terminal.
int skip_missing(Invocation& call, const Request& r, const FilePatch& one) {
  std::string out = fmt::format("can't find file to patch at input line {}\n", one.first_hunk);
  out +=
      "Perhaps you used the wrong -p or --strip option?\nThe text leading up to this "
      "was:\n--------------------------\n";
  for (const std::string& line : one.leading) out += fmt::format("|{}\n", line);
  out += "--------------------------\n";
  out += r.unasked ? "No file to patch.  Skipping patch.\n"
                   : "File to patch: \nSkip this patch? [y] \nSkipping patch.\n";
  call.out().write(out + fmt::format("{0} out of {0} hunk{1} ignored\n", one.hunks.size(),
                                     one.hunks.size() == 1 ? "" : "s"));
  return 1;
}

int apply_file(Invocation& call, const Request& r, const FilePatch& one, const std::string& given) {
  std::string old_name = r.reverse ? one.new_name : one.old_name,
              new_name = r.reverse ? one.old_name : one.new_name;
  bool creates = old_name == "/dev/null", deletes = new_name == "/dev/null";
  auto exists = [&](const std::string& name) {
    auto path = call.resolve(r.directory.empty() ? name : join_shown(r.directory, name));
    return path && call.fs().is_file(*path);
  };
  std::string name = given;
  if (name.empty()) {
    std::string a = stripped(old_name, r.strip), b = stripped(new_name, r.strip);
    // Of two names that exist the shorter one, as POSIX wants it; that also prefers a file to its backup.
    name = creates ? b : deletes ? a : exists(a) && (!exists(b) || a.size() <= b.size()) ? a : b;
  }
  const std::string& shown = name;
  auto path = call.resolve(r.directory.empty() ? name : join_shown(r.directory, name));
  if (!path || name.empty()) return call.fail("can't find file to patch", 1);
  std::string text;
  auto there = call.fs().find(*path);
  if (there) {
    auto content = call.fs().read_bytes(*path);
    if (!content) return call.fail(fmt::format("Can't open file {} : {}", shown, reason(content.error())), 2);
    text = *content;
  } else if (!creates && !(one.hunks.size() == 1 && one.hunks[0].old_start == 0)) {
    return skip_missing(call, r, one);
  }
  if (!r.quiet)
    call.out().write(fmt::format("{} file {}\n", r.dry_run ? "checking" : "patching",
                                 shell_quoted(r.output.empty() ? shown : r.output) +
                                     (r.output.empty() ? "" : fmt::format(" (read from {})", shown))));
  bool newline = true;
  std::vector<std::string> lines = split(text, newline);
  if (r.forward && already_applied(call, r, one, lines)) return skip_applied(call, r, one, shown);
  Applier applier(call, r, std::move(lines));
  auto beside = [&](std::string_view suffix) { return path->str() + std::string(suffix); };
  std::size_t failed = 0;
  std::string rejects;
  for (std::size_t i = 0; i < one.hunks.size(); ++i) {
    Hunk hunk = r.reverse ? reversed(one.hunks[i]) : one.hunks[i];
    long offset = 0;
    std::uint64_t fuzz = 0;
    if (!applier.apply(hunk, offset, fuzz)) {
      ++failed;
      call.out().write(fmt::format("Hunk #{} FAILED at {}.\n", i + 1, hunk.old_start));
      rejects += hunk.header + "\n";
      for (const auto& line : hunk.lines) rejects += line.kind + line.text + "\n";
      continue;
    }
    if ((offset || fuzz) && !r.quiet) {
      std::string note =
          fmt::format("Hunk #{} succeeded at {}", i + 1, static_cast<long>(hunk.new_start) + offset);
      if (fuzz) note += fmt::format(" with fuzz {}", fuzz);
      if (offset) note += fmt::format(" (offset {} line{})", offset, offset == 1 || offset == -1 ? "" : "s");
      call.out().write(note + ".\n");
    }
  }
  if (r.dry_run) return failed ? 1 : 0;
  std::string result;
  for (const std::string& line : applier.lines()) result += line + "\n";
  if (!result.empty() && !applier.last_newline.value_or(newline)) result.pop_back();
  if (failed) {
    call.out().write(fmt::format("{} out of {} hunk{} FAILED -- saving rejects to file {}.rej\n", failed,
                                 one.hunks.size(), one.hunks.size() == 1 ? "" : "s", shown));
    if (auto rej = call.resolve(beside(".rej")))
      (void)call.fs().write(
          *rej, vfs::Content(fmt::format("--- {}\n+++ {}\n{}", one.old_name, one.new_name, rejects)));
  }
  // After a failure the original is kept even if nobody asked.
  if ((r.backup || failed) && there)
    if (auto kept = call.resolve(beside(r.suffix))) (void)call.fs().write(*kept, vfs::Content(text));
  if (deletes && result.empty() && failed == 0) {
    (void)call.fs().remove_file(*path);
    return 0;
  }
  vfs::WriteOptions write;
  write.mode = there ? there->mode : 0666 & ~call.umask();
  auto target = r.output.empty() ? *path : call.resolve(r.output).value_or(*path);
  auto written = call.fs().write(target, vfs::Content(result), write);
  if (!written) return call.fail(fmt::format("Can't write {}: {}", shown, reason(written.error())), 2);
  return failed ? 1 : 0;
}

}  // namespace

int run_patch(Invocation& call) {
  CommandLine options(call, kOptions, {.status = 2});
  if (options.stopped()) return options.status();
  Request r;
  std::string input;
  for (auto& [id, value] : options.found()) {
    switch (id) {
      case 'p': r.strip = atoi(value.c_str()); break;
      case 'R': r.reverse = true; break;
      case 'i': input = value; break;
      case 'o': r.output = value; break;
      case 'd': r.directory = value; break;
      case 'b': r.backup = true; break;
      case 'z': r.suffix = value; break;
      case 's': r.quiet = true; break;
      case 'N': r.forward = true; break;
      case 'f':
      case 't': r.unasked = true; break;
      case 'l': r.ignore_space = true; break;
      case 'F':
        if (!parse_size(value, r.fuzz)) return call.fail("invalid fuzz factor", 2);
        break;
      case kDryRun: r.dry_run = true; break;
      default: break;
    }
  }
  auto& operands = options.operands();
  if (operands.size() > 2) return usage_error(call, fmt::format("{}: extra operand", operands[2]), 2);
  if (operands.size() > 1 && input.empty()) input = operands[1];
  std::string text;
  if (input.empty() || input == "-")
    text = call.in().read_all();
  else {
    auto in = call.open_input(input);
    if (!in)
      return call.fail(fmt::format("**** Can't open patch file {} : {}", input, reason(in.error())), 2);
    text = (*in)->read_all();
  }
  bool newline = true;
  std::string problem;
  auto patches = patch::parse(split(text, newline), problem);
  int status = 0;
  if (problem.empty() && patches.empty() && !text.empty())
    problem = "Only garbage was found in the patch input.";
  if (problem.empty())
    for (const FilePatch& each : patches)
      status = std::max(status, apply_file(call, r, each, operands.empty() ? "" : operands[0]));
  if (!problem.empty()) return call.fail(fmt::format("**** {}", problem), 2);
  return status;
}

}  // namespace atl::shell::patch_program
