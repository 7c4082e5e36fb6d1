#include <fmt/format.h>

#include "shell/arguments/command_line.h"
#include "shell/arguments/usage.h"
#include "shell/command.h"
#include "shell/command_entries.h"
#include "shell/files/inputs.h"
#include "shell/text/numbers.h"
#include "shell/text/quotes.h"
#include "shell/text/sink.h"

namespace atl::shell::strings_program {

namespace {

constexpr Option kOptions[] = {{'a', 'a', "all"},
                               {'d', 'd', "data"},
                               {'f', 'f', "print-file-name"},
                               {'n', 'n', "bytes", Arg::required},
                               {'t', 't', "radix", Arg::required},
                               {'o', 'o', ""},
                               {'e', 'e', "encoding", Arg::required},
                               {'w', 'w', "include-all-whitespace"},
                               {'s', 's', "output-separator", Arg::required}};

struct Request {
  std::uint64_t least = 4;
  char radix = 0;
  bool names = false, white = false;
  std::size_t unit = 1;  // bytes of a character
  bool big = false, eight_bits = false;
  std::string separator = "\n";
};

// 0, or the status with which strings ends after a message.
int read_options(Invocation& call, const CommandLine& options, Request& r) {
  for (auto& [id, value] : options.found()) {
    switch (id) {
      case 'f': r.names = true; break;
      case 'n':
      case '0':
        if (!parse_size(value, r.least) || r.least == 0)
          return call.fail(fmt::format("invalid minimum string length {}", value));
        break;
      case 't':
        if (value != "d" && value != "o" && value != "x") return usage_error(call, "invalid radix");
        r.radix = value[0];
        break;
      case 'o': r.radix = 'o'; break;
      case 'w': r.white = true; break;
      case 's': r.separator = value; break;
      case 'e':
        if (value.size() != 1 || std::string_view("sSblBL").find(value[0]) == std::string_view::npos)
          return usage_error(call, fmt::format("invalid encoding: {}", quote_operand(value)));
        r.unit = value == "b" || value == "l" ? 2 : value == "B" || value == "L" ? 4 : 1;
        r.big = value == "b" || value == "B";
        r.eight_bits = value == "S";
        break;
      default: break;  // -a, -d: there are no object files whose data alone would be looked at
    }
  }
  return 0;
}

// Looks for text in one input.
class Searcher {
 public:
  Searcher(Invocation& call, const Request& r, Sink& out, const std::string& name)
      : call_(call), r_(r), out_(out), name_(name == "-" ? "{standard input}" : name) {}

  void run(Input& in) {
    if (r_.unit > 1)
      wide(in.read_all());
    else
      narrow(in);
    flush();
  }

 private:
  bool printable(unsigned char c) const {
    return (c >= 32 && c < 127) || c == '\t' || (r_.white && isspace(c)) || (r_.eight_bits && c >= 160);
  }

  // The text that ends here, if it is long enough.
  void flush() {
    if (run_.size() >= r_.least) {
      if (r_.names) out_.append(name_ + ": ");
      std::uint64_t at = offset_ - run_.size() * r_.unit;
      if (r_.radix)
        out_.append(r_.radix == 'd'   ? fmt::format("{:>7} ", at)
                    : r_.radix == 'o' ? fmt::format("{:>7o} ", at)
                                      : fmt::format("{:>7x} ", at));
      out_.append(run_);
      out_.append(r_.separator);
    }
    run_.clear();
  }

  // Wide characters: one byte of each holds the character, the others are zero.
  void wide(const std::string& data) {
    call_.charge(data.size() / 4 + 1);
    while (offset_ + r_.unit <= data.size()) {
      auto at = static_cast<std::size_t>(offset_);
      std::size_t low = at + (r_.big ? r_.unit - 1 : 0);
      bool zeros = true;
      for (std::size_t i = 0; i < r_.unit; ++i) zeros = zeros && (at + i == low || data[at + i] == '\0');
      if (zeros && printable(static_cast<unsigned char>(data[low]))) {
        run_ += data[low];
        offset_ += r_.unit;
      } else {
        flush();
        ++offset_;
      }
    }
  }

  void narrow(Input& in) {
    while (true) {
      std::string_view block = in.fill();
      if (block.empty()) break;
      call_.charge(block.size() / 8 + 1);
      for (char c : block) {
        if (printable(static_cast<unsigned char>(c)))
          run_ += c;
        else
          flush();
        ++offset_;
      }
      in.consume(block.size());
    }
  }

  Invocation& call_;
  const Request& r_;
  Sink& out_;
  std::string name_;
  std::string run_;
  std::uint64_t offset_ = 0;
};

}  // namespace

int run_strings(Invocation& call) {
  CommandLine options(call, kOptions, {.digits = true});
  if (options.stopped()) return options.status();
  Request r;
  if (int status = read_options(call, options, r)) return status;
  Sink out(call.out());
  std::vector<std::string> readable;
  for (const std::string& operand : options.operands()) {
    auto path = call.resolve(operand);
    if (operand == "-" || (path && call.fs().find(*path)) || operand.starts_with("/dev/"))
      readable.push_back(operand);
    else
      call.complain(fmt::format("{}: No such file", quote_operand(operand)));
  }
  bool missing = readable.size() < options.operands().size();
  if (missing && readable.empty()) return 1;
  bool good = each_input(call, readable,
                         [&](Input& in, const std::string& name) { Searcher(call, r, out, name).run(in); });
  return out.finish(call, good && !missing ? 0 : 1);
}

}  // namespace atl::shell::strings_program
