#include <fmt/format.h>

#include <algorithm>

#include "shell/arguments/command_line.h"
#include "shell/command.h"
#include "shell/command_entries.h"
#include "shell/commands/hexdump/format.h"
#include "shell/files/file_names.h"
#include "shell/files/inputs.h"
#include "shell/text/numbers.h"
#include "shell/text/sink.h"

namespace atl::shell::hexdump_program {

namespace {

constexpr Option kOptions[] = {
    {'b', 'b', "one-byte-octal"},
    {'X', 'X', "one-byte-hex"},
    {'c', 'c', "one-byte-char"},
    {'C', 'C', "canonical"},
    {'d', 'd', "two-bytes-decimal"},
    {'e', 'e', "format", Arg::required},
    {'f', 'f', "format-file", Arg::required},
    {'n', 'n', "length", Arg::required},
    {'o', 'o', "two-bytes-octal"},
    {'s', 's', "skip", Arg::required},
    {'v', 'v', "no-squeezing"},
    {'x', 'x', "two-bytes-hex"},
    {'L', 'L', "color", Arg::optional},
};

struct Request {
  std::vector<std::string> formats;
  std::uint64_t length = UINT64_MAX, skip = 0;
  bool squeeze = true;
};

void add_layout(Request& r, char letter) {
  auto rows = [&](std::string_view body) {
    r.formats.emplace_back("\"%07.7_Ax\n\"");
    r.formats.push_back(fmt::format("\"%07.7_ax \" {} \"\\n\"", body));
  };
  switch (letter) {
    case 'b': return rows("16/1 \"%03o \"");
    case 'X': return rows("16/1 \" %02x \"");
    case 'c': return rows("16/1 \"%3_c \"");
    case 'd': return rows("8/2 \"  %05u \"");
    case 'o': return rows("8/2 \" %06o \"");
    case 'x': return rows("8/2 \"   %04x \"");
    case 'C':
      r.formats.emplace_back("\"%08.8_Ax\n\"");
      r.formats.emplace_back("\"%08.8_ax  \" 8/1 \"%02x \" \"  \" 8/1 \"%02x \"");
      r.formats.emplace_back("\"  |\" 16/1 \"%_p\" \"|\\n\"");
      return;
    default:
      r.formats.emplace_back("\"%07.7_Ax\n\"");
      r.formats.emplace_back("\"%07.7_ax \" 8/2 \"%04x \" \"\\n\"");
  }
}

// The bytes of all files one after the other.
class Blocks {
 public:
  Blocks(Invocation& call, const std::vector<std::string>& operands) : call_(call), operands_(operands) {}

  // Up to `count` bytes; fewer only at the end.
  std::string take(std::size_t count) {
    std::string out;
    while (out.size() < count && open()) {
      std::string_view block = in_->fill();
      if (block.empty()) {
        in_.reset();
        continue;
      }
      std::size_t used = std::min(block.size(), count - out.size());
      out.append(block.substr(0, used));
      in_->consume(used);
    }
    return out;
  }
  bool failed = false;
  bool any = false;

 private:
  bool open() {
    while (!in_) {
      if (operands_.empty() && next_ == 0) {
        ++next_;
        auto in = call_.open_input("-");
        if (in) in_ = std::move(*in);
        any = true;
        continue;
      }
      if (next_ >= operands_.size()) return false;
      in_ = open_or_complain(call_, operands_[next_++]);
      if (!in_)
        failed = true;
      else
        any = true;
    }
    return true;
  }

