#include "io/gguf_blocks.h"

#include <algorithm>
#include <bit>
#include <cfloat>
#include <cmath>
#include <iterator>
#include <utility>

#include "core/bf16.h"
#include "core/error.h"
#include "io/half.h"
#include "io/safetensors.h"

namespace hone::io {

namespace {

uint16_t u16(const uint8_t* p) { return static_cast<uint16_t>(p[0] | p[1] << 8); }
uint32_t u32(const uint8_t* p) { return uint32_t{u16(p)} | uint32_t{u16(p + 2)} << 16; }
float half_at(const uint8_t* p) { return half_to_float(u16(p)); }
void put_u16(uint8_t* p, uint16_t value) {
  p[0] = static_cast<uint8_t>(value);
  p[1] = static_cast<uint8_t>(value >> 8);
}
int low(uint8_t x) { return x & 15; }
int high(uint8_t x) { return x >> 4; }

void write_f32(const float* in, uint8_t* b) {
  const auto bits = std::bit_cast<uint32_t>(*in);
  put_u16(b, static_cast<uint16_t>(bits));
  put_u16(b + 2, static_cast<uint16_t>(bits >> 16));
}
void write_f16(const float* in, uint8_t* b) { put_u16(b, float_to_half(*in)); }
void write_bf16(const float* in, uint8_t* b) { put_u16(b, bf16(*in).bits); }

void read_q8_0(const uint8_t* b, float* out) {
  const float d = half_at(b);
  for (int j = 0; j < 32; ++j) out[j] = d * static_cast<float>(static_cast<int8_t>(b[2 + j]));
}

// d = largest magnitude / 127; quotients by the d in float, rounded half away from zero; d is stored as half.
void write_q8_0(const float* in, uint8_t* b) {
  float largest = 0.0f;
  for (int j = 0; j < 32; ++j) largest = std::max(largest, std::fabs(in[j]));
  const float d = largest / 127.0f, inverse = d >= FLT_MIN ? 1.0f / d : 0.0f;  // a smaller d is 0 as half
  put_u16(b, float_to_half(d));
  for (int j = 0; j < 32; ++j) b[2 + j] = static_cast<uint8_t>(static_cast<int8_t>(std::round(in[j] * inverse)));
}

void read_q4_0(const uint8_t* b, float* out) {
  const float d = half_at(b);
  for (int j = 0; j < 16; ++j) {
    out[j] = d * static_cast<float>(low(b[2 + j]) - 8);
    out[j + 16] = d * static_cast<float>(high(b[2 + j]) - 8);
  }
}

void read_q4_1(const uint8_t* b, float* out) {
  const float d = half_at(b), m = half_at(b + 2);
  for (int j = 0; j < 16; ++j) {
    out[j] = d * static_cast<float>(low(b[4 + j])) + m;
    out[j + 16] = d * static_cast<float>(high(b[4 + j])) + m;
  }
}

// The fifth bit of element j is bit j of `bits`.
int five(int nibble, uint32_t bits, int j) { return nibble | static_cast<int>(bits >> j & 1u) << 4; }

void read_q5_0(const uint8_t* b, float* out) {
  const float d = half_at(b);
  const uint32_t bits = u32(b + 2);
  for (int j = 0; j < 16; ++j) {
    out[j] = d * static_cast<float>(five(low(b[6 + j]), bits, j) - 16);
    out[j + 16] = d * static_cast<float>(five(high(b[6 + j]), bits, j + 16) - 16);
  }
}

void read_q5_1(const uint8_t* b, float* out) {
  const float d = half_at(b), m = half_at(b + 2);
  const uint32_t bits = u32(b + 4);
  for (int j = 0; j < 16; ++j) {
    out[j] = d * static_cast<float>(five(low(b[8 + j]), bits, j)) + m;
    out[j + 16] = d * static_cast<float>(five(high(b[8 + j]), bits, j + 16)) + m;
  }
}

// Scale and minimum of 32 elements, six bits each, out of twelve bytes for eight of them.
std::pair<int, int> scale_and_minimum(const uint8_t* packed, int b) {
  if (b < 4) return {packed[b] & 63, packed[b + 4] & 63};
  return {(packed[b + 4] & 15) | (packed[b - 4] >> 6) << 4, packed[b + 4] >> 4 | (packed[b] >> 6) << 4};
}

// Q4_K, and Q5_K where `fifth` has a bit more for each element.
void read_k(const uint8_t* b, const uint8_t* fifth, const uint8_t* nibbles, float* out) {
  const float d = half_at(b), dmin = half_at(b + 2);
  for (int part = 0; part < 8; ++part) {
    const auto [scale, minimum] = scale_and_minimum(b + 4, part);
    const float step = d * static_cast<float>(scale), below = dmin * static_cast<float>(minimum);
    for (int l = 0; l < 32; ++l) {
      const uint8_t pair = nibbles[part / 2 * 32 + l];
      int q = part % 2 == 0 ? low(pair) : high(pair);
      if (fifth != nullptr) q |= (fifth[l] >> part & 1) << 4;
      out[part * 32 + l] = step * static_cast<float>(q) - below;
    }
  }
}
void read_q4_k(const uint8_t* b, float* out) { read_k(b, nullptr, b + 16, out); }
void read_q5_k(const uint8_t* b, float* out) { read_k(b, b + 16, b + 48, out); }

void read_q6_k(const uint8_t* b, float* out) {
  const float d = half_at(b + 208);
  for (int half = 0; half < 2; ++half) {
    const uint8_t *lower = b + 64 * half, *upper = b + 128 + 32 * half;
    const auto* scales = reinterpret_cast<const int8_t*>(b + 192 + 8 * half);
    for (int quarter = 0; quarter < 4; ++quarter) {
      for (int l = 0; l < 32; ++l) {
        const uint8_t pair = lower[quarter % 2 * 32 + l];
        const int q = (quarter < 2 ? low(pair) : high(pair)) | (upper[l] >> 2 * quarter & 3) << 4;
        out[128 * half + 32 * quarter + l] =
            d * static_cast<float>(scales[2 * quarter + l / 16]) * static_cast<float>(q - 32);
      }
    }
  }
}

constexpr GgmlForm kForms[] = {
    {GgmlType::f32, "F32", 1, 4, nullptr, write_f32, FLT_MAX, 0, StoredType::f32},
    {GgmlType::f16, "F16", 1, 2, nullptr, write_f16, 65504.0f, 1, StoredType::f16},
    {GgmlType::bf16, "BF16", 1, 2, nullptr, write_bf16, 0x1.fep127f, 32, StoredType::bf16},
    {GgmlType::q8_0, "Q8_0", 32, 34, read_q8_0, write_q8_0, 127 * 65504.0f, 7, StoredType::f32},
    {GgmlType::q4_0, "Q4_0", 32, 18, read_q4_0, nullptr, 0, -1, StoredType::f32},
    {GgmlType::q4_1, "Q4_1", 32, 20, read_q4_1, nullptr, 0, -1, StoredType::f32},
    {GgmlType::q5_0, "Q5_0", 32, 22, read_q5_0, nullptr, 0, -1, StoredType::f32},
    {GgmlType::q5_1, "Q5_1", 32, 24, read_q5_1, nullptr, 0, -1, StoredType::f32},
    {GgmlType::q4_k, "Q4_K", 256, 144, read_q4_k, nullptr, 0, -1, StoredType::f32},
    {GgmlType::q5_k, "Q5_K", 256, 176, read_q5_k, nullptr, 0, -1, StoredType::f32},
    {GgmlType::q6_k, "Q6_K", 256, 210, read_q6_k, nullptr, 0, -1, StoredType::f32},
};

constexpr int64_t kLargestBlock = 256;
static_assert(std::all_of(std::begin(kForms), std::end(kForms),
                          [](const GgmlForm& form) { return form.elements <= kLargestBlock; }));

}  // namespace

const GgmlForm* find_ggml_form(uint32_t number) {
  for (const GgmlForm& form : kForms) {
    if (static_cast<uint32_t>(form.type) == number) return &form;
  }
  return nullptr;
}

const GgmlForm& ggml_form(GgmlType type) {
  const GgmlForm* form = find_ggml_form(static_cast<uint32_t>(type));
  HONE_CHECK(form != nullptr, "type {}", static_cast<uint32_t>(type));
  return *form;
}

std::string ggml_type_name(uint32_t number) {
  if (const GgmlForm* form = find_ggml_form(number)) return form->name;
  constexpr std::pair<uint32_t, const char*> kOthers[] = {
      {9, "Q8_1"},   {10, "Q2_K"},   {11, "Q3_K"},  {15, "Q8_K"},  {16, "IQ2_XXS"}, {17, "IQ2_XS"}, {18, "IQ3_XXS"},
      {19, "IQ1_S"}, {20, "IQ4_NL"}, {21, "IQ3_S"}, {22, "IQ2_S"}, {23, "IQ4_XS"},  {24, "I8"},     {25, "I16"},
      {26, "I32"},   {27, "I64"},    {28, "F64"},   {29, "IQ1_M"}, {34, "TQ1_0"},   {35, "TQ2_0"},  {39, "MXFP4"}};
  for (const auto& [other, name] : kOthers) {
    if (other == number) return name;
  }
  return fmt::format("type {}", number);
}

std::string ggml_types_read() {
  std::string list;
  for (const GgmlForm& form : kForms) list += fmt::format("{}{}", list.empty() ? "" : ", ", form.name);
  return list;
}

namespace {

std::string lower_case(std::string_view name) {
  std::string lower(name);
  for (char& c : lower) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
  return lower;
}

}  // namespace

std::string ggml_types_written() {
  std::string list;
  for (const GgmlForm& form : kForms) {
    if (form.write != nullptr) list += fmt::format("{}{}", list.empty() ? "" : ", ", lower_case(form.name));
  }
  return list;
}

const GgmlForm* find_written_ggml_form(std::string_view name) {
  for (const GgmlForm& form : kForms) {
    if (form.write != nullptr && lower_case(form.name) == name) return &form;
  }
  return nullptr;
}

void read_ggml_row(GgmlType type, const uint8_t* row, int64_t cols, float* out) {
  const GgmlForm& form = ggml_form(type);
  HONE_CHECK(cols % form.elements == 0, "{} columns of {}", cols, form.name);
  read_ggml_elements(type, row, 0, cols, out);
}

void read_ggml_elements(GgmlType type, const uint8_t* rows, int64_t begin, int64_t size, float* out) {
  const GgmlForm& form = ggml_form(type);
  const uint8_t* block = rows + begin / form.elements * form.bytes;
  if (form.read == nullptr) return read_floats(form.exact, block, size, out);
  float values[kLargestBlock];
  for (int64_t done = 0, first = begin % form.elements; done < size; first = 0, block += form.bytes) {
    const int64_t count = std::min(form.elements - first, size - done);
    const bool is_whole = count == form.elements;
    form.read(block, is_whole ? out + done : values);
    if (!is_whole) std::copy_n(values + first, count, out + done);
    done += count;
  }
}

}  // namespace hone::io
