#include <fmt/format.h>

#include <cmath>

#include "shell/arguments/command_line.h"
#include "shell/command.h"
#include "shell/command_entries.h"
#include "shell/commands/jq/machine.h"
#include "shell/files/inputs.h"
#include "shell/text/sink.h"

namespace atl::shell::jq_program {

namespace {

using jq::Env;
using jq::Machine;
using jq::Value;

struct Request {
  bool null_input = false, slurp = false, raw_input = false, raw_output = false, join_output = false,
       nul_output = false;
  bool exit_status = false, sequence = false, stream = false;
  jq::Style style;
  std::string program;
  bool has_program = false;
  std::vector<std::string> files;
  std::vector<std::pair<std::string, Value>> variables;
  std::vector<Value> positional;
};

// jq's own option parsing: options anywhere, clusters of letters, some take two arguments. -1: go on.
int read_arguments(Invocation& call, Request& r) {
  auto args = call.args();
  char rest = 'f';  // what operands are: files, a(rgs), j(sonargs)
  bool options = true;
  auto value_file = [&](const std::string& path, std::string& text) {
    auto in = call.open_input(path);
    if (!in) {
      call.err().write(fmt::format("jq: Bad JSON in --slurpfile {}: Could not open {}: {}\n", path, path,
                                   reason(in.error())));
      return false;
    }
    text = (*in)->read_all();
    return true;
  };
  for (std::size_t i = 1; i < args.size(); ++i) {
    const std::string& arg = args[i];
    if (!options || arg.size() < 2 || arg[0] != '-') {
      if (!r.has_program) {
        r.program = arg;
        r.has_program = true;
      } else if (rest == 'a') {
        r.positional.emplace_back(arg);
      } else if (rest == 'j') {
        auto parsed = jq::parse_json(arg);
        if (!parsed) {
          call.err().write(fmt::format("jq: Invalid JSON text passed to --jsonargs\n"));
          return 2;
        }
        r.positional.push_back(*parsed);
      } else {
        r.files.push_back(arg);
      }
      continue;
    }
    if (arg == "--") {
      options = false;
      continue;
    }
    auto need = [&](std::size_t count) {
      if (i + count < args.size()) return true;
      call.err().write(fmt::format("jq: error: {} takes {} parameter{} (e.g. {} {})\n", arg,
                                   count == 1 ? "one" : "two", count == 1 ? "" : "s", arg,
                                   count == 1 ? "value" : "name value"));
      return false;
    };
    if (arg[1] != '-') {
      for (std::size_t k = 1; k < arg.size(); ++k) {
        switch (arg[k]) {
          case 'n': r.null_input = true; break;
          case 's': r.slurp = true; break;
          case 'R': r.raw_input = true; break;
          case 'r': r.raw_output = true; break;
          case 'j': r.raw_output = r.join_output = true; break;
          case 'a': r.style.ascii = true; break;
          case 'c': r.style.indent = 0; break;
          case 'C': r.style.color = true; break;
          case 'M': r.style.color = false; break;
          case 'S': r.style.sort_keys = true; break;
          case 'e': r.exit_status = true; break;
          case 'h': call.out().write("Usage:\tjq [OPTIONS] FILTER [FILES...]\n"); return 0;
          case 'V': call.out().write("jq-1.6\n"); return 0;
          case 'f': {
            if (!need(1)) return 2;
            auto in = call.open_input(args[++i]);
            if (!in) {
              call.err().write(
                  fmt::format("jq: error: Could not open {}: {}\n", args[i], reason(in.error())));
              return 2;
            }
            if (r.has_program) r.files.insert(r.files.begin(), r.program);
            r.program = (*in)->read_all();
            r.has_program = true;
            break;
          }
          case 'L': ++i; break;
          default:
            call.err().write(
                fmt::format("Unknown arguments\nUse jq --help for help with command-line options,\nor see "
                            "the jq manpage, or online docs  at https://stedolan.github.io/jq\n"));
            return 2;
        }
      }
      continue;
    }
    std::string name = arg.substr(2);
    if (name == "null-input")
      r.null_input = true;
    else if (name == "slurp")
      r.slurp = true;
    else if (name == "raw-input")
      r.raw_input = true;
    else if (name == "raw-output")
      r.raw_output = true;
    else if (name == "raw-output0")
      r.raw_output = r.nul_output = true;
    else if (name == "join-output")
      r.raw_output = r.join_output = true;
    else if (name == "ascii-output")
      r.style.ascii = true;
    else if (name == "compact-output")
      r.style.indent = 0;
    else if (name == "color-output")
      r.style.color = true;
    else if (name == "monochrome-output" || name == "unbuffered")
      r.style.color = false;
    else if (name == "sort-keys")
      r.style.sort_keys = true;
    else if (name == "exit-status")
      r.exit_status = true;
    else if (name == "seq")
      r.sequence = true;
    else if (name == "stream")
      r.stream = true;
    else if (name == "tab")
      r.style.indent = -1;
    else if (name == "indent") {
      if (!need(1)) return 2;
      r.style.indent = atoi(args[++i].c_str());
      if (r.style.indent < 0 || r.style.indent > 7) {
        call.err().write(r.style.indent < 0 ? "jq: Cannot indent less than zero\n"
                                            : "jq: Cannot indent more than 7 characters\n");
        return 2;
      }
    } else if (name == "arg" || name == "argjson" || name == "slurpfile" || name == "rawfile") {
      if (!need(2)) return 2;
      std::string variable = args[i + 1], text = args[i + 2];
      i += 2;
      Value value;
      if (name == "arg")
        value = Value(text);
      else if (name == "argjson") {
        auto parsed = jq::parse_json(text);
        if (!parsed) {
          call.err().write(fmt::format("jq: Invalid JSON text passed to --argjson\n"));
          return 2;
        }
        value = *parsed;
      } else {
        std::string content;
        if (!value_file(text, content)) return 2;
        if (name == "rawfile")
          value = Value(content);
        else {
          std::vector<Value> all;
          jq::Reader reader(content);
          Value one;
          while (true) {
            auto more = reader.next(one);
            if (!more) {
              call.err().write(fmt::format("jq: Bad JSON in --slurpfile {} {}: {}\n", variable, text,
                                           more.error().message()));
              return 2;
            }
            if (!*more) break;
            all.push_back(one);
          }
          value = Value::array(std::move(all));
        }
      }
      bool known = false;
      for (auto& [n, v] : r.variables) known |= n == variable;
      // The first of several --arg with one name wins, as in jq.
      if (!known) r.variables.emplace_back(variable, value);
    } else if (name == "args")
      rest = 'a';
    else if (name == "jsonargs")
      rest = 'j';
    else if (name == "from-file") {
      if (!need(1)) return 2;
      auto in = call.open_input(args[++i]);
      if (!in) {
        call.err().write(fmt::format("jq: error: Could not open {}: {}\n", args[i], reason(in.error())));
        return 2;
      }
      r.program = (*in)->read_all();
      r.has_program = true;
    } else if (name == "help") {
      call.out().write("Usage:\tjq [OPTIONS] FILTER [FILES...]\n");
      return 0;
    } else if (name == "version") {
      call.out().write("jq-1.6\n");
      return 0;
    } else {
      call.err().write(
          fmt::format("jq: Unknown option: {}\nUse jq --help for help with command-line options,\nor see the "
                      "jq manpage, or online docs  at https://stedolan.github.io/jq\n",
                      arg));
      return 2;
    }
  }
  return -1;
}

// The inputs of the program one by one.
class Inputs {
 public:
  Inputs(Invocation& call, const Request& r, Machine& machine) : call_(call), r_(r), machine_(machine) {}

