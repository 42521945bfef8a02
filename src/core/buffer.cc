#include "core/buffer.h"

#ifdef __linux__
#include <sys/mman.h>
#endif

#include <cstdlib>

namespace hone {

namespace {

constexpr int64_t kHugePage = int64_t{2} << 20;

int64_t round_up(int64_t size, int64_t unit) { return (size + unit - 1) / unit * unit; }

[[noreturn]] void raise_out_of_memory(int64_t size_bytes) {
  throw Error(fmt::format("out of memory: {} bytes were asked for", size_bytes), "use a smaller model or batch");
}

// The address sanitizer watches what comes from malloc, so it gets all of it.
#if defined(__linux__) && !defined(__SANITIZE_ADDRESS__)
// Large memory comes from the system, which zeroes a page when it is first touched: by the thread that fills it, not by
// one thread beforehand. It asks for huge pages, because reading weights and cache blocks otherwise waits for page
// tables, and a byte in small pages costs six times as much at its first touch. An end gets a whole huge page where
// that adds at most a sixteenth of the memory; else it stays in small pages: a model has hundreds of matrices of a few
// MiB.
bool is_mapped(int64_t size_bytes) { return size_bytes >= kHugePage / 2; }

int64_t mapped_bytes(int64_t size_bytes) {
  const int64_t whole = round_up(size_bytes, kHugePage);
  return whole - size_bytes <= size_bytes / 16 ? whole : round_up(size_bytes, 4096);
}

void* map_zeroed(int64_t size_bytes) {
  const int64_t size = mapped_bytes(size_bytes), with_room = size + kHugePage;
  void* mapped =
      mmap(nullptr, static_cast<size_t>(with_room), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) raise_out_of_memory(size_bytes);
  char* start = static_cast<char*>(mapped);
  const int64_t before = round_up(reinterpret_cast<int64_t>(start), kHugePage) - reinterpret_cast<int64_t>(start);
  if (before > 0) munmap(start, static_cast<size_t>(before));
  char* data = start + before;
  if (const int64_t after = with_room - before - size; after > 0) munmap(data + size, static_cast<size_t>(after));
  // a wish: where it is not granted, nothing changes
  madvise(data, static_cast<size_t>(size / kHugePage * kHugePage), MADV_HUGEPAGE);
  return data;
}

void unmap(void* data, int64_t size_bytes) { munmap(data, static_cast<size_t>(mapped_bytes(size_bytes))); }
#else
bool is_mapped(int64_t) { return false; }
int64_t mapped_bytes(int64_t size_bytes) { return size_bytes; }
void* map_zeroed(int64_t) { return nullptr; }
void unmap(void*, int64_t) {}
#endif

}  // namespace

void* allocate_aligned(int64_t size_bytes) {
  HONE_CHECK(size_bytes >= 0, "{} bytes", size_bytes);
  if (size_bytes == 0) return nullptr;
  if (size_bytes > INT64_MAX - 2 * kHugePage) raise_out_of_memory(size_bytes);
  if (is_mapped(size_bytes)) return map_zeroed(size_bytes);
  const auto rounded = static_cast<size_t>(allocated_bytes(size_bytes));
  void* data = std::aligned_alloc(64, rounded);
  if (data == nullptr) raise_out_of_memory(size_bytes);
  std::memset(data, 0, rounded);
  return data;
}

void free_aligned(void* data, int64_t size_bytes) {
  if (data == nullptr) return;
  if (is_mapped(size_bytes)) {
    unmap(data, size_bytes);
  } else {
    std::free(data);
  }
}

int64_t allocated_bytes(int64_t size_bytes) {
  return is_mapped(size_bytes) ? mapped_bytes(size_bytes) : round_up(size_bytes, 64);
}

}  // namespace hone
