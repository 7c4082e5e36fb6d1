#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <variant>

#include "shell/arguments/command_line.h"
#include "shell/command.h"
#include "shell/command_entries.h"
#include "shell/decimal/number.h"
#include "shell/runner.h"
#include "shell/text/sink.h"

namespace atl::shell::dc_program {

namespace {

using decimal::Integer;
using decimal::Number;
using decimal::Trouble;

using Value = std::variant<Number, std::string>;
using Array = std::map<std::uint32_t, Value>;

struct Register {
  Value value;
  Array array;
};

// What an entry of a stack is charged beside the digits, which the heap's meter sees.
constexpr std::int64_t kValueBytes = 96;

// The reverse-polish calculator. A macro runs by recursion, a macro called last in place of the one that
// calls it.
class Calculator {
 public:
  Calculator(Invocation& call, Sink& out)
      : call_(call), out_(out), arithmetic_(call), width_(decimal::line_length(call, "DC_LINE_LENGTH")) {}

  // False when `q` asked to end.
  bool run(std::string text) {
    quit_levels_ = 0;
    execute(std::move(text));
    return !ended_;
  }

 private:
  void complain(std::string_view message) {
    out_.flush();
    call_.complain(message);
  }
  bool need(std::size_t count) {
    if (stack_.size() >= count) return true;
    complain("stack empty");
    return false;
  }
  void push(Value value) {
    call_.charge_memory(kValueBytes);
    stack_.push_back(std::move(value));
  }
  Value pop() {
    call_.charge_memory(-kValueBytes);
    Value top = std::move(stack_.back());
    stack_.pop_back();
    return top;
  }
  // The top as a number; complains and drops nothing if it is a text.
  std::optional<Number> pop_number() {
    if (!need(1)) return std::nullopt;
    if (!std::holds_alternative<Number>(stack_.back())) {
      complain("non-numeric value");
      return std::nullopt;
    }
    return std::get<Number>(pop());
  }

  void execute(std::string text);
  bool one(const std::string& text, std::size_t& at, std::string& macro);
  void number(const std::string& text, std::size_t& at);
  void binary(char op);
  void compare(char op, bool negated, char reg, std::string& macro);
  void registers(char op, char reg);
  void arrays(char op, char reg);
  void settings(char op);
  void measure(char op);
  void print_bytes();
  void rotate();
  void show(const Value& value, bool newline);
  std::optional<std::uint32_t> small(const Number& value, std::uint32_t high) {
    Integer whole = arithmetic_.with_scale(value, 0).digits;
    if (whole < 0 || whole > high) return std::nullopt;
    return static_cast<std::uint32_t>(whole);
  }

