// The instruction sets of the CPU kernels and the one dispatcher. Each *_target.cc file fills a table of raw-pointer
// functions per target; operations take the tables from the Context.
#pragma once

#include <span>
#include <string_view>

namespace hone::kernels::cpu {

struct ProductKernels;    // products_kernels.h
struct RowKernels;        // row_kernels.h
struct AttentionKernels;  // attention_kernels.h

struct Target {
  const char* name;     // scalar, avx2, avx512, avx512bf16
  bool has_bf16_dot;    // bf16 products run in hardware; elsewhere they are computed with float arithmetic
  bool (*supported)();  // by this processor
  const ProductKernels* products;
  const RowKernels* rows;
  const AttentionKernels* attention;
};

// All compiled targets, best last.
std::span<const Target> all_targets();
// Raises Error for an unknown name or one this processor lacks.
const Target& find_target(std::string_view name);
// HONE_CPU_TARGET if set, else the best one the processor has.
const Target& default_target();

}  // namespace hone::kernels::cpu
