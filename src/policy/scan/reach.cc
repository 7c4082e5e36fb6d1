// Evaluator: how code reaches modules, functions and attributes.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "policy/scan/evaluate.h"
#include "policy/scan/nfkc.h"
#include "policy/scan/text_value.h"

namespace atl::policy {

namespace {

// What an attribute of this name means on any object. Bits of Names::Entry::attribute.
enum Attribute : std::uint8_t {
  a_classified = 0x80,
  a_listed = 0x40,
  a_plain = 0,
  a_introspection = 1,
  a_class = 2,        // __class__
  a_ancestors = 3,    // __base__, __mro__
  a_subclasses = 4,   // __subclasses__
  a_same = 5,         // __dict__, __call__: as good as the object itself
  a_invoke = 6,       // call, bind, apply
  a_constructor = 7,  // constructor
  a_globals = 8,      // __globals__
  a_meaning = 0x0F,
};

struct Known {
  std::string_view name;
  std::uint8_t meaning;
};

constexpr std::array<Known, 27> python_attributes{{{"__class__", a_class},
                                                   {"__base__", a_ancestors},
                                                   {"__bases__", a_ancestors},
                                                   {"__mro__", a_ancestors},
                                                   {"mro", a_ancestors},
                                                   {"__subclasses__", a_subclasses},
                                                   {"__globals__", a_globals},
                                                   {"__builtins__", a_globals},
                                                   {"__dict__", a_same},
                                                   {"__call__", a_same},
                                                   {"__func__", a_same},
                                                   {"__wrapped__", a_same},
                                                   {"__code__", a_introspection},
                                                   {"__closure__", a_introspection},
                                                   {"__loader__", a_introspection},
                                                   {"f_back", a_introspection},
                                                   {"f_globals", a_introspection},
                                                   {"f_locals", a_introspection},
                                                   {"f_builtins", a_introspection},
                                                   {"f_code", a_introspection},
                                                   {"gi_frame", a_introspection},
                                                   {"gi_code", a_introspection},
                                                   {"cr_frame", a_introspection},
                                                   {"ag_frame", a_introspection},
                                                   {"tb_frame", a_introspection},
                                                   {"co_code", a_introspection},
                                                   {"__getattribute__", a_plain}}};
constexpr std::array<Known, 4> javascript_attributes{
    {{"call", a_invoke}, {"apply", a_invoke}, {"bind", a_invoke}, {"constructor", a_constructor}}};

// Modules that are another by a different name: a list that forbids the one means the other too.
struct Twin {
  std::string_view name;
  std::string_view means;
};
constexpr std::array<Twin, 12> python_twins{{{"posix", "os"},
                                             {"nt", "os"},
                                             {"_posixsubprocess", "subprocess"},
                                             {"_socket", "socket"},
                                             {"_ssl", "ssl"},
                                             {"_ctypes", "ctypes"},
                                             {"posixpath.os", "os"},
                                             {"ntpath.os", "os"},
                                             {"_pickle", "pickle"},
                                             {"_io", "io"},
                                             {"_thread", "threading"},
                                             {"_sqlite3", "sqlite3"}}};

std::string_view without_node_prefix(std::string_view name) {
  return name.starts_with("node:") ? name.substr(5) : name;
}

}  // namespace

ValueIndex Evaluator::mention(PathTrie::State state, std::uint32_t offset) {
  if (reporting_) {
    ListedIndex listed = paths_.mention(state);
    if (listed != not_listed) {
      report_.add_listed(
          listed, offset,
          fmt::format("{} is forbidden", report_.compiled().listed[static_cast<std::size_t>(listed)].name));
    }
    Model model = paths_.model(state);
    if (model == Model::builtins && language_ == Language::python) {
      report_.add(RuleId::builtins_access, offset,
                  fmt::format("{} gives access to every built-in function", paths_.name(state)));
    } else if (model == Model::internal) {
      report_.add(RuleId::internal_access, offset,
                  fmt::format("{} is an internal of the runtime", paths_.name(state)));
    } else if (model == Model::function_type) {
      report_.add(RuleId::dynamic_code, offset, fmt::format("{} makes code at run time", paths_.name(state)));
    }
  }
  return make_path(state);
}

std::uint8_t Evaluator::classify_attribute(std::string_view name) const {
  std::uint8_t bits = a_classified;
  if (rules_.attributes.contains(name)) bits |= a_listed;
  std::span<const Known> known = language_ == Language::python
                                     ? std::span<const Known>(python_attributes)
                                     : std::span<const Known>(javascript_attributes);
  auto found = std::ranges::find(known, name, &Known::name);
  if (found != known.end()) bits |= found->meaning;
  return bits;
}

void Evaluator::check_attribute(ValueIndex object, NameIndex name, std::uint32_t offset) {
  Names::Entry& entry = names_[name];
  if (!reporting_) return;
  if ((entry.attribute & a_listed) != 0) {
    auto listed = rules_.attributes.find(entry.text);
    report_.add_listed(listed->second, offset, fmt::format("attribute {} is forbidden", entry.text));
  }
  const Value& from = value(object);
  // Weak: the class of something unknown. Only a way that starts at a known object (().__class__) is certain
  // enough for the severest rule.
  bool escaping = from.type == Value::Type::class_of && !from.weak;
  bool walked = from.type == Value::Type::class_of && from.walked;
  switch (entry.attribute & a_meaning) {
    case a_ancestors:
    case a_subclasses:
      if (escaping || (walked && (entry.attribute & a_meaning) == a_subclasses)) {
        report_.add(RuleId::object_escape, offset,
                    fmt::format("{} leads from here to every class", entry.text));
      } else if ((entry.attribute & a_meaning) == a_subclasses) {
        report_.add(RuleId::introspection, offset,
                    "__subclasses__ lists classes that the code was not given");
      }
      break;
    case a_globals:
      if (escaping)
        report_.add(RuleId::object_escape, offset, fmt::format("{} reached from a literal", entry.text));
      else
        report_.add(RuleId::introspection, offset,
                    fmt::format("{} opens another module's names", entry.text));
      break;
    case a_introspection:
      report_.add(RuleId::introspection, offset,
                  fmt::format("{} opens the interpreter's internals", entry.text));
      break;
    default: break;
  }
}

ValueIndex Evaluator::one_attribute(ValueIndex object, NameIndex name, std::uint32_t offset) {
  const Value from = value(object);
  std::uint8_t meaning = names_[name].attribute & a_meaning;
  using Type = Value::Type;
  switch (meaning) {
    case a_class:
      // A module's __class__ leads nowhere that matters.
      if (from.type == Type::path || from.type == Type::module) break;
      return make({.type = Type::class_of, .weak = from.type == Type::unknown || from.weak});
    case a_ancestors:
      return make({.type = Type::class_of, .weak = from.type != Type::class_of || from.weak, .walked = true});
    case a_subclasses: return from.type == Type::class_of ? object : unknown_value;
    case a_globals: return make({.type = Type::names});
    case a_same:
      if (from.type == Type::path || from.type == Type::module || from.type == Type::names) return object;
      break;
    case a_invoke:
      if (from.type == Type::path) return make({.type = Type::invoke, .object = object, .name = name});
      break;
    case a_constructor:
      // The constructor of a function is Function, and so is the constructor of any constructor.
      if (from.type == Type::path && paths_.child(from.state, names_[name].word) != PathTrie::nothing) break;
      if (from.type == Type::class_of || from.type == Type::function || from.type == Type::method) {
        return mention(paths_.child(PathTrie::root, paths_.word("Function")), offset);
      }
      return make({.type = Type::class_of});
    default: break;
  }
  switch (from.type) {
    case Type::path: {
      // builtins.eval is eval.
      PathTrie::State state = paths_.model(from.state) == Model::builtins ? PathTrie::root : from.state;
      PathTrie::State next = paths_.child(state, names_[name].word);
      if (next != PathTrie::nothing) return mention(next, offset);
      return paths_.model(from.state) == Model::remote ? make({.type = Type::unknown, .remote = true})
                                                       : unknown_value;
    }
    case Type::module: {
      // shutil.os, tempfile._os: a module is an attribute of every module that imports it.
      std::string_view attribute = names_[name].text;
      ListedIndex listed = forbidden_import(attribute);
      if (listed == not_listed && attribute.starts_with('_')) listed = forbidden_import(attribute.substr(1));
      if (listed == not_listed || language_ != Language::python) return unknown_value;
      if (reporting_)
        report_.add_listed(listed, offset,
                           fmt::format("module {} is reached through another module", attribute));
      return module_value(attribute);
    }
    case Type::names:
      if (names_[name].text == "get" || names_[name].text == "pop" || names_[name].text == "__getitem__" ||
          names_[name].text == "setdefault") {
        return make({.type = Type::method, .object = object, .name = name});
      }
      return unknown_value;
    case Type::text:
    case Type::list:
    case Type::buffer: return make({.type = Type::method, .object = object, .name = name});
    case Type::unknown: return tainted(from);
    case Type::class_of: return object;
    default: return unknown_value;
  }
}

ValueIndex Evaluator::attribute_of(ValueIndex object, NameIndex name, std::uint32_t offset) {
  Names::Entry& entry = names_[name];
  if ((entry.attribute & a_classified) == 0) entry.attribute = classify_attribute(entry.text);
  // By far the most frequent case: a plain name on something unknown.
  if (entry.attribute == a_classified && object == unknown_value) return unknown_value;
  if (entry.attribute != a_classified) check_attribute(object, name, offset);
  if (value(object).type != Value::Type::choices) return one_attribute(object, name, offset);
  std::vector<ValueIndex> results;
  for (ValueIndex one : alternatives(object)) results.push_back(one_attribute(one, name, offset));
  return choices(results);
}

ValueIndex Evaluator::attribute_value(NodeIndex index) {
  const Node& node = tree_.nodes[index];
  if (node.first_child == no_node || node.name == 0) return unknown_value;
  // The place of an attribute is its name, after the dot.
  auto length = static_cast<std::uint32_t>(names_[node.name].text.size());
  std::uint32_t offset = node.end - node.start > length ? node.end - length : node.start;
  return attribute_of(value_of(node.first_child), node.name, offset);
}

ValueIndex Evaluator::subscript_value(NodeIndex index) {
  const Node& node = tree_.nodes[index];
  NodeIndex object = node.first_child;
  if (object == no_node || tree_.nodes[object].next == no_node) return unknown_value;
  NodeIndex key = tree_.nodes[object].next;
  const Value& from = value(value_of(object));
  if (tree_.nodes[key].kind == Kind::slice &&
      (from.type == Value::Type::text || from.type == Value::Type::list)) {
    std::array<std::optional<std::int64_t>, 3> parts;
    std::size_t i = 0;
    for (NodeIndex part = tree_.nodes[key].first_child; part != no_node && i < 3;
         part = tree_.nodes[part].next, ++i) {
      if (tree_.nodes[part].kind == Kind::number && value(value_of(part)).type == Value::Type::number) {
        parts[i] = value(value_of(part)).number;
      }
    }
    constexpr std::size_t longest = 1U << 16U;
    if (from.type == Value::Type::text && from.text.size() <= longest) {
      return make_text(slice_text(from.text, parts[0], parts[1], parts[2].value_or(1)), from.decoded,
                       from.remote, from.bytes);
    }
    if (from.type == Value::Type::list && parts[2] == -1 && !parts[0] && !parts[1]) {
      std::vector<ValueIndex> all(items(from).begin(), items(from).end());
      std::ranges::reverse(all);
      return make_items(Value::Type::list, all);
    }
    return unknown_value;
  }
  std::vector<ValueIndex> results;
  for (ValueIndex one : alternatives(value_of(object))) {
    for (ValueIndex two : alternatives(value_of(key)))
      results.push_back(element_of(one, two, tree_.nodes[key].start));
  }
  return choices(results);
}

ValueIndex Evaluator::element_of(ValueIndex object, ValueIndex key, std::uint32_t offset) {
  const Value from = value(object);
  const Value by = value(key);
  using Type = Value::Type;
  if (by.type == Type::text) {
    if (from.type == Type::names) {
      NameIndex name = names_.intern(by.text);
      if (names_[name].text == "__builtins__" || names_[name].word != 0)
        return language_name(name, offset, true);
      return unknown_value;
    }
    if (from.type == Type::path && paths_.model(from.state) == Model::module_table) {
      return import_named(by.text, offset, false);
    }
    return attribute_of(object, names_.intern(by.text), offset);
  }
  if (by.type == Type::number) {
    if (from.type == Type::list && from.items_count > 0) {
      std::int64_t at = by.number < 0 ? by.number + from.items_count : by.number;
      if (at >= 0 && at < from.items_count) return items(from)[static_cast<std::size_t>(at)];
    }
    if (from.type == Type::text) {
      if (from.bytes && by.number >= 0 && by.number < static_cast<std::int64_t>(from.text.size())) {
        return make_number(static_cast<unsigned char>(from.text[static_cast<std::size_t>(by.number)]));
      }
      constexpr std::size_t longest = 1U << 12U;
      auto found = from.text.size() <= longest ? character_at(from.text, by.number) : std::nullopt;
      return found ? make_text(std::move(*found), from.decoded, from.remote) : unknown_value;
    }
    return from.type == Type::class_of ? object : unknown_value;
  }
  // A key that is not known could be any name: that matters only where one of the names does.
  bool sensitive = from.type == Type::names ||
                   (from.type == Type::path && (paths_.model(from.state) == Model::builtins ||
                                                paths_.model(from.state) == Model::module_table ||
                                                paths_.mention(from.state) != not_listed));
  if (!sensitive && from.type == Type::path && language_ == Language::javascript) {
    for (const auto& [word, child] : paths_.children(from.state))
      sensitive = sensitive || paths_.mention(child) != not_listed;
  }
  if (sensitive && reporting_)
    report_.add(RuleId::dynamic_attribute, offset, "a name that is computed reaches into a sensitive object");
  return from.type == Type::class_of ? object : tainted(from);
}

// ---- imports

ListedIndex Evaluator::forbidden_import(std::string_view name) const {
  char separator = language_ == Language::python ? '.' : '/';
  if (language_ == Language::javascript) name = without_node_prefix(name);
  // os.path is forbidden with os: from the full name up to its first part.
  for (;;) {
    if (auto found = rules_.imports.find(name); found != rules_.imports.end()) return found->second;
    if (language_ == Language::python) {
      auto twin = std::ranges::find(python_twins, name, &Twin::name);
      if (twin != python_twins.end()) {
        auto found = rules_.imports.find(twin->means);
        if (found != rules_.imports.end()) return found->second;
      }
    }
    std::size_t cut = name.rfind(separator);
    if (cut == std::string_view::npos || cut == 0) return not_listed;
    name = name.substr(0, cut);
  }
}

ValueIndex Evaluator::module_value(std::string_view name) {
  if (language_ == Language::javascript) name = without_node_prefix(name);
  PathTrie::State state = PathTrie::root;
  std::string_view rest = name;
  while (state != PathTrie::nothing && !rest.empty()) {
    std::size_t dot = rest.find(language_ == Language::python ? '.' : '/');
    state = paths_.child(state, paths_.word(rest.substr(0, dot)));
    rest = dot == std::string_view::npos ? std::string_view() : rest.substr(dot + 1);
  }
  return state == PathTrie::nothing || state == PathTrie::root ? make({.type = Value::Type::module})
                                                               : make_path(state);
}

ValueIndex Evaluator::import_named(std::string_view name, std::uint32_t offset, bool relative) {
  if (language_ == Language::javascript)
    relative = relative || name.starts_with('.') || name.starts_with('/');
  if (reporting_) {
    report_.add_import(name, offset, false, relative);
    if (!relative) {
      if (ListedIndex listed = forbidden_import(name); listed != not_listed) {
        report_.add_listed(listed, offset, fmt::format("module {} is forbidden", name));
      } else if (rules_.allowed_imports) {
        std::string_view plain = language_ == Language::javascript ? without_node_prefix(name) : name;
        std::string_view top = plain.substr(0, plain.find(language_ == Language::python ? '.' : '/'));
        if (!rules_.allowed_imports->contains(plain) && !rules_.allowed_imports->contains(top)) {
          report_.add(RuleId::import_not_allowed, offset,
                      fmt::format("module {} is not on the list of allowed modules", name));
        }
      }
      if (language_ == Language::python && (name == "builtins" || name == "__builtin__")) {
        report_.add(RuleId::builtins_access, offset, "builtins gives access to every built-in function");
      }
    }
  }
  return relative ? unknown_value : module_value(name);
}

std::string Evaluator::module_name(const Node& node) const {
  std::string_view span = text_.substr(node.start, node.end - node.start);
  if ((node.flags & flag_quoted) != 0)
    return span.size() < 2 ? std::string() : decode_javascript(span.substr(1, span.size() - 2));
  std::string name;
  for (char c : span) {
    if (c != ' ' && c != '\t' && c != '\\' && c != '\n' && c != '\r') name += c;
  }
  return normalize_identifier(name);
}

void Evaluator::import_statement(NodeIndex index) {
  const Node& node = tree_.nodes[index];
  std::string name = module_name(node);
  std::uint32_t offset = node.start;
  bool whole = (node.flags & flag_whole) != 0;
  ValueIndex module = import_named(name, offset, false);
  if (!whole) module = module_value(std::string_view(name).substr(0, name.find('.')));
  bind(tree_.nodes[index].name, module, offset);
}

void Evaluator::import_from(NodeIndex index) {
  const Node node = tree_.nodes[index];
  std::string name = module_name(node);
  bool relative = (node.flags & flag_relative) != 0;
  ValueIndex module = import_named(name, node.start, relative);
  relative = relative || module == unknown_value;
  for (NodeIndex item = node.first_child; item != no_node; item = tree_.nodes[item].next) {
    const Node child = tree_.nodes[item];
    if ((child.flags & flag_whole) != 0) {
      bind(child.name, module, child.start);
    } else if ((child.flags & flag_star) != 0) {
      if (value(module).type != Value::Type::path) continue;
      for (const auto& [word, state] : paths_.children(value(module).state)) {
        bind(names_.intern(paths_.text(word)), make_path(state), child.start);
      }
    } else {
      std::string_view span = text_.substr(child.start, child.end - child.start);
      NameIndex imported = names_.intern(names_.keep(normalize_identifier(span)));
      ValueIndex bound = unknown_value;
      if (!relative) {
        std::string full =
            name + (language_ == Language::python ? "." : "/") + std::string(names_[imported].text);
        if (ListedIndex listed = forbidden_import(full);
            reporting_ && listed != not_listed && forbidden_import(name) == not_listed) {
          report_.add_listed(listed, child.start, fmt::format("module {} is forbidden", full));
        }
        bound = attribute_of(module, imported, child.start);
        if (bound == unknown_value && language_ == Language::python)
          bound = make({.type = Value::Type::module});
      }
      bind(child.name, bound, child.start);
    }
  }
}

}  // namespace atl::policy
