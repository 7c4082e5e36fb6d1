#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "shell/commands/awk/machine.h"
#include "shell/stack.h"

namespace atl::shell::awk {

bool Machine::truth_of(const Value& value) const {
  if (value.unset()) return false;
  // Input that looks like a number is one in conditions and comparisons (POSIX: a numeric string).
  if (value.flags & Value::kMaybe) {
    double n = 0;
    return looks_numeric(value.text, n) ? n != 0 : !value.text.empty();
  }
  if (value.is_number()) return value.number != 0;
  return !value.text.empty();
}

double Machine::number_of(const Value& value) const {
  if (value.is_number()) return value.number;
  return value.is_string() ? to_number(value.text) : 0;
}

std::string_view Machine::text_of(const Value& value, std::string& scratch) const {
  if (value.is_string()) return value.text;
  if (!value.is_number()) return {};
  scratch.clear();
  append_number(scratch, value.number, convfmt_);
  return scratch;
}

Cell& Machine::cell(const Node* node) {
  if (node->op == Op::local) return (*locals_)[static_cast<std::size_t>(node->slot)];
  return globals_[static_cast<std::size_t>(node->slot)];
}

// A name becomes an array by its first use as one.
std::shared_ptr<Array> Machine::array_pointer(const Node* node) {
  if (node->op == Op::index) {
    auto& e = element(node);
    if (!e.sub) {
      if (!e.value.unset()) fatal("attempt to use a scalar value as array");
      e.sub = std::make_shared<Array>();
    }
    return e.sub;
  }
  if (node->op != Op::global && node->op != Op::local) fatal("attempt to use a scalar value as array");
  Cell& c = cell(node);
  if (!c.array) {
    if (!c.value.unset()) fatal(fmt::format("attempt to use scalar `{}' as an array", node->text));
    c.array = std::make_shared<Array>();
  }
  return c.array;
}

Array& Machine::array(const Node* node) {
  if (node->op != Op::index) {
    Cell& c = cell(node);
    if (c.array && c.value.unset()) return *c.array;
  }
  return *array_pointer(node);
}

std::string_view Machine::subscript(const std::vector<Node*>& list, std::string& scratch) {
  if (list.size() == 1) return text(list[0], scratch);
  std::string joined, one;
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (i) joined += subsep_;
    joined += text(list[i], one);
  }
  scratch = std::move(joined);
  return scratch;
}

// Mentioning an element makes it, as in awk; only `in` does not.
Array::Element& Machine::element(const Node* node) {
  std::string scratch;
  std::string_view key = subscript(node->list, scratch);
  return array(node->a).at(key);
}

Value Machine::eval(const Node* node) {
  switch (node->op) {
    case Op::number:
    case Op::string: return node->constant;
    case Op::regex: return Value::of(regex_of(node).matches(record()) ? 1.0 : 0.0);
    case Op::group: return eval(node->a);
    case Op::global:
      // NF, NR and FNR live outside of their cells: splitting a record into fields waits until somebody asks.
      switch (node->slot) {
        case kNF:
          if (!split_) split_fields();
          return Value::of(static_cast<double>(field_count_));
        case kNR: return Value::of(nr_);
        case kFNR: return Value::of(fnr_);
        default: break;
      }
      [[fallthrough]];
    case Op::local: {
      Cell& c = cell(node);
      if (c.array && c.value.unset() && c.array->size() > 0)
        fatal(fmt::format("attempt to use array `{}' in a scalar context", node->text));
      return c.value;
    }
    case Op::field: return field(field_index(node));
    case Op::index: {
      auto& e = element(node);
      if (e.sub) fatal("attempt to use an array in a scalar context");
      return e.value;
    }
    case Op::assign:
    case Op::add_assign:
    case Op::subtract_assign:
    case Op::multiply_assign:
    case Op::divide_assign:
    case Op::modulo_assign:
    case Op::power_assign: return assign(node);
    case Op::conditional: return truth(node->a) ? eval(node->b) : eval(node->c);
    case Op::concat: {
      std::string out;
      concat_into(node, out);
      return Value::of(std::move(out));
    }
    case Op::pre_increment: return increment(node->a, 1, false);
    case Op::pre_decrement: return increment(node->a, -1, false);
    case Op::post_increment: return increment(node->a, 1, true);
    case Op::post_decrement: return increment(node->a, -1, true);
    case Op::call: return call_user(program_.functions[static_cast<std::size_t>(node->slot)], node->list);
    case Op::indirect_call: {
      std::string scratch;
      Value holder = eval(node->a);
      auto found = program_.function_index.find(std::string(text_of(holder, scratch)));
      if (found == program_.function_index.end())
        fatal(fmt::format("function `{}' not defined", text_of(holder, scratch)));
      return call_user(program_.functions[static_cast<std::size_t>(found->second)], node->list);
    }
    case Op::builtin: return builtin(node);
    case Op::getline:
    case Op::getline_file:
    case Op::getline_command: return Value::of(getline(node));
    case Op::logical_or:
    case Op::logical_and:
    case Op::logical_not:
    case Op::in:
    case Op::match:
    case Op::no_match:
    case Op::less:
    case Op::less_equal:
    case Op::equal:
    case Op::not_equal:
    case Op::greater:
    case Op::greater_equal: return Value::of(truth(node) ? 1.0 : 0.0);
    default: return Value::of(number(node));
  }
}

