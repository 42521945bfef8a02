// Raw-pointer kernels of the attention operations, one table per target.
#pragma once

#include <stdint.h>

namespace hone::kernels::cpu {

struct AttentionKernels {
  int reserved;
};

namespace scalar {
extern const AttentionKernels kAttentionKernels;
}
namespace avx2 {
extern const AttentionKernels kAttentionKernels;
}
namespace avx512 {
extern const AttentionKernels kAttentionKernels;
}
namespace avx512bf16 {
extern const AttentionKernels kAttentionKernels;
}

}  // namespace hone::kernels::cpu
