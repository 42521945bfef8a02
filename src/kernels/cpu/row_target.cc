#include "kernels/cpu/row_kernels.h"
#include "kernels/cpu/vec.h"

namespace hone::kernels::cpu::HONE_TARGET {

const RowKernels kRowKernels = {0};

}  // namespace hone::kernels::cpu::HONE_TARGET
