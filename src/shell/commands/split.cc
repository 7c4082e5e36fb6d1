#include <fmt/format.h>

#include <algorithm>

#include "shell/arguments/command_line.h"
#include "shell/arguments/usage.h"
#include "shell/command.h"
#include "shell/command_entries.h"
#include "shell/files/inputs.h"
#include "shell/text/numbers.h"
#include "shell/text/quotes.h"
#include "shell/text/text_streams.h"

namespace atl::shell::split_program {

namespace {

enum Long { kAdditional = 256, kFilter, kVerbose };

// GNU tells a zero from what is no number.
std::string bad_number(std::string_view what, std::string_view text) {
  std::uint64_t value = 0;
  return fmt::format("invalid {}: {}{}", what, quote_operand(text),
                     parse_size(text, value) ? ": Numerical result out of range" : "");
}

constexpr Option kOptions[] = {
    {'a', 'a', "suffix-length", Arg::required},
    {kAdditional, 0, "additional-suffix", Arg::required},
    {'b', 'b', "bytes", Arg::required},
    {'C', 'C', "line-bytes", Arg::required},
    {'d', 'd', ""},
    {'D', 0, "numeric-suffixes", Arg::optional},
    {'x', 'x', ""},
    {'X', 0, "hex-suffixes", Arg::optional},
    {'e', 'e', "elide-empty-files"},
    {'l', 'l', "lines", Arg::required},
    {'n', 'n', "number", Arg::required},
    {'t', 't', "separator", Arg::required},
    {'u', 'u', "unbuffered"},
    {kVerbose, 0, "verbose"},
    {kFilter, 0, "filter", Arg::required},
};

struct Names {
  std::string prefix = "x", suffix, alphabet = "abcdefghijklmnopqrstuvwxyz";
  std::size_t length = 2;
  bool fixed = false;
  std::uint64_t next = 0;

  // Empty when they are used up.
  std::string take() {
    std::uint64_t n = next++;
    std::size_t base = alphabet.size(), digits = length;
    std::string lead;
    if (!fixed) {
      // xaa..xyz, then xzaaa..: the alphabet's last letter widens the suffix.
      std::uint64_t block = (base - 1);
      for (std::size_t i = 1; i < digits; ++i) block *= base;
      while (n >= block) {
        n -= block;
        lead += alphabet.back();
        ++digits;
        block *= base;
      }
    }
    std::string tail(digits - (fixed ? 0 : lead.size()), alphabet[0]);
    for (std::size_t i = tail.size(); i-- > 0; n /= base) tail[i] = alphabet[n % base];
    if (n > 0) return {};
    return prefix + lead + tail + suffix;
  }
};

int run_filter(Invocation& call, const std::string& command, const std::string& name,
               const std::string& part) {
  auto environment = call.environment();
  std::erase_if(environment, [](const auto& row) { return row.first == "FILE"; });
  environment.emplace_back("FILE", name);
  TextInput input(part);
  Invocation::Redirects redirects;
  redirects.in = &input;
  redirects.environment = &environment;
  return call.run_script(command, redirects);
}

constexpr std::uint64_t kChunksMax = 100000;

struct Request {
  Names names;
  std::uint64_t lines = 1000, bytes = 0, line_bytes = 0, chunks = 0, only = 0;
  char mode = 0, delimiter = '\n';
  std::optional<std::string> filter;
  bool elide = false, by_lines = false, round_robin = false, verbose = false;
};

// 0, or the status with which split ends after a message.
int read_options(Invocation& call, const CommandLine& options, Request& r) {
  for (auto& [id, value] : options.found()) {
    char way = id == '0'                                          ? 'l'
               : id == 'b' || id == 'C' || id == 'l' || id == 'n' ? static_cast<char>(id)
                                                                  : '\0';
    if (way && r.mode) return usage_error(call, "cannot split in more than one way");
    if (way) r.mode = way;
    switch (id) {
      case 'a':
        if (!parse_size(value, r.names.length) || r.names.length == 0)
          return call.fail(fmt::format("invalid suffix length: {}", quote_operand(value)));
        r.names.fixed = true;
        break;
      case kAdditional:
        if (value.find('/') != std::string::npos)
          return usage_error(
              call, fmt::format("invalid suffix {}, contains directory separator", quote_operand(value)));
        r.names.suffix = value;
        break;
      case 'b':
        if (!parse_size(value, r.bytes) || r.bytes == 0)
          return call.fail(bad_number("number of bytes", value));
        break;
      case 'C':
        if (!parse_size(value, r.line_bytes) || r.line_bytes == 0)
          return call.fail(bad_number("number of bytes", value));
        break;
      case 'd':
      case 'D':
        r.names.alphabet = "0123456789";
        if (!value.empty()) r.names.next = strtoull(value.c_str(), nullptr, 10), r.names.fixed = true;
        break;
      case 'x':
      case 'X':
        r.names.alphabet = "0123456789abcdef";
        if (!value.empty()) r.names.next = strtoull(value.c_str(), nullptr, 16), r.names.fixed = true;
        break;
      case 'e': r.elide = true; break;
      case 'l':
      case '0':
        if (!parse_size(value, r.lines) || r.lines == 0)
          return call.fail(bad_number("number of lines", value));
        break;
      case 'n': {
        std::string_view text = value;
        if (text.starts_with("l/"))
          r.by_lines = true, text.remove_prefix(2);
        else if (text.starts_with("r/"))
          r.round_robin = true, text.remove_prefix(2);
        std::size_t slash = text.find('/');
        if (slash != std::string_view::npos) {
          if (!parse_size(text.substr(0, slash), r.only) || r.only == 0)
            return call.fail(fmt::format("invalid chunk number: {}", quote_operand(text.substr(0, slash))));
          text.remove_prefix(slash + 1);
        }
        if (!parse_size(text, r.chunks) || r.chunks == 0)
          return call.fail(bad_number("number of chunks", text));
        break;
      }
      case 't':
        if (value.size() > 1 && value != "\\0")
          return call.fail(fmt::format("multi-character separator {}", quote_operand(value)));
        r.delimiter = value == "\\0" ? '\0' : value.empty() ? '\n' : value[0];
        break;
      case kVerbose: r.verbose = true; break;
      case kFilter: r.filter = value; break;
      default: break;
    }
  }
  if (!r.mode) r.mode = 'l';
  return 0;
}

// Cuts the text as the options ask.
class Cutter {
 public:
  Cutter(const Request& r, std::string_view text) : r_(r), text_(text) {}

