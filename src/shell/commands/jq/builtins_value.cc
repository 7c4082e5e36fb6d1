#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/utf8.h"
#include "shell/commands/jq/builtins.h"
#include "shell/stack.h"

namespace atl::shell::jq {

namespace {

ATOLL_JQ_BUILTIN(do_length) {
  switch (in.kind()) {
    case Kind::null: return out(Value(0), nullptr);
    case Kind::number: return out(Value(std::fabs(in.number())), nullptr);
    case Kind::string: return out(Value(static_cast<double>(utf8::count_starts(in.text()))), nullptr);
    case Kind::array:
    case Kind::object: return out(Value(static_cast<double>(in.size())), nullptr);
    default: return m.raise(fmt::format("boolean ({}) has no length", to_text(in)));
  }
}
ATOLL_JQ_BUILTIN(do_utf8bytelength) {
  if (!in.is_string())
    return m.raise(
        fmt::format("{} ({}) only strings have UTF-8 byte length", kind_name(in.kind()), to_text(in)));
  return out(Value(static_cast<double>(in.text().size())), nullptr);
}

ATOLL_JQ_BUILTIN(do_keys) {
  std::vector<Value> keys;
  if (in.is_object()) {
    if (n.text == "keys_unsorted")
      for (const auto& member : in.members().members) keys.emplace_back(member.key);
    else
      for (const auto* member : in.members().sorted()) keys.emplace_back(member->key);
  } else if (in.is_array()) {
    for (std::size_t i = 0; i < in.items().size(); ++i) keys.emplace_back(static_cast<double>(i));
  } else {
    return m.raise(fmt::format("{} ({}) has no keys", kind_name(in.kind()), to_text(in)));
  }
  return out(Value::array(std::move(keys)), nullptr);
}

ATOLL_JQ_BUILTIN(do_values) {
  return in.is_null() ? true : out(in, path);
}
ATOLL_JQ_BUILTIN(do_nulls) {
  return in.is_null() ? out(in, path) : true;
}
ATOLL_JQ_BUILTIN(do_booleans) {
  return in.kind() == Kind::true_ || in.kind() == Kind::false_ ? out(in, path) : true;
}
ATOLL_JQ_BUILTIN(do_numbers) {
  return in.is_number() ? out(in, path) : true;
}
ATOLL_JQ_BUILTIN(do_strings) {
  return in.is_string() ? out(in, path) : true;
}
ATOLL_JQ_BUILTIN(do_arrays) {
  return in.is_array() ? out(in, path) : true;
}
ATOLL_JQ_BUILTIN(do_objects) {
  return in.is_object() ? out(in, path) : true;
}
ATOLL_JQ_BUILTIN(do_iterables) {
  return in.is_array() || in.is_object() ? out(in, path) : true;
}
ATOLL_JQ_BUILTIN(do_scalars) {
  return in.is_array() || in.is_object() ? true : out(in, path);
}
ATOLL_JQ_BUILTIN(do_type) {
  return out(Value(std::string(kind_name(in.kind()))), nullptr);
}

ATOLL_JQ_BUILTIN(do_has) {
  return m.eval(n.list[0], env, in, nullptr, [&](const Value& key, const Path*) {
    if (in.is_object() && key.is_string())
      return out(Value(in.members().find(key.text()) != nullptr), nullptr);
    if (in.is_array() && key.is_number())
      return out(Value(key.number() >= 0 && key.number() < static_cast<double>(in.items().size())), nullptr);
    return m.raise(fmt::format("Cannot check whether {} has a {} key", kind_name(in.kind()),
                               key.is_string() ? "string" : kind_name(key.kind())));
  });
}
ATOLL_JQ_BUILTIN(do_in) {
  return m.eval(n.list[0], env, in, nullptr, [&](const Value& container, const Path*) {
    if (container.is_object() && in.is_string())
      return out(Value(container.members().find(in.text()) != nullptr), nullptr);
    if (container.is_array() && in.is_number())
      return out(Value(in.number() >= 0 && in.number() < static_cast<double>(container.items().size())),
                 nullptr);
    return m.raise(fmt::format("Cannot check whether {} has a {} key", kind_name(container.kind()),
                               kind_name(in.kind())));
  });
}

// jq's containment: substrings, and arrays and objects element by element, each found anywhere.
bool contains(const Value& a, const Value& b) {
  need_stack();
  if (a.kind() != b.kind()) return false;
  if (a.is_string()) return a.text().find(b.text()) != std::string::npos;
  if (a.is_array())
    return std::all_of(b.items().begin(), b.items().end(), [&](const Value& wanted) {
      return std::any_of(a.items().begin(), a.items().end(),
                         [&](const Value& v) { return contains(v, wanted); });
    });
  if (a.is_object())
    return std::all_of(b.members().members.begin(), b.members().members.end(), [&](const auto& wanted) {
      const Value* v = a.members().find(wanted.key);
      return v && contains(*v, wanted.value);
    });
  return compare(a, b) == 0;
}
ATOLL_JQ_BUILTIN(do_contains) {
  return m.eval(n.list[0], env, in, nullptr, [&](const Value& v, const Path*) {
    const Value &a = n.text == "inside" ? v : in, &b = n.text == "inside" ? in : v;
    // To jq, true and false are of one type; here each is a kind.
    bool booleans = (a.kind() == Kind::true_ || a.kind() == Kind::false_) &&
                    (b.kind() == Kind::true_ || b.kind() == Kind::false_);
    if (a.kind() != b.kind() && !booleans)
      return m.raise(fmt::format("{} ({}) and {} ({}) cannot have their containment checked",
                                 kind_name(a.kind()), to_text(a), kind_name(b.kind()), to_text(b)));
    return out(Value(contains(a, b)), nullptr);
  });
}

bool need_array(Machine& m, const Value& in, std::string_view what) {
  if (in.is_array()) return true;
  return m.raise(
      fmt::format("{} ({}) cannot be {}, as it is not an array", kind_name(in.kind()), to_text(in), what));
}

struct Keyed {
  Value key, value;
};

// Items with the array of the outputs of f as key, in order.
bool keyed(Machine& m, const Node& n, const Env* env, const Value& in, std::vector<Keyed>& rows) {
  for (const Value& item : in.items()) {
    if (n.list.empty()) {
      rows.push_back({item, item});
      continue;
    }
    std::vector<Value> key;
    if (!m.eval(n.list[0], env, item, nullptr, [&](const Value& v, const Path*) {
          key.push_back(v);
          return true;
        }))
      return false;
    rows.push_back({Value::array(std::move(key)), item});
  }
  m.tick(rows.size() * 8);
  return true;
}

// One sort of many items can take long: it asks as it compares.
void sort_rows(Machine& m, std::vector<Keyed>& rows) {
  std::stable_sort(rows.begin(), rows.end(), [&](const Keyed& a, const Keyed& b) {
    m.tick();
    return compare(a.key, b.key) < 0;
  });
}

ATOLL_JQ_BUILTIN(do_sort) {
  if (!need_array(m, in, "sorted")) return false;
  std::vector<Keyed> rows;
  if (!keyed(m, n, env, in, rows)) return false;
  sort_rows(m, rows);
  std::vector<Value> items;
  for (Keyed& row : rows) items.push_back(std::move(row.value));
  return out(Value::array(std::move(items)), nullptr);
}
ATOLL_JQ_BUILTIN(do_group) {
  if (!need_array(m, in, "grouped")) return false;
  std::vector<Keyed> rows;
  if (!keyed(m, n, env, in, rows)) return false;
  sort_rows(m, rows);
  bool unique = n.text.starts_with("unique");
  std::vector<Value> groups;
  for (std::size_t i = 0; i < rows.size();) {
    std::size_t k = i;
    std::vector<Value> group;
    for (; k < rows.size() && compare(rows[k].key, rows[i].key) == 0; ++k)
      if (!unique || k == i) group.push_back(rows[k].value);
    if (unique)
      groups.push_back(std::move(group[0]));
    else
      groups.push_back(Value::array(std::move(group)));
    i = k;
  }
  return out(Value::array(std::move(groups)), nullptr);
}
ATOLL_JQ_BUILTIN(do_min_max) {
  if (!need_array(m, in, "iterated over")) return false;
  std::vector<Keyed> rows;
  if (!keyed(m, n, env, in, rows)) return false;
  if (rows.empty()) return out(Value(), nullptr);
  bool max = n.text.starts_with("max");
  std::size_t best = 0;
  for (std::size_t i = 1; i < rows.size(); ++i) {
    int order = compare(rows[i].key, rows[best].key);
    // Of equals the last is the maximum and the first the minimum, as in jq.
    if (max ? order >= 0 : order < 0) best = i;
  }
  return out(rows[best].value, nullptr);
}

ATOLL_JQ_BUILTIN(do_reverse) {
  if (in.is_null()) return out(Value::array(), nullptr);
  if (in.is_string()) {
    std::string reversed;
    for (std::size_t i = 0; i < in.text().size();) {
      std::size_t length = utf8::read_length(in.text(), i);
      reversed.insert(0, in.text().substr(i, length));
      i += length;
    }
    return out(Value(reversed), nullptr);
  }
  if (!in.is_array()) return m.raise(fmt::format("Cannot reverse {}", kind_name(in.kind())));
  std::vector<Value> items(in.items().rbegin(), in.items().rend());
  return out(Value::array(std::move(items)), nullptr);
}

void flatten(const Value& in, double depth, std::vector<Value>& items) {
  need_stack();
  for (const Value& item : in.items()) {
    if (item.is_array() && depth > 0)
      flatten(item, depth - 1, items);
    else
      items.push_back(item);
  }
}
ATOLL_JQ_BUILTIN(do_flatten) {
  if (!in.is_array()) return m.raise(fmt::format("Cannot iterate over {}", kind_name(in.kind())));
  auto run = [&](double depth) {
    if (depth < 0) return m.raise(std::string("flatten depth must not be negative"));
    std::vector<Value> items;
    flatten(in, depth, items);
    return out(Value::array(std::move(items)), nullptr);
  };
  if (n.list.empty()) return run(1e9);
  return m.eval(n.list[0], env, in, nullptr, [&](const Value& v, const Path*) {
    return v.is_number() ? run(v.number()) : m.raise(std::string("flatten depth must not be negative"));
  });
}

ATOLL_JQ_BUILTIN(do_indices) {
  return m.eval(n.list[0], env, in, nullptr, [&](const Value& v, const Path*) {
    std::vector<Value> found;
    if (in.is_null()) return out(Value(), nullptr);
    if (in.is_string() && v.is_string()) {
      const std::string &hay = in.text(), &needle = v.text();
      // jq gives null, not every position.
      if (needle.empty()) return out(Value(), nullptr);
      for (std::size_t at = hay.find(needle); at != std::string::npos; at = hay.find(needle, at + 1)) {
        m.tick();
        // Positions count characters, not bytes.
        found.emplace_back(n.text == "_bytes" ? static_cast<double>(at)
                                              : static_cast<double>(
                                                    utf8::count_starts(std::string_view(hay).substr(0, at))));
      }
    } else if (in.is_array()) {
      // An array is looked for as a run of items, anything else as one item.
      if (v.is_array()) {
        Value got;
        if (!m.index(in, v, got)) return false;
        if (got.is_null()) return out(Value(), nullptr);
        found = got.items();
      } else {
        for (std::size_t i = 0; i < in.items().size(); ++i)
          if (compare(in.items()[i], v) == 0) found.emplace_back(static_cast<double>(i));
      }
    } else {
      return m.raise(
          fmt::format("Cannot determine indices of {} in {}", kind_name(v.kind()), kind_name(in.kind())));
    }
    if (n.text == "index") return out(found.empty() ? Value() : found.front(), nullptr);
    if (n.text == "rindex") return out(found.empty() ? Value() : found.back(), nullptr);
    return out(Value::array(std::move(found)), nullptr);
  });
}

ATOLL_JQ_BUILTIN(do_transpose) {
  if (!in.is_array()) return m.raise(fmt::format("Cannot iterate over {}", kind_name(in.kind())));
  std::size_t width = 0;
  for (const Value& row : in.items()) {
    if (!row.is_array()) return m.raise(fmt::format("Cannot index {} with number", kind_name(row.kind())));
    width = std::max(width, row.items().size());
  }
  std::vector<Value> columns;
  for (std::size_t i = 0; i < width; ++i) {
    std::vector<Value> column;
    for (const Value& row : in.items()) column.push_back(i < row.items().size() ? row.items()[i] : Value());
    m.tick(column.size());
    columns.push_back(Value::array(std::move(column)));
  }
  return out(Value::array(std::move(columns)), nullptr);
}

ATOLL_JQ_BUILTIN(do_toarray) {
  return out(in.is_array() ? in : Value::array({in}), nullptr);
}
ATOLL_JQ_BUILTIN(do_abs) {
  if (!in.is_number())
    return m.raise(fmt::format("{} ({}) has no absolute value", kind_name(in.kind()), to_text(in)));
  return out(in.number() < 0 ? Value(-in.number()) : in, nullptr);
}

ATOLL_JQ_BUILTIN(do_math1) {
  if (!in.is_number())
    return m.raise(fmt::format("{} ({}) number required", kind_name(in.kind()), to_text(in)));
  static constexpr std::pair<std::string_view, double (*)(double)> kFunctions[] = {
      {"floor", std::floor},
      {"ceil", std::ceil},
      {"sqrt", std::sqrt},
      {"round", std::round},
      {"trunc", std::trunc},
      {"fabs", std::fabs},
      {"sin", std::sin},
      {"cos", std::cos},
      {"tan", std::tan},
      {"asin", std::asin},
      {"acos", std::acos},
      {"atan", std::atan},
      {"sinh", std::sinh},
      {"cosh", std::cosh},
      {"tanh", std::tanh},
      {"asinh", std::asinh},
      {"acosh", std::acosh},
      {"atanh", std::atanh},
      {"exp", std::exp},
      {"exp2", std::exp2},
      {"expm1", std::expm1},
      {"log", std::log},
      {"log2", std::log2},
      {"log10", std::log10},
      {"log1p", std::log1p},
      {"cbrt", std::cbrt},
      {"rint", std::rint},
      {"nearbyint", std::nearbyint},
      {"logb", std::logb},
      {"tgamma", std::tgamma},
      {"lgamma", std::lgamma},
      {"gamma", std::lgamma},
      {"j0", ::j0},
      {"j1", ::j1},
      {"y0", ::y0},
      {"y1", ::y1},
  };
  for (auto& [name, function] : kFunctions)
    if (name == n.text) return out(Value(function(in.number())), nullptr);
  if (n.text == "exp10") return out(Value(std::pow(10, in.number())), nullptr);
  if (n.text == "significand") {
    int e = 0;
    double f = std::frexp(in.number(), &e);
    return out(Value(f * 2), nullptr);
  }
  if (n.text == "frexp") {
    int e = 0;
    double f = std::frexp(in.number(), &e);
    return out(Value::array({Value(f), Value(static_cast<double>(e))}), nullptr);
  }
  double whole = 0;
  double fraction = std::modf(in.number(), &whole);
  return out(Value::array({Value(fraction), Value(whole)}), nullptr);
}
ATOLL_JQ_BUILTIN(do_math2) {
  std::vector<Value> a;
  return m.arguments(n, env, in, a, [&] {
    for (const Value& v : a)
      if (!v.is_number())
        return m.raise(fmt::format("{} ({}) number required", kind_name(v.kind()), to_text(v)));
    double x = a[0].number(), y = a[1].number(), r = 0;
    if (n.text == "pow")
      r = std::pow(x, y);
    else if (n.text == "atan2")
      r = std::atan2(x, y);
    else if (n.text == "fmod")
      r = std::fmod(x, y);
    else if (n.text == "fmin")
      r = std::fmin(x, y);
    else if (n.text == "fmax")
      r = std::fmax(x, y);
    else if (n.text == "hypot")
      r = std::hypot(x, y);
    else if (n.text == "copysign")
      r = std::copysign(x, y);
    else if (n.text == "drem")
      r = std::remainder(x, y);
    else if (n.text == "fma")
      r = std::fma(x, y, a[2].number());
    else
      r = std::ldexp(x, static_cast<int>(y));
    return out(Value(r), nullptr);
  });
}
ATOLL_JQ_BUILTIN(do_infinite) {
  return out(Value(INFINITY), nullptr);
}
ATOLL_JQ_BUILTIN(do_nan) {
  return out(Value(std::nan("")), nullptr);
}
ATOLL_JQ_BUILTIN(do_isnan_like) {
  if (!in.is_number())
    return m.raise(fmt::format("{} ({}) number required", kind_name(in.kind()), to_text(in)));
  bool r = n.text == "isnan"        ? std::isnan(in.number())
           : n.text == "isinfinite" ? std::isinf(in.number())
                                    : std::isnormal(in.number());
  return out(Value(r), nullptr);
}
ATOLL_JQ_BUILTIN(do_isvalid) {
  // False without an error is a break to a label further out, which goes on.
  bool go = m.eval(n.list[0], env, in, nullptr, [&](const Value&, const Path*) { return true; });
  if (!go && !m.error) return false;
  m.error.reset();
  return out(Value(go), nullptr);
}
ATOLL_JQ_BUILTIN(do_bsearch) {
  return m.eval(n.list[0], env, in, nullptr, [&](const Value& v, const Path*) {
    if (!in.is_array())
      return m.raise(fmt::format("{} ({}) cannot be searched from", kind_name(in.kind()), to_text(in)));
    const auto& items = in.items();
    auto at = std::lower_bound(items.begin(), items.end(), v,
                               [](const Value& a, const Value& b) { return compare(a, b) < 0; });
    double position = static_cast<double>(at - items.begin());
    if (at != items.end() && compare(*at, v) == 0) return out(Value(position), nullptr);
    // Not found: where it would have to be put, told by a negative number.
    return out(Value(-1 - position), nullptr);
  });
}
ATOLL_JQ_BUILTIN(do_tojson) {
  return out(Value(to_text(in)), nullptr);
}
ATOLL_JQ_BUILTIN(do_tonumber) {
  if (in.is_number()) return out(in, nullptr);
  if (!in.is_string())
    return m.raise(fmt::format("{} ({}) cannot be parsed as a number", kind_name(in.kind()), to_text(in)));
  auto parsed = parse_json(in.text());
  if (!parsed || !parsed->is_number())
    return m.raise(fmt::format("{} ({}) cannot be parsed as a number", kind_name(in.kind()), to_text(in)));
  return out(*parsed, nullptr);
}
ATOLL_JQ_BUILTIN(do_tostring) {
  return out(in.is_string() ? in : Value(to_text(in)), nullptr);
}
ATOLL_JQ_BUILTIN(do_fromjson) {
  if (!in.is_string())
    return m.raise(fmt::format("{} ({}) cannot be parsed as JSON", kind_name(in.kind()), to_text(in)));
  // Not JSON, but jq reads it.
  if (in.text() == "nan") return out(Value(std::nan("")), nullptr);
  auto parsed = parse_json(in.text());
  if (!parsed) return m.raise(fmt::format("{} (while parsing '{}')", parsed.error().message(), in.text()));
  return out(*parsed, nullptr);
}

constexpr BuiltinRow kValueRows[] = {
    {"length", 0, do_length},
    {"utf8bytelength", 0, do_utf8bytelength},
    {"keys", 0, do_keys},
    {"keys_unsorted", 0, do_keys},
    {"values", 0, do_values},
    {"nulls", 0, do_nulls},
    {"booleans", 0, do_booleans},
    {"numbers", 0, do_numbers},
    {"strings", 0, do_strings},
    {"arrays", 0, do_arrays},
    {"objects", 0, do_objects},
    {"iterables", 0, do_iterables},
    {"scalars", 0, do_scalars},
    {"type", 0, do_type},
    {"has", 1, do_has},
    {"in", 1, do_in},
    {"contains", 1, do_contains},
    {"inside", 1, do_contains},
    {"sort", 0, do_sort},
    {"sort_by", 1, do_sort},
    {"group_by", 1, do_group},
    {"unique", 0, do_group},
    {"unique_by", 1, do_group},
    {"min", 0, do_min_max},
    {"max", 0, do_min_max},
    {"min_by", 1, do_min_max},
    {"max_by", 1, do_min_max},
    {"reverse", 0, do_reverse},
    {"flatten", 0, do_flatten},
    {"flatten", 1, do_flatten},
    {"indices", 1, do_indices},
    {"index", 1, do_indices},
    {"rindex", 1, do_indices},
    {"_indices", 1, do_indices},
    {"transpose", 0, do_transpose},
    {"toarray", 0, do_toarray},
    {"abs", 0, do_abs},
    {"floor", 0, do_math1},
    {"ceil", 0, do_math1},
    {"sqrt", 0, do_math1},
    {"round", 0, do_math1},
    {"trunc", 0, do_math1},
    {"fabs", 0, do_math1},
    {"sin", 0, do_math1},
    {"cos", 0, do_math1},
    {"tan", 0, do_math1},
    {"asin", 0, do_math1},
    {"acos", 0, do_math1},
    {"atan", 0, do_math1},
    {"sinh", 0, do_math1},
    {"cosh", 0, do_math1},
    {"tanh", 0, do_math1},
    {"asinh", 0, do_math1},
    {"acosh", 0, do_math1},
    {"atanh", 0, do_math1},
    {"exp", 0, do_math1},
    {"exp2", 0, do_math1},
    {"exp10", 0, do_math1},
    {"expm1", 0, do_math1},
    {"log", 0, do_math1},
    {"log2", 0, do_math1},
    {"log10", 0, do_math1},
    {"log1p", 0, do_math1},
    {"cbrt", 0, do_math1},
    {"rint", 0, do_math1},
    {"nearbyint", 0, do_math1},
    {"logb", 0, do_math1},
    {"tgamma", 0, do_math1},
    {"lgamma", 0, do_math1},
    {"gamma", 0, do_math1},
    {"significand", 0, do_math1},
    {"frexp", 0, do_math1},
    {"modf", 0, do_math1},
    {"j0", 0, do_math1},
    {"j1", 0, do_math1},
    {"y0", 0, do_math1},
    {"y1", 0, do_math1},
    {"pow", 2, do_math2},
    {"atan2", 2, do_math2},
    {"fmod", 2, do_math2},
    {"fmin", 2, do_math2},
    {"fmax", 2, do_math2},
    {"hypot", 2, do_math2},
    {"copysign", 2, do_math2},
    {"drem", 2, do_math2},
    {"ldexp", 2, do_math2},
    {"scalb", 2, do_math2},
    {"scalbln", 2, do_math2},
    {"fma", 3, do_math2},
    {"infinite", 0, do_infinite},
    {"nan", 0, do_nan},
    {"isnan", 0, do_isnan_like},
    {"isinfinite", 0, do_isnan_like},
    {"isnormal", 0, do_isnan_like},
    {"isvalid", 1, do_isvalid},
    {"bsearch", 1, do_bsearch},
    {"tojson", 0, do_tojson},
    {"tonumber", 0, do_tonumber},
    {"tostring", 0, do_tostring},
    {"fromjson", 0, do_fromjson},
};

}  // namespace

std::span<const BuiltinRow> value_builtins() {
  return kValueRows;
}

}  // namespace atl::shell::jq