  bool next(Value& value) {
    if (r_.slurp) {
      if (slurped_) return false;
      slurped_ = true;
      if (r_.raw_input) {
        std::string all;
        while (open_next()) all += text_;
        value = Value(all);
        return true;
      }
      std::vector<Value> all;
      Value one;
      while (one_value(one)) all.push_back(one);
      if (failed) return false;
      value = Value::array(std::move(all));
      return true;
    }
    if (r_.raw_input) return raw_line(value);
    if (r_.stream) return streamed(value);
    return one_value(value);
  }

  bool failed = false;
  int status = 0;

 private:
  bool open_next() {
    while (true) {
      if (r_.files.empty()) {
        if (file_ > 0) return false;
        ++file_;
        text_ = call_.in().read_all();
      } else {
        if (file_ >= r_.files.size()) return false;
        const std::string& name = r_.files[file_++];
        auto in = call_.open_input(name);
        if (!in) {
          call_.err().write(fmt::format("jq: error: Could not open {}: {}\n", name, reason(in.error())));
          status = 2;
          continue;
        }
        text_ = (*in)->read_all();
        machine_.input_name = name;
        machine_.has_input_name = true;
      }
      call_.charge(text_.size() / 8 + 1);
      reader_.emplace(text_);
      at_ = 0;
      return true;
    }
  }
  bool one_value(Value& value) {
    while (true) {
      if (!reader_ && !open_next()) return false;
      auto more = reader_->next(value);
      call_.charge(16);
      if (!more) {
        failed = true;
        call_.err().write(fmt::format("jq: error (at {}:{}): {}\n",
                                      machine_.has_input_name ? machine_.input_name : "<stdin>", 0,
                                      more.error().message()));
        return false;
      }
      if (*more) return true;
      reader_.reset();
    }
  }
  bool raw_line(Value& value) {
    while (true) {
      if (!reader_ && !open_next()) return false;
      if (at_ >= text_.size()) {
        reader_.reset();
        continue;
      }
      std::size_t end = text_.find('\n', at_);
      std::string line = text_.substr(at_, end == std::string::npos ? end : end - at_);
      at_ = end == std::string::npos ? text_.size() : end + 1;
      call_.charge(4);
      // A last line without its end goes on in the next file.
      while (end == std::string::npos && open_next()) {
        end = text_.find('\n');
        line.append(text_, 0, end);
        at_ = end == std::string::npos ? text_.size() : end + 1;
      }
      value = Value(std::move(line));
      return true;
    }
  }
  bool streamed(Value& value) {
    while (pending_at_ >= pending_.size()) {
      Value whole;
      if (!one_value(whole)) return false;
      pending_.clear();
      pending_at_ = 0;
      static const jq::Node kStream = [] {
        jq::Node node;
        node.op = jq::Op::call_builtin;
        node.builtin = jq::find_builtin("tostream", 0);
        node.text = "tostream";
        return node;
      }();
      machine_.eval(&kStream, nullptr, whole, nullptr, [&](const Value& v, const jq::Path*) {
        pending_.push_back(v);
        return true;
      });
    }
    value = pending_[pending_at_++];
    return true;
  }

