#include "weights/stored_values.h"

#include <gtest/gtest.h>

#include <bit>
#include <vector>

#include "io/half.h"

namespace hone {
namespace {

// Every value of 16 bits, from a place that is not aligned, as the element-wise reader has it.
TEST(StoredValues, EveryHalfAndEveryBf16IsExact) {
  std::vector<uint8_t> bytes(1 + 2 * 65536);
  for (uint32_t i = 0; i < 65536; ++i) {
    bytes[1 + 2 * i] = static_cast<uint8_t>(i);
    bytes[2 + 2 * i] = static_cast<uint8_t>(i >> 8);
  }
  for (const io::StoredType type : {io::StoredType::f16, io::StoredType::bf16}) {
    io::StoredTensor tensor{
        .name = "all", .type = type, .shape = {65536}, .size = 65536, .data = bytes.data() + 1, .file = ""};
    std::vector<float> got(65536);
    weights::read_values(tensor, 0, 7, got.data());
    weights::read_values(tensor, 7, 65536 - 7, got.data() + 7);
    for (uint32_t i = 0; i < 65536; ++i) {
      const float want =
          type == io::StoredType::f16 ? io::half_to_float(static_cast<uint16_t>(i)) : std::bit_cast<float>(i << 16);
      ASSERT_EQ(std::bit_cast<uint32_t>(got[i]), std::bit_cast<uint32_t>(want)) << io::name(type) << " " << i;
    }
  }
}

}  // namespace
}  // namespace hone
