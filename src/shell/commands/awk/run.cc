#include <fmt/format.h>

#include <cmath>
#include <ctime>

#include "shell/commands/awk/io.h"
#include "shell/commands/awk/machine.h"

namespace atl::shell::awk {

Machine::Machine(Invocation& call, Program& program)
    : call_(call), program_(program), out_(call.out()), globals_(program.globals.size()) {
  auto text = [&](int slot, std::string value) {
    globals_[static_cast<std::size_t>(slot)].value = Value::of(std::move(value));
  };
  auto num = [&](int slot, double value) {
    globals_[static_cast<std::size_t>(slot)].value = Value::of(value);
  };
  text(kFS, " ");
  text(kOFS, " ");
  text(kRS, "\n");
  text(kORS, "\n");
  text(kSUBSEP, "\034");
  text(kCONVFMT, "%.6g");
  text(kOFMT, "%.6g");
  text(kFILENAME, "");
  text(kRT, "");
  text(kFPAT, "[^[:space:]]+");
  text(kFIELDWIDTHS, "");
  num(kRSTART, 0);
  num(kRLENGTH, -1);
  num(kIGNORECASE, 0);
  auto environment = std::make_shared<Array>();
  for (auto& [name, value] : call.environment()) environment->at(name).value = Value::input(value);
  globals_[kENVIRON].array = environment;
  auto info = std::make_shared<Array>();
  info->at("version").value = Value::of(std::string("5.2.1"));
  info->at("FS").value = Value::of(std::string("FS"));
  info->at("strftime").value = Value::of(std::string("%a %b %e %H:%M:%S %Z %Y"));
  globals_[kPROCINFO].array = info;
  spans_.reserve(16);
}

Machine::~Machine() = default;

void Machine::set_arguments(const std::vector<std::string>& operands) {
  auto argv = std::make_shared<Array>();
  argv->at("0").value = Value::of(std::string("awk"));
  for (std::size_t i = 0; i < operands.size(); ++i)
    argv->at(std::to_string(i + 1)).value = Value::input(operands[i]);
  globals_[kARGV].array = argv;
  globals_[kARGC].value = Value::of(static_cast<double>(operands.size() + 1));
}

int Machine::run() {
  try {
    Flow flow = run_kind(Rule::Kind::begin);
    bool wants_input = false;
    for (const Rule& rule : program_.rules)
      if (rule.kind != Rule::Kind::begin) wants_input = true;
    if (flow != Flow::exit && wants_input) flow = loop_over_input();
    if (flow == Flow::exit) exiting_ = true;
    // exit in END stops at once; exit before it still runs END.
    run_kind(Rule::Kind::end);
    int status = out_.finish(call_, exit_status_);
    close_all();
    return status;
  } catch (const Fatal& fatal) {
    out_.flush();
    call_.err().write(
        fmt::format("awk: {}fatal: {}\n", input_used_ && nr_ == 0 ? "" : "cmd. line:1: ", fatal.message));
    return 2;
  }
}

Machine::Flow Machine::run_kind(Rule::Kind kind) {
  for (Rule& rule : program_.rules) {
    if (rule.kind != kind || !rule.body) continue;
    Flow flow = guarded(rule.body);
    if (flow == Flow::exit) return flow;
  }
  return Flow::normal;
}

Machine::Flow Machine::guarded(const Node* node) {
  try {
    return execute(node);
  } catch (const Jump& jump) {
    // The jump left functions in the middle; rules have no locals.
    locals_ = nullptr;
    return jump.flow;
  }
}

Machine::Flow Machine::loop_over_input() {
  while (next_record()) {
    tick();
    Flow flow = run_rules();
    if (flow == Flow::exit) return flow;
    if (flow == Flow::nextfile) {
      if (run_kind(Rule::Kind::end_file) == Flow::exit) return Flow::exit;
      main_.reset();
    }
  }
  return Flow::normal;
}

Machine::Flow Machine::run_rules() {
  for (Rule& rule : program_.rules) {
    if (rule.kind != Rule::Kind::pattern) continue;
    if (rule.pattern) {
      if (rule.pattern_end) {
        if (!rule.in_range) {
          if (!truth(rule.pattern)) continue;
          rule.in_range = true;
        }
        // A range may begin and end with the same record.
        if (truth(rule.pattern_end)) rule.in_range = false;
      } else if (!truth(rule.pattern)) {
        continue;
      }
    }
    if (!rule.body) {
      out_.append(record());
      out_.append(ors_);
      continue;
    }
    Flow flow = guarded(rule.body);
    if (flow == Flow::next) return Flow::normal;
    if (flow == Flow::exit || flow == Flow::nextfile) return flow;
  }
  return Flow::normal;
}

Machine::Flow Machine::execute_block(const std::vector<Node*>& list) {
  for (const Node* node : list) {
    Flow flow = execute(node);
    if (flow != Flow::normal) return flow;
  }
  return Flow::normal;
}

Machine::Flow Machine::execute(const Node* node) {
  tick();
  switch (node->op) {
    case Op::block: return execute_block(node->list);
    case Op::expression: {
      const Node* e = node->a;
      // The value is not wanted: the forms that people write most need not make one.
      switch (e->op) {
        case Op::post_increment:
        case Op::pre_increment: increment(e->a, 1, false); break;
        case Op::post_decrement:
        case Op::pre_decrement: increment(e->a, -1, false); break;
        default: eval(e);
      }
      return Flow::normal;
    }
    case Op::print:
    case Op::printf_: print(node); return Flow::normal;
    case Op::if_:
      if (truth(node->a)) return execute(node->b);
      return node->c ? execute(node->c) : Flow::normal;
    case Op::while_:
      while (truth(node->a)) {
        Flow flow = execute(node->b);
        if (flow == Flow::break_) break;
        if (flow != Flow::normal && flow != Flow::continue_) return flow;
      }
      return Flow::normal;
    case Op::do_:
      do {
        Flow flow = execute(node->b);
        if (flow == Flow::break_) break;
        if (flow != Flow::normal && flow != Flow::continue_) return flow;
      } while (truth(node->a));
      return Flow::normal;
    case Op::for_:
      if (node->a) execute(node->a);
      while (!node->b || truth(node->b)) {
        Flow flow = execute(node->d);
        if (flow == Flow::break_) break;
        if (flow != Flow::normal && flow != Flow::continue_) return flow;
        if (node->c) execute(node->c);
      }
      return Flow::normal;
    case Op::for_in: return execute_for_in(node);
    case Op::switch_: return execute_switch(node);
    case Op::break_: return Flow::break_;
    case Op::continue_: return Flow::continue_;
    case Op::next: return Flow::next;
    case Op::nextfile: return Flow::nextfile;
    case Op::exit_:
      if (node->a) exit_status_ = static_cast<int>(static_cast<std::int64_t>(number(node->a)) & 0xFF);
      return Flow::exit;
    case Op::return_: returned_ = node->a ? eval(node->a) : Value{}; return Flow::return_;
    case Op::delete_: {
      std::string scratch;
      Array& a = array(node->a->a);
      std::string key(subscript(node->a->list, scratch));
      a.erase(key);
      return Flow::normal;
    }
    case Op::delete_all: array(node->a).clear(); return Flow::normal;
    default: eval(node); return Flow::normal;
  }
}

Machine::Flow Machine::execute_for_in(const Node* node) {
  auto held = array_pointer(node->b);
  std::string how;
  if (auto* sorted = globals_[kPROCINFO].array->find("sorted_in")) {
    std::string scratch;
    how = text_of(sorted->value, scratch);
  }
  // The keys are copied first: the body may add and delete elements.
  std::vector<std::string> keys = how.empty() ? held->keys([this] { tick(); }) : ordered_keys(*held, how);
  for (std::string& key : keys) {
    store(node->a, Value::input(key));
    Flow flow = execute(node->c);
    if (flow == Flow::break_) break;
    if (flow != Flow::normal && flow != Flow::continue_) return flow;
  }
  return Flow::normal;
}

Machine::Flow Machine::execute_switch(const Node* node) {
  Value subject = eval(node->a);
  std::size_t start = node->list.size();
  for (std::size_t i = 0; i < node->list.size() && start == node->list.size(); ++i) {
    const Node* label = node->list[i]->a;
    if (!label) continue;
    std::string scratch;
    if (label->op == Op::regex) {
      if (regex_of(label).matches(text_of(subject, scratch))) start = i;
      continue;
    }
    Value wanted = eval(label);
    Value copy = subject;
    if (wanted.is_number() != ((settle(copy), copy.is_number()))) continue;
    if (compare_values(copy, wanted) == 0) start = i;
  }
  for (std::size_t i = 0; i < node->list.size() && start == node->list.size(); ++i)
    if (!node->list[i]->a) start = i;
  for (std::size_t i = start; i < node->list.size(); ++i) {
    Flow flow = execute_block(node->list[i]->list);
    if (flow == Flow::break_) return Flow::normal;
    if (flow != Flow::normal) return flow;
  }
  return Flow::normal;
}

void Machine::print(const Node* node) {
  if (node->redirect == Redirect::none && node->op == Op::print) {
    std::string scratch;
    if (node->list.empty()) out_.append(record());
    bool first = true;
    for (const Node* item : node->list) {
      if (!first) out_.append(ofs_);
      first = false;
      if (item->op == Op::field || item->op == Op::string || item->op == Op::concat) {
        out_.append(text(item, scratch));
        continue;
      }
      Value value = eval(item);
      if (value.is_number() && !value.is_string()) {
        scratch.clear();
        append_number(scratch, value.number, ofmt_);
        out_.append(scratch);
      } else {
        out_.append(value.text);
      }
    }
    out_.append(ors_);
    if (out_.failed()) fatal("print to \"standard output\" failed");
    return;
  }
  std::string line;
  if (node->op == Op::printf_) {
    std::vector<Value> arguments;
    for (std::size_t i = 1; i < node->list.size(); ++i) arguments.push_back(eval(node->list[i]));
    std::string scratch;
    std::string spec(text(node->list[0], scratch));
    format(spec, arguments, line);
  } else {
    if (node->list.empty()) line.append(record());
    for (std::size_t i = 0; i < node->list.size(); ++i) {
      if (i) line += ofs_;
      Value value = eval(node->list[i]);
      if (value.is_number() && !value.is_string())
        append_number(line, value.number, ofmt_);
      else
        line += value.text;
    }
    line += ors_;
  }
  if (node->redirect == Redirect::none) {
    out_.append(line);
    return;
  }
  Writer& target = writer(node->a, node->redirect);
  target.write(line);
}

}  // namespace atl::shell::awk