  Invocation& call_;
  Sink& out_;
  decimal::Arithmetic arithmetic_;
  int width_;
  std::vector<Value> stack_;
  std::map<char, std::vector<Register>> registers_;
  std::uint32_t scale_ = 0;
  unsigned ibase_ = 10;
  Integer obase_ = 10;
  std::uint32_t depth_ = 0;
  std::uint32_t quit_levels_ = 0;  // how many macros are still to be left
  bool ended_ = false;
};

void Calculator::show(const Value& value, bool newline) {
  std::size_t column = 0;
  if (const auto* number = std::get_if<Number>(&value))
    out_.append(decimal::folded(arithmetic_.print(*number, obase_), column, width_));
  else
    out_.append(std::get<std::string>(value));
  if (newline) out_.put('\n');
}

void Calculator::number(const std::string& text, std::size_t& at) {
  bool negative = text[at] == '_';
  if (negative) ++at;
  std::size_t from = at;
  bool point = false;
  while (at < text.size()) {
    char c = text[at];
    if (c == '.') {
      if (point) break;
      point = true;
    } else if (!((c >= '0' && c <= '9') || (c >= 'A' && c <= 'F'))) {
      break;
    }
    ++at;
  }
  // Unlike bc, dc takes digits beyond the base at their full value.
  std::string digits = text.substr(from, at - from);
  Integer value = 0, divisor = 1;
  bool fraction = false;
  Number out;
  if (ibase_ == 10 && digits.find_first_of("ABCDEF") == std::string::npos) {
    out = arithmetic_.parse(digits, 10);
  } else {
    std::uint32_t places = 0;
    for (char c : digits) {
      if (c == '.') {
        fraction = true;
        continue;
      }
      call_.charge(digits.size() / 16 + 1);
      value = value * ibase_ + (c <= '9' ? c - '0' : c - 'A' + 10);
      if (fraction) divisor *= ibase_, ++places;
    }
    out = places ? arithmetic_.divide({value, 0}, {divisor, 0}, places) : Number{value, 0};
  }
  if (negative) out.digits = -out.digits;
  push(std::move(out));
}

void Calculator::binary(char op) {
  if (!need(2)) return;
  if (!std::holds_alternative<Number>(stack_.back()) ||
      !std::holds_alternative<Number>(stack_[stack_.size() - 2]))
    return complain("non-numeric value");
  Number b = std::get<Number>(stack_.back()), a = std::get<Number>(stack_[stack_.size() - 2]);
  std::vector<Number> results;
  if ((op == '/' || op == '~' || op == '%') && b.is_zero())
    return complain(op == '%' ? "remainder by zero" : "divide by zero");
  switch (op) {
    case '+': results = {arithmetic_.add(a, b)}; break;
    case '-': results = {arithmetic_.subtract(a, b)}; break;
    case '*': results = {arithmetic_.multiply(a, b, scale_)}; break;
    case '/': results = {arithmetic_.divide(a, b, scale_)}; break;
    case '%': results = {arithmetic_.modulo(a, b, scale_)}; break;
    case '~': results = {arithmetic_.divide(a, b, scale_), arithmetic_.modulo(a, b, scale_)}; break;
    case '^': results = {arithmetic_.power(a, b, scale_)}; break;
    default: break;
  }
  pop();
  pop();
  for (Number& result : results) push(std::move(result));
}

void Calculator::compare(char op, bool negated, char reg, std::string& macro) {
  auto top = pop_number();
  if (!top) return;
  auto below = pop_number();
  if (!below) return;
  // The value on top is the left side: 1 2>a runs a.
  int order = arithmetic_.compare(*top, *below);
  bool holds = op == '>' ? order > 0 : op == '<' ? order < 0 : order == 0;
  if (holds == negated) return;
  auto found = registers_.find(reg);
  if (found == registers_.end() || found->second.empty()) return;
  const Value& value = found->second.back().value;
  if (const auto* text = std::get_if<std::string>(&value))
    // Run by execute(), so that a macro called last replaces its caller and loops need no stack.
    macro = *text;
  else
    push(value);
}

void Calculator::registers(char op, char reg) {
  auto& stack = registers_[reg];
  switch (op) {
    case 's':
    case 'S':
      if (!need(1)) return;
      if (stack.empty() || op == 'S') {
        call_.charge_memory(kValueBytes);
        stack.emplace_back();
      }
      stack.back().value = pop();
      return;
    case 'l':
      if (stack.empty())
        push(Number{});
      else
        push(stack.back().value);
      return;
    default:
      if (stack.empty())
        return complain(
            fmt::format("stack register '{}' ({:04o}) is empty", reg, static_cast<unsigned char>(reg)));
      push(std::move(stack.back().value));
      stack.pop_back();
  }
}

void Calculator::arrays(char op, char reg) {
  auto index = pop_number();
  if (!index) return;
  auto at = small(*index, 0x7fffffff);
  if (!at) return complain("array index must be a nonnegative integer");
  auto& stack = registers_[reg];
  if (stack.empty()) stack.emplace_back();
  if (op == ';') {
    auto found = stack.back().array.find(*at);
    push(found == stack.back().array.end() ? Value(Number{}) : found->second);
  } else if (need(1)) {
    call_.charge_memory(kValueBytes);
    stack.back().array[*at] = pop();
  }
}

void Calculator::settings(char op) {
  auto value = pop_number();
  if (!value) return;
  if (op == 'k') {
    auto scale = small(*value, decimal::Arithmetic::kDigitsMax / 2);
    if (!scale) return complain("scale must be a nonnegative integer");
    scale_ = *scale;
  } else if (op == 'i') {
    auto base = small(*value, 16);
    if (!base || *base < 2) return complain("input base must be a number between 2 and 16 (inclusive)");
    ibase_ = *base;
  } else {
    auto base = small(*value, 1'000'000'000);
    if (!base || *base < 2) return complain("output base must be a number greater than 1");
    obase_ = *base;
  }
}

void Calculator::measure(char op) {
  if (!need(1)) return;
  Value top = pop();
  const auto* number = std::get_if<Number>(&top);
  if (op == 'X') return push(Number{number ? number->scale : 0, 0});
  if (!number) return push(Number{std::get<std::string>(top).size(), 0});
  std::string digits = decimal::magnitude(number->digits).str();
  push(Number{number->is_zero() ? 0 : std::max<std::size_t>(digits.size(), number->scale), 0});
}

void Calculator::print_bytes() {
  if (!need(1)) return;
  Value top = pop();
  if (const auto* text = std::get_if<std::string>(&top)) return out_.append(*text);
  Integer value = decimal::magnitude(arithmetic_.with_scale(std::get<Number>(top), 0).digits);
  std::string bytes;
  for (; !value.is_zero(); value >>= 8) {
    call_.charge(bytes.size() / 8 + 1);
    bytes.insert(bytes.begin(), static_cast<char>(static_cast<unsigned>(value & 0xff)));
  }
  out_.append(bytes);
}

// R: turns the top |n| values round.
void Calculator::rotate() {
  auto count = pop_number();
  if (!count) return;
  bool down = count->negative();
  Integer whole = decimal::magnitude(arithmetic_.with_scale(*count, 0).digits);
  auto n = whole > stack_.size() ? stack_.size() : static_cast<std::size_t>(whole);
  if (n < 2) return;
  auto from = stack_.end() - static_cast<std::ptrdiff_t>(n);
  std::rotate(from, down ? stack_.end() - 1 : from + 1, stack_.end());
}

// One command; what it wants to run next is left in `macro`. False: leave this text.
bool Calculator::one(const std::string& text, std::size_t& at, std::string& macro) {
  char c = text[at++];
  auto reg = [&]() -> char {
    if (at < text.size()) return text[at++];
    complain(fmt::format("unexpected end of input after '{}'", c));
    return '\0';
  };
  switch (c) {
    case ' ':
    case '\t':
    case '\n':
    case '\r': break;
    case '#':
      while (at < text.size() && text[at] != '\n') ++at;
      break;
    case '[': {
      int depth = 1;
      std::size_t from = at;
      // Brackets nest inside of a text.
      while (at < text.size() && depth > 0) depth += text[at] == '[' ? 1 : text[at] == ']' ? -1 : 0, ++at;
      push(text.substr(from, at - from - (depth == 0 ? 1 : 0)));
      break;
    }
    case '+':
    case '-':
    case '*':
    case '/':
    case '%':
    case '~':
    case '^': binary(c); break;
    case '|': {
      auto m = pop_number();
      auto e = m ? pop_number() : std::nullopt;
      auto b = e ? pop_number() : std::nullopt;
      if (b) push(arithmetic_.power_modulo(*b, *e, *m));
      break;
    }
    case 'v':
      if (auto value = pop_number()) push(arithmetic_.square_root(*value, scale_));
      break;
    case 'p':
      if (need(1)) show(stack_.back(), true);
      break;
    case 'n':
      if (need(1)) show(pop(), false);
      break;
    case 'P': print_bytes(); break;
    case 'f':
      for (auto it = stack_.rbegin(); it != stack_.rend(); ++it) show(*it, true);
      break;
    case 'c':
      while (!stack_.empty()) pop();
      break;
    case 'd':
      if (need(1)) push(stack_.back());
      break;
    case 'r':
      if (need(2)) std::swap(stack_.back(), stack_[stack_.size() - 2]);
      break;
    case 'R': rotate(); break;
    case 's':
    case 'S':
    case 'l':
    case 'L':
      if (char name = reg()) registers(c, name);
      break;
    case ':':
    case ';':
      if (char name = reg()) arrays(c, name);
      break;
    case 'i':
    case 'o':
    case 'k': settings(c); break;
    case 'I': push(Number{ibase_, 0}); break;
    case 'O': push(Number{obase_, 0}); break;
    case 'K': push(Number{scale_, 0}); break;
    case 'Z':
    case 'X': measure(c); break;
    case 'z': push(Number{stack_.size(), 0}); break;
    case 'a':
      if (need(1)) {
        Value top = pop();
        if (const auto* number = std::get_if<Number>(&top)) {
          push(std::string(1, static_cast<char>(static_cast<unsigned>(
                                  decimal::magnitude(arithmetic_.with_scale(*number, 0).digits) & 0xff))));
        } else {
          push(std::get<std::string>(top).substr(0, 1));
        }
      }
      break;
    case 'x':
      if (need(1)) {
        Value top = pop();
        if (auto* body = std::get_if<std::string>(&top))
          macro = std::move(*body);
        else
          push(std::move(top));
      }
      break;
    case '<':
    case '>':
    case '=':
      if (char name = reg()) compare(c, false, name, macro);
      break;
    case '!':
      if (at < text.size() && std::string_view("<>=").find(text[at]) != std::string_view::npos) {
        c = text[at++];
        if (char name = reg()) compare(c, true, name, macro);
        break;
      }
      while (at < text.size() && text[at] != '\n') ++at;
      complain("commands of the system cannot be run here");
      break;
    case '?': {
      std::string line;
      if (call_.in().read_line(line)) macro = line;
      break;
    }
    // q leaves the macro and the one that called it.
    case 'q': quit_levels_ = 2; return false;
    case 'Q':
      if (auto levels = pop_number()) {
        auto count = small(*levels, 1'000'000);
        if (!count || *count < 1)
          complain("Q command requires a number >= 1");
        else
          quit_levels_ = *count;
        return quit_levels_ == 0;
      }
      break;
    default:
      complain(c >= 33 && c < 127
                   ? fmt::format("'{}' ({:04o}) unimplemented", c, static_cast<unsigned char>(c))
                   : fmt::format("0{:03o} unimplemented", static_cast<unsigned char>(c)));
  }
  return true;
}

void Calculator::execute(std::string text) {
  ++depth_;
  for (std::size_t at = 0; at < text.size();) {
    call_.charge(4);
    char c = text[at];
    std::string macro;
    try {
      if ((c >= '0' && c <= '9') || (c >= 'A' && c <= 'F') || c == '_' || c == '.')
        number(text, at);
      else if (!one(text, at, macro))
        break;
    } catch (const Trouble& trouble) {
      complain(trouble.message);
    }
    if (macro.empty()) continue;
    if (at >= text.size()) {  // in place of this one
      text = std::move(macro);
      at = 0;
      continue;
    }
    if (call_.runner().machine().scheduler.stack_left() < 96 * 1024) {
      complain("nesting too deep");
      ended_ = true;
    } else {
      execute(std::move(macro));
    }
    if (quit_levels_ > 0 || ended_) break;
  }
  --depth_;
  if (quit_levels_ > 0) {
    --quit_levels_;
    if (depth_ == 0) ended_ = true;
  }
}

}  // namespace

int run_dc(Invocation& call) {
  static constexpr Option kOptions[] = {{'e', 'e', "expression", Arg::required},
                                        {'f', 'f', "file", Arg::required},
                                        {'h', 'h', ""},
                                        {'V', 'V', ""}};
  CommandLine options(call, kOptions);
  if (options.stopped()) return options.status();
  Sink out(call.out());
  Calculator calculator(call, out);
  bool any = false;
  auto file = [&](const std::string& name) -> std::optional<bool> {
    auto in = call.open_input(name);
    if (!in) {
      out.flush();
      call.complain(fmt::format("Could not open file {}", name));
      return std::nullopt;
    }
    return calculator.run((*in)->read_all());
  };
  for (auto& [id, value] : options.found()) {
    if (id == 'h') return call.out().write("Usage: dc [OPTION] [file ...]\n"), 0;
    if (id == 'V') return call.out().write("dc (Atoll), the language of GNU dc 1.4\n"), 0;
    any = true;
    std::optional<bool> more = id == 'e' ? calculator.run(value) : file(value);
    if (!more) return 2;
    if (!*more) return out.finish(call);
  }
  for (const std::string& name : options.operands()) {
    any = true;
    if (std::optional<bool> more = file(name); more && !*more) return out.finish(call);
  }
  if (!any) {
    std::string line;  // a line at a time, so that ? can read on
    std::string text;
    int open = 0;
    while (call.in().read_line(line)) {
      text += line + "\n";
      for (char c : line) open += c == '[' ? 1 : c == ']' ? -1 : 0;
      if (open > 0) continue;
      open = 0;
      if (!calculator.run(std::exchange(text, {}))) return out.finish(call);
    }
    if (!text.empty()) calculator.run(text);
  }
  return out.finish(call);
}

}  // namespace atl::shell::dc_program
