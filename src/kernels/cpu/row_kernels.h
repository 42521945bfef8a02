// Raw-pointer kernels of the rows operations, one table per target.
#pragma once

#include <stdint.h>

namespace hone::kernels::cpu {

struct RowKernels {
  int reserved;
};

namespace scalar {
extern const RowKernels kRowKernels;
}
namespace avx2 {
extern const RowKernels kRowKernels;
}
namespace avx512 {
extern const RowKernels kRowKernels;
}
namespace avx512bf16 {
extern const RowKernels kRowKernels;
}

}  // namespace hone::kernels::cpu
