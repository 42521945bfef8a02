#include "core/fixed_math.h"

#include <bit>
#include <cmath>
#include <limits>

namespace hone::fixed {

namespace {
// ln 2 and pi / 2 in parts: a multiple of the first part by a small integer is exact.
constexpr double kLn2High = 0x1.62e42fee00000p-1, kLn2Low = 0x1.a39ef35793c76p-33;
constexpr double kHalfPi1 = 0x1.921fb54400000p+0, kHalfPi2 = 0x1.0b4611a600000p-34, kHalfPi3 = 0x1.3198a2e037073p-69;
}  // namespace

double exp(double x) {
  if (std::isnan(x)) return x;
  if (x > 709.78) return std::numeric_limits<double>::infinity();
  if (x < -708.0) return 0.0;
  const double n = std::floor(x * 1.44269504088896340736 + 0.5);
  const double r = (x - n * kLn2High) - n * kLn2Low;  // |r| <= 0.3466
  double sum = 1.0;
  for (int k = 14; k >= 1; --k) sum = 1.0 + sum * r / k;  // Taylor: 0.3466^15 / 15! < 1e-19
  return std::bit_cast<double>(std::bit_cast<int64_t>(sum) + (static_cast<int64_t>(n) << 52));
}

double log(double x) {
  if (std::isnan(x) || x == std::numeric_limits<double>::infinity()) return x;
  if (x <= 0.0) {
    return x == 0.0 ? -std::numeric_limits<double>::infinity() : std::numeric_limits<double>::quiet_NaN();
  }
  int exponent = 0;
  double m = std::frexp(x, &exponent);  // exact
  if (m < 0.70710678118654752440) {
    m *= 2.0;
    --exponent;
  }
  // ln m = 2 atanh(s), s = (m - 1) / (m + 1), |s| <= 0.1716: s^25 / 25 < 1e-20
  const double s = (m - 1.0) / (m + 1.0), s2 = s * s;
  double sum = 0.0;
  for (int k = 23; k >= 3; k -= 2) sum = (sum + 1.0 / k) * s2;
  return exponent * kLn2High + (2.0 * s + (2.0 * s * sum + exponent * kLn2Low));
}

double pow(double base, double exponent) { return exp(exponent * log(base)); }

double int_pow(double base, int64_t exponent) {
  double result = 1.0;
  for (; exponent > 0; exponent >>= 1) {
    if (exponent & 1) result *= base;
    base *= base;
  }
  return result;
}

SinCos sincos(double x) {
  const double n = std::floor(x * 0.63661977236758134308 + 0.5);
  const double r = ((x - n * kHalfPi1) - n * kHalfPi2) - n * kHalfPi3;  // |r| <= pi / 4
  const double r2 = r * r;
  double sin = 1.0, cos = 1.0;
  for (int k = 19; k >= 3; k -= 2) sin = 1.0 - sin * r2 / (k * (k - 1));
  for (int k = 18; k >= 2; k -= 2) cos = 1.0 - cos * r2 / (k * (k - 1));
  sin *= r;
  switch (static_cast<int64_t>(n) & 3) {
    case 0:
      return {sin, cos};
    case 1:
      return {cos, -sin};
    case 2:
      return {-sin, -cos};
    default:
      return {-cos, sin};
  }
}

}  // namespace hone::fixed
