#include <algorithm>
#include <charconv>

#include "shell/arguments/command_line.h"
#include "shell/command.h"
#include "shell/command_entries.h"
#include "shell/files/inputs.h"
#include "shell/text/lines.h"
#include "shell/text/sink.h"

namespace atl::shell::cat_program {

namespace {

constexpr Option kOptions[] = {
    {'A', 'A', "show-all"}, {'b', 'b', "number-nonblank"},  {'e', 'e', ""}, {'E', 'E', "show-ends"},
    {'n', 'n', "number"},   {'s', 's', "squeeze-blank"},    {'t', 't', ""}, {'T', 'T', "show-tabs"},
    {'u', 'u', ""},         {'v', 'v', "show-nonprinting"},
};

struct Style {
  bool number = false, number_nonblank = false, ends = false, squeeze = false, tabs = false,
       nonprinting = false;
  bool plain() const { return !(number || number_nonblank || ends || squeeze || tabs || nonprinting); }
};

void show(Sink& out, char ch, const Style& style) {
  unsigned char c = static_cast<unsigned char>(ch);
  if (c == '\t') {
    if (style.tabs)
      out.append("^I");
    else
      out.put('\t');
    return;
  }
  if (!style.nonprinting) return out.put(ch);
  if (c >= 128) {
    out.append("M-");
    c -= 128;
  }
  if (c < 32) {
    out.put('^');
    out.put(static_cast<char>(c + 64));
  } else if (c == 127) {
    out.append("^?");
  } else {
    out.put(static_cast<char>(c));
  }
}

// A file that is copied to its own end never ends.
bool is_output(Invocation& call, Input& in, const std::string& name) {
  std::uint64_t inode = in.inode();
  if (inode == 0 || inode != call.out().inode() || in.fill().empty()) return false;
  call.complain(name + ": input file is output file");
  return true;
}

int copy_plain(Invocation& call, const std::vector<std::string>& operands) {
  bool failed = false, refused = false;
  bool good = each_input(call, operands, [&](Input& in, const std::string& name) {
    if (is_output(call, in, name)) {
      refused = true;
      return;
    }
    while (!failed) {
      std::string_view block = in.fill();
      if (block.empty()) break;
      call.charge(block.size() / 64 + 1);
      if (!call.out().write(block)) {
        call.complain(std::string("write error: ") + std::string(call.out().error()));
        failed = true;
      }
      in.consume(block.size());
    }
  });
  return good && !failed && !refused ? 0 : 1;
}

}  // namespace

int run_cat(Invocation& call) {
  CommandLine options(call, kOptions);
  if (options.stopped()) return options.status();
  Style style;
  for (auto& [id, value] : options.found()) {
    switch (id) {
      case 'A': style.nonprinting = style.ends = style.tabs = true; break;
      case 'b': style.number_nonblank = true; break;
      case 'e': style.nonprinting = style.ends = true; break;
      case 'E': style.ends = true; break;
      case 'n': style.number = true; break;
      case 's': style.squeeze = true; break;
      case 't': style.nonprinting = style.tabs = true; break;
      case 'T': style.tabs = true; break;
      case 'v': style.nonprinting = true; break;
      default: break;
    }
  }
  if (style.plain()) return copy_plain(call, options.operands());
  Sink out(call.out());
  std::uint64_t number = 0;
  int blanks = 0;
  bool at_start = true, refused = false;
  bool good = each_input(call, options.operands(), [&](Input& in, const std::string& name) {
    if (is_output(call, in, name)) {
      refused = true;
      return;
    }
    Lines lines(in);
    std::string_view line;
    while (lines.next(line)) {
      call.charge(line.size() / 16 + 1);
      bool blank = line.empty() && at_start;
      blanks = blank ? blanks + 1 : 0;
      if (style.squeeze && blanks > 1) continue;
      if (at_start && (style.number_nonblank ? !blank : style.number)) {
        char digits[32] = "     ";
        char* from = digits + 5;
        auto [end, error] = std::to_chars(from, digits + sizeof digits - 1, ++number);
        *end++ = '\t';
        from -= std::max<std::ptrdiff_t>(0, 7 - (end - from));
        out.append({from, static_cast<std::size_t>(end - from)});
      }
      if (style.tabs || style.nonprinting) {
        for (char c : line) show(out, c, style);
      } else if (style.ends && line.ends_with('\r') && lines.complete()) {
        out.append(line.substr(0, line.size() - 1));
        out.append("^M");
      } else {
        out.append(line);
      }
      at_start = lines.complete();
      if (at_start) {
        if (style.ends) out.put('$');
        out.put('\n');
      }
    }
    out.flush();
  });
  return out.finish(call, good && !refused ? 0 : 1);
}

}  // namespace atl::shell::cat_program
