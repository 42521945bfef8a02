#include "core/buffer.h"

#include <cstdlib>

namespace hone {

void* allocate_aligned(int64_t size_bytes) {
  HONE_CHECK(size_bytes >= 0, "{} bytes", size_bytes);
  const size_t rounded = (static_cast<size_t>(size_bytes) + 63) / 64 * 64;
  if (rounded == 0) return nullptr;
  void* data = std::aligned_alloc(64, rounded);
  if (data == nullptr) {
    throw Error(fmt::format("out of memory: {} bytes were asked for", size_bytes), "use a smaller model or batch");
  }
  std::memset(data, 0, rounded);
  return data;
}

void free_aligned(void* data) { std::free(data); }

}  // namespace hone
