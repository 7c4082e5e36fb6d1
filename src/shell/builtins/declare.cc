#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "shell/builtins/builtins.h"
#include "shell/builtins/option_reader.h"
#include "shell/computed.h"
#include "shell/quoting.h"

namespace atl::shell::builtins {

namespace {

struct Request {
  std::uint16_t on = 0;
  std::uint16_t off = 0;
  bool functions = false;       // -f
  bool function_names = false;  // -F
  bool global = false;
  bool inherit = false;
  bool print = false;
  bool local = false;       // make names local when a function runs
  bool only_local = false;  // the `local` command: list locals only
  std::string_view who;
};

std::uint16_t attribute(char letter) {
  switch (letter) {
    case 'a': return attr::array;
    case 'A': return attr::assoc;
    case 'i': return attr::integer;
    case 'l': return attr::lower;
    case 'u': return attr::upper;
    case 'n': return attr::nameref;
    case 'r': return attr::readonly;
    case 't': return attr::trace;
    case 'x': return attr::exported;
    case 'c': return attr::capital;
    default: return 0;
  }
}

std::string function_line(const std::string& name, const Function& function) {
  std::string flags = "f";
  if (function.readonly) flags += 'r';
  if (function.traced) flags += 't';
  if (function.exported) flags += 'x';
  return fmt::format("declare -{} {}\n", flags, name);
}

int print_functions(ShellRunner& shell, const Request& request, const Args& names) {
  std::string out;
  int status = 0;
  auto wanted = [&](const Function& f) {
    return (!(request.on & attr::exported) || f.exported) && (!(request.on & attr::readonly) || f.readonly);
  };
  if (names.empty()) {
    for (const auto& [name, function] : *shell.names().functions()) {
      if (!wanted(function)) continue;
      if (!request.function_names) out += print_function(name, *function.definition) + "\n";
      if (request.function_names || function.exported || function.readonly || function.traced)
        out += function_line(name, function);
    }
  }
  for (const std::string& name : names) {
    const Function* function = shell.names().find_function(name);
    if (!function) {
      status = 1;
      if (request.print) shell.error(fmt::format("{}: {}: not found", request.who, name));
      continue;
    }
    if (request.function_names) {
      if (shell.option(Shopt::extdebug))
        out += fmt::format("{} {} {}\n", name, function->definition->line, function->source);
      else
        out += request.print ? function_line(name, *function) : name + "\n";
    } else {
      out += print_function(name, *function->definition) + "\n";
      if (function->exported || function->readonly || function->traced) out += function_line(name, *function);
    }
  }
  return shell.print(out, request.who) ? status : 1;
}

int mark_functions(ShellRunner& shell, const Request& request, const Args& names) {
  int status = 0;
  for (const std::string& name : names) {
    if (!shell.names().find_function(name)) {
      status = 1;
      if (request.who != "declare" && request.who != "typeset")
        shell.error(fmt::format("{}: {}: not a function", request.who, name));
      continue;
    }
    Function& function = shell.names().functions().edit().find(name)->second;
    if (request.on & attr::exported) function.exported = true;
    if (request.off & attr::exported) function.exported = false;
    if (request.on & attr::readonly) function.readonly = true;
    if (request.on & attr::trace) function.traced = true;
    if (request.off & attr::trace) function.traced = false;
  }
  return status;
}

std::vector<std::string> sorted_names(const ShellRunner& shell) {
  std::vector<std::string> names;
  for (const auto& [name, variable] : *shell.variables().table()) names.push_back(name);
  std::sort(names.begin(), names.end());
  return names;
}

int print_variables(ShellRunner& shell, const Request& request, const Args& names) {
  std::string out;
  int status = 0;
  if (names.empty()) {
    for (const std::string& name : sorted_names(shell)) {
      const Variable& variable = *shell.variables().find(name);
      if (request.only_local && !shell.variables().is_local(name)) continue;
      if (request.on && (variable.attrs & request.on) == 0) continue;
      if (request.print || request.on || request.only_local) {
        if (request.only_local && !request.print)
          out += variable.is_array() ? name + "=" + array_literal(variable) + "\n"
                 : variable.set      ? name + "=" + quote_if_needed(variable.value) + "\n"
                                     : "";
        else
          out += describe(name, variable) + "\n";
      } else if (variable.set || variable.has_elements()) {
        out += variable.is_array() ? name + "=" + array_literal(variable) + "\n"
                                   : name + "=" + quote_if_needed(variable.value) + "\n";
      }
    }
    if (!request.print && !request.on && !request.only_local)
      for (const auto& [name, function] : *shell.names().functions())
        out += print_function(name, *function.definition) + "\n";
  }
  for (const std::string& name : names) {
    // References are shown as what they are, not followed.
    const Variable* variable = shell.variables().find(name);
    std::optional<Variable> computed;
    if (!variable && (computed = computed_variable(shell, name))) variable = &*computed;
    if (!variable || (request.only_local && !shell.variables().is_local(name))) {
      shell.error(fmt::format("{}: {}: not found", request.who, name));
      status = 1;
      continue;
    }
    out += describe(name, *variable) + "\n";
  }
  return shell.print(out, request.who) ? status : 1;
}

// A word `name`, `name=value`, `name+=value`, `name[i]=value` taken apart.
struct Target {
  std::string name;
  std::string subscript;
  bool indexed = false;
  bool has_value = false;
  bool append = false;
  std::string value;
};

bool split_target(const std::string& text, Target& out) {
  std::size_t at = 0;
  while (at < text.size() && (std::isalnum(static_cast<unsigned char>(text[at])) || text[at] == '_')) ++at;
  out.name = text.substr(0, at);
  if (!is_name(out.name)) return false;
  // Brackets nest: a[b[1]]=x.
  if (at < text.size() && text[at] == '[') {
    int depth = 0;
    std::size_t end = at;
    for (; end < text.size(); ++end) {
      if (text[end] == '[') ++depth;
      if (text[end] == ']' && --depth == 0) break;
    }
    if (end >= text.size()) return false;
    out.indexed = true;
    out.subscript = text.substr(at + 1, end - at - 1);
    at = end + 1;
  }
  if (at == text.size()) return true;
  if (text[at] == '+') out.append = true, ++at;
  if (at >= text.size() || text[at] != '=') return false;
  out.has_value = true;
  out.value = text.substr(at + 1);
  return true;
}

bool set_nameref(ShellRunner& shell, const Request& request, const Target& target) {
  std::string value = target.value;
  std::string base = value.substr(0, value.find('['));
  const Variable* old = shell.variables().find(target.name);
  // declare -n x without a value: what x holds becomes the name it refers to.
  if (!target.has_value && old && old->set && !old->is_array())
    value = old->value, base = value.substr(0, value.find('['));
  if ((target.has_value || !value.empty()) && !is_name(base)) {
    shell.error(fmt::format("{}: `{}': invalid variable name for name reference", request.who, value));
    return false;
  }
  if (old && old->is_array()) {
    shell.error(fmt::format("{}: {}: reference variable cannot be an array", request.who, target.name));
    return false;
  }
  // In a function `declare -n x=x` may mean the caller's x, so bash only warns; outside it can mean nothing.
  if (base == target.name && target.has_value) {
    bool inside = false;
    for (const auto& frame : shell.calls().frames) inside = inside || frame->function;
    if (!inside || request.global) {
      shell.error(
          fmt::format("{}: {}: nameref variable self references not allowed", request.who, target.name));
      return false;
    }
    shell.error(fmt::format("warning: {}: circular name reference", target.name));
  }
  return true;
}

bool convert_shape(ShellRunner& shell, const Request& request, Variable& variable, const std::string& name) {
  if ((request.on & attr::assoc) && variable.is(attr::array)) {
    shell.error(fmt::format("{}: {}: cannot convert indexed to associative array", request.who, name));
    return false;
  }
  if ((request.on & attr::array) && variable.is(attr::assoc)) {
    shell.error(fmt::format("{}: {}: cannot convert associative to indexed array", request.who, name));
    return false;
  }
  if ((request.on & attr::array) && !variable.is_array()) {
    if (variable.set) variable.array.edit()[0] = variable.value;
    variable.value.clear();
  }
  if ((request.on & attr::assoc) && !variable.is_array()) {
    if (variable.set) variable.assoc.edit().set("0", variable.value);
    variable.value.clear();
  }
  return true;
}

// Gives the declared variable its value, which is no list of the script. False after a message.
bool assign_target(ShellRunner& shell, const std::string& name, const Target& target,
                   const Variable& variable, const Assign* literal) {
  Variables& variables = shell.variables();
  const std::string& value = target.value;
  bool list_text = !literal && value.size() > 1 && value[0] == '(' && value.back() == ')';
  // declare -a x='(1 2)': the value is parsed as a list.
  if (list_text && variable.is_array() && !target.indexed)
    return variables.assign_list_text(name, value, target.append);
  if (!target.indexed) return variables.assign(name, value, target.append);
  std::string key = target.subscript;
  if (variable.is(attr::assoc))
    key = literal ? shell.expander().single(literal->index) : variables.expand_key(key);
  else if (literal && literal->index_arith)
    key = std::to_string(shell.expander().evaluate(*literal->index_arith));
  return variables.assign_element(name, key, value, target.append);
}

// Sets and clears attributes. Returns those that wait until the variable has its value.
std::uint16_t apply_attributes(ShellRunner& shell, const Request& effective, const Target& target,
                               Variable& variable) {
  auto clear = [&](unsigned bits) { variable.attrs &= static_cast<std::uint16_t>(~bits); };
  // The last of -u, -l and -c wins.
  if (effective.on & attr::upper) clear(attr::lower | attr::capital);
  if (effective.on & attr::lower) clear(attr::upper | attr::capital);
  variable.attrs |= effective.on & static_cast<std::uint16_t>(~(attr::readonly | attr::nameref));
  clear(effective.off);
  if (shell.option(Opt::allexport) && target.has_value && !variable.is_array())
    variable.attrs |= attr::exported;
  // readonly x=1 must assign before it protects; a reference would assign to what it refers to.
  return effective.on & (attr::readonly | attr::nameref);
}

// What bash refuses whatever else the declaration says. False after a message.
bool may_declare(ShellRunner& shell, const Request& request, const Target& target, const Variable& variable,
                 const std::string& name) {
  if (variable.is(attr::readonly) && (target.has_value || (request.off & attr::readonly))) {
    shell.error(fmt::format("{}: {}: readonly variable", request.who, name));
    return false;
  }
  if ((request.off & (attr::array | attr::assoc)) && variable.is_array()) {
    shell.error(fmt::format("{}: {}: cannot destroy array variables in this way", request.who, name));
    return false;
  }
  return true;
}

bool declare_one(ShellRunner& shell, const Request& request, const std::string& text, const Assign* literal) {
  Target target;
  if (!split_target(text, target)) {
    shell.error(fmt::format("{}: `{}': not a valid identifier", request.who, text));
    return false;
  }
  if (target.indexed && (request.who == "export" || request.who == "readonly")) {
    shell.error(fmt::format("{}: `{}': not a valid identifier", request.who, text.substr(0, text.find('='))));
    return false;
  }
  std::string name = target.name;
  bool reference = (request.on & attr::nameref) || (request.off & attr::nameref);
  bool make_local = request.local && !request.global;
  if (!reference && !make_local) {
    std::string subscript;
    std::string resolved = shell.variables().resolve_name(name, &subscript);
    if (subscript.empty())
      name = resolved;
    else if (target.has_value && !target.indexed)
      return shell.variables().assign_element(resolved, subscript, target.value, target.append);
  }
  if (!reference && make_local && !shell.variables().is_local(name)) {
    // A local of the same name hides the reference.
  } else if (!reference && make_local) {
    name = shell.variables().resolve_name(name);
  }
  if ((request.on & attr::nameref) && !set_nameref(shell, request, target)) return false;

  // declare -g from inside a function works on the outermost variable: step out of what hides it.
  std::optional<Variable> hidden;
  bool swapped = false;
  Variable* outer = nullptr;
  if (request.global && shell.variables().is_hidden(name)) {
    outer = shell.variables().find_global(name);
    hidden = shell.variables().at(name);
    shell.variables().put(name, *outer);
    swapped = true;
  }
  auto put_back = [&] {
    if (!swapped) return;
    outer = shell.variables().find_global_saved(name);
    if (outer) *outer = shell.variables().at(name);
    shell.variables().put(name, *hidden);
  };

  const Variable* existing = shell.variables().find(name);
  std::vector<ArrayItem> items;
  bool list = literal && literal->is_array && !target.indexed && !(request.on & attr::nameref);
  // Expanded before the local hides what the items may name: local x=("${x[@]}").
  if (list && make_local) items = shell.variables().expand_items(literal->items, request.on & attr::assoc);
  if (make_local) {
    // bash lets no local hide a read-only variable.
    if (existing && existing->is(attr::readonly) && !shell.variables().is_local(name)) {
      shell.error(fmt::format("{}: {}: readonly variable", request.who, name));
      return false;
    }
    shell.variables().make_local(name, request.inherit);
  }
  Variable* variable = shell.variables().find_edit(name);
  if (!variable) {
    shell.machine().charge_memory(static_cast<std::int64_t>(name.size() + target.value.size()) + 128);
    variable = &shell.variables().at(name);
    variable->special = name == "IFS";
  }
  if (!may_declare(shell, request, target, *variable, name)) {
    put_back();
    return false;
  }
  Request effective = request;
  // A list or a subscript makes an array, even without -a.
  if (literal && literal->is_array && !(effective.on & attr::assoc) && !variable->is(attr::assoc))
    effective.on |= attr::array;
  if (target.indexed && !variable->is(attr::assoc) && !(effective.on & attr::assoc))
    effective.on |= attr::array;
  if (!convert_shape(shell, effective, *variable, name)) {
    put_back();
    return false;
  }
  std::uint16_t late = apply_attributes(shell, effective, target, *variable);
  bool done = true;
  if (target.has_value && (request.on & attr::nameref)) {
    variable->value = target.value;
    variable->set = true;
  } else if (target.has_value && list) {
    done = shell.variables().assign_compound(name, make_local ? items : literal->items, literal->append,
                                             *variable);
  } else if (target.has_value) {
    done = assign_target(shell, name, target, *variable, literal);
  }
  variable = shell.variables().find_edit(name);
  if (variable) variable->attrs |= late;
  put_back();
  return done;
}

int run(ShellRunner& shell, const Args& args, Request request) {
  request.who = args[0];
  std::size_t at = 1;
  for (; at < args.size(); ++at) {
    const std::string& option = args[at];
    if (option == "--") {
      ++at;
      break;
    }
    // `local -`: options that the function sets end with it.
    if (option == "-" && request.only_local) {
      shell.variables().save_local_options();
      continue;
    }
    if (option.size() < 2 || (option[0] != '-' && option[0] != '+')) break;
    if (option[0] == '+' && (request.who == "export" || request.who == "readonly")) break;
    for (char c : option.substr(1)) {
      std::uint16_t bit = attribute(c);
      bool on = option[0] == '-';
      if (c == 'f')
        request.functions = true;
      else if (c == 'F')
        request.functions = request.function_names = true;
      else if (c == 'g')
        request.global = true;
      else if (c == 'I')
        request.inherit = true;
      else if (c == 'p')
        request.print = true;
      else if (c == 'n' && request.who == "export")
        request.on = 0, request.off = attr::exported;
      else if (bit && (request.who != "export" && (request.who != "readonly" || c == 'a' || c == 'A')))
        (on ? request.on : request.off) |= bit;
      else
        return bad_option(shell, args, fmt::format("{}{}", option[0], c));
    }
  }
  if ((request.on & attr::array) && (request.on & attr::assoc) && request.who != "readonly") {
    Args rest(args.begin() + static_cast<std::ptrdiff_t>(at), args.end());
    for (const auto& name : rest)
      shell.error(fmt::format("{}: {}: cannot convert indexed to associative array", request.who, name));
    return 1;
  }
  // bash ignores -n beside -a or -A.
  if (request.on & (attr::array | attr::assoc)) request.on &= static_cast<std::uint16_t>(~attr::nameref);
  std::vector<const Assign*> assigns = shell.executor().take_argument_assigns();
  Args names(args.begin() + static_cast<std::ptrdiff_t>(at), args.end());
  if (request.functions) {
    bool marks = (request.on | request.off) & (attr::exported | attr::readonly | attr::trace);
    if (!names.empty() && marks && !request.print) return mark_functions(shell, request, names);
    return print_functions(shell, request, names);
  }
  if (names.empty()) {
    if (request.only_local && !request.local) return 1;
    return print_variables(shell, request, names);
  }
  if (request.print && request.who != "export" && request.who != "readonly")
    return print_variables(shell, request, names);
  int status = 0;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const Assign* literal = at + i < assigns.size() ? assigns[at + i] : nullptr;
    if (!declare_one(shell, request, names[i], literal)) status = 1;
  }
  return status;
}

bool in_function(const ShellRunner& shell) {
  for (const auto& frame : shell.calls().frames)
    if (frame->function) return true;
  return false;
}

}  // namespace

