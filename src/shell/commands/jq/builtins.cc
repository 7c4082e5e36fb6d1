#include "shell/commands/jq/builtins.h"

#include <fmt/format.h>

#include <algorithm>

#include "shell/stack.h"

namespace atl::shell::jq {

namespace {

ATOLL_JQ_BUILTIN(do_empty) {
  return true;
}
ATOLL_JQ_BUILTIN(do_not) {
  return out(Value(!in.truthy()), nullptr);
}
ATOLL_JQ_BUILTIN(do_true) {
  return out(Value(true), nullptr);
}
ATOLL_JQ_BUILTIN(do_false) {
  return out(Value(false), nullptr);
}
ATOLL_JQ_BUILTIN(do_null) {
  return out(Value(), nullptr);
}

ATOLL_JQ_BUILTIN(do_error) {
  return m.raise(in);
}
ATOLL_JQ_BUILTIN(do_error1) {
  return m.eval(n.list[0], env, in, nullptr, [&](const Value& v, const Path*) { return m.raise(v); });
}

ATOLL_JQ_BUILTIN(do_select) {
  return m.eval(n.list[0], env, in, nullptr,
                [&](const Value& v, const Path*) { return v.truthy() ? out(in, path) : true; });
}

ATOLL_JQ_BUILTIN(do_map) {
  if (!in.is_array() && !in.is_object())
    return m.raise(in.is_null()
                       ? std::string("Cannot iterate over null")
                       : fmt::format("Cannot iterate over {} ({})", kind_name(in.kind()), to_text(in)));
  std::vector<Value> items;
  auto each = [&](const Value& item) {
    return m.eval(n.list[0], env, item, nullptr, [&](const Value& v, const Path*) {
      items.push_back(v);
      return true;
    });
  };
  if (in.is_array()) {
    for (const Value& item : in.items())
      if (!each(item)) return false;
  } else {
    for (const auto& member : in.members().members)
      if (!each(member.value)) return false;
  }
  return out(Value::array(std::move(items)), nullptr);
}

ATOLL_JQ_BUILTIN(do_map_values) {
  Value result = in;
  auto first = [&](const Value& item, std::optional<Value>& found) {
    bool stopped = false;
    bool go = m.eval(n.list[0], env, item, nullptr, [&](const Value& v, const Path*) {
      found = v;
      stopped = true;
      return false;
    });
    return go || stopped;
  };
  if (in.is_array()) {
    std::vector<Value> items;
    for (const Value& item : in.items()) {
      std::optional<Value> found;
      if (!first(item, found)) return false;
      if (found) items.push_back(std::move(*found));
    }
    return out(Value::array(std::move(items)), nullptr);
  }
  if (!in.is_object()) return m.raise(fmt::format("Cannot iterate over {}", kind_name(in.kind())));
  Value object = Value::object();
  for (const auto& member : in.members().members) {
    std::optional<Value> found;
    if (!first(member.value, found)) return false;
    if (found) object.own_members().at(member.key) = std::move(*found);
  }
  return out(object, nullptr);
}

bool recurse_with(Machine& m, const Node* step, const Node* condition, const Env* env, const Value& in,
                  const Path* path, const Out& out) {
  if (!out(in, path)) return false;
  return m.eval(step, env, in, path, [&](const Value& v, const Path* p) {
    if (!condition) return recurse_with(m, step, condition, env, v, p, out);
    return m.eval(condition, env, v, nullptr, [&](const Value& c, const Path*) {
      return c.truthy() ? recurse_with(m, step, condition, env, v, p, out) : true;
    });
  });
}

ATOLL_JQ_BUILTIN(do_recurse) {
  static const Node kDefault = [] {
    Node node;
    node.op = Op::recurse_default;
    return node;
  }();
  return m.eval(&kDefault, env, in, path, out);
}
ATOLL_JQ_BUILTIN(do_recurse1) {
  return recurse_with(m, n.list[0], nullptr, env, in, path, out);
}
ATOLL_JQ_BUILTIN(do_recurse2) {
  return recurse_with(m, n.list[0], n.list[1], env, in, path, out);
}

ATOLL_JQ_BUILTIN(do_range) {
  std::vector<Value> a;
  return m.arguments(n, env, in, a, [&] {
    double from = 0, to = 0, by = 1;
    for (const Value& v : a)
      if (!v.is_number()) return m.raise(std::string("Range bounds must be numeric"));
    if (a.size() == 1)
      to = a[0].number();
    else
      from = a[0].number(), to = a[1].number();
    if (a.size() == 3) by = a[2].number();
    if (by == 0) {
      if (from >= to) return true;
      while (true) {
        m.tick();
        if (!out(Value(from), nullptr)) return false;
      }
    }
    for (double x = from; by > 0 ? x < to : x > to; x += by) {
      m.tick();
      if (!out(Value(x), nullptr)) return false;
    }
    return true;
  });
}

ATOLL_JQ_BUILTIN(do_first) {
  if (n.list.empty()) {
    Value got;
    if (!m.index(in, Value(0), got)) return false;
    Path step{path, Value(0)};
    return out(got, path ? &step : nullptr);
  }
  bool stopped = false, more = true;
  bool go = m.eval(n.list[0], env, in, path, [&](const Value& v, const Path* p) {
    stopped = true;
    more = out(v, p);
    return false;
  });
  return stopped ? more : go;
}

ATOLL_JQ_BUILTIN(do_last) {
  if (n.list.empty()) {
    Value got;
    if (!m.index(in, Value(-1), got)) return false;
    Path step{path, Value(-1)};
    return out(got, path ? &step : nullptr);
  }
  std::optional<Value> last;
  Value where;
  bool tracked = false;
  if (!m.eval(n.list[0], env, in, path, [&](const Value& v, const Path* p) {
        last = v;
        tracked = p != nullptr;
        if (p) where = p->collect();
        return true;
      }))
    return false;
  if (!last) return true;
  if (!tracked) return out(*last, nullptr);
  std::vector<Path> chain(where.items().size() + 1, Path{nullptr, Value()});
  for (std::size_t i = 0; i < where.items().size(); ++i) chain[i + 1] = Path{&chain[i], where.items()[i]};
  return out(*last, &chain.back());
}

ATOLL_JQ_BUILTIN(do_limit) {
  return m.eval(n.list[0], env, in, nullptr, [&](const Value& count, const Path*) {
    if (!count.is_number()) return m.raise(std::string("Invalid arguments to limit"));
    double left = count.number();
    if (left <= 0) return true;
    bool stopped = false, more = true;
    bool go = m.eval(n.list[1], env, in, path, [&](const Value& v, const Path* p) {
      more = out(v, p);
      if (!more || --left <= 0) {
        stopped = true;
        return false;
      }
      return true;
    });
    return stopped ? more : go;
  });
}

ATOLL_JQ_BUILTIN(do_skip) {
  return m.eval(n.list[0], env, in, nullptr, [&](const Value& count, const Path*) {
    double left = count.is_number() ? count.number() : 0;
    return m.eval(n.list[1], env, in, path,
                  [&](const Value& v, const Path* p) { return left-- > 0 ? true : out(v, p); });
  });
}

ATOLL_JQ_BUILTIN(do_nth) {
  return m.eval(n.list[0], env, in, nullptr, [&](const Value& count, const Path*) {
    if (!count.is_number()) return m.raise(std::string("Invalid arguments to nth"));
    if (n.list.size() == 1) {
      Value got;
      if (!m.index(in, count, got)) return false;
      Path step{path, count};
      return out(got, path ? &step : nullptr);
    }
    double left = count.number();
    if (left < 0) return m.raise(std::string("Out of bounds negative array index"));
    bool stopped = false, more = true;
    bool go = m.eval(n.list[1], env, in, path, [&](const Value& v, const Path* p) {
      if (left-- > 0) return true;
      stopped = true;
      more = out(v, p);
      return false;
    });
    return stopped ? more : go;
  });
}

ATOLL_JQ_BUILTIN(do_until) {
  Value state = in;
  while (true) {
    bool stop = false;
    Value now = state;
    if (!m.eval(n.list[0], env, now, nullptr, [&](const Value& v, const Path*) {
          stop = v.truthy();
          return true;
        }))
      return false;
    if (stop) return out(state, nullptr);
    if (!m.eval(n.list[1], env, now, nullptr, [&](const Value& v, const Path*) {
          state = v;
          return true;
        }))
      return false;
    m.tick(4);
  }
}

// while and repeat with one output per step as a loop; with several, by recursion as jq does.
bool loop(Machine& m, const Node* condition, const Node* step, const Env* env, const Value& start,
          const Path* path, const Out& out) {
  Value state = start;
  while (true) {
    if (condition) {
      bool go_on = false;
      if (!m.eval(condition, env, state, nullptr, [&](const Value& v, const Path*) {
            go_on = v.truthy();
            return true;
          }))
        return false;
      if (!go_on) return true;
    }
    if (!out(state, path)) return false;
    std::vector<Value> next;
    if (!m.eval(step, env, state, nullptr, [&](const Value& v, const Path*) {
          next.push_back(v);
          return true;
        }))
      return false;
    if (next.empty()) return true;
    for (std::size_t i = 0; i + 1 < next.size(); ++i)
      if (!loop(m, condition, step, env, next[i], nullptr, out)) return false;
    state = next.back();
    m.tick(4);
  }
}
ATOLL_JQ_BUILTIN(do_while) {
  return loop(m, n.list[0], n.list[1], env, in, nullptr, out);
}
ATOLL_JQ_BUILTIN(do_repeat) {
  return loop(m, nullptr, n.list[0], env, in, nullptr, out);
}

ATOLL_JQ_BUILTIN(do_path) {
  return m.eval(n.list[0], env, in, &Machine::kRoot, [&](const Value& v, const Path* p) {
    if (!p) return m.raise(fmt::format("Invalid path expression with result {}", to_text(v).substr(0, 11)));
    return out(p->collect(), nullptr);
  });
}

ATOLL_JQ_BUILTIN(do_paths) {
  static const Node kDefault = [] {
    Node node;
    node.op = Op::recurse_default;
    return node;
  }();
  return m.eval(&kDefault, env, in, &Machine::kRoot, [&](const Value& v, const Path* p) {
    if (!p || !p->up) return true;
    if (n.list.empty()) return out(p->collect(), nullptr);
    Value where = p->collect();
    return m.eval(n.list[0], env, v, nullptr,
                  [&](const Value& keep, const Path*) { return keep.truthy() ? out(where, nullptr) : true; });
  });
}

ATOLL_JQ_BUILTIN(do_leaf_paths) {
  static const Node kDefault = [] {
    Node node;
    node.op = Op::recurse_default;
    return node;
  }();
  return m.eval(&kDefault, env, in, &Machine::kRoot, [&](const Value& v, const Path* p) {
    if (!p || !p->up || v.is_array() || v.is_object() || !v.truthy()) return true;
    return out(p->collect(), nullptr);
  });
}

ATOLL_JQ_BUILTIN(do_getpath) {
  return m.eval(n.list[0], env, in, nullptr, [&](const Value& where, const Path*) {
    if (!where.is_array()) return m.raise(std::string("Path must be specified as an array"));
    Value got;
    if (!m.get_path(in, where.items(), got)) {
      if (!path) return false;
      m.error.reset();
    }
    if (!path) return out(got, nullptr);
    std::vector<Path> chain(where.items().size(), Path{nullptr, Value()});
    const Path* last = path;
    for (std::size_t i = 0; i < chain.size(); ++i) {
      chain[i] = Path{last, where.items()[i]};
      last = &chain[i];
    }
    return out(got, last);
  });
}

ATOLL_JQ_BUILTIN(do_setpath) {
  std::vector<Value> a;
  return m.arguments(n, env, in, a, [&] {
    if (!a[0].is_array()) return m.raise(std::string("Path must be specified as an array"));
    Value result;
    return m.set_path(in, a[0].items(), 0, a[1], result) && out(result, nullptr);
  });
}

ATOLL_JQ_BUILTIN(do_delpaths) {
  return m.eval(n.list[0], env, in, nullptr, [&](const Value& paths, const Path*) {
    if (!paths.is_array()) return m.raise(std::string("Paths must be specified as an array"));
    Value result;
    return m.delete_paths(in, paths.items(), result) && out(result, nullptr);
  });
}

ATOLL_JQ_BUILTIN(do_del) {
  std::vector<Value> paths;
  if (!m.paths_of(n.list[0], env, in, paths)) return false;
  Value result;
  return m.delete_paths(in, std::move(paths), result) && out(result, nullptr);
}

ATOLL_JQ_BUILTIN(do_pick) {
  std::vector<Value> paths;
  if (!m.paths_of(n.list[0], env, in, paths)) return false;
  Value result;
  for (const Value& where : paths) {
    Value got, next;
    if (!m.get_path(in, where.items(), got) || !m.set_path(result, where.items(), 0, got, next)) return false;
    result = next;
  }
  return out(result, nullptr);
}

ATOLL_JQ_BUILTIN(do_to_entries) {
  if (in.is_array()) {
    std::vector<Value> rows;
    for (std::size_t i = 0; i < in.items().size(); ++i) {
      Value entry = Value::object();
      entry.own_members().at("key") = Value(static_cast<double>(i));
      entry.own_members().at("value") = in.items()[i];
      rows.push_back(std::move(entry));
    }
    return out(Value::array(std::move(rows)), nullptr);
  }
  if (!in.is_object()) return m.raise(fmt::format("{} ({}) has no keys", kind_name(in.kind()), to_text(in)));
  std::vector<Value> items;
  for (const auto& member : in.members().members) {
    Value entry = Value::object();
    entry.own_members().at("key") = Value(member.key);
    entry.own_members().at("value") = member.value;
    items.push_back(std::move(entry));
  }
  return out(Value::array(std::move(items)), nullptr);
}

bool from_entries(Machine& m, const Value& in, Value& result) {
  result = Value::object();
  auto add = [&](const Value& entry) {
    if (!entry.is_object())
      return m.raise(fmt::format("Cannot index {} with \"key\"", kind_name(entry.kind())));
    const Value* key = nullptr;
    for (const char* name : {"key", "k", "name", "Name", "Key", "K"}) {
      key = entry.members().find(name);
      if (key && (key->truthy() || key->kind() == Kind::false_)) break;
      if (key && key->is_null()) key = nullptr;
    }
    const Value* value = nullptr;
    for (const char* name : {"value", "v", "Value", "V"}) {
      value = entry.members().find(name);
      if (value) break;
    }
    Value k = key ? *key : Value();
    std::string text;
    if (k.is_string())
      text = k.text();
    else if (k.is_null())
      text = "null";
    else if (k.is_number() || k.kind() == Kind::true_ || k.kind() == Kind::false_)
      text = to_text(k);
    else
      return m.raise(fmt::format("Cannot use {} ({}) as object key", kind_name(k.kind()), to_text(k)));
    result.own_members().at(text) = value ? *value : Value();
    return true;
  };
  if (!in.is_array() && !in.is_object())
    return m.raise(fmt::format("Cannot iterate over {}", kind_name(in.kind())));
  if (in.is_array()) {
    for (const Value& entry : in.items())
      if (!add(entry)) return false;
  } else {
    for (const auto& member : in.members().members)
      if (!add(member.value)) return false;
  }
  return true;
}
ATOLL_JQ_BUILTIN(do_from_entries) {
  Value result;
  return from_entries(m, in, result) && out(result, nullptr);
}

ATOLL_JQ_BUILTIN(do_with_entries) {
  if (!in.is_object() && !in.is_array())
    return m.raise(fmt::format("{} ({}) has no keys", kind_name(in.kind()), to_text(in)));
  std::vector<Value> items;
  auto each = [&](Value key, const Value& value) {
    Value entry = Value::object();
    entry.own_members().at("key") = std::move(key);
    entry.own_members().at("value") = value;
    return m.eval(n.list[0], env, entry, nullptr, [&](const Value& v, const Path*) {
      items.push_back(v);
      return true;
    });
  };
  if (in.is_object()) {
    for (const auto& member : in.members().members)
      if (!each(Value(member.key), member.value)) return false;
  } else {
    for (std::size_t i = 0; i < in.items().size(); ++i)
      if (!each(Value(static_cast<double>(i)), in.items()[i])) return false;
  }
  Value result;
  return from_entries(m, Value::array(std::move(items)), result) && out(result, nullptr);
}

bool walk_value(Machine& m, const Node* f, const Env* env, const Value& in, const Out& out) {
  Value rebuilt = in;
  if (in.is_array()) {
    std::vector<Value> items;
    for (const Value& item : in.items())
      if (!walk_value(m, f, env, item, [&](const Value& v, const Path*) {
            items.push_back(v);
            return true;
          }))
        return false;
    rebuilt = Value::array(std::move(items));
  } else if (in.is_object()) {
    rebuilt = Value::object();
    for (const auto& member : in.members().members) {
      bool stopped = false;
      bool go = walk_value(m, f, env, member.value, [&](const Value& v, const Path*) {
        rebuilt.own_members().at(member.key) = v;
        stopped = true;
        return false;
      });
      if (!go && !stopped) return false;
    }
  }
  m.tick();
  return m.eval(f, env, rebuilt, nullptr, out);
}
ATOLL_JQ_BUILTIN(do_walk) {
  return walk_value(m, n.list[0], env, in, out);
}

ATOLL_JQ_BUILTIN(do_any_all) {
  bool all = n.text == "all";
  bool result = all;
  auto test = [&](const Value& v) {
    if (v.truthy() != all) {
      result = !all;
      return false;
    }
    return true;
  };
  bool go = true;
  if (n.list.size() == 2) {
    go = m.eval(n.list[0], env, in, nullptr, [&](const Value& v, const Path*) {
      return m.eval(n.list[1], env, v, nullptr, [&](const Value& w, const Path*) { return test(w); });
    });
  } else {
    std::vector<Value> items;
    if (in.is_array())
      items = in.items();
    else if (in.is_object())
      for (const auto& member : in.members().members) items.push_back(member.value);
    else
      return m.raise(fmt::format("Cannot iterate over {}", kind_name(in.kind())));
    for (const Value& item : items) {
      go = n.list.empty()
               ? test(item)
               : m.eval(n.list[0], env, item, nullptr, [&](const Value& w, const Path*) { return test(w); });
      if (!go) break;
    }
  }
  if (!go && (m.error || m.breaking || m.halt)) return false;
  return out(Value(result), nullptr);
}

ATOLL_JQ_BUILTIN(do_isempty) {
  bool any = false;
  bool go = m.eval(n.list[0], env, in, nullptr, [&](const Value&, const Path*) {
    any = true;
    return false;
  });
  if (!go && !any) return false;
  return out(Value(!any), nullptr);
}

ATOLL_JQ_BUILTIN(do_add1) {
  Value sum;
  if (!m.eval(n.list[0], env, in, nullptr, [&](const Value& v, const Path*) {
        Value next;
        Value left = std::move(sum);
        sum = Value();
        if (!m.arithmetic(Op::add, left, v, next)) return false;
        sum = std::move(next);
        return true;
      }))
    return false;
  return out(sum, nullptr);
}

ATOLL_JQ_BUILTIN(do_add) {
  std::vector<Value> items;
  if (in.is_array())
    items = in.items();
  else if (in.is_object())
    for (const auto& member : in.members().members) items.push_back(member.value);
  else if (!in.is_null())
    return m.raise(fmt::format("Cannot iterate over {} ({})", kind_name(in.kind()), to_text(in)));
  if (items.empty()) return out(Value(), nullptr);
  // Long sums of strings and arrays in one piece.
  bool strings =
      std::all_of(items.begin(), items.end(), [](const Value& v) { return v.is_string() || v.is_null(); });
  bool arrays = std::all_of(items.begin(), items.end(), [](const Value& v) { return v.is_array(); });
  if (strings && items[0].is_string()) {
    std::string text;
    for (const Value& v : items)
      if (v.is_string()) text += v.text();
    return out(Value(std::move(text)), nullptr);
  }
  if (arrays) {
    std::vector<Value> all;
    for (const Value& v : items) all.insert(all.end(), v.items().begin(), v.items().end());
    return out(Value::array(std::move(all)), nullptr);
  }
  bool objects = std::all_of(items.begin(), items.end(), [](const Value& v) { return v.is_object(); });
  if (objects) {
    Value all = Value::object();
    for (const Value& v : items)
      for (const auto& member : v.members().members) all.own_members().at(member.key) = member.value;
    return out(all, nullptr);
  }
  Value sum;
  for (const Value& v : items) {
    Value next;
    if (!m.arithmetic(Op::add, sum, v, next)) return false;
    sum = std::move(next);
  }
  return out(sum, nullptr);
}

constexpr BuiltinRow kRows[] = {
    {"empty", 0, do_empty},
    {"not", 0, do_not},
    {"true", 0, do_true},
    {"false", 0, do_false},
    {"null", 0, do_null},
    {"error", 0, do_error},
    {"error", 1, do_error1},
    {"select", 1, do_select},
    {"map", 1, do_map},
    {"map_values", 1, do_map_values},
    {"recurse", 0, do_recurse},
    {"recurse", 1, do_recurse1},
    {"recurse", 2, do_recurse2},
    {"recurse_down", 0, do_recurse},
    {"range", 1, do_range},
    {"range", 2, do_range},
    {"range", 3, do_range},
    {"first", 0, do_first},
    {"first", 1, do_first},
    {"last", 0, do_last},
    {"last", 1, do_last},
    {"limit", 2, do_limit},
    {"skip", 2, do_skip},
    {"nth", 1, do_nth},
    {"nth", 2, do_nth},
    {"until", 2, do_until},
    {"while", 2, do_while},
    {"repeat", 1, do_repeat},
    {"path", 1, do_path},
    {"paths", 0, do_paths},
    {"paths", 1, do_paths},
    {"leaf_paths", 0, do_leaf_paths},
    {"getpath", 1, do_getpath},
    {"setpath", 2, do_setpath},
    {"delpaths", 1, do_delpaths},
    {"del", 1, do_del},
    {"pick", 1, do_pick},
    {"to_entries", 0, do_to_entries},
    {"from_entries", 0, do_from_entries},
    {"with_entries", 1, do_with_entries},
    {"walk", 1, do_walk},
    {"any", 0, do_any_all},
    {"any", 1, do_any_all},
    {"any", 2, do_any_all},
    {"all", 0, do_any_all},
    {"all", 1, do_any_all},
    {"all", 2, do_any_all},
    {"isempty", 1, do_isempty},
    {"add", 0, do_add},
    {"add", 1, do_add1},
};

}  // namespace

const BuiltinRow* find_builtin(std::string_view name, std::size_t arity) {
  for (std::span<const BuiltinRow> rows :
       {std::span<const BuiltinRow>(kRows), value_builtins(), text_builtins(), stream_builtins()})
    for (const BuiltinRow& row : rows)
      if (row.name == name && row.arity == arity) return &row;
  return nullptr;
}

std::vector<std::string> builtin_names() {
  std::vector<std::string> names;
  for (std::span<const BuiltinRow> rows :
       {std::span<const BuiltinRow>(kRows), value_builtins(), text_builtins(), stream_builtins()})
    for (const BuiltinRow& row : rows) names.push_back(fmt::format("{}/{}", row.name, row.arity));
  return names;
}

}  // namespace atl::shell::jq