  Invocation& call_;
  const std::vector<std::string>& operands_;
  std::size_t next_ = 0;
  std::unique_ptr<Input> in_;
};

// Reads the formats and fills up the last unit of each to the common block size.
int prepare(Invocation& call, const Request& r, std::vector<hexdump::Format>& formats, std::size_t& block) {
  for (const std::string& text : r.formats) {
    auto format = hexdump::parse(text);
    if (!format) return call.fail(format.error().message());
    formats.push_back(std::move(*format));
  }
  block = 0;
  for (const auto& format : formats) block = std::max(block, format.bytes());
  if (block > 1 << 20) return call.fail("format too large");
  for (auto& format : formats) {
    if (format.units.empty()) continue;
    hexdump::Unit& last = format.units.back();
    std::size_t used = format.bytes();
    if (!last.repeat_given && last.bytes() > 0 && used < block) last.repeat += (block - used) / last.bytes();
  }
  return 0;
}

void dump(Invocation& call, Sink& out, Blocks& blocks, const Request& r,
          const std::vector<hexdump::Format>& formats, std::size_t block) {
  std::uint64_t address = r.skip, left = r.length;
  for (std::uint64_t skipped = 0; skipped < r.skip;) {
    std::string dropped =
        blocks.take(static_cast<std::size_t>(std::min<std::uint64_t>(r.skip - skipped, 65536)));
    if (dropped.empty()) {
      address = skipped;
      break;
    }
    skipped += dropped.size();
    call.charge(dropped.size() / 8 + 1);
  }
  std::string before;
  bool starred = false, first = true;
  std::uint64_t start = address;
  while (left > 0 && block > 0) {
    std::string data = blocks.take(static_cast<std::size_t>(std::min<std::uint64_t>(block, left)));
    if (data.empty()) break;
    call.charge(data.size());
    left -= data.size();
    if (r.squeeze && !first && data.size() == block && data == before) {
      if (!std::exchange(starred, true)) out.append("*\n");
    } else {
      starred = false;
      for (const auto& format : formats) out.append(hexdump::render(format, data, address));
    }
    address += data.size();
    first = false;
    before = std::move(data);
  }
  if (address == start && address == 0) return;
  for (const auto& format : formats) out.append(hexdump::render_end(format, address));
}

}  // namespace

int run_hexdump(Invocation& call) {
  CommandLine options(call, kOptions);
  if (options.stopped()) return options.status();
  Request r;
  if (base_name(call.args()[0]) == "hd") add_layout(r, 'C');
  for (auto& [id, value] : options.found()) {
    switch (id) {
      case 'e': r.formats.push_back(value); break;
      case 'f': {
        auto in = open_or_complain(call, value);
        if (!in) return 1;
        std::string line;
        while (in->read_line(line)) {
          std::size_t at = line.find_first_not_of(" \t");
          if (at != std::string::npos && line[at] != '#') r.formats.push_back(line);
        }
        break;
      }
      case 'n':
        if (!parse_size(value, r.length))
          return call.fail(fmt::format("failed to parse length: '{}'", value));
        break;
      case 's': {
        std::string digits = value;
        bool hex = digits.starts_with("0x");
        if (hex)
          r.skip = strtoull(digits.c_str() + 2, nullptr, 16);
        else if (!parse_size(digits, r.skip))
          return call.fail(fmt::format("failed to parse offset: '{}'", value));
        break;
      }
      case 'v': r.squeeze = false; break;
      case 'L':
        if (!value.empty() && value != "=auto" && value != "=never" && value != "=always" &&
            value != "auto" && value != "never" && value != "always")
          return call.fail(fmt::format("unsupported color mode: '{}'", value));
        break;  // none of the layouts has colors
      default: add_layout(r, static_cast<char>(id));
    }
  }
  if (r.formats.empty()) add_layout(r, 0);
  std::vector<hexdump::Format> formats;
  std::size_t block = 0;
  if (int status = prepare(call, r, formats, block)) return status;
  Sink out(call.out());
  Blocks blocks(call, options.operands());
  dump(call, out, blocks, r, formats, block);
  if (!blocks.any && blocks.failed) call.complain("all input file arguments failed");
  return out.finish(call, blocks.failed ? 1 : 0);
}

}  // namespace atl::shell::hexdump_program
