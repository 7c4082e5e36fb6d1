#include <fmt/format.h>

#include <algorithm>

#include "shell/commands/jq/builtins.h"
#include "shell/stack.h"

namespace atl::shell::jq {

namespace {

ATOLL_JQ_BUILTIN(do_input) {
  Value next;
  if (!m.next_input(next)) return m.error ? false : m.raise(std::string("No more inputs"));
  return out(next, nullptr);
}
ATOLL_JQ_BUILTIN(do_inputs) {
  Value next;
  while (m.next_input(next))
    if (!out(next, nullptr)) return false;
  return !m.error;
}
ATOLL_JQ_BUILTIN(do_input_filename) {
  return out(m.has_input_name ? Value(m.input_name) : Value(), nullptr);
}
ATOLL_JQ_BUILTIN(do_input_line_number) {
  return out(Value(static_cast<double>(m.line_number)), nullptr);
}
ATOLL_JQ_BUILTIN(do_debug) {
  if (n.list.empty()) {
    m.call().err().write(fmt::format("[\"DEBUG:\",{}]\n", to_text(in)));
    return out(in, path);
  }
  if (!m.eval(n.list[0], env, in, nullptr, [&](const Value& v, const Path*) {
        m.call().err().write(fmt::format("[\"DEBUG:\",{}]\n", to_text(v)));
        return true;
      }))
    return false;
  return out(in, path);
}
ATOLL_JQ_BUILTIN(do_stderr) {
  m.call().err().write(to_text(in));
  return out(in, path);
}
ATOLL_JQ_BUILTIN(do_halt) {
  m.halt = 0;
  return false;
}
ATOLL_JQ_BUILTIN(do_halt_error) {
  auto stop = [&](int status) {
    m.halt = status;
    m.halt_message = in.is_string() ? in.text() : to_text(in) + "\n";
    return false;
  };
  if (n.list.empty()) return stop(5);
  return m.eval(n.list[0], env, in, nullptr, [&](const Value& v, const Path*) {
    if (!v.is_number()) return m.raise(std::string("halt_error/1: number required"));
    return stop(static_cast<int>(v.number()));
  });
}
ATOLL_JQ_BUILTIN(do_env) {
  return out(m.environment, nullptr);
}
ATOLL_JQ_BUILTIN(do_builtins) {
  std::vector<Value> names;
  for (std::string& name : builtin_names()) names.emplace_back(std::move(name));
  return out(Value::array(std::move(names)), nullptr);
}

// IN(src), IN(src; s), INDEX(f), INDEX(stream; f), ascii, getpath, combinations, limit ...
ATOLL_JQ_BUILTIN(do_IN) {
  bool found = false;
  auto search = [&](const Value& wanted, const Node* source) {
    return m.eval(source, env, in, nullptr, [&](const Value& v, const Path*) {
      if (compare(v, wanted) != 0) return true;
      found = true;
      return false;
    });
  };
  bool go = true;
  if (n.list.size() == 1)
    go = search(in, n.list[0]);
  else
    go = m.eval(n.list[0], env, in, nullptr,
                [&](const Value& w, const Path*) { return search(w, n.list[1]); });
  if (!go && !found) return false;
  return out(Value(found), nullptr);
}
ATOLL_JQ_BUILTIN(do_INDEX) {
  Value index = Value::object();
  auto add = [&](const Value& row) {
    return m.eval(n.list.back(), env, row, nullptr, [&](const Value& key, const Path*) {
      index.own_members().at(key.is_string() ? key.text() : to_text(key)) = row;
      return true;
    });
  };
  if (n.list.size() == 2) {
    if (!m.eval(n.list[0], env, in, nullptr, [&](const Value& row, const Path*) { return add(row); }))
      return false;
  } else {
    if (!in.is_array()) return m.raise(fmt::format("Cannot iterate over {}", kind_name(in.kind())));
    for (const Value& row : in.items())
      if (!add(row)) return false;
  }
  return out(index, nullptr);
}

ATOLL_JQ_BUILTIN(do_combinations) {
  auto run = [&](const std::vector<Value>& lists) {
    for (const Value& list : lists)
      if (!list.is_array()) return m.raise(fmt::format("Cannot iterate over {}", kind_name(list.kind())));
    std::vector<std::size_t> at(lists.size(), 0);
    for (const Value& list : lists)
      if (list.items().empty()) return true;
    while (true) {
      std::vector<Value> row;
      for (std::size_t i = 0; i < lists.size(); ++i) row.push_back(lists[i].items()[at[i]]);
      m.tick(lists.size() + 1);
      if (!out(Value::array(std::move(row)), nullptr)) return false;
      std::size_t i = lists.size();
      while (i > 0 && ++at[i - 1] == lists[i - 1].items().size()) at[--i] = 0;
      if (i == 0) return true;
    }
  };
  if (!in.is_array()) return m.raise(fmt::format("Cannot iterate over {}", kind_name(in.kind())));
  if (n.list.empty()) return run(in.items());
  return m.eval(n.list[0], env, in, nullptr, [&](const Value& count, const Path*) {
    if (!count.is_number() || count.number() > 1000) return m.raise(std::string("combinations: bad count"));
    return run(std::vector<Value>(static_cast<std::size_t>(std::max(0.0, count.number())), in));
  });
}

ATOLL_JQ_BUILTIN(do_tostream) {
  std::function<bool(const Value&, std::vector<Value>&)> stream = [&](const Value& v,
                                                                      std::vector<Value>& where) -> bool {
    auto emit = [&](std::vector<Value> parts) { return out(Value::array(std::move(parts)), nullptr); };
    need_stack();
    m.tick();
    bool empty = (v.is_array() && v.items().empty()) || (v.is_object() && v.members().members.empty());
    if ((!v.is_array() && !v.is_object()) || empty) return emit({Value::array(where), v});
    Value last;
    if (v.is_array()) {
      for (std::size_t i = 0; i < v.items().size(); ++i) {
        last = Value(static_cast<double>(i));
        where.push_back(last);
        bool go = stream(v.items()[i], where);
        where.pop_back();
        if (!go) return false;
      }
    } else {
      for (const auto& member : v.members().members) {
        last = Value(member.key);
        where.push_back(last);
        bool go = stream(member.value, where);
        where.pop_back();
        if (!go) return false;
      }
    }
    where.push_back(last);
    bool go = emit({Value::array(where)});
    where.pop_back();
    return go;
  };
  std::vector<Value> where;
  return stream(in, where);
}

ATOLL_JQ_BUILTIN(do_fromstream) {
  Value state;
  bool any = false;
  return m.eval(n.list[0], env, in, nullptr, [&](const Value& event, const Path*) {
    if (!event.is_array() || event.items().empty() || !event.items()[0].is_array())
      return m.raise(std::string("Invalid stream event"));
    const auto& where = event.items()[0].items();
    if (event.items().size() == 2) {
      Value next;
      if (!m.set_path(any ? state : Value(), where, 0, event.items()[1], next)) return false;
      state = next;
      any = true;
      if (where.empty()) {
        any = false;
        return out(state, nullptr);
      }
      return true;
    }
    if (where.size() > 1) return true;
    any = false;
    Value done = std::move(state);
    state = Value();
    return out(done, nullptr);
  });
}

ATOLL_JQ_BUILTIN(do_truncate_stream) {
  return m.eval(n.list[n.list.size() - 1], env, in, nullptr, [&](const Value& event, const Path*) {
    double depth = n.list.size() == 1 && in.is_number() ? in.number() : 1;
    if (!event.is_array() || event.items().empty()) return true;
    const auto& where = event.items()[0].items();
    if (static_cast<double>(where.size()) <= depth) return true;
    std::vector<Value> shortened(where.begin() + static_cast<std::ptrdiff_t>(depth), where.end());
    std::vector<Value> parts{Value::array(std::move(shortened))};
    if (event.items().size() > 1) parts.push_back(event.items()[1]);
    return out(Value::array(std::move(parts)), nullptr);
  });
}

ATOLL_JQ_BUILTIN(do_ltrimstr_like) {
  return m.eval(n.list[0], env, in, nullptr, [&](const Value& v, const Path*) {
    if (!in.is_string() || !v.is_string()) return out(in, nullptr);
    const std::string &text = in.text(), &affix = v.text();
    if (n.text == "ltrimstr" && text.starts_with(affix))
      return out(Value(text.substr(affix.size())), nullptr);
    if (n.text == "rtrimstr" && text.ends_with(affix))
      return out(Value(text.substr(0, text.size() - affix.size())), nullptr);
    return out(in, nullptr);
  });
}

ATOLL_JQ_BUILTIN(do_get_search_list) {
  return out(Value::array(), nullptr);
}
ATOLL_JQ_BUILTIN(do_splits) {
  return split_by_regex(m, n, env, in, out, true);
}
ATOLL_JQ_BUILTIN(do_getarg) {
  return out(m.named_arguments, nullptr);
}

constexpr BuiltinRow kStreamRows[] = {
    {"input", 0, do_input},
    {"inputs", 0, do_inputs},
    {"input_filename", 0, do_input_filename},
    {"input_line_number", 0, do_input_line_number},
    {"debug", 0, do_debug},
    {"debug", 1, do_debug},
    {"stderr", 0, do_stderr},
    {"halt", 0, do_halt},
    {"halt_error", 0, do_halt_error},
    {"halt_error", 1, do_halt_error},
    {"env", 0, do_env},
    {"builtins", 0, do_builtins},
    {"IN", 1, do_IN},
    {"IN", 2, do_IN},
    {"INDEX", 1, do_INDEX},
    {"INDEX", 2, do_INDEX},
    {"combinations", 0, do_combinations},
    {"combinations", 1, do_combinations},
    {"tostream", 0, do_tostream},
    {"fromstream", 1, do_fromstream},
    {"truncate_stream", 1, do_truncate_stream},
    {"ltrimstr", 1, do_ltrimstr_like},
    {"rtrimstr", 1, do_ltrimstr_like},
    {"get_search_list", 0, do_get_search_list},
    {"splits", 1, do_splits},
    {"splits", 2, do_splits},
    {"$__prog_args", 0, do_getarg},
};

}  // namespace

std::span<const BuiltinRow> stream_builtins() {
  return kStreamRows;
}

}  // namespace atl::shell::jq
