#include "kernels/cpu/target.h"

#include <cstdlib>

#include "core/error.h"
#include "kernels/cpu/attention_kernels.h"
#include "kernels/cpu/products_kernels.h"
#include "kernels/cpu/row_kernels.h"

namespace hone::kernels::cpu {

namespace {

bool always() { return true; }
bool has_avx2() { return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"); }
#ifndef HONE_NO_AVX512
bool has_avx512() {
  return has_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
}
bool has_avx512bf16() { return has_avx512() && __builtin_cpu_supports("avx512bf16"); }
#endif

const Target kTargets[] = {
    {"scalar", false, always, &scalar::kProductKernels, &scalar::kRowKernels, &scalar::kAttentionKernels},
    {"avx2", false, has_avx2, &avx2::kProductKernels, &avx2::kRowKernels, &avx2::kAttentionKernels},
#ifndef HONE_NO_AVX512
    {"avx512", false, has_avx512, &avx512::kProductKernels, &avx512::kRowKernels, &avx512::kAttentionKernels},
    {"avx512bf16", true, has_avx512bf16, &avx512bf16::kProductKernels, &avx512bf16::kRowKernels,
     &avx512bf16::kAttentionKernels},
#endif
};

}  // namespace

std::span<const Target> all_targets() { return kTargets; }

const Target& find_target(std::string_view name) {
  std::string known;
  for (const Target& target : kTargets) {
    known += fmt::format(" {}", target.name);
    if (name != target.name) continue;
    if (!target.supported()) throw Error(fmt::format("this processor has no {}", name), "unset HONE_CPU_TARGET");
    return target;
  }
  throw Error(fmt::format("HONE_CPU_TARGET: '{}' is no target", name), fmt::format("one of{}", known));
}

const Target& default_target() {
  if (const char* forced = std::getenv("HONE_CPU_TARGET"); forced != nullptr && *forced != '\0') {
    return find_target(forced);
  }
  const Target* best = &kTargets[0];
  for (const Target& target : kTargets) {
    if (target.supported()) best = &target;
  }
  return *best;
}

}  // namespace hone::kernels::cpu
