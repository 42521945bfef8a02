// Arena: scratch memory that grows to the largest need of a step and is then reused without allocating.
// Not for sharing between threads: take memory before the parallel part.
#pragma once

#include <vector>

#include "core/buffer.h"

namespace hone {

class Arena {
 public:
  // Everything taken after the mark is given back when the scope ends.
  class Scope {
   public:
    explicit Scope(Arena& arena) : arena_(arena), block_(arena.block_), used_(arena.used_), taken_(arena.taken_) {}
    ~Scope() {
      arena_.block_ = block_;
      arena_.used_ = used_;
      arena_.taken_ = taken_;
    }
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    Arena& arena_;
    size_t block_;
    int64_t used_, taken_;
  };

  // Uninitialised memory, 64-byte aligned, valid until the enclosing Scope ends.
  void* take_bytes(int64_t size_bytes);
  template <class T>
  View<T> take(int64_t size) {
    return {static_cast<T*>(take_bytes(size * int64_t(sizeof(T)))), size};
  }
  template <class T>
  View<T> take(int64_t rows, int64_t cols) {
    return {static_cast<T*>(take_bytes(rows * cols * int64_t(sizeof(T)))), rows, cols};
  }
  ComputeView take(DType dtype, int64_t rows, int64_t cols) {
    return {take_bytes(rows * cols * hone::size_bytes(dtype)), dtype, rows, cols};
  }
  // Gives back everything and keeps the blocks.
  void reset() { block_ = 0, used_ = 0, taken_ = 0; }
  int64_t size_bytes() const;
  // The most that was taken at once.
  int64_t peak_bytes() const { return peak_; }

 private:
  std::vector<Buffer<char>> blocks_;
  size_t block_ = 0;  // block that is being filled
  int64_t used_ = 0;  // bytes taken from it
  int64_t taken_ = 0, peak_ = 0;
};

}  // namespace hone
