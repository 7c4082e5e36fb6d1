#include <fmt/format.h>

#include <algorithm>
#include <boost/json/serialize.hpp>
#include <cmath>
#include <set>

#include "tools/pattern_cache.h"
#include "tools/schema.h"
#include "tools/schema_parts.h"

namespace atl::tools {
namespace {

namespace bj = boost::json;

using Found = std::optional<Mismatch>;

constexpr std::string_view kTooCostly =
    "takes too many steps to check against the schema; use a smaller value, or a schema with fewer "
    "references and alternatives";

std::string shortened(const bj::value& value) {
  std::string text = bj::serialize(value);
  if (text.size() > 60) text = text.substr(0, 57) + "...";
  return text;
}

std::size_t characters(std::string_view text) {
  return static_cast<std::size_t>(
      std::ranges::count_if(text, [](unsigned char c) { return (c & 0xC0U) != 0x80U; }));
}

// How many values there are in this one, itself among them; a long text is as many as it takes to compare it.
std::size_t weight(const bj::value& value) {
  std::size_t sum = 1;
  if (const auto* text = value.if_string()) sum += text->size() / 256;
  if (const auto* array = value.if_array())
    for (const bj::value& one : *array) sum += weight(one);
  if (const auto* object = value.if_object())
    for (const auto& member : *object) sum += weight(member.value());
  return sum;
}

bool is_whole(const bj::value& value) {
  if (value.is_int64() || value.is_uint64()) return true;
  return value.is_double() && std::isfinite(value.get_double()) &&
         std::floor(value.get_double()) == value.get_double();
}

bool is_of_type(const bj::value& value, std::string_view type) {
  if (type == "integer") return is_whole(value);
  return json_type(value) == type;
}

// One check of one value. Counts its steps, because references and combinations can multiply. Whatever loops
// over a list of the schema's or the members of a value pays for its length, and whatever reads a text for
// the text: a step is never more than a fraction of a microsecond.
class Check {
 public:
  Check(const Schema::Parts& parts, std::size_t steps_max) : parts_(parts), steps_max_(steps_max) {}

  std::size_t steps() const { return steps_; }

  bool is_over() const { return over_; }

  Found apply(const bj::value& schema, const bj::value& value, const std::string& at) {
    if (nesting_ >= parts_.bounds.nesting_max) over_ = true;
    // The place is written anew for everything below it.
    if (!spend(1 + at.size() / 256)) return std::nullopt;
    if (schema.is_bool()) {
      if (schema.get_bool()) return std::nullopt;
      return Mismatch{at, "nothing is allowed here"};
    }
    ++nesting_;
    Found found = apply_object(schema.get_object(), value, at);
    --nesting_;
    return found;
  }

 private:
  // False if there is no step left.
  bool spend(std::size_t steps) {
    steps_ += steps;
    if (steps_ > steps_max_) over_ = true;
    return !over_;
  }

  Found apply_object(const bj::object& schema, const bj::value& value, const std::string& at) {
    if (const auto reference = parts_.references.find(&schema); reference != parts_.references.end())
      return apply(*reference->second, value, at);
    if (Found found = kind(schema, value, at)) return found;
    if (value.is_number())
      if (Found found = number(schema, value, at)) return found;
    if (value.is_string())
      if (Found found = text(schema, value.get_string(), at)) return found;
    if (value.is_array())
      if (Found found = array(schema, value.get_array(), at)) return found;
    if (value.is_object())
      if (Found found = object(schema, value, at)) return found;
    return combined(schema, value, at);
  }

  Found kind(const bj::object& schema, const bj::value& value, const std::string& at) {
    if (const bj::value* type = schema.if_contains("type")) {
      const bool good = type->is_string() ? is_of_type(value, type->get_string())
                                          : std::ranges::any_of(type->get_array(), [&](const bj::value& t) {
                                              return is_of_type(value, t.get_string());
                                            });
      if (!good)
        return Mismatch{at,
                        fmt::format("must be of type {}, not {}", bj::serialize(*type), json_type(value))};
    }
    if (const bj::value* all = schema.if_contains("enum")) {
      if (!spend(weight(*all))) return std::nullopt;
      const bool good =
          std::ranges::any_of(all->get_array(), [&](const bj::value& one) { return same_json(one, value); });
      if (!good) return Mismatch{at, fmt::format("must be one of {}", shortened(*all))};
    }
    const bj::value* only = schema.if_contains("const");
    if (only != nullptr && spend(weight(*only)) && !same_json(*only, value))
      return Mismatch{at, fmt::format("must be {}", shortened(*only))};
    return std::nullopt;
  }

