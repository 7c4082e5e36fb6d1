#include "shell/decimal/number.h"

#include <fmt/format.h>

#include <algorithm>

namespace atl::shell::decimal {

namespace mp = boost::multiprecision;

std::uint64_t digits_of(const Integer& value) {
  if (value.is_zero()) return 1;
  // From the bits, times log10(2): exact counting would cost a conversion. May be one off.
  return static_cast<std::uint64_t>(static_cast<double>(mp::msb(magnitude(value))) * 0.30103) + 1;
}

void Arithmetic::bound(std::uint64_t digits) const {
  if (digits > kDigitsMax) throw Trouble{fmt::format("number too large (limit {} digits)", kDigitsMax)};
}

void Arithmetic::charge_product(std::uint64_t a_digits, std::uint64_t b_digits) {
  bound(a_digits);
  bound(b_digits);
  // Quadratic in limbs of 19 digits; four products of limbs count as one unit of work.
  call_.charge(1 + a_digits / 19 * (b_digits / 19 + 1) / 4);
}

Integer Arithmetic::ten_to(std::uint64_t exponent) {
  bound(exponent);
  charge_product(exponent / 2, exponent / 2);
  return mp::pow(Integer(10), static_cast<unsigned>(exponent));
}

Number Arithmetic::with_scale(const Number& a, std::uint32_t scale) {
  if (scale == a.scale) return a;
  if (scale > a.scale) {
    bound(digits_of(a.digits) + (scale - a.scale));
    return {a.digits * ten_to(scale - a.scale), scale};
  }
  return {a.digits / ten_to(a.scale - scale), scale};
}

Number Arithmetic::add(const Number& a, const Number& b) {
  std::uint32_t scale = std::max(a.scale, b.scale);
  return {with_scale(a, scale).digits + with_scale(b, scale).digits, scale};
}

Number Arithmetic::subtract(const Number& a, const Number& b) {
  return add(a, {-b.digits, b.scale});
}

int Arithmetic::compare(const Number& a, const Number& b) {
  std::uint32_t scale = std::max(a.scale, b.scale);
  return with_scale(a, scale).digits.compare(with_scale(b, scale).digits);
}

Number Arithmetic::multiply(const Number& a, const Number& b, std::uint32_t scale) {
  charge_product(digits_of(a.digits), digits_of(b.digits));
  bound(digits_of(a.digits) + digits_of(b.digits));
  std::uint32_t full = a.scale + b.scale;
  // POSIX's rule for the scale of a product.
  std::uint32_t kept = std::min(full, std::max({scale, a.scale, b.scale}));
  return with_scale({a.digits * b.digits, full}, kept);
}

Number Arithmetic::divide(const Number& a, const Number& b, std::uint32_t scale) {
  if (b.is_zero()) throw Trouble{"Divide by zero"};
  // (a / 10^as) / (b / 10^bs) at 10^scale.
  std::int64_t shift = static_cast<std::int64_t>(scale) + b.scale - a.scale;
  Integer above = a.digits, below = b.digits;
  if (shift >= 0)
    above = with_scale({above, 0}, static_cast<std::uint32_t>(shift)).digits;
  else
    below = with_scale({below, 0}, static_cast<std::uint32_t>(-shift)).digits;
  charge_product(digits_of(above), digits_of(below));
  return {above / below, scale};
}

Number Arithmetic::modulo(const Number& a, const Number& b, std::uint32_t scale) {
  if (b.is_zero()) throw Trouble{"Modulo by zero"};
  Number quotient = divide(a, b, scale);
  // POSIX's rule: a - (a / b) * b, with a quotient of `scale` digits.
  std::uint32_t kept = std::max(a.scale, scale + b.scale);
  Number product{quotient.digits * b.digits, quotient.scale + b.scale};
  return with_scale(subtract(a, product), kept);
}

Number Arithmetic::power(const Number& a, const Number& exponent, std::uint32_t scale) {
  Integer e = with_scale(exponent, 0).digits;
  bool negative = e < 0;
  if (negative) e = -e;
  if (e.is_zero()) return {1, 0};
  if (a.is_zero() && negative) throw Trouble{"Divide by zero"};
  if (e > 2'000'000'000) throw Trouble{"exponent too large in raise"};
  auto times = static_cast<std::uint64_t>(e);
  // The size is bounded before the power is computed. A digit raised n times has up to 0.955 n digits.
  std::uint64_t size = digits_of(a.digits) > 1 ? (digits_of(a.digits) - 1) * times : times * 96 / 100;
  if (magnitude(a.digits) > 1) bound(size);
  bound(static_cast<std::uint64_t>(a.scale) * times);
  charge_product(size, size);
  Number result{mp::pow(a.digits, static_cast<unsigned>(times)), static_cast<std::uint32_t>(a.scale * times)};
  if (negative) return divide({1, 0}, result, scale);
  return with_scale(result, std::min(result.scale, std::max(scale, a.scale)));
}

Number Arithmetic::power_modulo(const Number& base, const Number& exponent, const Number& modulus) {
  if (base.scale || exponent.scale || modulus.scale) throw Trouble{"non-integer operand"};
  if (modulus.is_zero()) throw Trouble{"Modulo by zero"};
  if (exponent.negative()) throw Trouble{"negative exponent"};
  std::uint64_t size = digits_of(modulus.digits);
  charge_product(size, size * digits_of(exponent.digits));
  Integer result = 1, square = base.digits % modulus.digits, rest = exponent.digits;
  for (; !rest.is_zero(); rest >>= 1, square = square * square % modulus.digits) {
    call_.charge(size);
    if (mp::bit_test(rest, 0)) result = result * square % modulus.digits;
  }
  return {result % modulus.digits, 0};
}

Number Arithmetic::square_root(const Number& a, std::uint32_t scale) {
  if (a.negative()) throw Trouble{"Square root of a negative number"};
  std::uint32_t kept = std::max(scale, a.scale);
  // The root of 10^2k is 10^k.
  Number wide = with_scale(a, kept * 2);
  charge_product(digits_of(wide.digits), digits_of(wide.digits));
  return {mp::sqrt(wide.digits), kept};
}

Number Arithmetic::parse(std::string_view text, unsigned base) {
  bound(text.size());
  std::size_t point = text.find('.');
  std::string whole(text.substr(0, point));
  std::string fraction(point == std::string_view::npos ? std::string_view() : text.substr(point + 1));
  if (base == 10 && (whole + fraction).find_first_of("ABCDEF") == std::string::npos) {
    std::string all = whole + fraction;
    all.erase(0, std::min(all.find_first_not_of('0'), all.size()));
    charge_product(all.size(), all.size());
    return {all.empty() ? Integer(0) : Integer(all), static_cast<std::uint32_t>(fraction.size())};
  }
  auto digit = [&](char c) {
    unsigned value = c <= '9' ? static_cast<unsigned>(c - '0') : static_cast<unsigned>(c - 'A') + 10;
    // A digit beyond the base counts as the largest one, but alone as itself: `ibase=A` always means ten.
    return text.size() == 1 ? value : std::min(value, base - 1);
  };
  charge_product(text.size() * 2, text.size() * 2);
  Integer value = 0, divisor = 1;
  for (char c : whole) value = value * base + digit(c);
  for (char c : fraction) {
    value = value * base + digit(c);
    divisor *= base;
  }
  if (fraction.empty()) return {value, 0};
  return divide({value, 0}, {divisor, 0}, static_cast<std::uint32_t>(fraction.size()));
}

std::string Arithmetic::print_fraction(const Number& value, const Integer& base) {
  Integer unit = ten_to(value.scale);
  Integer rest = magnitude(value.digits) % unit;
  std::size_t width = Integer(base - 1).str().size();
  std::string out = ".";
  Integer reached = 1;
  bool first = true;
  // As many places as the value's decimal digits justify.
  for (; reached < unit; reached *= base) {
    call_.charge(value.scale / 16 + 1);
    rest *= base;
    Integer digit = rest / unit;
    rest %= unit;
    if (base <= 16) {
      out += "0123456789ABCDEF"[static_cast<unsigned>(digit)];
    } else {
      std::string text = digit.str();
      out += (first ? "" : " ") + std::string(width - std::min(width, text.size()), '0') + text;
    }
    first = false;
  }
  return out;
}

std::string Arithmetic::print(const Number& value, const Integer& base) {
  if (value.is_zero()) return "0";
  std::uint64_t size = digits_of(value.digits);
  charge_product(size, size);
  std::string sign = value.negative() ? "-" : "";
  if (base == 10) {
    std::string text = magnitude(value.digits).str();
    if (value.scale == 0) return sign + text;
    if (text.size() <= value.scale) return sign + "." + std::string(value.scale - text.size(), '0') + text;
    return sign + text.substr(0, text.size() - value.scale) + "." + text.substr(text.size() - value.scale);
  }
  Integer whole = magnitude(value.digits) / ten_to(value.scale);
  std::size_t width = Integer(base - 1).str().size();
  std::string out;
  std::vector<std::string> places;
  for (; !whole.is_zero(); whole /= base) {
    call_.charge(size / 16 + 1);
    Integer digit = whole % base;
    places.push_back(base <= 16 ? std::string(1, "0123456789ABCDEF"[static_cast<unsigned>(digit)])
                                : digit.str());
  }
  for (auto it = places.rbegin(); it != places.rend(); ++it)
    out += base <= 16 ? *it : " " + std::string(width - std::min(width, it->size()), '0') + *it;
  return sign + out + (value.scale ? print_fraction(value, base) : "");
}

std::string folded(std::string_view text, std::size_t& column, int width) {
  if (width <= 1) {
    column += text.size();
    return std::string(text);
  }
  std::string out;
  for (char c : text) {
    // A line is broken by a backslash in its last column.
    if (column + 1 >= static_cast<std::size_t>(width)) {
      out += "\\\n";
      column = 0;
    }
    out += c;
    ++column;
  }
  return out;
}

int line_length(Invocation& call, std::string_view variable) {
  auto text = call.variable(variable);
  if (!text || text->empty() || text->find_first_not_of("0123456789") != std::string::npos) return 70;
  int value = std::atoi(text->c_str());
  // 0 means lines are never broken; what is no width falls back to the default.
  return value == 0 ? 0 : value < 3 ? 70 : value;
}

}  // namespace atl::shell::decimal