  std::vector<std::string> parts() {
    if (r_.mode == 'l') return by_line_count();
    if (r_.mode == 'b') return by_bytes();
    if (r_.mode == 'C') return by_line_bytes();
    return r_.round_robin ? round_robin() : chunks();
  }

 private:
  std::size_t line_end(std::size_t at) const {
    std::size_t end = text_.find(r_.delimiter, at);
    return end == std::string_view::npos ? text_.size() : end + 1;
  }

  std::vector<std::string> by_line_count() const {
    std::vector<std::string> out;
    for (std::size_t at = 0; at < text_.size();) {
      std::size_t end = at;
      for (std::uint64_t i = 0; i < r_.lines && end < text_.size(); ++i) end = line_end(end);
      out.emplace_back(text_.substr(at, end - at));
      at = end;
    }
    return out;
  }

  std::vector<std::string> by_bytes() const {
    std::vector<std::string> out;
    for (std::size_t at = 0; at < text_.size(); at += static_cast<std::size_t>(r_.bytes))
      out.emplace_back(text_.substr(at, static_cast<std::size_t>(r_.bytes)));
    return out;
  }

  std::vector<std::string> by_line_bytes() const {
    std::vector<std::string> out;
    for (std::size_t at = 0; at < text_.size();) {
      std::size_t end = at;
      while (end < text_.size() && line_end(end) - at <= r_.line_bytes) end = line_end(end);
      if (end == at) end = std::min<std::size_t>(text_.size(), at + static_cast<std::size_t>(r_.line_bytes));
      out.emplace_back(text_.substr(at, end - at));
      at = end;
    }
    return out;
  }

  std::vector<std::string> round_robin() const {
    std::vector<std::string> out(static_cast<std::size_t>(std::min<std::uint64_t>(r_.chunks, kChunksMax)));
    std::size_t i = 0;
    for (std::size_t at = 0; at < text_.size();) {
      std::size_t end = line_end(at);
      out[i++ % out.size()] += text_.substr(at, end - at);
      at = end;
    }
    return out;
  }

  std::vector<std::string> chunks() const {
    std::vector<std::string> out;
    const std::uint64_t size = std::max<std::uint64_t>(1, text_.size() / r_.chunks);
    std::size_t at = 0;
    for (std::uint64_t i = 0; i < r_.chunks; ++i) {
      bool last = i + 1 == r_.chunks;
      auto end = last ? text_.size()
                      : static_cast<std::size_t>(std::min<std::uint64_t>(text_.size(), size * (i + 1)));
      if (r_.by_lines && end > 0 && end < text_.size()) end = end <= at ? at : line_end(end - 1);
      end = std::max(end, at);
      out.emplace_back(text_.substr(at, end - at));
      at = end;
    }
    return out;
  }

  const Request& r_;
  std::string_view text_;
};

int write_parts(Invocation& call, Request& r, const std::vector<std::string>& parts) {
  for (const std::string& part : parts) {
    if (part.empty() && r.elide) continue;
    std::string name = r.names.take();
    if (name.empty()) return call.fail("output file suffixes exhausted");
    if (r.filter) {
      int status = run_filter(call, *r.filter, name, part);
      if (status != 0)
        return call.fail(fmt::format("with FILE={}, exit {} from command: {}", name, status, *r.filter));
      continue;
    }
    if (r.verbose) call.out().write(fmt::format("creating file {}\n", quote_operand(name)));
    auto out = call.open_output(name, false);
    if (!out) return call.fail(fmt::format("{}: {}", name, reason(out.error())));
    (*out)->write(part);
    (*out)->flush();
  }
  return 0;
}

}  // namespace

int run_split(Invocation& call) {
  CommandLine options(call, kOptions, {.digits = true});
  if (options.stopped()) return options.status();
  Request r;
  if (int status = read_options(call, options, r)) return status;
  auto& operands = options.operands();
  if (operands.size() > 2)
    return usage_error(call, fmt::format("extra operand {}", quote_operand(operands[2])));
  if (operands.size() > 1) r.names.prefix = operands[1];
  std::string text;
  if (operands.empty() || operands[0] == "-") {
    text = call.in().read_all();
  } else {
    auto in = call.open_input(operands[0]);
    if (!in)
      return call.fail(
          fmt::format("cannot open {} for reading: {}", quote_operand(operands[0]), reason(in.error())));
    text = (*in)->read_all();
  }
  call.charge(text.size() / 8 + 1);
  if (r.mode == 'n' && !r.round_robin && r.chunks > kChunksMax) return call.fail("too many chunks");
  std::vector<std::string> parts = Cutter(r, text).parts();
  if (!r.only) return write_parts(call, r, parts);
  if (r.only > r.chunks) return call.fail(bad_number("chunk number", std::to_string(r.only)));
  call.out().write(parts[static_cast<std::size_t>(r.only - 1)]);
  return 0;
}

}  // namespace atl::shell::split_program
