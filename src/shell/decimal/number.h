#pragma once

#include <boost/multiprecision/cpp_int.hpp>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "shell/command.h"

namespace atl::shell::decimal {

using Integer = boost::multiprecision::cpp_int;

// digits / 10^scale: what bc and dc compute with.
struct Number {
  Integer digits = 0;
  std::uint32_t scale = 0;

  bool is_zero() const { return digits.is_zero(); }
  bool negative() const { return digits < 0; }
};

// Ends the expression that met it; bc and dc print the message and go on.
struct Trouble {
  std::string message;
};

// The arithmetic of bc and dc, truncating as POSIX says. Numbers beyond kDigitsMax digits are Trouble; work
// is charged before it is done, so a limit or a cancellation ends even one long operation soon.
class Arithmetic {
 public:
  static constexpr std::uint64_t kDigitsMax = 200'000;

  explicit Arithmetic(Invocation& call) : call_(call) {}

  // Every operation may throw Trouble (division by zero, too many digits) and Stopped.
  Number add(const Number& a, const Number& b);
  Number subtract(const Number& a, const Number& b);
  // `scale` is the value of the variable of that name.
  Number multiply(const Number& a, const Number& b, std::uint32_t scale);
  Number divide(const Number& a, const Number& b, std::uint32_t scale);
  Number modulo(const Number& a, const Number& b, std::uint32_t scale);
  // The exponent's fraction is dropped; the caller warns about it.
  Number power(const Number& a, const Number& exponent, std::uint32_t scale);
  Number square_root(const Number& a, std::uint32_t scale);
  // base ^ exponent % modulus on integers.
  Number power_modulo(const Number& base, const Number& exponent, const Number& modulus);
  // Less than, equal to or greater than 0; scales do not matter.
  int compare(const Number& a, const Number& b);
  // Cut off or filled up with zeros.
  Number with_scale(const Number& a, std::uint32_t scale);

  // The functions of bc -l, correct to the last digit of `scale` but for ties.
  Number exponential(const Number& x, std::uint32_t scale);
  Number logarithm(const Number& x, std::uint32_t scale);
  Number sine(const Number& x, std::uint32_t scale);
  Number cosine(const Number& x, std::uint32_t scale);
  Number arctangent(const Number& x, std::uint32_t scale);
  Number bessel(const Number& order, const Number& x, std::uint32_t scale);

  // A constant in base `base` (2 to 16): digits, at most one point.
  Number parse(std::string_view text, unsigned base);
  // In base `base` (2 or more), without line breaks.
  std::string print(const Number& value, const Integer& base);

  Invocation& call() { return call_; }

 private:
  Integer ten_to(std::uint64_t exponent);
  void bound(std::uint64_t digits) const;
  void charge_product(std::uint64_t a_digits, std::uint64_t b_digits);
  std::string print_fraction(const Number& value, const Integer& base);

  Invocation& call_;
};

inline Integer magnitude(const Integer& value) {
  return value < 0 ? Integer(-value) : value;
}
// How many decimal digits, at least 1.
std::uint64_t digits_of(const Integer& value);
// Breaks a printed number as bc and dc do: lines of `width` characters with a backslash; 0 or less: none.
std::string folded(std::string_view text, std::size_t& column, int width);
// The line length of BC_LINE_LENGTH or DC_LINE_LENGTH: 70 if unset or odd, 0 for never.
int line_length(Invocation& call, std::string_view variable);

}  // namespace atl::shell::decimal
