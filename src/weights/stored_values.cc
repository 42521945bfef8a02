#include "weights/stored_values.h"

#include <bit>
#include <cstring>

#include "core/error.h"

namespace hone::weights {

namespace {

uint32_t load_16(const uint8_t* data) {  // perhaps unaligned
  uint16_t bits;
  std::memcpy(&bits, data, 2);
  return bits;
}

void from_bf16(const uint8_t* data, int64_t size, float* out) {
  for (int64_t i = 0; i < size; ++i) out[i] = std::bit_cast<float>(load_16(data + 2 * i) << 16);
}

// Without branches: exponent and fraction moved into place are 2^-112 of the value, subnormal ones included.
void from_f16(const uint8_t* data, int64_t size, float* out) {
  for (int64_t i = 0; i < size; ++i) {
    const uint32_t bits = load_16(data + 2 * i), magnitude = (bits & 0x7fffu) << 13;
    const uint32_t scaled = std::bit_cast<uint32_t>(std::bit_cast<float>(magnitude) * 0x1p112f);
    const uint32_t value = magnitude >= 0x0f800000u ? magnitude | 0x7f800000u : scaled;  // infinities and NaN
    out[i] = std::bit_cast<float>(value | (bits & 0x8000u) << 16);
  }
}

}  // namespace

void read_values(const io::StoredTensor& tensor, int64_t begin, int64_t size, float* out) {
  HONE_CHECK(begin >= 0 && size >= 0 && begin <= tensor.size - size, "elements {}+{} of {} with {}", begin, size,
             tensor.name, tensor.size);
  if (size == 0) return;
  const uint8_t* data = tensor.data + begin * io::size_bytes(tensor.type);
  switch (tensor.type) {
    case io::StoredType::f32:
      std::memcpy(out, data, static_cast<size_t>(size) * 4);
      return;
    case io::StoredType::bf16:
      from_bf16(data, size, out);
      return;
    case io::StoredType::f16:
      from_f16(data, size, out);
      return;
    default:
      HONE_CHECK(false, "{} holds {}", tensor.name, io::name(tensor.type));
  }
}

}  // namespace hone::weights
