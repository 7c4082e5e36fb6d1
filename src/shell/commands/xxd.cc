#include <fmt/format.h>

#include <algorithm>

#include "shell/arguments/command_line.h"
#include "shell/command.h"
#include "shell/command_entries.h"
#include "shell/files/inputs.h"
#include "shell/text/sink.h"

namespace atl::shell::xxd_program {

namespace {

constexpr Option kOptions[] = {
    {'a', 'a', "autoskip"},
    {'b', 'b', "bits"},
    {'c', 'c', "cols", Arg::required},
    {'e', 'e', ""},
    {'g', 'g', "groupsize", Arg::required},
    {'i', 'i', "include"},
    {'l', 'l', "len", Arg::required},
    {'o', 'o', "", Arg::required},
    {'p', 'p', "plain"},
    {'p', 0, "ps"},
    {'r', 'r', "revert"},
    {'s', 's', "seek", Arg::required},
    {'u', 'u', "uppercase"},
    {'n', 'n', "name", Arg::required},
    {'d', 'd', ""},
    {'C', 'C', "capitalize"},
};

struct Request {
  bool bits = false, little = false, include = false, plain = false, revert = false, upper = false,
       decimal = false, skip_zero = false, capitals = false;
  std::int64_t columns = -1, group = -1, length = INT64_MAX, offset = 0, seek = 0;
  std::string name;
};

bool number(const std::string& text, std::int64_t& out) {
  char* end = nullptr;
  out = strtoll(text.c_str(), &end, 0);
  return end != text.c_str();
}

void revert(Invocation& call, std::string_view text, bool plain, Sink& out) {
  auto hex = [](char c) {
    return c >= '0' && c <= '9'                      ? c - '0'
           : isxdigit(static_cast<unsigned char>(c)) ? (c | 32) - 'a' + 10
                                                     : -1;
  };
  std::string bytes;
  while (!text.empty()) {
    std::size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
    call.charge(line.size() + 1);
    if (!plain) {
      std::size_t colon = line.find(':');
      if (colon == std::string_view::npos) continue;
      std::uint64_t at = strtoull(std::string(line.substr(0, colon)).c_str(), nullptr, 16);
      if (at > bytes.size() && at < (64U << 20)) bytes.resize(static_cast<std::size_t>(at), '\0');
      line.remove_prefix(colon + 1);
      // Two blanks end the hexadecimal part.
      std::size_t stop = line.find("  ", 1);
      if (stop != std::string_view::npos) line = line.substr(0, stop);
    }
    int high = -1;
    for (char c : line) {
      int digit = hex(c);
      if (digit < 0) {
        if (c != ' ' && c != '\t') break;
        continue;
      }
      if (high < 0)
        high = digit;
      else {
        bytes += static_cast<char>(high << 4 | digit);
        high = -1;
      }
    }
  }
  out.append(bytes);
}

void dump(Invocation& call, std::string_view data, const Request& r, Sink& out) {
  std::size_t columns = static_cast<std::size_t>(r.columns > 0 ? r.columns
                                                 : r.bits      ? 6
                                                 : r.plain     ? 30
                                                 : r.include   ? 12
                                                               : 16);
  std::size_t group = static_cast<std::size_t>(r.group >= 0 ? r.group : r.bits ? 1 : r.little ? 4 : 2);
  if (group == 0) group = columns;
  const char* letters = r.upper ? "0123456789ABCDEF" : "0123456789abcdef";
  auto append_byte = [&](std::string& to, char ch) {
    auto c = static_cast<unsigned char>(ch);
    if (!r.bits) {
      to += letters[c >> 4];
      to += letters[c & 15];
      return;
    }
    for (int bit = 7; bit >= 0; --bit) to += static_cast<char>('0' + (c >> bit & 1));
  };
  if (r.include) {
    std::string name;
    for (char c : r.name)
      name += !isalnum(static_cast<unsigned char>(c)) ? '_'
              : r.capitals ? static_cast<char>(toupper(static_cast<unsigned char>(c)))
                           : c;
    if (!name.empty()) out.append(fmt::format("unsigned char {}[] = {{\n", name));
    for (std::size_t i = 0; i < data.size(); ++i) {
      std::string shown = i == 0 ? "  0x" : i % columns == 0 ? ",\n  0x" : ", 0x";
      append_byte(shown, data[i]);
      out.append(shown);
    }
    if (!data.empty()) out.append("\n");
    if (!name.empty())
      out.append(
          fmt::format("}};\nunsigned int {}{} = {};\n", name, r.capitals ? "_LEN" : "_len", data.size()));
    return;
  }
  if (r.plain) {
    if (r.columns == 0) columns = std::max<std::size_t>(data.size(), 1);
    for (std::size_t at = 0; at < data.size(); at += columns) {
      std::string shown;
      for (char c : data.substr(at, columns)) append_byte(shown, c);
      out.line(shown);
      call.charge(columns);
    }
    return;
  }
  std::size_t digits = r.bits ? 8 : 2;
  std::size_t width = columns * digits + (columns + group - 1) / group;
  std::string text;
  auto zero = [&](std::size_t at) {
    std::string_view row = data.substr(std::min(at, data.size()), columns);
    return row.size() == columns && row.find_first_not_of('\0') == std::string_view::npos;
  };
  std::size_t counted = 0;  // a run of zeros up to here was looked at
  for (std::size_t at = 0; at < data.size(); at += columns) {
    call.charge(columns);
    std::string_view row = data.substr(at, columns);
    std::size_t skipped = 0;
    if (r.skip_zero && at >= counted && zero(at)) {
      // -a: of many lines of zeros the first is shown, and the last if it ends the file.
      std::size_t run = 0;
      while (zero(at + run * columns)) ++run;
      counted = at + run * columns;
      std::size_t last = counted >= data.size() ? 1 : 0;
      if (run > 2 + last) skipped = run - 1 - last;
    }
    std::uint64_t shown = at + static_cast<std::uint64_t>(r.offset + r.seek);
    char address[32];
    int length = snprintf(address, sizeof address,
                          r.decimal ? "%08llu: " : "%08llx: ", static_cast<unsigned long long>(shown));
    text.assign(address, static_cast<std::size_t>(length));
    std::size_t hex = text.size();
    for (std::size_t i = 0; i < columns; i += group) {
      std::size_t end = std::min(i + group, columns);
      for (std::size_t k = i; k < end; ++k) {
        std::size_t from = r.little ? end - 1 - (k - i) : k;
        if (from < row.size())
          append_byte(text, row[from]);
        else
          text.append(digits, ' ');
      }
      text += ' ';
    }
    if (text.size() < hex + width) text.resize(hex + width, ' ');
    text += ' ';
    for (char c : row) text += c >= 32 && c < 127 ? c : '.';
    out.line(text);
    if (skipped) out.append("*\n");
    at += skipped * columns;
  }
}

}  // namespace

int run_xxd(Invocation& call) {
  // -c5 and -len are both usual; long names with one dash too.
  std::vector<std::string> args(call.args().begin(), call.args().end());
  for (std::string& arg : args)
    for (const char* name : {"-len", "-cols", "-seek", "-plain", "-revert", "-include", "-bits", "-groupsize",
                             "-ps", "-autoskip", "-capitalize", "-name", "-uppercase"})
      if (arg == name) arg = "-" + arg;
  CommandLine options(call, kOptions, {.args = &args});
  if (options.stopped()) return options.status();
  Request r;
  for (auto& [id, value] : options.found()) {
    bool good = true;
    switch (id) {
      case 'b': r.bits = true; break;
      case 'c': good = number(value, r.columns); break;
      case 'e': r.little = true; break;
      case 'g': good = number(value, r.group); break;
      case 'i': r.include = true; break;
      case 'l': good = number(value, r.length); break;
      case 'o': good = number(value, r.offset); break;
      case 'p': r.plain = true; break;
      case 'r': r.revert = true; break;
      case 's': good = number(value, r.seek); break;
      case 'u': r.upper = true; break;
      case 'd': r.decimal = true; break;
      case 'a': r.skip_zero = true; break;
      case 'C': r.capitals = true; break;
      case 'n': r.name = value; break;
      default: break;
    }
    if (!good) return call.fail(fmt::format("invalid number: {}", value));
  }
  auto& operands = options.operands();
  std::string data;
  if (operands.empty() || operands[0] == "-")
    data = call.in().read_all();
  else {
    auto in = call.open_input(operands[0]);
    if (!in) return call.fail(fmt::format("{}: {}", operands[0], reason(in.error())), 2);
    data = (*in)->read_all();
    if (r.name.empty()) r.name = operands[0];
  }
  std::unique_ptr<Output> file;
  if (operands.size() > 1) {
    auto opened = call.open_output(operands[1], false);
    if (!opened) return call.fail(fmt::format("{}: {}", operands[1], reason(opened.error())), 3);
    file = std::move(*opened);
  }
  Sink out(file ? *file : call.out());
  if (r.revert) {
    revert(call, data, r.plain, out);
  } else {
    std::string_view view = data;
    std::int64_t start =
        r.seek < 0 ? std::max<std::int64_t>(0, static_cast<std::int64_t>(view.size()) + r.seek) : r.seek;
    r.seek = start;
    view.remove_prefix(std::min<std::size_t>(view.size(), static_cast<std::size_t>(start)));
    if (r.length >= 0 && static_cast<std::uint64_t>(r.length) < view.size())
      view = view.substr(0, static_cast<std::size_t>(r.length));
    dump(call, view, r, out);
  }
  int status = out.finish(call);
  if (file) file->flush();
  return status;
}

}  // namespace atl::shell::xxd_program