int declare(ShellRunner& shell, const Args& args) {
  Request request;
  request.local = in_function(shell);
  return run(shell, args, request);
}

int local(ShellRunner& shell, const Args& args) {
  if (!in_function(shell)) {
    shell.executor().take_argument_assigns();
    shell.error("local: can only be used in a function");
    return 1;
  }
  Request request;
  request.local = true;
  request.only_local = true;
  return run(shell, args, request);
}

int export_(ShellRunner& shell, const Args& args) {
  Request request;
  request.on = attr::exported;
  return run(shell, args, request);
}

int readonly(ShellRunner& shell, const Args& args) {
  Request request;
  request.on = attr::readonly;
  return run(shell, args, request);
}

int unset(ShellRunner& shell, const Args& args) {
  bool functions = false, variables = false, reference = false;
  OptionReader options(shell, args, "fvn");
  while (char letter = options.next()) {
    switch (letter) {
      case 'f': functions = true; break;
      case 'v': variables = true; break;
      case 'n': reference = variables = true; break;
      default: break;
    }
  }
  if (options.failed()) return options.status();
  std::size_t at = options.operands();
  if (functions && variables) {
    shell.error("unset: cannot simultaneously unset a function and a variable");
    return 1;
  }
  int status = 0;
  for (; at < args.size(); ++at) {
    const std::string& text = args[at];
    std::size_t bracket = text.find('[');
    std::string name = text.substr(0, bracket);
    if (functions) {
      if (!shell.names().unset_function(text)) status = 1;
      continue;
    }
    if (!is_name(name) || (bracket != std::string::npos && text.back() != ']')) {
      // Without -v and -f a name that is no variable's may be a function's, which may be called almost
      // anything.
      if (!variables && shell.names().find_function(text)) {
        if (!shell.names().unset_function(text)) status = 1;
        continue;
      }
      if (!variables) continue;  // no function of that name either: nothing to unset
      shell.error(fmt::format("unset: `{}': not a valid identifier", text));
      status = 1;
      continue;
    }
    if (bracket != std::string::npos) {
      if (!shell.variables().unset_element(name, text.substr(bracket + 1, text.size() - bracket - 2)))
        status = 1;
      continue;
    }
    std::string subscript;
    std::string target = reference ? name : shell.variables().resolve_name(name, &subscript);
    if (!subscript.empty()) {
      if (!shell.variables().unset_element(target, subscript)) status = 1;
      continue;
    }
    if (reference) {
      const Variable* found = shell.variables().find(name);
      if (!found || !found->is(attr::nameref)) continue;
    }
    if (shell.variables().find(target) || computed_variable(shell, target)) {
      if (!shell.variables().unset(target)) status = 1;
    } else if (!variables && shell.names().find_function(name)) {
      if (!shell.names().unset_function(name)) status = 1;
    }
  }
  return status;
}

}  // namespace atl::shell::builtins
