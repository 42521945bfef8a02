// Raw-pointer kernels of the products operations, one table per target.
#pragma once

#include <stdint.h>

namespace hone::kernels::cpu {

struct ProductKernels {
  int reserved;
};

namespace scalar {
extern const ProductKernels kProductKernels;
}
namespace avx2 {
extern const ProductKernels kProductKernels;
}
namespace avx512 {
extern const ProductKernels kProductKernels;
}
namespace avx512bf16 {
extern const ProductKernels kProductKernels;
}

}  // namespace hone::kernels::cpu
