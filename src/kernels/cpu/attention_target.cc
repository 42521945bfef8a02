#include "kernels/cpu/attention_kernels.h"
#include "kernels/cpu/vec.h"

namespace hone::kernels::cpu::HONE_TARGET {

const AttentionKernels kAttentionKernels = {0};

}  // namespace hone::kernels::cpu::HONE_TARGET
