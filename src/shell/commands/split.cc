#include <fmt/format.h>

#include "shell/commands/commands.h"
#include "shell/commands/options.h"
#include "shell/commands/text_io.h"
#include "shell/commands/text_streams.h"

namespace atl::shell {

namespace {

enum Long { kAdditional = 256, kFilter, kVerbose };

// GNU tells a zero from what is no number.
std::string bad_number(std::string_view what, std::string_view text) {
  std::uint64_t value = 0;
  return fmt::format("invalid {}: {}{}", what, quoted(text), parse_size(text, value) ? ": Numerical result out of range" : "");
}

constexpr Option kOptions[] = {
    {'a', 'a', "suffix-length", Arg::required}, {kAdditional, 0, "additional-suffix", Arg::required}, {'b', 'b', "bytes", Arg::required}, {'C', 'C', "line-bytes", Arg::required},
    {'d', 'd', ""}, {'D', 0, "numeric-suffixes", Arg::optional}, {'x', 'x', ""}, {'X', 0, "hex-suffixes", Arg::optional}, {'e', 'e', "elide-empty-files"}, {'l', 'l', "lines", Arg::required}, {'n', 'n', "number", Arg::required},
    {'t', 't', "separator", Arg::required}, {'u', 'u', "unbuffered"}, {kVerbose, 0, "verbose"}, {kFilter, 0, "filter", Arg::required},
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

int run_filter(Invocation& call, const std::string& command, const std::string& name, const std::string& part) {
  auto environment = call.environment();
  std::erase_if(environment, [](const auto& row) { return row.first == "FILE"; });
  environment.emplace_back("FILE", name);
  TextInput input(part);
  Invocation::Redirects redirects;
  redirects.in = &input;
  redirects.environment = &environment;
  return call.run_script(command, redirects);
}

}  // namespace

int run_split(Invocation& call) {
  CommandLine options(call, kOptions, {.digits = true});
  if (options.stopped()) return options.status();
  Names names;
  std::uint64_t lines = 1000, bytes = 0, line_bytes = 0, chunks = 0, only = 0;
  char mode = 0, delimiter = '\n';
  std::optional<std::string> filter;
  bool elide = false, by_lines = false, round_robin = false, verbose = false;
  for (auto& [id, value] : options.found()) {
    char way = id == '0' ? 'l' : id == 'b' || id == 'C' || id == 'l' || id == 'n' ? static_cast<char>(id) : '\0';
    if (way && mode) return usage_error(call, "cannot split in more than one way");
    if (way) mode = way;
    switch (id) {
      case 'a':
        if (!parse_size(value, names.length) || names.length == 0) return call.fail(fmt::format("invalid suffix length: {}", quoted(value)));
        names.fixed = true;
        break;
      case kAdditional:
        if (value.find('/') != std::string::npos) return usage_error(call, fmt::format("invalid suffix {}, contains directory separator", quoted(value)));
        names.suffix = value;
        break;
      case 'b': if (!parse_size(value, bytes) || bytes == 0) return call.fail(bad_number("number of bytes", value)); break;
      case 'C': if (!parse_size(value, line_bytes) || line_bytes == 0) return call.fail(bad_number("number of bytes", value)); break;
      case 'd':
      case 'D':
        names.alphabet = "0123456789";
        if (!value.empty()) names.next = strtoull(value.c_str(), nullptr, 10), names.fixed = true;
        break;
      case 'x':
      case 'X':
        names.alphabet = "0123456789abcdef";
        if (!value.empty()) names.next = strtoull(value.c_str(), nullptr, 16), names.fixed = true;
        break;
      case 'e': elide = true; break;
      case 'l':
      case '0': if (!parse_size(value, lines) || lines == 0) return call.fail(bad_number("number of lines", value)); break;
      case 'n': {
        std::string_view text = value;
        if (text.starts_with("l/")) by_lines = true, text.remove_prefix(2);
        else if (text.starts_with("r/")) round_robin = true, text.remove_prefix(2);
        std::size_t slash = text.find('/');
        if (slash != std::string_view::npos) {
          if (!parse_size(text.substr(0, slash), only) || only == 0) return call.fail(fmt::format("invalid chunk number: {}", quoted(text.substr(0, slash))));
          text.remove_prefix(slash + 1);
        }
        if (!parse_size(text, chunks) || chunks == 0) return call.fail(bad_number("number of chunks", text));
        break;
      }
      case 't':
        if (value.size() > 1 && value != "\\0") return call.fail(fmt::format("multi-character separator {}", quoted(value)));
        delimiter = value == "\\0" ? '\0' : value.empty() ? '\n' : value[0]; break;
      case kVerbose: verbose = true; break;
      case kFilter: filter = value; break;
      default: break;
    }
  }
  if (!mode) mode = 'l';
  auto& operands = options.operands();
  if (operands.size() > 2) return usage_error(call, fmt::format("extra operand {}", quoted(operands[2])));
  if (operands.size() > 1) names.prefix = operands[1];
  std::string text;
  if (operands.empty() || operands[0] == "-") {
    text = call.in().read_all();
  } else {
    auto in = call.open_input(operands[0]);
    if (!in) return call.fail(fmt::format("cannot open {} for reading: {}", quoted(operands[0]), reason(in.error())));
    text = (*in)->read_all();
  }
  call.charge(text.size() / 8 + 1);
  auto line_end = [&](std::size_t at) {
    std::size_t end = text.find(delimiter, at);
    return end == std::string::npos ? text.size() : end + 1;
  };
  std::vector<std::string> parts;
  std::string_view whole = text;
  if (mode == 'l') {
    for (std::size_t at = 0; at < text.size();) {
      std::size_t end = at;
      for (std::uint64_t i = 0; i < lines && end < text.size(); ++i) end = line_end(end);
      parts.emplace_back(whole.substr(at, end - at));
      at = end;
    }
  } else if (mode == 'b') {
    for (std::size_t at = 0; at < text.size(); at += static_cast<std::size_t>(bytes)) parts.emplace_back(whole.substr(at, static_cast<std::size_t>(bytes)));
  } else if (mode == 'C') {
    for (std::size_t at = 0; at < text.size();) {
      std::size_t end = at;
      while (end < text.size() && line_end(end) - at <= line_bytes) end = line_end(end);
      if (end == at) end = std::min<std::size_t>(text.size(), at + static_cast<std::size_t>(line_bytes));
      parts.emplace_back(whole.substr(at, end - at));
      at = end;
    }
  } else if (round_robin) {
    parts.resize(static_cast<std::size_t>(std::min<std::uint64_t>(chunks, 100000)));
    std::size_t i = 0;
    for (std::size_t at = 0; at < text.size();) {
      std::size_t end = line_end(at);
      parts[i++ % parts.size()] += whole.substr(at, end - at);
      at = end;
    }
  } else {
    if (chunks > 100000) return call.fail("too many chunks");
    std::size_t at = 0;
    for (std::uint64_t i = 0; i < chunks; ++i) {
      std::size_t end = i + 1 == chunks ? text.size() : static_cast<std::size_t>(std::min<std::uint64_t>(text.size(), std::max<std::uint64_t>(1, text.size() / chunks) * (i + 1)));
      if (by_lines && end > 0 && end < text.size()) {
        end = end <= at ? at : line_end(end - 1);
      }
      end = std::max(end, at);
      parts.emplace_back(whole.substr(at, end - at));
      at = end;
    }
  }
  if (only) {
    if (only > chunks) return call.fail(bad_number("chunk number", std::to_string(only)));
    call.out().write(parts[static_cast<std::size_t>(only - 1)]);
    return 0;
  }
  for (const std::string& part : parts) {
    if (part.empty() && elide) continue;
    std::string name = names.take();
    if (name.empty()) return call.fail("output file suffixes exhausted");
    if (filter) {
      int status = run_filter(call, *filter, name, part);
      if (status != 0) return call.fail(fmt::format("with FILE={}, exit {} from command: {}", name, status, *filter));
      continue;
    }
    if (verbose) call.out().write(fmt::format("creating file {}\n", quoted(name)));
    auto out = call.open_output(name, false);
    if (!out) return call.fail(fmt::format("{}: {}", name, reason(out.error())));
    (*out)->write(part);
    (*out)->flush();
  }
  return 0;
}

}  // namespace atl::shell
