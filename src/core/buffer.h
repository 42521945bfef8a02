// Buffer: owned memory, 64-byte aligned, zeroed. Copies are spelt copy().
#pragma once

#include <cstdint>
#include <cstring>
#include <memory>

#include "core/view.h"

namespace hone {

// Zeroed; large memory is first touched by who uses it. Raises Error when the machine has no such memory.
void* allocate_aligned(int64_t size_bytes);
void free_aligned(void* data, int64_t size_bytes);  // the size it was asked for
int64_t allocated_bytes(int64_t size_bytes);        // what it takes

template <class T>
class Buffer {
 public:
  Buffer() = default;
  explicit Buffer(int64_t size)
      : size_(size), data_(static_cast<T*>(allocate_aligned(size * int64_t(sizeof(T)))), Free{size}) {}
  T* data() { return data_.get(); }
  const T* data() const { return data_.get(); }
  int64_t size() const { return size_; }
  int64_t size_bytes() const { return size_ * int64_t(sizeof(T)); }
  T& operator[](int64_t i) { return data_.get()[i]; }
  const T& operator[](int64_t i) const { return data_.get()[i]; }
  T* begin() { return data(); }
  T* end() { return data() + size_; }
  const T* begin() const { return data(); }
  const T* end() const { return data() + size_; }
  View<T> view() { return {data(), size_}; }
  View<const T> view() const { return {data(), size_}; }
  View<T> view(int64_t rows, int64_t cols) {
    HONE_CHECK(rows * cols <= size_, "view {}x{} of a buffer of {}", rows, cols, size_);
    return {data(), rows, cols};
  }
  View<const T> view(int64_t rows, int64_t cols) const {
    HONE_CHECK(rows * cols <= size_, "view {}x{} of a buffer of {}", rows, cols, size_);
    return {data(), rows, cols};
  }
  Buffer copy() const {
    Buffer other(size_);
    if (size_ > 0) std::memcpy(other.data(), data(), static_cast<size_t>(size_bytes()));
    return other;
  }

 private:
  struct Free {
    int64_t size = 0;
    void operator()(T* data) const { free_aligned(data, size * int64_t(sizeof(T))); }
  };
  int64_t size_ = 0;
  std::unique_ptr<T[], Free> data_;
};

}  // namespace hone