// The same as eval(), for callers that want a number: no Value is built on the way.
double Machine::number(const Node* node) {
  switch (node->op) {
    case Op::number: return node->number;
    case Op::string: return to_number(node->text);
    case Op::group: return number(node->a);
    case Op::global:
    case Op::local:
      if (node->op == Op::local || node->slot > kFNR) {
        Cell& c = cell(node);
        if (!c.array || c.array->size() == 0) return number_of(c.value);
      }
      return number_of(eval(node));
    case Op::field: {
      std::int64_t index = field_index(node);
      if (index > 0 && any_changed_) return number_of(field(index));
      return to_number(field_text(index));
    }
    case Op::index: return number_of(element(node).value);
    case Op::add: {
      // In two steps: C++ leaves the order of operands open, awk evaluates the left one first.
      double left = number(node->a);
      return left + number(node->b);
    }
    case Op::subtract: {
      double left = number(node->a);
      return left - number(node->b);
    }
    case Op::multiply: {
      double left = number(node->a);
      return left * number(node->b);
    }
    case Op::divide: {
      double left = number(node->a);
      double right = number(node->b);
      if (right == 0) fatal("division by zero attempted");
      return left / right;
    }
    case Op::modulo: {
      double left = number(node->a);
      double right = number(node->b);
      if (right == 0) fatal("division by zero attempted in `%'");
      return std::fmod(left, right);
    }
    case Op::power: {
      double left = number(node->a);
      return std::pow(left, number(node->b));
    }
    case Op::negate: return -number(node->a);
    case Op::plus: return number(node->a);
    default: return number_of(eval(node));
  }
}

std::string_view Machine::text(const Node* node, std::string& scratch) {
  switch (node->op) {
    case Op::string: return node->text;
    case Op::group: return text(node->a, scratch);
    case Op::field: return field_text(field_index(node));
    case Op::local:
    case Op::global: {
      if (node->op == Op::global && node->slot <= kFNR) break;
      Cell& c = cell(node);
      if (!c.value.unset()) return text_of(c.value, scratch);
      break;
    }
    case Op::concat: {
      std::string out;
      concat_into(node, out);
      scratch = std::move(out);
      return scratch;
    }
    default: break;
  }
  Value value = eval(node);
  if (value.is_string()) {
    scratch = std::move(value.text);
    return scratch;
  }
  return text_of(value, scratch);
}

void Machine::concat_into(const Node* node, std::string& out) {
  // Left-deep chains without recursion on the left.
  std::vector<const Node*> parts;
  while (node->op == Op::concat) {
    parts.push_back(node->b);
    node = node->a;
  }
  std::string scratch;
  out += text(node, scratch);
  for (std::size_t i = parts.size(); i-- > 0;) out += text(parts[i], scratch);
  if (out.size() > (64U << 20)) call_.charge(out.size());
}

