// What reader and writer of GGUF share. Private to io/gguf*.cc.
#pragma once

#include <cstdint>

namespace hone::io {

constexpr int64_t kGgufAlignment = 32;  // of data, where the file does not say otherwise

// Of metadata, numbered as in a file.
enum class GgufType : uint32_t { u8, i8, u16, i16, u32, i32, f32, boolean, string, array, u64, i64, f64 };
constexpr uint32_t kNumGgufTypes = 13;

inline int64_t align_gguf(int64_t size, int64_t alignment) { return (size + alignment - 1) / alignment * alignment; }

}  // namespace hone::io
