#include "shell/test_commands.h"

#include <fmt/format.h>

#include <array>
#include <charconv>

#include "base/utf8.h"
#include "shell/runner.h"

namespace atl::shell {

namespace {

// A string literal as Python's repr writes it.
std::string repr(std::string_view text) {
  bool single = text.find('\'') != std::string_view::npos && text.find('"') == std::string_view::npos;
  char quote = single ? '"' : '\'';
  std::string out(1, quote);
  for (std::size_t i = 0; i < text.size();) {
    auto c = static_cast<unsigned char>(text[i]);
    std::size_t n = utf8::sequence(text.substr(i));
    if (c == '\\' || c == static_cast<unsigned char>(quote))
      out += '\\', out += static_cast<char>(c);
    else if (c == '\n')
      out += "\\n";
    else if (c == '\r')
      out += "\\r";
    else if (c == '\t')
      out += "\\t";
    else if (c < 0x20 || c == 0x7F || c >= 0x80) {
      for (std::size_t j = 0; j < n; ++j)
        out += fmt::format("\\x{:02x}", static_cast<unsigned char>(text[i + j]));
    } else
      out += static_cast<char>(c);
    i += n;
  }
  return out + quote;
}

int argv(Invocation& call) {
  std::string out = "[";
  for (std::size_t i = 1; i < call.args().size(); ++i) out += (i > 1 ? ", " : "") + repr(call.args()[i]);
  call.out().write(out + "]\n");
  return 0;
}

int printenv(Invocation& call) {
  for (std::size_t i = 1; i < call.args().size(); ++i)
    call.out().write(call.variable(call.args()[i]).value_or("None") + "\n");
  return 0;
}

int stdout_stderr(Invocation& call) {
  auto args = call.args();
  call.out().write((args.size() > 1 ? args[1] : std::string("STDOUT")) + "\n");
  call.err().write((args.size() > 2 ? args[2] : std::string("STDERR")) + "\n");
  return args.size() > 3 ? std::stoi("0" + args[3]) : 0;
}

int read_from_fd(Invocation& call) {
  for (std::size_t i = 1; i < call.args().size(); ++i) {
    const std::string& text = call.args()[i];
    int fd = -1;
    std::from_chars(text.data(), text.data() + text.size(), fd);
    auto file = call.runner().descriptors().file(fd);
    if (!file) {
      call.out().write(fmt::format("FATAL: Error reading from fd {}: [Errno 9] Bad file descriptor\n", fd));
      return 1;
    }
    call.out().write(fmt::format("{}: {}", fd, file->read_all()));
  }
  return 0;
}

constexpr std::array<Command, 4> test_command_rows = {
    {{"argv.py", argv, "print the arguments as Python would"},
     {"printenv.py", printenv, "print variables"},
     {"stdout_stderr.py", stdout_stderr, "write to both outputs"},
     {"read_from_fd.py", read_from_fd, "read descriptors"}}};

}  // namespace

std::span<const Command> test_commands() {
  return test_command_rows;
}

}  // namespace atl::shell