  Invocation& call_;
  const Request& r_;
  Machine& machine_;
  std::string text_;
  std::optional<jq::Reader> reader_;
  std::size_t file_ = 0, at_ = 0;
  bool slurped_ = false;
  std::vector<Value> pending_;
  std::size_t pending_at_ = 0;
};

}  // namespace

int run_jq(Invocation& call) {
  Request r;
  if (int status = read_arguments(call, r); status >= 0) return status;
  if (!r.has_program) {
    call.err().write("Usage:\tjq [OPTIONS] FILTER [FILES...]\n");
    return 2;
  }
  Value named = Value::object();
  for (auto& [name, value] : r.variables) named.own_members().at(name) = value;
  Value arguments = Value::object();
  arguments.own_members().at("positional") = Value::array(r.positional);
  arguments.own_members().at("named") = named;
  r.variables.emplace_back("ARGS", arguments);
  r.variables.emplace_back("__prog_args", named);
  std::vector<std::string> names;
  for (auto& [name, value] : r.variables) names.push_back(name);
  auto program = jq::parse(r.program, names);
  if (!program) {
    call.err().write(fmt::format(
        "jq: error: {} (Unix shell quoting issues?) at <top-level>, line 1:\n{}\njq: 1 compile error\n",
        program.error().message(), r.program));
    return 3;
  }
  Machine machine(call);
  machine.environment = Value::object();
  for (auto& [name, value] : call.environment()) machine.environment.own_members().at(name) = Value(value);
  // The same order as `names`: the parser counts links.
  std::vector<Env> links(r.variables.size());
  const Env* env = nullptr;
  for (std::size_t i = 0; i < links.size(); ++i) {
    links[i].up = env;
    links[i].value = r.variables[i].second;
    env = &links[i];
  }
  Inputs inputs(call, r, machine);
  machine.next_input = [&](Value& value) { return inputs.next(value); };
  Sink out(call.out());
  int status = 0;
  std::optional<Value> last;
  auto print = [&](const Value& v, const jq::Path*) {
    std::string text;
    if (r.sequence) text += '\x1e';
    if (r.raw_output && v.is_string())
      text += v.text();
    else
      jq::print(text, v, r.style);
    if (r.nul_output)
      text += '\0';
    else if (!r.join_output)
      text += '\n';
    out.append(text);
    last = v;
    return true;
  };
  auto run = [&](const Value& input) {
    if (machine.eval((*program)->top, env, input, nullptr, print)) return true;
    if (machine.halt) return false;
    if (machine.breaking) {
      machine.breaking = nullptr;
      machine.error = Value(std::string("break"));
    }
    Value error = machine.error.value_or(Value());
    machine.error.reset();
    out.flush();
    std::string_view name = machine.has_input_name ? std::string_view(machine.input_name) : "<stdin>";
    std::string where = r.null_input ? "<unknown>" : fmt::format("{}:0", name);
    if (error.is_string())
      call.err().write(fmt::format("jq: error (at {}): {}\n", where, error.text()));
    else if (error.is_null())
      call.err().write(fmt::format("jq: error (at {}) (not a string): null\n", where));
    else
      call.err().write(fmt::format("jq: error (at {}) (not a string): {}\n", where, jq::to_text(error)));
    status = 5;
    return true;
  };
  if (r.null_input) {
    run(Value());
  } else {
    Value value;
    while (!machine.halt && inputs.next(value)) {
      // The program gets the only reference, so that it can change the value in place.
      Value current = std::move(value);
      value = Value();
      if (!run(current)) break;
    }
  }
  if (inputs.failed) status = 2;
  if (inputs.status && status == 0) status = inputs.status;
  int flushed = out.finish(call, 0);
  if (machine.halt) {
    if (!machine.halt_message.empty()) call.err().write(machine.halt_message);
    return *machine.halt;
  }
  if (status == 0 && r.exit_status) return !last ? 4 : last->truthy() ? 0 : 1;
  return status ? status : flushed;
}

}  // namespace atl::shell::jq_program
