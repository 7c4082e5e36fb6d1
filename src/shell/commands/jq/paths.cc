#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>

#include "base/utf8.h"
#include "shell/commands/jq/machine.h"
#include "shell/stack.h"

namespace atl::shell::jq {

namespace {

// jq's own bound for indices.
constexpr double kArrayMax = 536870911;

// The bounds of a slice of something with `size` elements.
bool bounds(const Value& from, const Value& to, std::size_t size, std::size_t& begin, std::size_t& end) {
  if ((!from.is_null() && !from.is_number()) || (!to.is_null() && !to.is_number())) return false;
  double low = from.is_null() ? 0 : from.number(),
         high = to.is_null() ? static_cast<double>(size) : to.number();
  double n = static_cast<double>(size);
  if (low < 0) low += n;
  if (high < 0) high += n;
  low = std::clamp(std::floor(low), 0.0, n);
  high = std::clamp(std::ceil(high), 0.0, n);
  if (high < low) high = low;
  begin = static_cast<std::size_t>(low);
  end = static_cast<std::size_t>(high);
  return true;
}

}  // namespace

bool Machine::index(const Value& container, const Value& key, Value& out) {
  out = Value();
  if (container.is_object() && key.is_string()) {
    if (const Value* found = container.members().find(key.text())) out = *found;
    return true;
  }
  if (container.is_array() && key.is_number()) {
    if (std::isnan(key.number())) return true;
    double at = std::floor(key.number());
    if (at < 0) at += static_cast<double>(container.items().size());
    if (at >= 0 && at < static_cast<double>(container.items().size()))
      out = container.items()[static_cast<std::size_t>(at)];
    return true;
  }
  if (container.is_null() && (key.is_string() || key.is_number() || key.is_null())) return true;
  if (key.is_object() && (container.is_array() || container.is_null() || container.is_string())) {
    const Value* from = key.members().find("start");
    const Value* to = key.members().find("end");
    if (from || to) return slice(container, from ? *from : Value(), to ? *to : Value(), out);
  }
  // .[[2, 3]] gives the places where that sequence begins.
  if (container.is_array() && key.is_array()) {
    std::vector<Value> found;
    const auto &hay = container.items(), &needle = key.items();
    for (std::size_t i = 0; !needle.empty() && i + needle.size() <= hay.size(); ++i) {
      bool same = true;
      for (std::size_t k = 0; same && k < needle.size(); ++k) same = compare(hay[i + k], needle[k]) == 0;
      if (same) found.emplace_back(static_cast<double>(i));
      tick();
    }
    out = needle.empty() ? Value() : Value::array(std::move(found));
    return true;
  }
  if (key.is_string())
    return raise(fmt::format("Cannot index {} with \"{}\"", kind_name(container.kind()), key.text()));
  return raise(fmt::format("Cannot index {} with {}", kind_name(container.kind()), kind_name(key.kind())));
}

bool Machine::slice(const Value& container, const Value& from, const Value& to, Value& out) {
  out = Value();
  if (container.is_null()) return true;
  std::size_t begin = 0, end = 0;
  if (container.is_array()) {
    if (!bounds(from, to, container.items().size(), begin, end))
      return raise(std::string("Start and end indices of an array slice must be numbers"));
    out = Value::array(std::vector<Value>(container.items().begin() + static_cast<std::ptrdiff_t>(begin),
                                          container.items().begin() + static_cast<std::ptrdiff_t>(end)));
    return true;
  }
  if (container.is_string()) {
    const std::string& text = container.text();
    std::vector<std::size_t> starts;
    for (std::size_t i = 0; i < text.size(); i += utf8::read_length(text, i)) starts.push_back(i);
    std::size_t count = starts.size();
    starts.push_back(text.size());
    if (!bounds(from, to, count, begin, end))
      return raise(std::string("Start and end indices of an array slice must be numbers"));
    out = Value(text.substr(starts[begin], starts[end] - starts[begin]));
    return true;
  }
  return raise(fmt::format("Cannot index {} with object", kind_name(container.kind())));
}

bool Machine::get_path(const Value& root, const std::vector<Value>& path, Value& out) {
  out = root;
  for (const Value& key : path) {
    // A path through null is null.
    if (out.is_null()) return true;
    Value next;
    if (!index(out, key, next)) return false;
    out = std::move(next);
  }
  return true;
}

bool Machine::set_path(const Value& root, const std::vector<Value>& path, std::size_t at, const Value& value,
                       Value& out) {
  if (at >= path.size()) {
    out = value;
    return true;
  }
  if (stack_left_here() < stack_reserve) return raise(std::string("Path too deep"));
  const Value& key = path[at];
  Value old, fresh;
  if (key.is_string() && (root.is_object() || root.is_null())) {
    out = root.is_null() ? Value::object() : root;
    if (const Value* found = out.members().find(key.text())) old = *found;
    if (!set_path(old, path, at + 1, value, fresh)) return false;
    out.own_members().at(key.text()) = std::move(fresh);
    return true;
  }
  if (key.is_number() && (root.is_array() || root.is_null())) {
    out = root.is_null() ? Value::array() : root;
    double position = std::floor(key.number());
    if (position < 0) position += static_cast<double>(out.items().size());
    if (position < 0) return raise(std::string("Out of bounds negative array index"));
    if (position > kArrayMax) return raise(std::string("Array index too large"));
    auto i = static_cast<std::size_t>(position);
    if (i < out.items().size()) old = out.items()[i];
    if (!set_path(old, path, at + 1, value, fresh)) return false;
    auto& items = out.own_items();
    if (i >= items.size()) {
      call_.charge_memory(static_cast<std::int64_t>((i + 1 - items.size()) * sizeof(Value)));
      items.resize(i + 1);
    }
    items[i] = std::move(fresh);
    return true;
  }
  if (key.is_object() && (root.is_array() || root.is_null())) {
    const Value* from = key.members().find("start");
    const Value* to = key.members().find("end");
    Value base = root.is_null() ? Value::array() : root;
    if (!slice(base, from ? *from : Value(), to ? *to : Value(), old)) return false;
    if (!set_path(old, path, at + 1, value, fresh)) return false;
    if (!fresh.is_array())
      return raise(std::string("A slice of an array can only be assigned another array"));
    std::size_t begin = 0, end = 0;
    bounds(from ? *from : Value(), to ? *to : Value(), base.items().size(), begin, end);
    std::vector<Value> items(base.items().begin(), base.items().begin() + static_cast<std::ptrdiff_t>(begin));
    items.insert(items.end(), fresh.items().begin(), fresh.items().end());
    items.insert(items.end(), base.items().begin() + static_cast<std::ptrdiff_t>(end), base.items().end());
    out = Value::array(std::move(items));
    return true;
  }
  if (key.is_string())
    return raise(fmt::format("Cannot index {} with \"{}\"", kind_name(root.kind()), key.text()));
  if (key.is_object())
    return raise(fmt::format("Cannot update field at object index of {}", kind_name(root.kind())));
  if (key.is_array()) return raise(std::string("Cannot update field at array index of array"));
  return raise(fmt::format("Cannot index {} with {}", kind_name(root.kind()), kind_name(key.kind())));
}

namespace {

// Whether two paths lead to members or to elements of one value, so that both can go at once.
bool beside(const Value& a, const Value& b) {
  if (!a.is_array() || !b.is_array() || a.items().size() != b.items().size()) return false;
  std::size_t last = a.items().size() - 1;
  Kind kind = a.items()[last].kind();
  if (kind != b.items()[last].kind() || (kind != Kind::number && kind != Kind::string)) return false;
  return std::equal(a.items().begin(), a.items().end() - 1, b.items().begin(),
                    [](const Value& x, const Value& y) { return compare(x, y) == 0; });
}

void erase_elements(std::vector<Value>& items, std::span<const Value> paths) {
  std::vector<bool> gone(items.size());
  for (const Value& path : paths) {
    double at = std::floor(path.items().back().number());
    if (at < 0) at += static_cast<double>(items.size());
    if (at >= 0 && at < static_cast<double>(items.size())) gone[static_cast<std::size_t>(at)] = true;
  }
  std::size_t kept = 0;
  for (std::size_t i = 0; i < items.size(); ++i)
    if (!gone[i] && kept++ != i) items[kept - 1] = std::move(items[i]);
  items.resize(kept);
}

}  // namespace

bool Machine::delete_paths(const Value& root, std::vector<Value> paths, Value& out) {
  // From the last to the first, so that indices stay right.
  std::sort(paths.begin(), paths.end(), [this](const Value& a, const Value& b) {
    tick();
    return compare(a, b) > 0;
  });
  out = root;
  for (std::size_t next_path = 0; next_path < paths.size();) {
    const Value& path = paths[next_path];
    if (!path.is_array()) return raise(std::string("Path must be specified as an array"));
    if (path.items().empty()) {
      out = Value();
      return true;
    }
    std::size_t first = next_path++;
    while (next_path < paths.size() && beside(path, paths[next_path])) ++next_path;
    std::span<const Value> together(paths.data() + first, next_path - first);
    std::vector<Value> up(path.items().begin(), path.items().end() - 1);
    const Value& key = path.items().back();
    Value parent;
    if (!get_path(out, up, parent)) return false;
    if (parent.is_null()) continue;
    tick(parent.size() / 16 + together.size());
    if (parent.is_object() && key.is_string()) {
      for (const Value& each : together) parent.own_members().erase(each.items().back().text());
    } else if (parent.is_array() && key.is_number()) {
      erase_elements(parent.own_items(), together);
    } else if (parent.is_array() && key.is_object()) {
      const Value* from = key.members().find("start");
      const Value* to = key.members().find("end");
      std::size_t begin = 0, end = 0;
      if (!bounds(from ? *from : Value(), to ? *to : Value(), parent.items().size(), begin, end))
        return raise(std::string("Start and end indices of an array slice must be numbers"));
      auto& items = parent.own_items();
      items.erase(items.begin() + static_cast<std::ptrdiff_t>(begin),
                  items.begin() + static_cast<std::ptrdiff_t>(end));
    } else {
      return raise(fmt::format("Cannot delete field at {} index of {}",
                               key.is_string()   ? "object"
                               : key.is_number() ? "array"
                                                 : kind_name(key.kind()),
                               kind_name(parent.kind())));
    }
    Value next;
    if (!set_path(out, up, 0, parent, next)) return false;
    out = std::move(next);
  }
  return true;
}

bool Machine::paths_of(const Node* node, const Env* env, const Value& in, std::vector<Value>& out) {
  return eval(node, env, in, &kRoot, [&](const Value& v, const Path* path) {
    if (!path) return raise(fmt::format("Invalid path expression with result {}", to_text(v).substr(0, 11)));
    out.push_back(path->collect());
    return true;
  });
}

bool Machine::update(const Node* target, const Env* env, const Value& in, Value& out,
                     const std::function<bool(const Value&, std::optional<Value>&)>& change) {
  std::vector<Value> paths;
  if (!paths_of(target, env, in, paths)) return false;
  out = in;
  std::vector<Value> removed;
  for (const Value& path : paths) {
    Value old;
    if (!get_path(out, path.items(), old)) return false;
    std::optional<Value> replaced;
    if (!change(old, replaced)) return false;
    if (!replaced) {
      removed.push_back(path);
      continue;
    }
    Value next;
    if (!set_path(out, path.items(), 0, *replaced, next)) return false;
    out = std::move(next);
  }
  if (removed.empty()) return true;
  Value pruned;
  if (!delete_paths(out, std::move(removed), pruned)) return false;
  out = std::move(pruned);
  return true;
}

bool Machine::eval_assignment(const Node* node, const Env* env, const Value& in, const Out& out) {
  if (node->op == Op::update) {
    Value result;
    bool good = update(node->a, env, in, result, [&](const Value& old, std::optional<Value>& replaced) {
      bool stopped = false;
      bool go = eval(node->b, env, old, nullptr, [&](const Value& v, const Path*) {
        replaced = v;
        // |= takes the first output; none deletes the path.
        stopped = true;
        return false;
      });
      return go || stopped;
    });
    return good && out(result, nullptr);
  }
  return eval(node->b, env, in, nullptr, [&](const Value& right, const Path*) {
    Value result;
    bool good = update(node->a, env, in, result, [&](const Value& old, std::optional<Value>& replaced) {
      if (node->op == Op::assign) {
        replaced = right;
        return true;
      }
      if (node->op == Op::alternative_update) {
        replaced = old.truthy() ? old : right;
        return true;
      }
      Value computed;
      if (!arithmetic(node->arithmetic, old, right, computed)) return false;
      replaced = std::move(computed);
      return true;
    });
    return good && out(result, nullptr);
  });
}

bool Machine::arithmetic(Op op, const Value& l, const Value& r, Value& out) {
  switch (op) {
    case Op::equal: out = Value(compare(l, r) == 0); return true;
    case Op::not_equal: out = Value(compare(l, r) != 0); return true;
    case Op::less: out = Value(compare(l, r) < 0); return true;
    case Op::less_equal: out = Value(compare(l, r) <= 0); return true;
    case Op::greater: out = Value(compare(l, r) > 0); return true;
    case Op::greater_equal: out = Value(compare(l, r) >= 0); return true;
    default: break;
  }
  auto wrong = [&](std::string_view what) {
    auto shorten = [](const Value& v) {
      std::string t = to_text(v);
      return t.size() > 11 ? t.substr(0, 10) + "..." : t;
    };
    return raise(fmt::format("{} ({}) and {} ({}) cannot be {}", kind_name(l.kind()), shorten(l),
                             kind_name(r.kind()), shorten(r), what));
  };
  bool numbers = l.is_number() && r.is_number();
  switch (op) {
    case Op::add:
      if (numbers)
        out = Value(l.number() + r.number());
      else if (l.is_null())
        out = r;
      else if (r.is_null())
        out = l;
      else if (l.is_string() && r.is_string())
        out = Value(l.text() + r.text());
      else if (l.is_array() && r.is_array()) {
        out = l;
        auto& items = out.own_items();
        items.insert(items.end(), r.items().begin(), r.items().end());
      } else if (l.is_object() && r.is_object()) {
        out = l;
        auto& members = out.own_members();
        for (const auto& m : r.members().members) members.at(m.key) = m.value;
      } else
        return wrong("added");
      return true;
    case Op::subtract:
      if (numbers)
        out = Value(l.number() - r.number());
      else if (l.is_array() && r.is_array()) {
        std::vector<Value> items;
        for (const Value& v : l.items()) {
          bool found = false;
          for (const Value& w : r.items()) found = found || compare(v, w) == 0;
          tick(r.items().size() + 1);
          if (!found) items.push_back(v);
        }
        out = Value::array(std::move(items));
      } else
        return wrong("subtracted");
      return true;
    case Op::multiply:
      if (numbers)
        out = Value(l.number() * r.number());
      else if ((l.is_string() && r.is_number()) || (l.is_number() && r.is_string())) {
        const std::string& text = l.is_string() ? l.text() : r.text();
        double times = l.is_number() ? l.number() : r.number();
        if (times <= 0)
          out = Value();
        else {
          double count = times < 1 ? 1 : std::floor(times);
          if (count * static_cast<double>(text.size()) > 256e6)
            return raise(std::string("Repeat string result too long"));
          std::string repeated;
          call_.charge_memory(0);
          for (double i = 0; i < count; ++i) repeated += text;
          out = Value(std::move(repeated));
        }
      } else if (l.is_object() && r.is_object()) {
        out = l;
        for (const auto& m : r.members().members) {
          const Value* old = out.members().find(m.key);
          if (old && old->is_object() && m.value.is_object()) {
            Value merged;
            Value left = *old;
            if (!arithmetic(Op::multiply, left, m.value, merged)) return false;
            out.own_members().at(m.key) = merged;
          } else {
            out.own_members().at(m.key) = m.value;
          }
        }
      } else
        return wrong("multiplied");
      return true;
    case Op::divide:
      if (numbers) {
        if (r.number() == 0) return wrong("divided because the divisor is zero");
        out = Value(l.number() / r.number());
      } else if (l.is_string() && r.is_string()) {
        std::vector<Value> parts;
        const std::string &text = l.text(), &separator = r.text();
        if (separator.empty()) {
          for (std::size_t i = 0; i < text.size();) {
            std::size_t n = utf8::read_length(text, i);
            parts.emplace_back(text.substr(i, n));
            i += n;
          }
        } else if (!text.empty()) {
          std::size_t at = 0;
          while (true) {
            std::size_t found = text.find(separator, at);
            parts.emplace_back(text.substr(at, found == std::string::npos ? found : found - at));
            if (found == std::string::npos) break;
            at = found + separator.size();
          }
        }
        out = Value::array(std::move(parts));
      } else
        return wrong("divided");
      return true;
    default:
      if (!numbers) return wrong("divided");
      {
        double a = l.number(), b = r.number();
        if (std::isnan(a) || std::isnan(b)) {
          out = Value(std::nan(""));
          return true;
        }
        auto whole = [](double d) {
          return d >= 9.2e18 ? INT64_MAX : d <= -9.2e18 ? INT64_MIN + 1 : static_cast<std::int64_t>(d);
        };
        std::int64_t x = whole(a), y = whole(b);
        if (y == 0) return wrong("divided because the divisor is zero");
        if (y < 0) y = -y;
        out = Value(static_cast<double>(x < 0 ? -(-x % y) : x % y));
      }
      return true;
  }
}

}  // namespace atl::shell::jq