bool Machine::truth(const Node* node) {
  switch (node->op) {
    case Op::logical_or: return truth(node->a) || truth(node->b);
    case Op::logical_and: return truth(node->a) && truth(node->b);
    case Op::logical_not: return !truth(node->a);
    case Op::group: return truth(node->a);
    case Op::regex: return regex_of(node).matches(record());
    case Op::match: return match(node->a, node->b);
    case Op::no_match: return !match(node->a, node->b);
    case Op::in: {
      std::string scratch;
      std::string key;
      if (node->a->op == Op::tuple)
        key = subscript(node->a->list, scratch);
      else
        key = text(node->a, scratch);
      return array(node->b).find(key) != nullptr;
    }
    case Op::less:
    case Op::less_equal:
    case Op::equal:
    case Op::not_equal:
    case Op::greater:
    case Op::greater_equal: return compare(node->op, node);
    default: return truth_of(eval(node));
  }
}

bool Machine::match(const Node* subject, const Node* pattern) {
  std::string scratch;
  if (pattern->op == Op::regex) return regex_of(pattern).matches(text(subject, scratch));
  std::string left(text(subject, scratch));
  std::string other;
  std::string right(text(pattern, other));
  return dynamic_regex(right).matches(left);
}

int Machine::compare_values(Value& left, Value& right) {
  settle(left);
  settle(right);
  bool left_number = left.is_number() || left.unset();
  bool right_number = right.is_number() || right.unset();
  // Numbers if both are, else text. An unset variable is both.
  if (left_number && right_number) {
    double a = left.unset() ? 0 : left.number;
    double b = right.unset() ? 0 : right.number;
    return a < b ? -1 : a > b ? 1 : 0;
  }
  std::string first, second;
  std::string_view a = text_of(left, first);
  std::string_view b = text_of(right, second);
  if (ignore_case_) {
    int order = strncasecmp(a.data(), b.data(), std::min(a.size(), b.size()));
    if (order != 0) return order;
    return a.size() < b.size() ? -1 : a.size() > b.size() ? 1 : 0;
  }
  return a.compare(b);
}

bool Machine::compare(Op op, const Node* node) {
  int order = 0;
  const Node* left_node = node->a;
  const Node* right_node = node->b;
  // $n against a number: no value needs to be built.
  if (left_node->op == Op::field && right_node->op == Op::number && !any_changed_) {
    std::string_view field_value = field_text(field_index(left_node));
    double left = 0;
    if (looks_numeric(field_value, left)) {
      double right = right_node->number;
      order = left < right ? -1 : left > right ? 1 : 0;
      if (std::isnan(left)) return op == Op::not_equal;
    } else if (field_value.empty() && field_index(left_node) > field_count_) {
      order = 0 < right_node->number ? -1 : 0 > right_node->number ? 1 : 0;
    } else {
      std::string scratch;
      append_number(scratch, right_node->number, convfmt_);
      order = field_value.compare(scratch);
    }
  } else if (left_node->op == Op::field && right_node->op == Op::string && !ignore_case_) {
    order = field_text(field_index(left_node)).compare(right_node->text);
  } else {
    Value left = eval(left_node);
    Value right = eval(right_node);
    if (left.is_number() && right.is_number() && (std::isnan(left.number) || std::isnan(right.number)))
      return op == Op::not_equal;
    order = compare_values(left, right);
  }
  switch (op) {
    case Op::less: return order < 0;
    case Op::less_equal: return order <= 0;
    case Op::equal: return order == 0;
    case Op::not_equal: return order != 0;
    case Op::greater: return order > 0;
    default: return order >= 0;
  }
}

void Machine::store(const Node* target, Value value) {
  switch (target->op) {
    case Op::group: store(target->a, std::move(value)); return;
    case Op::field: set_field(field_index(target), std::move(value)); return;
    case Op::index: {
      auto& e = element(target);
      if (e.sub) fatal("attempt to use an array in a scalar context");
      e.value = std::move(value);
      return;
    }
    case Op::global:
    case Op::local: {
      Cell& c = cell(target);
      if (c.array && c.value.unset() && c.array->size() > 0)
        fatal(fmt::format("attempt to use array `{}' in a scalar context", target->text));
      c.value = std::move(value);
      if (target->op == Op::global && target->slot < kSpecialCount) special_assigned(target->slot);
      return;
    }
    default: fatal("assignment to something that is not a variable");
  }
}

