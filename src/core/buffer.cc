#include "core/buffer.h"

#ifdef __linux__
#include <sys/mman.h>
#endif

#include <cstdlib>

namespace hone {

namespace {
constexpr size_t kHugePage = size_t{2} << 20;
}

void* allocate_aligned(int64_t size_bytes) {
  HONE_CHECK(size_bytes >= 0, "{} bytes", size_bytes);
  const size_t rounded = (static_cast<size_t>(size_bytes) + 63) / 64 * 64;
  if (rounded == 0) return nullptr;
  // Large buffers ask for huge pages: reading weights and cache blocks otherwise waits for page tables. What is left
  // over at the end stays in small pages, so nothing is wasted.
  const size_t huge = rounded / kHugePage * kHugePage;
  void* data = huge == 0 ? std::aligned_alloc(64, rounded)
                         : std::aligned_alloc(kHugePage, (rounded + kHugePage - 1) / kHugePage * kHugePage);
  if (data == nullptr) {
    throw Error(fmt::format("out of memory: {} bytes were asked for", size_bytes), "use a smaller model or batch");
  }
#ifdef MADV_HUGEPAGE
  if (huge > 0) madvise(data, huge, MADV_HUGEPAGE);  // a wish: where it is not granted, nothing changes
#endif
  std::memset(data, 0, rounded);
  return data;
}

void free_aligned(void* data) { std::free(data); }

}  // namespace hone
