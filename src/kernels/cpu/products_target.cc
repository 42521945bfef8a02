#include "kernels/cpu/products_kernels.h"
#include "kernels/cpu/vec.h"

namespace hone::kernels::cpu::HONE_TARGET {

const ProductKernels kProductKernels = {0};

}  // namespace hone::kernels::cpu::HONE_TARGET
