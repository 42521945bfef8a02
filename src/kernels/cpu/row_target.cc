// The table of the row kernels; the parts stand in row_norm_, row_elementwise_, row_logprob_ and row_update_target.cc.
#include "kernels/cpu/row_kernels.h"

namespace hone::kernels::cpu::HONE_TARGET {

const RowKernels kRowKernels = {&kNormKernels, &kElementwiseKernels, &kLogprobKernels, &kUpdateKernels};

}  // namespace hone::kernels::cpu::HONE_TARGET