Value Machine::assign(const Node* node) {
  if (node->op == Op::assign) {
    Value value = eval(node->b);
    if (node->a->op == Op::global || node->a->op == Op::local || node->a->op == Op::index) {
      if (value.unset()) value.flags = 0;
    }
    store(node->a, value);
    return value;
  }
  double right = number(node->b);
  // For array elements: one look-up for reading and writing.
  Value* holder = nullptr;
  // Taken after the right side was evaluated, which may have moved the element.
  if (node->a->op == Op::index) holder = &element(node->a).value;
  double left = holder ? number_of(*holder) : number(node->a);
  double result = 0;
  switch (node->op) {
    case Op::add_assign: result = left + right; break;
    case Op::subtract_assign: result = left - right; break;
    case Op::multiply_assign: result = left * right; break;
    case Op::divide_assign:
      if (right == 0) fatal("division by zero attempted in `/='");
      result = left / right;
      break;
    case Op::modulo_assign:
      if (right == 0) fatal("division by zero attempted in `%='");
      result = std::fmod(left, right);
      break;
    default: result = std::pow(left, right);
  }
  if (holder) {
    holder->number = result;
    holder->flags = Value::kNumber;
    holder->text.clear();
    return Value::of(result);
  }
  if (node->a->op == Op::local || (node->a->op == Op::global && node->a->slot >= kSpecialCount)) {
    Value& value = cell(node->a).value;
    value.number = result;
    value.flags = Value::kNumber;
    return Value::of(result);
  }
  store(node->a, Value::of(result));
  return Value::of(result);
}

Value Machine::increment(const Node* node, double by, bool post) {
  if (node->op == Op::index) {
    Value& value = element(node).value;
    double before = number_of(value);
    value.number = before + by;
    value.flags = Value::kNumber;
    value.text.clear();
    return Value::of(post ? before : before + by);
  }
  double before = number(node);
  store(node, Value::of(before + by));
  return Value::of(post ? before : before + by);
}

Value Machine::call_user(const Function& function, const std::vector<Node*>& arguments) {
  if (stack_left_here() < stack_reserve_for_tree)
    fatal(fmt::format("function `{}': calls nested too deeply", function.name));
  if (arguments.size() > function.parameters.size())
    fatal(fmt::format("function `{}' called with more arguments than declared", function.name));
  std::vector<Cell> frame(function.parameters.size());
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const Node* argument = arguments[i];
    if (argument->op == Op::global || argument->op == Op::local) {
      if (argument->op == Op::local || argument->slot >= kFS) {
        Cell& c = cell(argument);
        if (c.value.unset()) {
          // Not known yet whether it is an array: both sides share one in case it becomes one.
          if (!c.array) c.array = std::make_shared<Array>();
          frame[i].array = c.array;
          continue;
        }
      }
    } else if (argument->op == Op::index) {
      auto& e = element(argument);
      if (e.sub) {
        frame[i].array = e.sub;
        continue;
      }
    }
    frame[i].value = eval(argument);
  }
  std::vector<Cell>* saved = locals_;
  locals_ = &frame;
  returned_ = Value{};
  Flow flow = execute(function.body);
  locals_ = saved;
  // Calls are expressions: there is no way to pass this up by return values.
  if (flow == Flow::exit || flow == Flow::next || flow == Flow::nextfile) throw Jump{flow};
  return std::move(returned_);
}

const Regex& Machine::regex_of(const Node* node) {
  if (!node->compiled || ignore_case_) {
    if (ignore_case_) return dynamic_regex(node->text);
    RegexOptions options;
    auto compiled = Regex::compile(node->text, Syntax::awk, options);
    if (!compiled) fatal(fmt::format("invalid regexp: {}: /{}/", compiled.error().message(), node->text));
    // JUSTIFICATION: a compiled pattern is a cache of the node, which is otherwise const.
    const_cast<Node*>(node)->compiled = std::make_unique<Regex>(std::move(*compiled));
  }
  return *node->compiled;
}

const Regex& Machine::dynamic_regex(std::string_view pattern) {
  std::string key = (ignore_case_ ? "i" : "-") + std::string(pattern);
  auto found = regexes_.find(key);
  if (found != regexes_.end()) return *found->second;
  // Expressions that a program builds from its input would grow without end.
  if (regexes_.size() > 500) regexes_.clear(), fs_regex_ = nullptr, special_assigned(kFS);
  RegexOptions options;
  options.ignore_case = ignore_case_;
  auto compiled = Regex::compile(pattern, Syntax::awk, options);
  if (!compiled) fatal(fmt::format("invalid regexp: {}: /{}/", compiled.error().message(), pattern));
  call_.charge(pattern.size() + 100);
  return *regexes_.emplace(std::move(key), std::make_unique<Regex>(std::move(*compiled))).first->second;
}

