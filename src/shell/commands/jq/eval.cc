#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "shell/commands/jq/machine.h"
#include "shell/stack.h"

namespace atl::shell::jq {

namespace {

const Env* climb(const Env* env, int levels) {
  while (levels-- > 0) env = env->up;
  return env;
}

}  // namespace

const Path Machine::kRoot{nullptr, Value()};

Value Path::collect() const {
  std::vector<Value> keys;
  for (const Path* p = this; p && p->up; p = p->up) keys.push_back(p->key);
  std::reverse(keys.begin(), keys.end());
  return Value::array(std::move(keys));
}

Machine::Machine(Invocation& call) : call_(call) {}

bool Machine::raise(Value value) {
  error = std::move(value);
  return false;
}

// Backtracking by callbacks: `out` is called for every output. A null `path` means that nobody asks where the
// value came from; inside of path(...) it is the chain of keys.
bool Machine::eval(const Node* node, const Env* env, const Value& in, const Path* path, const Out& out) {
  if (stack_left_here() < stack_reserve_for_tree) return raise(std::string("Recursion too deep"));
  tick();
  switch (node->op) {
    case Op::identity: return out(in, path);
    case Op::recurse_default: return eval_recurse(in, path, out);
    case Op::literal: return out(node->value, nullptr);
    case Op::field: {
      if (node->a->op == Op::identity) {
        Value got;
        if (in.is_object()) {
          const Value* found = in.members().find(node->text);
          if (found) got = *found;
        } else if (!in.is_null()) {
          return raise(fmt::format("Cannot index {} with \"{}\"", kind_name(in.kind()), node->text));
        }
        if (!path) return out(got, nullptr);
        Path step{path, Value(node->text)};
        return out(got, &step);
      }
      return eval(node->a, env, in, path, [&](const Value& v, const Path* p) {
        Value got;
        if (v.is_object()) {
          const Value* found = v.members().find(node->text);
          if (found) got = *found;
        } else if (!v.is_null()) {
          return raise(fmt::format("Cannot index {} with \"{}\"", kind_name(v.kind()), node->text));
        }
        if (!p) return out(got, nullptr);
        Path step{p, Value(node->text)};
        return out(got, &step);
      });
    }
    case Op::index: return eval_index(node, env, in, path, out);
    case Op::slice: return eval_slice(node, env, in, path, out);
    case Op::iterate: return eval_iterate(node, env, in, path, out);
    case Op::format_string: return eval_string(node, env, in, 0, {}, out);
    case Op::format: {
      std::string text;
      if (!format(node->text, in, text)) return false;
      return out(Value(std::move(text)), nullptr);
    }
    case Op::pipe:
      return eval(node->a, env, in, path,
                  [&](const Value& v, const Path* p) { return eval(node->b, env, v, p, out); });
    case Op::comma: return eval(node->a, env, in, path, out) && eval(node->b, env, in, path, out);
    case Op::negate:
      return eval(node->a, env, in, nullptr, [&](const Value& v, const Path*) {
        if (!v.is_number())
          return raise(fmt::format("{} ({}) cannot be negated", kind_name(v.kind()), to_text(v)));
        return out(Value(-v.number()), nullptr);
      });
    case Op::and_:
    case Op::or_:
      return eval(node->a, env, in, nullptr, [&](const Value& v, const Path*) {
        if (v.truthy() != (node->op == Op::and_)) return out(Value(v.truthy()), nullptr);
        return eval(node->b, env, in, nullptr,
                    [&](const Value& w, const Path*) { return out(Value(w.truthy()), nullptr); });
      });
    case Op::alternative: {
      // An error of the left side is swallowed, one of whoever takes the outputs is not: `downstream` tells
      // them apart.
      bool any = false, downstream = false;
      bool go = eval(node->a, env, in, path, [&](const Value& v, const Path* p) {
        if (!v.truthy()) return true;
        any = true;
        bool more = out(v, p);
        downstream = !more;
        return more;
      });
      if (!go && (downstream || breaking || halt)) return false;
      if (!go) error.reset();
      return any ? true : eval(node->b, env, in, path, out);
    }
    case Op::assign:
    case Op::update:
    case Op::arithmetic_update:
    case Op::alternative_update: return eval_assignment(node, env, in, out);
    case Op::add:
    case Op::subtract:
    case Op::multiply:
    case Op::divide:
    case Op::modulo:
    case Op::equal:
    case Op::not_equal:
    case Op::less:
    case Op::less_equal:
    case Op::greater:
    case Op::greater_equal:
      // The right side is the outer loop.
      return eval(node->b, env, in, nullptr, [&](const Value& right, const Path*) {
        return eval(node->a, env, in, nullptr, [&](const Value& left, const Path*) {
          Value result;
          if (!arithmetic(node->op, left, right, result)) return false;
          return out(result, nullptr);
        });
      });
    case Op::if_:
      return eval(node->a, env, in, nullptr, [&](const Value& v, const Path*) {
        if (v.truthy()) return eval(node->b, env, in, path, out);
        return node->c ? eval(node->c, env, in, path, out) : out(in, path);
      });
    case Op::try_: return eval_try(node, env, in, path, out);
    case Op::reduce: return eval_reduce(node, env, in, path, out);
    case Op::foreach_: return eval_foreach(node, env, in, path, out);
    case Op::bind: return eval_bind(node, env, in, path, out);
    case Op::bind_alternatives: return eval_alternatives(node, env, in, path, out);
    case Op::label: {
      // A label is known by its link's address, which is unique as long as it is in scope.
      Env link{env};
      bool go = eval(node->a, &link, in, path, out);
      if (!go && breaking == &link) {
        breaking = nullptr;
        return true;
      }
      return go;
    }
    case Op::break_: breaking = climb(env, node->levels); return false;
    case Op::def: {
      Env link{env};
      link.definition = node->definition.get();
      return eval(node->b, &link, in, path, out);
    }
    case Op::call_definition: return eval_call(node, env, in, path, out);
    case Op::call_parameter: {
      const Env* link = climb(env, node->levels);
      // A parameter is evaluated where the call stands, with the input of here.
      return eval(link->closure, link->closure_env, in, path, out);
    }
    case Op::call_builtin: return node->builtin->run(*this, *node, env, in, path, out);
    case Op::variable: return out(climb(env, node->levels)->value, nullptr);
    case Op::array: {
      std::vector<Value> items;
      if (node->a && !eval(node->a, env, in, nullptr, [&](const Value& v, const Path*) {
            items.push_back(v);
            return true;
          }))
        return false;
      return out(Value::array(std::move(items)), nullptr);
    }
    case Op::object: return eval_object(node, env, in, 0, Value::object(), out);
    case Op::environment: return out(environment, nullptr);
    case Op::input_arguments: return out(named_arguments, nullptr);
    case Op::location: return out(node->value, nullptr);
  }
  return true;
}

bool Machine::eval_recurse(const Value& in, const Path* path, const Out& out) {
  // Depth is bounded by the depth of the value.
  if (stack_left_here() < stack_reserve_for_tree) return raise(std::string("Recursion too deep"));
  tick();
  if (!out(in, path)) return false;
  if (in.is_array()) {
    for (std::size_t i = 0; i < in.items().size(); ++i) {
      Path step{path, path ? Value(static_cast<double>(i)) : Value()};
      if (!eval_recurse(in.items()[i], path ? &step : nullptr, out)) return false;
    }
  } else if (in.is_object()) {
    Value held = in;  // what `out` does may change the one it came from
    for (const auto& member : held.members().members) {
      Path step{path, path ? Value(member.key) : Value()};
      if (!eval_recurse(member.value, path ? &step : nullptr, out)) return false;
    }
  }
  return true;
}

bool Machine::eval_index(const Node* node, const Env* env, const Value& in, const Path* path,
                         const Out& out) {
  return eval(node->a, env, in, path, [&](const Value& v, const Path* p) {
    return eval(node->b, env, in, nullptr, [&](const Value& key, const Path*) {
      Value got;
      if (!index(v, key, got)) return false;
      if (!p) return out(got, nullptr);
      Path step{p, key};
      return out(got, &step);
    });
  });
}

bool Machine::eval_slice(const Node* node, const Env* env, const Value& in, const Path* path,
                         const Out& out) {
  return eval(node->a, env, in, path, [&](const Value& v, const Path* p) {
    auto with_to = [&](const Value& to) {
      auto with_from = [&](const Value& from) {
        Value got;
        if (!slice(v, from, to, got)) return false;
        if (!p) return out(got, nullptr);
        Value key = Value::object();
        key.own_members().at("start") = from;
        key.own_members().at("end") = to;
        Path step{p, key};
        return out(got, &step);
      };
      if (!node->b) return with_from(Value());
      return eval(node->b, env, in, nullptr, [&](const Value& from, const Path*) { return with_from(from); });
    };
    if (!node->c) return with_to(Value());
    return eval(node->c, env, in, nullptr, [&](const Value& to, const Path*) { return with_to(to); });
  });
}

bool Machine::eval_iterate(const Node* node, const Env* env, const Value& in, const Path* path,
                           const Out& out) {
  return eval(node->a, env, in, path, [&](const Value& v, const Path* p) {
    // Held, because what `out` does may drop the value that is being iterated.
    Value held = v;
    if (held.is_array()) {
      for (std::size_t i = 0; i < held.items().size(); ++i) {
        Path step{p, p ? Value(static_cast<double>(i)) : Value()};
        if (!out(held.items()[i], p ? &step : nullptr)) return false;
      }
      return true;
    }
    if (held.is_object()) {
      for (const auto& member : held.members().members) {
        Path step{p, p ? Value(member.key) : Value()};
        if (!out(member.value, p ? &step : nullptr)) return false;
      }
      return true;
    }
    std::string shown = held.is_null() ? "" : fmt::format(" ({})", to_text(held));
    return raise(fmt::format("Cannot iterate over {}{}", kind_name(held.kind()), shown));
  });
}

bool Machine::eval_string(const Node* node, const Env* env, const Value& in, std::size_t at,
                          const std::string& so_far, const Out& out) {
  // Literals and expressions alternate; the last expression is the outer loop in jq, which only order of
  // output shows.
  if (at >= node->list.size()) return out(Value(so_far), nullptr);
  if (at % 2 == 0) return eval_string(node, env, in, at + 1, so_far + node->list[at]->value.text(), out);
  return eval(node->list[at], env, in, nullptr, [&](const Value& v, const Path*) {
    std::string text;
    if (node->text.empty())
      text = v.is_string() ? v.text() : to_text(v);
    else if (!format(node->text, v, text))
      return false;
    return eval_string(node, env, in, at + 1, so_far + text, out);
  });
}

bool Machine::eval_object(const Node* node, const Env* env, const Value& in, std::size_t at,
                          const Value& so_far, const Out& out) {
  if (at >= node->members.size()) return out(so_far, nullptr);
  const auto& [key_node, value_node] = node->members[at];
  auto with_key = [&](const Value& key) {
    if (!key.is_string()) return raise(fmt::format("Object keys must be strings"));
    return eval(value_node, env, in, nullptr, [&](const Value& v, const Path*) {
      Value next = so_far;
      next.own_members().at(key.text()) = v;
      return eval_object(node, env, in, at + 1, next, out);
    });
  };
  if (key_node->op == Op::literal) return with_key(key_node->value);
  return eval(key_node, env, in, nullptr, [&](const Value& key, const Path*) { return with_key(key); });
}

bool Machine::eval_try(const Node* node, const Env* env, const Value& in, const Path* path, const Out& out) {
  bool downstream = false;
  bool go = eval(node->a, env, in, path, [&](const Value& v, const Path* p) {
    bool more = out(v, p);
    downstream = !more;
    return more;
  });
  // Only errors of the body are caught.
  if (go || downstream || breaking || halt || !error) return go;
  Value caught = std::move(*error);
  error.reset();
  // error(break) leaves quietly.
  if (caught.is_object() && caught.members().find("__jq")) return true;
  if (!node->b) return true;
  return eval(node->b, env, caught, nullptr, out);
}

bool Machine::eval_reduce(const Node* node, const Env* env, const Value& in, const Path* path,
                          const Out& out) {
  return eval(node->b, env, in, path, [&](const Value& start, const Path*) {
    Value state = start;
    bool go = eval(node->a, env, in, nullptr, [&](const Value& v, const Path*) {
      return destructure(*node->pattern, v, env, in, [&](const Env* bound) {
        Value last;
        bool any = false;
        // The only reference, so that updates happen in place.
        Value current = std::move(state);
        state = Value();
        if (!eval(node->c, bound, std::move(current), nullptr, [&](const Value& next, const Path*) {
              last = next;
              any = true;
              return true;
            }))
          return false;
        state = any ? std::move(last) : Value();
        return true;
      });
    });
    if (!go) return false;
    return out(state, nullptr);
  });
}

bool Machine::eval_foreach(const Node* node, const Env* env, const Value& in, const Path* path,
                           const Out& out) {
  return eval(node->b, env, in, path, [&](const Value& start, const Path*) {
    Value state = start;
    return eval(node->a, env, in, nullptr, [&](const Value& v, const Path*) {
      return destructure(*node->pattern, v, env, in, [&](const Env* bound) {
        Value before = state;
        return eval(node->c, bound, before, nullptr, [&](const Value& next, const Path*) {
          state = next;
          if (!node->d) return out(next, nullptr);
          return eval(node->d, bound, next, nullptr, out);
        });
      });
    });
  });
}

bool Machine::eval_bind(const Node* node, const Env* env, const Value& in, const Path* path, const Out& out) {
  return eval(node->a, env, in, nullptr, [&](const Value& v, const Path*) {
    return destructure(*node->pattern, v, env, in,
                       [&](const Env* bound) { return eval(node->b, bound, in, path, out); });
  });
}

// ?//: each pattern in turn until one works; names of the others are null.
bool Machine::eval_alternatives(const Node* node, const Env* env, const Value& in, const Path* path,
                                const Out& out) {
  return eval(node->a, env, in, nullptr, [&](const Value& v, const Path*) {
    for (std::size_t i = 0; i < node->patterns.size(); ++i) {
      bool downstream = false;
      std::unordered_map<std::string, Value> found;
      bool last = i + 1 == node->patterns.size();
      bool go = destructure(*node->patterns[i], v, env, in, [&](const Env* bound) {
        // Names in order of binding are on the chain; collect them by walking up to env.
        std::vector<std::string> names;
        std::function<void(const Pattern&)> walk = [&](const Pattern& p) {
          if (p.kind == Pattern::Kind::variable) names.push_back(p.name);
          for (const auto& e : p.entries) {
            if (!e.variable.empty()) names.push_back(e.variable);
            if (e.pattern) walk(*e.pattern);
          }
        };
        walk(*node->patterns[i]);
        const Env* link = bound;
        for (std::size_t k = names.size(); k-- > 0 && link != env; link = link->up)
          found.emplace(names[k], link->value);
        std::vector<Env> chain(node->all_variables.size());
        const Env* top = env;
        for (std::size_t k = 0; k < chain.size(); ++k) {
          chain[k].up = top;
          auto it = found.find(node->all_variables[k]);
          if (it != found.end()) chain[k].value = it->second;
          top = &chain[k];
        }
        return eval(node->b, top, in, path, [&](const Value& w, const Path* p) {
          bool more = out(w, p);
          downstream = !more;
          return more;
        });
      });
      if (go || downstream || breaking || halt || last || !error) return go;
      error.reset();
    }
    return true;
  });
}

bool Machine::eval_call(const Node* node, const Env* env, const Value& in, const Path* path, const Out& out) {
  const Env* link = climb(env, node->levels);
  return eval_parameters(node, *link->definition, 0, env, link, in, path, out);
}

bool Machine::eval_parameters(const Node* node, const Definition& d, std::size_t at, const Env* env,
                              const Env* linked, const Value& in, const Path* path, const Out& out) {
  if (at >= d.parameters.size()) return eval(d.body, linked, in, path, out);
  Env closure{linked};
  closure.closure = node->list[at];
  closure.closure_env = env;
  if (d.parameters[at][0] != '$') return eval_parameters(node, d, at + 1, env, &closure, in, path, out);
  return eval(node->list[at], env, in, nullptr, [&](const Value& v, const Path*) {
    Env variable{&closure};
    variable.value = v;
    return eval_parameters(node, d, at + 1, env, &variable, in, path, out);
  });
}

bool Machine::destructure(const Pattern& pattern, const Value& value, const Env* env, const Value& in,
                          const std::function<bool(const Env*)>& done) {
  if (pattern.kind == Pattern::Kind::variable) {
    Env link{env};
    link.value = value;
    return done(&link);
  }
  if (pattern.kind == Pattern::Kind::array && !value.is_array() && !value.is_null())
    return raise(fmt::format("Cannot index {} with number", kind_name(value.kind())));
  return destructure_entries(pattern, 0, value, env, in, done);
}

bool Machine::destructure_entries(const Pattern& pattern, std::size_t at, const Value& value, const Env* env,
                                  const Value& in, const std::function<bool(const Env*)>& done) {
  if (at >= pattern.entries.size()) return done(env);
  const auto& entry = pattern.entries[at];
  auto go_on = [&](const Env* bound) { return destructure_entries(pattern, at + 1, value, bound, in, done); };
  if (pattern.kind == Pattern::Kind::array) {
    Value got;
    if (!index(value, Value(static_cast<double>(at)), got)) return false;
    return destructure(*entry.pattern, got, env, in, go_on);
  }
  return eval(entry.key, env, in, nullptr, [&](const Value& key, const Path*) {
    if (!key.is_string())
      return raise(fmt::format("Cannot index {} with {}", kind_name(value.kind()), kind_name(key.kind())));
    Value got;
    if (!index(value, key, got)) return false;
    Env link{env};
    const Env* bound = env;
    if (!entry.variable.empty()) {
      link.value = got;
      bound = &link;
    }
    if (!entry.pattern) return go_on(bound);
    return destructure(*entry.pattern, got, bound, in, go_on);
  });
}

bool Machine::arguments(const Node& node, const Env* env, const Value& in, std::vector<Value>& values,
                        const std::function<bool()>& done) {
  values.resize(node.list.size());
  // Cartesian product, the last argument as the outermost loop, as jq has it.
  std::function<bool(std::size_t)> from = [&](std::size_t left) -> bool {
    if (left == 0) return done();
    return eval(node.list[left - 1], env, in, nullptr, [&](const Value& v, const Path*) {
      values[left - 1] = v;
      return from(left - 1);
    });
  };
  return from(node.list.size());
}

}  // namespace atl::shell::jq