  static Found number(const bj::object& schema, const bj::value& value, const std::string& at) {
    const auto bound = [&](std::string_view name) -> std::optional<double> {
      const bj::value* limit = schema.if_contains(name);
      if (limit == nullptr) return std::nullopt;
      return limit->to_number<double>();
    };
    const double n = value.to_number<double>();
    if (const auto most = bound("maximum"); most && n > *most)
      return Mismatch{at, fmt::format("must be at most {}", *most)};
    if (const auto below = bound("exclusiveMaximum"); below && n >= *below)
      return Mismatch{at, fmt::format("must be less than {}", *below)};
    if (const auto least = bound("minimum"); least && n < *least)
      return Mismatch{at, fmt::format("must be at least {}", *least)};
    if (const auto above = bound("exclusiveMinimum"); above && n <= *above)
      return Mismatch{at, fmt::format("must be more than {}", *above)};
    if (const auto step = bound("multipleOf")) {
      const double times = n / *step;
      // 0.3 / 0.1 is not quite 3 in binary; a difference of a few units in the last place is no difference.
      const double tolerance = 1e-9 * std::max(1.0, std::fabs(times)) * 1e-3;
      if (!std::isfinite(times) || std::fabs(times - std::nearbyint(times)) > tolerance)
        return Mismatch{at, fmt::format("must be a multiple of {}", *step)};
    }
    return std::nullopt;
  }

  static std::optional<std::uint64_t> count(const bj::object& schema, std::string_view name) {
    const bj::value* limit = schema.if_contains(name);
    if (limit == nullptr) return std::nullopt;
    return static_cast<std::uint64_t>(limit->to_number<double>());
  }

  Found text(const bj::object& schema, std::string_view value, const std::string& at) {
    if (!spend(value.size() / 256)) return std::nullopt;
    if (const auto most = count(schema, "maxLength"); most && characters(value) > *most)
      return Mismatch{at, fmt::format("must have at most {} characters", *most)};
    if (const auto least = count(schema, "minLength"); least && characters(value) < *least)
      return Mismatch{at, fmt::format("must have at least {} characters", *least)};
    if (const bj::value* pattern = schema.if_contains("pattern");
        pattern != nullptr && !matches(pattern->get_string(), value))
      return Mismatch{at, fmt::format("must match the pattern {}", shortened(*pattern))};
    return std::nullopt;
  }

  bool matches(std::string_view pattern, std::string_view value) {
    const auto known = parts_.patterns.find(pattern);
    if (known == parts_.patterns.end() || !spend(steps_to_match(known->second, value.size()))) return true;
    const auto found = compiled_pattern(pattern);
    return found && re2::RE2::PartialMatch(re2::StringPiece(value.data(), value.size()), **found);
  }

  Found array(const bj::object& schema, const bj::array& value, const std::string& at) {
    if (const auto most = count(schema, "maxItems"); most && value.size() > *most)
      return Mismatch{at, fmt::format("must have at most {} items", *most)};
    if (const auto least = count(schema, "minItems"); least && value.size() < *least)
      return Mismatch{at, fmt::format("must have at least {} items", *least)};
    if (Found found = unique(schema, value, at)) return found;
    if (Found found = items(schema, value, at)) return found;
    const bj::value* wanted = schema.if_contains("contains");
    if (wanted == nullptr) return std::nullopt;
    const bool has = std::ranges::any_of(value, [&](const bj::value& item) { return fits(*wanted, item); });
    if (has || over_) return std::nullopt;
    return Mismatch{at, "has no item that fits 'contains'"};
  }

  Found unique(const bj::object& schema, const bj::array& value, const std::string& at) {
    const bj::value* wanted = schema.if_contains("uniqueItems");
    if (wanted == nullptr || !wanted->get_bool()) return std::nullopt;
    std::set<std::string> seen;
    for (std::size_t i = 0; i < value.size(); ++i) {
      std::string text = canonical_json(value[i]);
      if (!spend(1 + text.size() / 16)) return std::nullopt;
      if (!seen.insert(std::move(text)).second)
        return Mismatch{fmt::format("{}/{}", at, i), "is there twice; all items must differ"};
    }
    return std::nullopt;
  }

  Found items(const bj::object& schema, const bj::array& value, const std::string& at) {
    const bj::value* each = schema.if_contains("items");
    if (each == nullptr) return std::nullopt;
    const bj::array* places = each->if_array();
    const bj::value* rest = places == nullptr ? each : schema.if_contains("additionalItems");
    for (std::size_t i = 0; i < value.size(); ++i) {
      const bj::value* one = places != nullptr && i < places->size() ? &(*places)[i] : rest;
      if (one == nullptr) break;
      if (Found found = apply(*one, value[i], fmt::format("{}/{}", at, i))) return found;
      if (over_) break;
    }
    return std::nullopt;
  }

  Found object(const bj::object& schema, const bj::value& whole, const std::string& at) {
    const bj::object& value = whole.get_object();
    if (const auto most = count(schema, "maxProperties"); most && value.size() > *most)
      return Mismatch{at, fmt::format("must have at most {} members", *most)};
    if (const auto least = count(schema, "minProperties"); least && value.size() < *least)
      return Mismatch{at, fmt::format("must have at least {} members", *least)};
    if (const bj::value* required = schema.if_contains("required")) {
      if (!spend(required->get_array().size())) return std::nullopt;
      for (const bj::value& name : required->get_array())
        if (!value.contains(name.get_string()))
          return Mismatch{pointer_to(at, name.get_string()), "is required and missing"};
    }
    if (const bj::value* names = schema.if_contains("propertyNames")) {
      for (const auto& member : value) {
        if (over_) return std::nullopt;
        if (Found found = apply(*names, bj::value(member.key()), pointer_to(at, member.key()))) {
          found->message = "its name " + found->message;
          return found;
        }
      }
    }
    if (Found found = properties(schema, value, at)) return found;
    return dependencies(schema, whole, at);
  }