void Machine::special_assigned(int slot) {
  std::string scratch;
  const Value& value = globals_[static_cast<std::size_t>(slot)].value;
  switch (slot) {
    case kNR: nr_ = number_of(value); break;
    case kFNR: fnr_ = number_of(value); break;
    case kNF: set_field_count(static_cast<std::int64_t>(number_of(value))); break;
    case kFS: {
      // The record that is there was to be split by the separator it was read with.
      if (!split_ && !source_.empty()) split_fields();
      fs_.assign(text_of(value, scratch));
      fs_regex_ = nullptr;
      use_fpat_ = false;
      widths_.clear();
      if (fs_ == "\\t") fs_ = "\t";
      if (fs_.size() > 1 || (fs_.size() == 1 && ignore_case_ && isalpha(static_cast<unsigned char>(fs_[0]))))
        fs_regex_ = &dynamic_regex(fs_);
      break;
    }
    case kOFS: ofs_.assign(text_of(value, scratch)); break;
    case kORS: ors_.assign(text_of(value, scratch)); break;
    case kRS: rs_.assign(text_of(value, scratch)); break;
    case kSUBSEP: subsep_.assign(text_of(value, scratch)); break;
    case kCONVFMT:
    case kOFMT: {
      std::string spec(text_of(value, scratch));
      // Used with snprintf on one double: anything else is not let through.
      std::size_t percent = spec.find('%');
      std::size_t end = spec.find_first_not_of("-+ #0123456789.", percent + 1);
      bool good = percent != std::string::npos && end != std::string::npos &&
                  std::string_view("eEfFgGaA").find(spec[end]) != std::string_view::npos &&
                  spec.find('%', end) == std::string::npos && end - percent < 12;
      if (slot == kCONVFMT)
        convfmt_ = good ? spec : "%.6g";
      else
        ofmt_ = good ? spec : spec == "%d" || spec == "%i" ? "%.0f" : "%.6g";
      break;
    }
    case kIGNORECASE: ignore_case_ = truth_of(value); break;
    case kFPAT:
      use_fpat_ = true;
      widths_.clear();
      break;
    case kFIELDWIDTHS: {
      widths_.clear();
      std::string list(text_of(value, scratch));
      for (std::size_t at = 0; at < list.size();) {
        std::size_t end = list.find_first_of(" \t\n", at);
        if (end == std::string::npos) end = list.size();
        std::string one = list.substr(at, end - at);
        if (one == "*")
          widths_.push_back(std::string::npos);
        else if (!one.empty())
          widths_.push_back(static_cast<std::size_t>(std::max(0.0, to_number(one))));
        at = end + 1;
      }
      use_fpat_ = false;
      break;
    }
    default: break;
  }
}

void Machine::assign_text(const std::string& name, std::string_view value) {
  std::string text;
  for (std::size_t i = 0; i < value.size(); ++i) {
    if (value[i] != '\\' || i + 1 >= value.size()) {
      text += value[i];
      continue;
    }
    char e = value[++i];
    switch (e) {
      case 'n': text += '\n'; break;
      case 't': text += '\t'; break;
      case 'r': text += '\r'; break;
      case '\\': text += '\\'; break;
      case '"': text += '"'; break;
      case '/': text += '/'; break;
      case 'a': text += '\a'; break;
      case 'b': text += '\b'; break;
      case 'f': text += '\f'; break;
      case 'v': text += '\v'; break;
      default:
        if (e >= '0' && e <= '7') {
          int code = e - '0';
          for (int k = 0; k < 2 && i + 1 < value.size() && value[i + 1] >= '0' && value[i + 1] <= '7'; ++k)
            code = code * 8 + (value[++i] - '0');
          text += static_cast<char>(code);
        } else {
          text += '\\';
          text += e;
        }
    }
  }
  int slot = program_.global(name);
  if (static_cast<std::size_t>(slot) >= globals_.size()) globals_.resize(static_cast<std::size_t>(slot) + 1);
  // -v and operands count as input: v=10 is a number where it looks like one.
  globals_[static_cast<std::size_t>(slot)].value = Value::input(text);
  if (slot < kSpecialCount) special_assigned(slot);
}

}  // namespace atl::shell::awk
