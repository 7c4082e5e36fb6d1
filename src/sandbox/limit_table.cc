#include "sandbox/limit_table.h"

#include <algorithm>
#include <cmath>
#include <type_traits>

namespace atl::sandbox {
namespace {

// How many of the units that we keep are one of the client's.
double factor(LimitUnit unit) {
  switch (unit) {
    case LimitUnit::megabytes: return 1 << 20;
    case LimitUnit::seconds: return 1000;
    case LimitUnit::count:
    case LimitUnit::cores: break;
  }
  return 1;
}

template <class T>
double to_double(const T& value) {
  if constexpr (std::is_same_v<T, std::chrono::milliseconds>)
    return static_cast<double>(value.count());
  else
    return static_cast<double>(value);
}

template <class T>
T from_double(double value) {
  if constexpr (std::is_same_v<T, std::chrono::milliseconds>)
    return std::chrono::milliseconds(static_cast<std::int64_t>(value));
  else
    return static_cast<T>(value);
}

template <class T>
struct Unwrapped {
  using type = T;
};
template <class T>
struct Unwrapped<std::optional<T>> {
  using type = T;
};

template <class Struct, class T>
std::optional<double> read(const Struct& from, T Struct::*member) {
  if constexpr (std::is_same_v<T, typename Unwrapped<T>::type>) {
    return to_double(from.*member);
  } else {
    if (!(from.*member)) return std::nullopt;
    return to_double(*(from.*member));
  }
}

}  // namespace

std::optional<double> amount(const Limits& limits, const LimitRow& row) {
  auto value = std::visit([&](auto member) { return read(limits, member); }, row.member);
  if (value) *value /= factor(row.unit);
  return value;
}

std::optional<double> amount(const LimitsPatch& patch, const LimitRow& row) {
  auto value = std::visit([&](auto member) { return read(patch, member); }, row.patch_member);
  if (value) *value /= factor(row.unit);
  return value;
}

void set_amount(LimitsPatch& patch, const LimitRow& row, double value) {
  const double kept = row.unit == LimitUnit::cores ? value : std::round(value * factor(row.unit));
  std::visit([&]<class T>(std::optional<T> LimitsPatch::*member) { patch.*member = from_double<T>(kept); },
             row.patch_member);
}

void lower(Limits& limits, const LimitRow& row, double most) {
  const auto now = amount(limits, row);
  if (!now) return;
  const bool is_unlimited = row.zero == LimitZero::is_unlimited && *now == 0;
  if (!is_unlimited && *now <= most) return;
  std::visit(
      [&]<class T>(T Limits::*member) {
        limits.*member = from_double<typename Unwrapped<T>::type>(most * factor(row.unit));
      },
      row.member);
}

void apply(const LimitsPatch& patch, Limits& limits) {
  for (const LimitRow& row : kLimits) {
    std::visit(
        [&]<class T>(std::optional<T> LimitsPatch::*from) {
          if (!(patch.*from)) return;
          if (const auto* to = std::get_if<T Limits::*>(&row.member))
            limits.** to = *(patch.*from);
          else if constexpr (std::is_same_v<T, std::chrono::milliseconds>)
            limits.*std::get<std::optional<T> Limits::*>(row.member) = patch.*from;
        },
        row.patch_member);
  }
}

void merge(const LimitsPatch& patch, LimitsPatch& into) {
  for (const LimitRow& row : kLimits) {
    std::visit(
        [&](auto member) {
          if (patch.*member) into.*member = patch.*member;
        },
        row.patch_member);
  }
}

bool bind_sandbox_alike(const Limits& a, const Limits& b) {
  return std::ranges::all_of(kLimits, [&](const LimitRow& row) {
    return row.scope != LimitScope::sandbox ||
           std::visit([&](auto member) { return a.*member == b.*member; }, row.member);
  });
}

}  // namespace atl::sandbox
