// The header of a safetensors file with its data behind it: what is accepted lies inside the file, tiles it, and can be
// read to the last byte.
#include <cstring>

#include "core/error.h"
#include "fuzz/target.h"
#include "io/safetensors.h"

namespace hone::fuzz {
namespace {

void run(std::string_view input) {
  const auto* const data = reinterpret_cast<const uint8_t*>(input.data());
  const size_t size = input.size();
  io::SafetensorsContent content;
  try {
    content = io::parse_safetensors({data, size}, "x.safetensors");
  } catch (const Error& error) {
    behaviour(error.what());
    FUZZ_CHECK(std::string_view(error.what()).starts_with("x.safetensors"), error.what());
    return;
  }
  uint64_t header = 0;
  std::memcpy(&header, data, 8);
  int64_t sum = 0;
  uint64_t bytes = 0;
  for (const io::StoredTensor& tensor : content.tensors) {
    behaviour(std::string("accepted ") + io::name(tensor.type));
    int64_t elements = 1;
    for (const int64_t extent : tensor.shape) elements *= extent;
    FUZZ_CHECK(elements == tensor.size, tensor.name);
    FUZZ_CHECK(tensor.data >= data + 8 + header && tensor.data + tensor.size_bytes() <= data + size, tensor.name);
    for (int64_t i = 0; i < tensor.size_bytes(); ++i) bytes += tensor.data[i];
    sum += tensor.size_bytes();
    try {
      FUZZ_CHECK(static_cast<int64_t>(io::read_floats(tensor).size()) == tensor.size, tensor.name);
    } catch (const Error& error) {  // a type that is no float
      behaviour(error.what());
    }
  }
  FUZZ_CHECK(static_cast<uint64_t>(sum) + 8 + header == size, "the tensors do not fill the file");
  behaviour(bytes % 2 == 0 ? "even" : "odd");
}

std::string file(const std::string& header, size_t data_bytes) {
  std::string text;
  for (int i = 0; i < 8; ++i) text += static_cast<char>(header.size() >> (8 * i));
  return text + header + std::string(data_bytes, '\x3f');
}

// The announced length reaches to the last brace; what is behind it is data.
void repair(std::string& input) {
  if (input.size() < 8) return;
  const size_t brace = input.rfind('}');
  if (brace == std::string::npos || brace < 8) return;
  const size_t length = brace + 1 - 8;
  for (size_t i = 0; i < 8; ++i) input[i] = static_cast<char>(length >> (8 * i));
}

Material material() {
  return {
      {file(R"({"a":{"dtype":"F32","shape":[2,3],"data_offsets":[0,24]}})", 24),
       file(R"({"__metadata__":{"format":"pt"},"a":{"dtype":"BF16","shape":[4],"data_offsets":[0,8]},)"
            R"("b":{"dtype":"I64","shape":[],"data_offsets":[8,16]}}   )",
            16),
       file(
           R"({"e":{"dtype":"F16","shape":[0,7],"data_offsets":[0,0]},"f":{"dtype":"F16","shape":[3],"data_offsets":[0,6]}})",
           6),
       file(
           R"({"a":{"dtype":"U8","shape":[3],"data_offsets":[0,3]},"b":{"dtype":"F64","shape":[1],"data_offsets":[3,11]}})",
           11),
       file(R"({"a":{"dtype":"F32","shape":[4611686018427387904,4],"data_offsets":[0,0]}})", 0), file("{}", 0),
       file(
           R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})",
           4),
       "1234567"},
      {"\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]},",
       "\"BOOL\"",
       "\"U8\"",
       "\"I8\"",
       "\"F8_E5M2\"",
       "\"F8_E4M3\"",
       "\"I16\"",
       "\"U16\"",
       "\"F16\"",
       "\"BF16\"",
       "\"I32\"",
       "\"U32\"",
       "\"F32\"",
       "\"F64\"",
       "\"I64\"",
       "\"U64\"",
       "\"C64\"",
       "\"F4\"",
       "\"__metadata__\":{}",
       "\"shape\":",
       "\"dtype\":",
       "\"data_offsets\":",
       "[0,0]",
       "[]"},
      repair};
}

}  // namespace

FUZZ_TARGET(run, material)

}  // namespace hone::fuzz
