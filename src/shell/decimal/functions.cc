// The transcendental functions: Taylor series after the argument was made small, on plain integers that stand
// for fractions of 10^work. A few guard digits are rounded away before the result is cut to its scale, so
// that values which are exact (e(0), c(0), l(1)) come out exact.

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "shell/decimal/number.h"

namespace atl::shell::decimal {

namespace mp = boost::multiprecision;

namespace {

constexpr std::uint32_t kGuard = 12;

// Fixed-point arithmetic with `work` digits behind the point.
class Fixed {
 public:
  Fixed(Arithmetic& arithmetic, std::uint32_t digits)
      : one(arithmetic.with_scale({1, 0}, digits).digits), work(digits), arithmetic_(arithmetic) {}

  const Integer one;
  const std::uint32_t work;  // digits behind the point

  Integer from(const Number& x) { return arithmetic_.with_scale(x, work).digits; }
  Integer times(const Integer& a, const Integer& b) {
    arithmetic_.call().charge(work * work / 1500 + 1);
    return a * b / one;
  }
  Integer over(const Integer& a, const Integer& b) {
    arithmetic_.call().charge(work * work / 1500 + 1);
    return a * one / b;
  }
  // Rounds most guard digits away, then truncates to `scale`.
  Number result(const Integer& value, std::uint32_t scale) {
    Integer half = arithmetic_.with_scale({5, 0}, work - scale - 6).digits;
    Number rounded =
        arithmetic_.with_scale({value < 0 ? Integer(value - half) : Integer(value + half), work}, scale + 5);
    return arithmetic_.with_scale(rounded, scale);
  }

  Integer exponential(Integer x) {
    int halvings = 0;
    for (; magnitude(x) > one / 16; ++halvings) x /= 2;
    Integer sum = one, term = one;
    for (int i = 1; !term.is_zero(); ++i) {
      term = times(term, x) / i;
      sum += term;
    }
    for (; halvings > 0; --halvings) sum = times(sum, sum);
    return sum;
  }
  // x near 1: 2 artanh((x-1)/(x+1)).
  Integer logarithm(const Integer& x) {
    Integer ratio = over(x - one, x + one), square = times(ratio, ratio), sum = 0, term = ratio;
    for (int i = 1; !term.is_zero(); i += 2) {
      sum += term / i;
      term = times(term, square);
    }
    return sum * 2;
  }
  Integer arctangent(Integer x) {
    int halvings = 0;  // atan(x) = 2 atan(x / (1 + sqrt(1 + x^2)))
    for (; magnitude(x) > one / 8; ++halvings) {
      Integer root = mp::sqrt(Integer((one + times(x, x)) * one));
      x = over(x, one + root);
    }
    Integer square = times(x, x), sum = 0, term = x;
    for (int i = 1; !term.is_zero(); i += 2) {
      sum += i % 4 == 1 ? Integer(term / i) : Integer(-term / i);
      term = times(term, square);
    }
    return sum << halvings;
  }
  Integer pi() { return arctangent(one) * 4; }
  // |x| at most about 4.
  Integer sine(const Integer& x) {
    Integer square = times(x, x), sum = 0, term = x;
    for (int i = 1; !term.is_zero(); i += 2) {
      sum += term;
      term = -times(term, square) / ((i + 1) * (i + 2));
    }
    return sum;
  }

 private:
  Arithmetic& arithmetic_;
};

std::uint32_t whole_digits(const Number& x) {
  std::uint64_t digits = digits_of(x.digits);
  return digits > x.scale ? static_cast<std::uint32_t>(digits - x.scale) : 0;
}

}  // namespace

Number Arithmetic::exponential(const Number& x, std::uint32_t scale) {
  Integer whole = with_scale(x, 0).digits;
  if (whole > 400'000) throw Trouble{"number too large (limit 200000 digits)"};
  if (whole < -3 * static_cast<std::int64_t>(scale) - 10) return {0, scale};
  auto size = static_cast<std::uint32_t>(std::abs(static_cast<double>(whole)) * 0.44);
  Fixed f(*this, scale + kGuard + size + 16);
  return f.result(f.exponential(f.from(x)), scale);
}

Number Arithmetic::logarithm(const Number& x, std::uint32_t scale) {
  if (x.digits <= 0) return with_scale(subtract({1, 0}, power({10, 0}, {scale, 0}, 0)), scale);
  Fixed f(*this, scale + kGuard + 12 + x.scale + whole_digits(x) / 8);
  Integer value = f.from(x);
  // ln x = ln m + twos ln 2, m in [2/3, 4/3]
  int twos = static_cast<int>(mp::msb(value)) - static_cast<int>(mp::msb(f.one));
  value = twos > 0 ? Integer(value >> twos) : Integer(value << -twos);
  for (; value * 3 > f.one * 4; ++twos) value /= 2;
  for (; value * 3 < f.one * 2; --twos) value *= 2;
  Integer sum = f.logarithm(value);
  if (twos != 0) {
    sum += (f.logarithm(f.one * 4 / 3) + f.logarithm(f.one * 3 / 2)) * twos;  // 2 = 4/3 * 3/2
  }
  return f.result(sum, scale);
}

Number Arithmetic::sine(const Number& x, std::uint32_t scale) {
  Fixed f(*this, scale + kGuard + 6 + whole_digits(x));
  Integer value = f.from(x), turn = f.pi() * 2;
  value %= turn;
  return f.result(f.sine(value), scale);
}

Number Arithmetic::cosine(const Number& x, std::uint32_t scale) {
  Fixed f(*this, scale + kGuard + 6 + whole_digits(x));
  Integer pi = f.pi(), value = f.from(x) + pi / 2;
  value %= pi * 2;
  return f.result(f.sine(value), scale);
}

Number Arithmetic::arctangent(const Number& x, std::uint32_t scale) {
  Fixed f(*this, scale + kGuard + 12 + whole_digits(x));
  return f.result(f.arctangent(f.from(x)), scale);
}

Number Arithmetic::bessel(const Number& order, const Number& x, std::uint32_t scale) {
  Integer whole = with_scale(order, 0).digits;
  bool negate = whole < 0 && mp::bit_test(Integer(-whole), 0);
  if (whole < 0) whole = -whole;
  if (whole > 100'000 || whole_digits(x) > 5) throw Trouble{"number too large for a Bessel function"};
  auto n = static_cast<int>(whole);
  // The terms grow to about e^|x| before they shrink.
  auto extra = static_cast<std::uint32_t>(std::abs(static_cast<double>(with_scale(x, 0).digits)) * 0.9) + 8;
  Fixed f(*this, scale + kGuard + extra);
  Integer half = f.from(x) / 2, term = f.one;
  for (int i = 1; i <= n; ++i) term = f.times(term, half) / i;
  Integer square = -f.times(half, half), sum = 0;
  for (std::int64_t k = 1; !term.is_zero(); ++k) {
    sum += term;
    term = f.times(term, square) / (k * (n + k));
  }
  return f.result(negate ? Integer(-sum) : sum, scale);
}

}  // namespace atl::shell::decimal
