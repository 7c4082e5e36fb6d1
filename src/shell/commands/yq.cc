#include <fmt/format.h>

#include <optional>

#include "shell/arguments/command_line.h"
#include "shell/command.h"
#include "shell/command_entries.h"
#include "shell/commands/jq/machine.h"
#include "shell/commands/yq/yaml.h"
#include "shell/files/inputs.h"
#include "shell/text/numbers.h"
#include "shell/text/quotes.h"

namespace atl::shell::yq_program {

namespace {

using jq::Value;

enum Long { kArg = 256, kArgJson, kVersion };

constexpr Option kOptions[] = {
    {'r', 'r', "raw-output"},
    {'r', 0, "unwrapScalar"},
    {'o', 'o', "output-format", Arg::required},
    {'p', 'p', "input-format", Arg::required},
    {'P', 'P', "prettyPrint"},
    {'i', 'i', "inplace"},
    {'i', 0, "in-place"},
    {'n', 'n', "null-input"},
    {'e', 'e', "exit-status"},
    {'j', 'j', "join-output"},
    {'c', 'c', "compact-output"},
    {'s', 's', "slurp"},
    {'I', 'I', "indent", Arg::required},
    {'N', 'N', "no-doc"},
    {'M', 'M', "no-colors"},
    {'y', 'y', "yaml-output"},
    {'S', 'S', "sort-keys"},
    {kArg, 0, "arg", Arg::required},
    {kArgJson, 0, "argjson", Arg::required},
};

struct Request {
  bool json_input = false, json_output = false, raw = false, in_place = false, null_input = false,
       exit_status = false;
  bool join = false, slurp = false, separators = true;
  jq::Style style;
  std::string program = ".";
  std::vector<std::string> files;
  std::vector<std::pair<std::string, Value>> variables;
};

bool format(Invocation& call, std::string_view text, std::string_view option, bool& json) {
  if (text.starts_with('=')) text.remove_prefix(1);
  if (text == "json" || text == "j")
    json = true;
  else if (text == "yaml" || text == "y" || text == "yml" || text == "auto" || text == "a")
    json = false;
  else {
    call.complain(fmt::format("{}: unknown format '{}' (yaml or json)", option, text));
    return false;
  }
  return true;
}

// --arg and --argjson take two words each, which getopt does not know: the name is their value, and the next
// word is taken out of the arguments here.
bool variables(Invocation& call, Request& r, std::vector<std::string>& args) {
  for (std::size_t i = 1; i < args.size();) {
    bool json = args[i] == "--argjson";
    if (args[i] == "--") return true;
    if (!json && args[i] != "--arg") {
      ++i;
      continue;
    }
    if (i + 2 >= args.size()) {
      call.complain(fmt::format("{} takes two parameters (e.g. {} name value)", args[i], args[i]));
      return false;
    }
    Value value{args[i + 2]};
    if (json) {
      auto parsed = jq::parse_json(args[i + 2]);
      if (!parsed) {
        call.complain(fmt::format("--argjson {}: {}", args[i + 1], parsed.error().message()));
        return false;
      }
      value = *parsed;
    }
    r.variables.emplace_back(args[i + 1], std::move(value));
    args.erase(args.begin() + static_cast<std::ptrdiff_t>(i),
               args.begin() + static_cast<std::ptrdiff_t>(i) + 3);
  }
  return true;
}

// -1: go on.
int read_arguments(Invocation& call, Request& r) {
  std::vector<std::string> args(call.args().begin(), call.args().end());
  if (!variables(call, r, args)) return 2;
  CommandLine options(call, kOptions, {.status = 2, .args = &args});
  if (options.stopped()) return options.status();
  bool output_given = false;
  for (auto& [id, value] : options.found()) {
    switch (id) {
      case 'r': r.raw = true; break;
      case 'o':
        output_given = true;
        if (!format(call, value, "-o", r.json_output)) return 2;
        break;
      case 'p':
        if (!format(call, value, "-p", r.json_input)) return 2;
        break;
      case 'i': r.in_place = true; break;
      case 'n': r.null_input = true; break;
      case 'e': r.exit_status = true; break;
      case 'j': r.join = r.raw = true; break;
      case 'c':
        r.style.indent = 0;
        if (!output_given) r.json_output = true;
        break;
      case 's': r.slurp = true; break;
      case 'N': r.separators = false; break;
      case 'y':
        output_given = true;
        r.json_output = false;
        break;
      case 'S': r.style.sort_keys = true; break;
      case 'I': {
        std::int64_t indent = 0;
        if (!parse_integer(value.starts_with('=') ? value.substr(1) : value, indent) || indent < 0 ||
            indent > 7)
          return call.fail(fmt::format("invalid indent: {}", quote_operand(value)), 2);
        r.style.indent = static_cast<int>(indent);
        break;
      }
      default: break;
    }
  }
  auto operands = options.operands();
  if (!operands.empty() &&
      (operands[0] == "e" || operands[0] == "eval" || operands[0] == "ea" || operands[0] == "eval-all"))
    operands.erase(operands.begin());
  if (operands.size() == 1) {
    // A lone word that is a file is shown whole.
    auto path = call.resolve(operands[0]);
    auto stat = path ? call.fs().find(*path) : std::nullopt;
    if (stat && stat->is_file()) operands.insert(operands.begin(), ".");
  }
  if (!operands.empty()) {
    r.program = operands[0];
    r.files.assign(operands.begin() + 1, operands.end());
  }
  if (r.in_place && (r.files.empty() || r.files[0] == "-")) return call.fail("-i needs a file to change", 1);
  if (r.files.empty()) r.files.push_back("-");
  return -1;
}

class Evaluation {
 public:
  Evaluation(Invocation& call, Request& r, const jq::Program& program)
      : call_(call), r_(r), program_(program), machine_(call) {
    machine_.environment = Value::object();
    for (auto& [name, value] : call.environment()) machine_.environment.own_members().at(name) = Value(value);
    machine_.next_input = [](Value&) { return false; };
    links_.resize(r.variables.size());
    for (std::size_t i = 0; i < links_.size(); ++i) {
      links_[i].up = env_;
      links_[i].value = r.variables[i].second;
      env_ = &links_[i];
    }
  }

