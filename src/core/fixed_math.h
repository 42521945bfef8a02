// exp, log, pow, sine and cosine in double from sums and products alone: the same bits on every machine, where libm's
// move with the processor and the distribution. Relative error below 1e-15 (sine and cosine: absolute, for |x| < 1e9).
#pragma once

#include <cstdint>

namespace hone::fixed {

double exp(double x);
double log(double x);                           // x > 0; 0 gives -infinity, below 0 NaN
double pow(double base, double exponent);       // base > 0
double int_pow(double base, int64_t exponent);  // by squaring; exponent >= 0
struct SinCos {
  double sin, cos;
};
SinCos sincos(double x);

}  // namespace hone::fixed