  Found properties(const bj::object& schema, const bj::object& value, const std::string& at) {
    const bj::value* named = schema.if_contains("properties");
    const bj::value* patterns = schema.if_contains("patternProperties");
    const bj::value* others = schema.if_contains("additionalProperties");
    if (named == nullptr && patterns == nullptr && others == nullptr) return std::nullopt;
    for (const auto& member : value) {
      if (!spend(1 + (at.size() + member.key().size()) / 256)) break;
      const std::string place = pointer_to(at, member.key());
      bool known = false;
      if (const bj::value* one = named == nullptr ? nullptr : named->get_object().if_contains(member.key())) {
        known = true;
        if (Found found = apply(*one, member.value(), place)) return found;
      }
      if (patterns != nullptr) {
        for (const auto& pattern : patterns->get_object()) {
          if (!matches(pattern.key(), member.key())) continue;
          known = true;
          if (Found found = apply(pattern.value(), member.value(), place)) return found;
        }
      }
      if (known || others == nullptr) continue;
      if (others->is_bool() && !others->get_bool()) return Mismatch{place, "is not known here"};
      if (Found found = apply(*others, member.value(), place)) return found;
    }
    return std::nullopt;
  }

  Found dependencies(const bj::object& schema, const bj::value& whole, const std::string& at) {
    const bj::object& value = whole.get_object();
    const bj::value* all = schema.if_contains("dependencies");
    if (all == nullptr) return std::nullopt;
    for (const auto& one : all->get_object()) {
      if (!spend(1)) break;
      if (!value.contains(one.key())) continue;
      if (const bj::array* names = one.value().if_array()) {
        if (!spend(names->size())) break;
        for (const bj::value& name : *names)
          if (!value.contains(name.get_string()))
            return Mismatch{pointer_to(at, name.get_string()),
                            fmt::format("is required beside '{}'", std::string_view(one.key()))};
      } else if (Found found = apply(one.value(), whole, at)) {
        return found;
      }
    }
    return std::nullopt;
  }

  Found combined(const bj::object& schema, const bj::value& value, const std::string& at) {
    if (const bj::value* all = schema.if_contains("allOf"))
      for (const bj::value& one : all->get_array())
        if (Found found = apply(one, value, at)) return found;
    if (const bj::value* any = schema.if_contains("anyOf"))
      if (Found found = any_of(any->get_array(), value, at)) return found;
    if (const bj::value* one = schema.if_contains("oneOf"))
      if (Found found = one_of(one->get_array(), value, at)) return found;
    if (const bj::value* no = schema.if_contains("not"); no != nullptr && fits(*no, value) && !over_)
      return Mismatch{at, "fits what 'not' excludes"};
    const bj::value* condition = schema.if_contains("if");
    if (condition == nullptr) return std::nullopt;
    const bj::value* then = schema.if_contains(fits(*condition, value) ? "then" : "else");
    if (then == nullptr) return std::nullopt;
    return apply(*then, value, at);
  }

  Found any_of(const bj::array& schemas, const bj::value& value, const std::string& at) {
    Found first;
    for (const bj::value& one : schemas) {
      Found found = apply(one, value, at);
      if (!found) return std::nullopt;
      if (!first) first = std::move(found);
    }
    return Mismatch{first->pointer, "fits none of 'anyOf'; the first says: " + first->message};
  }

  Found one_of(const bj::array& schemas, const bj::value& value, const std::string& at) {
    std::size_t fitting = 0;
    Found first;
    for (const bj::value& one : schemas) {
      Found found = apply(one, value, at);
      if (over_) return std::nullopt;
      if (!found) {
        ++fitting;
      } else if (!first) {
        first = std::move(found);
      }
    }
    if (fitting == 1) return std::nullopt;
    if (fitting > 1) return Mismatch{at, fmt::format("fits {} of 'oneOf', not exactly one", fitting)};
    return Mismatch{first->pointer, "fits none of 'oneOf'; the first says: " + first->message};
  }

  bool fits(const bj::value& schema, const bj::value& value) { return !apply(schema, value, ""); }

  const Schema::Parts& parts_;
  const std::size_t steps_max_;
  std::size_t steps_ = 0, nesting_ = 0;
  bool over_ = false;
};

}  // namespace

Result<std::optional<Mismatch>> Schema::check(const bj::value& value) const {
  std::size_t steps = parts_->bounds.steps_max;
  return check(value, steps);
}

Result<std::optional<Mismatch>> Schema::check(const bj::value& value, std::size_t& steps_left) const {
  Check check(*parts_, steps_left);
  Found found = check.apply(parts_->document, value, "");
  steps_left -= std::min(steps_left, check.steps());
  if (check.is_over()) return fail(Code::invalid_argument, std::string(kTooCostly));
  return found;
}

}  // namespace atl::tools