  int status = 0;
  std::optional<Value> last;

  // The program's results for one input, printed.
  void run(const Value& input, std::string& out) {
    auto print = [&](const Value& value, const jq::Path*) {
      append(value, out);
      last = value;
      return true;
    };
    if (machine_.eval(program_.top, env_, input, nullptr, print)) return;
    if (machine_.halt) {
      call_.err().write(machine_.halt_message);
      status = *machine_.halt;
      return;
    }
    Value error = machine_.error.value_or(Value());
    machine_.error.reset();
    machine_.breaking = nullptr;
    call_.complain(fmt::format("error: {}", error.is_string() ? error.text() : jq::to_text(error)));
    status = 5;
  }

 private:
  void append(const Value& value, std::string& out) {
    if (r_.join) {
      out += value.is_string() ? value.text() : jq::to_text(value);
    } else if (r_.json_output) {
      if (r_.raw && value.is_string())
        out += value.text();
      else
        jq::print(out, value, r_.style);
      out += '\n';
    } else {
      if (r_.separators && last && (value.is_object() || value.is_array()) &&
          (last->is_object() || last->is_array()))
        out += "---\n";
      yq::write_yaml(out, value, r_.style.indent > 0 ? r_.style.indent : 2);
    }
    call_.charge(out.size() / 64 + 1);
  }

  Invocation& call_;
  Request& r_;
  const jq::Program& program_;
  jq::Machine machine_;
  std::vector<jq::Env> links_;
  const jq::Env* env_ = nullptr;
};

// The documents of one file; complains and gives nothing if they cannot be read.
std::optional<std::vector<Value>> load(Invocation& call, const Request& r, const std::string& name) {
  auto in = call.open_input(name);
  if (!in) {
    call.complain(fmt::format("error: open {}: {}", name, reason(in.error())));
    return std::nullopt;
  }
  std::string text = (*in)->read_all();
  call.charge(text.size());
  std::vector<Value> out;
  if (!r.json_input) {
    auto read = yq::read_yaml(text, name == "-" ? "stdin" : name);
    if (read) return std::move(*read);
    call.complain(fmt::format("error: {}", read.error().message()));
    return std::nullopt;
  }
  jq::Reader reader(text);
  Value value;
  while (true) {
    auto more = reader.next(value);
    if (!more) {
      call.complain(fmt::format("error: {}: {}", name == "-" ? "stdin" : name, more.error().message()));
      return std::nullopt;
    }
    if (!*more) return out;
    out.push_back(value);
  }
}

int run_files(Invocation& call, Request& r, Evaluation& evaluation) {
  std::vector<Value> slurped;
  for (const std::string& name : r.files) {
    auto documents = load(call, r, name);
    if (!documents) return 1;
    if (r.slurp) {
      slurped.insert(slurped.end(), documents->begin(), documents->end());
      continue;
    }
    std::string out;
    for (const Value& document : *documents) evaluation.run(document, out);
    if (!r.in_place) {
      call.out().write(out);
    } else if (evaluation.status == 0) {
      auto file = call.open_output(name, false);
      if (!file || !(*file)->write(out)) return call.fail(fmt::format("error: {}: cannot be written", name));
      evaluation.last.reset();
    }
  }
  if (!r.slurp) return 0;
  std::string out;
  evaluation.run(Value::array(std::move(slurped)), out);
  call.out().write(out);
  return 0;
}

}  // namespace

int run_yq(Invocation& call) {
  Request r;
  if (int status = read_arguments(call, r); status >= 0) return status;
  std::vector<std::string> names;
  for (auto& [name, value] : r.variables) names.push_back(name);
  auto program = jq::parse(r.program, names);
  if (!program) return call.fail(fmt::format("error: {}", program.error().message()), 3);
  Evaluation evaluation(call, r, **program);
  if (r.null_input) {
    std::string out;
    evaluation.run(Value(), out);
    call.out().write(out);
  } else if (int status = run_files(call, r, evaluation)) {
    return status;
  }
  if (evaluation.status == 0 && r.exit_status) return evaluation.last && evaluation.last->truthy() ? 0 : 1;
  return evaluation.status;
}

}  // namespace atl::shell::yq_program
