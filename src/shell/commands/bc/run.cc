#include "shell/commands/bc/run.h"

#include <fmt/format.h>

#include <algorithm>

#include "shell/runner.h"

namespace atl::shell::bc {

namespace {

constexpr std::uint32_t kIndexMax = 16'777'215;
constexpr std::int64_t kElementBytes = 96;

}  // namespace

Runner::Runner(Invocation& call, Sink& out, bool library)
    : call_(call),
      out_(out),
      arithmetic_(call),
      library_(library),
      width_(decimal::line_length(call, "BC_LINE_LENGTH") - 1) {
  if (library) scale_ = 20;
}

bool Runner::stack_low() {
  return call_.runner().machine().scheduler.stack_left() < 96 * 1024;
}

bool Runner::run(std::string_view text, const std::string& name, bool is_stdin) {
  Parser parser(text, [this] { return stack_low(); });
  parser_ = &parser;
  from_stdin_ = is_stdin;
  while (true) {
    try {
      auto statements = parser.next(functions_);
      if (!statements) return true;
      function_ = "(main)";
      if (execute(*statements) == Flow::halt) return false;
    } catch (const SyntaxError& error) {
      out_.flush();
      call_.err().write(fmt::format("{} {}: {}\n", name, parser.line(), error.message));
    } catch (const decimal::Trouble& trouble) {
      out_.flush();
      call_.err().write(fmt::format("Runtime error (func={}): {}\n", function_, trouble.message));
    } catch (const Quit&) {
      return false;
    }
  }
}

Runner::Flow Runner::execute(const std::vector<StatementPtr>& list) {
  for (const StatementPtr& one : list)
    if (Flow flow = execute(*one); flow != Flow::normal) return flow;
  return Flow::normal;
}

Runner::Flow Runner::execute(const Statement& statement) {
  call_.charge(4);
  if (stack_low()) trouble("nesting too deep");
  switch (statement.kind) {
    case Kind::expression: {
      bool shown = statement.a->op != Op::assign || statement.a->in_parentheses;
      Number value = eval(*statement.a);
      if (shown) {
        print(value);
        write("\n");
        last_ = value;
      }
      return Flow::normal;
    }
    case Kind::text: write(statement.text); return Flow::normal;
    case Kind::print:
      for (const Printed& part : statement.printed) {
        if (!part.value) {
          write(part.text);
          continue;
        }
        last_ = eval(*part.value);
        print(last_);
      }
      return Flow::normal;
    case Kind::block: return execute(statement.body);
    case Kind::if_: return execute(truth(*statement.a) ? statement.body : statement.otherwise);
    case Kind::while_:
    case Kind::for_: return loop(statement);
    case Kind::break_: return Flow::break_;
    case Kind::continue_: return Flow::continue_;
    case Kind::halt: return Flow::halt;
    case Kind::return_: returned_ = statement.a ? eval(*statement.a) : Number{}; return Flow::return_;
  }
  return Flow::normal;
}

Runner::Flow Runner::loop(const Statement& statement) {
  bool counted = statement.kind == Kind::for_;
  const Expr* condition = counted ? statement.b.get() : statement.a.get();
  if (counted && statement.a) eval(*statement.a);
  while (!condition || truth(*condition)) {
    call_.charge(2);
    Flow flow = execute(statement.body);
    if (flow == Flow::break_) break;
    if (flow == Flow::return_ || flow == Flow::halt) return flow;
    if (counted && statement.c) eval(*statement.c);
  }
  return Flow::normal;
}

Runner::Number Runner::apply(Op op, const Number& a, const Number& b) {
  auto answer = [](bool yes) { return Number{yes ? 1 : 0, 0}; };
  switch (op) {
    case Op::add: return arithmetic_.add(a, b);
    case Op::subtract: return arithmetic_.subtract(a, b);
    case Op::multiply: return arithmetic_.multiply(a, b, scale_);
    case Op::divide: return arithmetic_.divide(a, b, scale_);
    case Op::modulo: return arithmetic_.modulo(a, b, scale_);
    case Op::power:
      if (arithmetic_.compare(b, arithmetic_.with_scale(b, 0)) != 0) {
        out_.flush();
        call_.err().write(fmt::format("Runtime warning (func={}): non-zero scale in exponent\n", function_));
      }
      return arithmetic_.power(a, b, scale_);
    case Op::equal: return answer(arithmetic_.compare(a, b) == 0);
    case Op::not_equal: return answer(arithmetic_.compare(a, b) != 0);
    case Op::less: return answer(arithmetic_.compare(a, b) < 0);
    case Op::less_equal: return answer(arithmetic_.compare(a, b) <= 0);
    case Op::greater: return answer(arithmetic_.compare(a, b) > 0);
    case Op::greater_equal: return answer(arithmetic_.compare(a, b) >= 0);
    default: return {};
  }
}

Runner::Number Runner::eval(const Expr& expr) {
  call_.charge(2);
  if (stack_low()) trouble("nesting too deep");
  switch (expr.op) {
    case Op::number: return arithmetic_.parse(expr.text, ibase_);
    case Op::variable:
    case Op::element: return load(expr);
    case Op::array: trouble("an array is no number");
    case Op::assign: return assigned(expr);
    case Op::increment_before:
    case Op::increment_after: return incremented(expr);
    case Op::negate: {
      Number value = eval(*expr.a);
      value.digits = -value.digits;
      return value;
    }
    case Op::not_: return {truth(*expr.a) ? 0 : 1, 0};
    case Op::and_: {
      bool left = truth(*expr.a), right = truth(*expr.b);  // both sides are computed, as GNU bc does
      return {left && right ? 1 : 0, 0};
    }
    case Op::or_: {
      bool left = truth(*expr.a), right = truth(*expr.b);
      return {left || right ? 1 : 0, 0};
    }
    case Op::call: return called(expr);
    case Op::length: {
      Number value = eval(*expr.list[0]);
      std::string text = decimal::magnitude(value.digits).str();
      return {std::max<std::size_t>(text.size(), value.is_zero() ? std::max(1U, value.scale) : value.scale),
              0};
    }
    case Op::scale_of: return {eval(*expr.list[0]).scale, 0};
    case Op::square_root: return arithmetic_.square_root(eval(*expr.list[0]), scale_);
    case Op::read: return input();
    case Op::chain: {
      Number value = eval(*expr.list[0]);
      for (std::size_t i = 0; i < expr.ops.size(); ++i)
        value = apply(expr.ops[i], value, eval(*expr.list[i + 1]));
      return value;
    }
    default: {
      Number left = eval(*expr.a);
      return apply(expr.op, left, eval(*expr.b));
    }
  }
}

Runner::Number Runner::assigned(const Expr& expr) {
  Number value = eval(*expr.b);
  if (expr.with != Op::assign) value = apply(expr.with, load(*expr.a), value);
  store(*expr.a, value);
  return value;
}

Runner::Number Runner::incremented(const Expr& expr) {
  Number before = load(*expr.a);
  Number after = apply(expr.with, before, {1, 0});
  store(*expr.a, after);
  return expr.op == Op::increment_before ? after : before;
}

// A subscript is cut to its whole part, as GNU bc does.
std::uint32_t Runner::index(const Expr& element) {
  decimal::Integer value = arithmetic_.with_scale(eval(*element.a), 0).digits;
  if (value < 0 || value > kIndexMax) trouble(fmt::format("Array {} subscript out of bounds.", element.text));
  return static_cast<std::uint32_t>(value);
}

Runner::Number Runner::load(const Expr& target) {
  if (target.op == Op::element) {
    Array& array = arrays_[target.text];
    auto found = array.find(index(target));
    return found == array.end() ? Number{} : found->second;
  }
  if (target.text == "scale") return {scale_, 0};
  if (target.text == "ibase") return {ibase_, 0};
  if (target.text == "obase") return {obase_, 0};
  if (target.text == "last") return last_;
  auto found = variables_.find(target.text);
  return found == variables_.end() ? Number{} : found->second;
}

void Runner::store(const Expr& target, const Number& value) {
  // scale, ibase and obase take the nearest value that they may have, without a word.
  auto small = [&](std::uint64_t low, std::uint64_t high) {
    decimal::Integer whole = arithmetic_.with_scale(value, 0).digits;
    return whole < low ? low : whole > high ? high : static_cast<std::uint64_t>(whole);
  };
  if (target.op == Op::element) {
    auto [where, fresh] = arrays_[target.text].try_emplace(index(target));
    if (fresh) call_.charge_memory(kElementBytes);
    where->second = value;
  } else if (target.text == "scale") {
    if (value.negative()) trouble("negative scale");
    scale_ = static_cast<std::uint32_t>(small(0, decimal::Arithmetic::kDigitsMax / 2));
  } else if (target.text == "ibase") {
    ibase_ = static_cast<unsigned>(small(2, 16));
  } else if (target.text == "obase") {
    obase_ = small(2, 1'000'000'000);
  } else if (target.text == "last") {
    last_ = value;
  } else {
    variables_[target.text] = value;
  }
}

void Runner::bind(const Function& function, const Expr& expr, std::map<std::string, Number>& numbers,
                  std::map<std::string, Array>& arrays) {
  if (expr.list.size() != function.parameters.size()) trouble("Parameter number mismatch");
  for (std::size_t i = 0; i < expr.list.size(); ++i) {
    const Parameter& parameter = function.parameters[i];
    if ((expr.list[i]->op == Op::array) != parameter.array)
      trouble(fmt::format("Parameter type mismatch parameter {}.", parameter.name));
    if (parameter.array)
      arrays[parameter.name] = arrays_[expr.list[i]->text];
    else
      numbers[parameter.name] = eval(*expr.list[i]);
  }
  // auto names begin as 0, or as an empty array.
  for (const Parameter& local : function.locals) {
    if (local.array)
      arrays[local.name];
    else
      numbers[local.name];
  }
}

// Variables are scoped by time: a call hides the ones it names and puts them back.
Runner::Number Runner::called(const Expr& expr) {
  auto found = functions_.find(expr.text);
  if (found == functions_.end()) return library_call(expr);
  // Kept while it runs: its body may define the function anew.
  std::shared_ptr<const Function> function = found->second;
  std::map<std::string, Number> numbers;
  std::map<std::string, Array> arrays;
  bind(*function, expr, numbers, arrays);
  for (auto& [name, value] : numbers) std::swap(variables_[name], value);
  for (auto& [name, value] : arrays) std::swap(arrays_[name], value);
  std::string outer = std::exchange(function_, expr.text);
  auto put_back = [&] {
    for (auto& [name, value] : numbers) variables_[name] = std::move(value);
    for (auto& [name, value] : arrays) arrays_[name] = std::move(value);
  };
  // A change of ibase inside a function ends with it, as in GNU bc.
  unsigned ibase = ibase_;
  returned_ = Number{};
  try {
    execute(function->body);
  } catch (const decimal::Trouble&) {
    put_back();
    throw;
  }
  ibase_ = ibase;
  put_back();
  function_ = std::move(outer);
  return std::exchange(returned_, Number{});
}

Runner::Number Runner::library_call(const Expr& expr) {
  using A = decimal::Arithmetic;
  static constexpr std::pair<std::string_view, Number (A::*)(const Number&, std::uint32_t)> kOne[] = {
      {"a", &A::arctangent},
      {"c", &A::cosine},
      {"e", &A::exponential},
      {"l", &A::logarithm},
      {"s", &A::sine}};
  if (library_) {
    for (auto& [name, function] : kOne) {
      if (expr.text != name) continue;
      if (expr.list.size() != 1) trouble("Parameter number mismatch");
      return (arithmetic_.*function)(eval(*expr.list[0]), scale_);
    }
    if (expr.text == "j") {
      if (expr.list.size() != 2) trouble("Parameter number mismatch");
      Number order = eval(*expr.list[0]);
      return arithmetic_.bessel(order, eval(*expr.list[1]), scale_);
    }
  }
  trouble(fmt::format("Function {} not defined.", expr.text));
}

Runner::Number Runner::input() {
  std::string line;
  if (from_stdin_) {
    line = parser_->take_line().value_or("");
  } else {
    call_.in().read_line(line);
  }
  std::string digits;
  // read() takes digits and a minus of the line and ignores everything else.
  bool negative = line.find('-') != std::string::npos;
  for (char c : line)
    if ((c >= '0' && c <= '9') || (c >= 'A' && c <= 'F') || c == '.') digits += c;
  if (digits.empty()) return {};
  Number value = arithmetic_.parse(digits, ibase_);
  if (negative) value.digits = -value.digits;
  return value;
}

void Runner::print(const Number& value) {
  out_.append(decimal::folded(arithmetic_.print(value, obase_), column_, width_));
}

void Runner::write(std::string_view text) {
  out_.append(text);
  std::size_t newline = text.rfind('\n');
  column_ = newline == std::string_view::npos ? column_ + text.size() : text.size() - newline - 1;
}

}  // namespace atl::shell::bc
