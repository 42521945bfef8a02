// The element types of ggml that are read, and those that are written: numbers in blocks along a row, each with scales
// of its own. Layouts as in ggml (ggml-common.h); values of quantised types are exact products and sums in float.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace hone::io {

enum class StoredType;  // io/safetensors.h

// Numbers as in a file.
enum class GgmlType : uint32_t {
  f32 = 0,
  f16 = 1,
  q4_0 = 2,
  q4_1 = 3,
  q5_0 = 6,
  q5_1 = 7,
  q8_0 = 8,
  q4_k = 12,
  q5_k = 13,
  q6_k = 14,
  bf16 = 30,
};

struct GgmlForm {
  GgmlType type;
  const char* name;                                // as ggml prints it: "Q4_K"
  int64_t elements;                                // of a block
  int64_t bytes;                                   // of a block
  void (*read)(const uint8_t* block, float* out);  // nullptr: no blocks, but plain numbers of the type `exact`
  void (*write)(const float* in, uint8_t* block);  // nullptr: not written
  float largest;                                   // magnitude that is written
  int64_t file_type;                               // general.file_type of a file whose matrices are written so
  StoredType exact;                                // of safetensors, which holds its values exactly
};

const GgmlForm& ggml_form(GgmlType type);
// The form of a number in a file; nullptr for a type that is not read.
const GgmlForm* find_ggml_form(uint32_t number);
// The name of any type of ggml, "type 99" for others.
std::string ggml_type_name(uint32_t number);
// "F32, F16, ...": those that are read.
std::string ggml_types_read();
// "f32, f16, ...": those that are written, and the one of such a name; nullptr for others.
std::string ggml_types_written();
const GgmlForm* find_written_ggml_form(std::string_view name);

// A row of `cols` elements, a multiple of the block's.
void read_ggml_row(GgmlType type, const uint8_t* row, int64_t cols, float* out);
// Elements [begin, begin + size) of such rows, which lie one behind the other.
void read_ggml_elements(GgmlType type, const uint8_t* rows, int64_t begin, int64_t size, float* out);

}  // namespace hone::io
