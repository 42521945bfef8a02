// Moments: the two moments of AdamW for one parameter, in float32, in bf16 or in blocks of 8 bits (Dettmers et al.
// 2022). The update is that of float32; what is stored is rounded up or down at random in proportion, because a second
// moment that moves by a thousandth a step would never leave a coarse number. The randomness is a function of
// (parameter, step, element): threads and targets change no bit.
#pragma once

#include <string>
#include <vector>

#include "io/safetensors.h"
#include "kernels/adamw.h"
#include "models/parameter.h"

namespace hone {

// bits8: a byte for the first moment, of sign, 4 bits of exponent and 3 of mantissa, and one for the second, of 5 and
// 3, relative to the largest of its block of 256 elements within a row: 2 bytes an element and 8 a block.
enum class MomentForm { f32, bf16, bits8 };
const char* name(MomentForm form);  // float32, bfloat16, 8bit

class Moments {
 public:
  // `key`: another for every parameter.
  Moments(const Parameter& parameter, MomentForm form, uint32_t key);

  // AdamW for whole rows of the parameter's weights from `first_row` on. From any thread.
  void update(const kernels::cpu::Target& target, int64_t first_row, View<float> w, const float* gradient,
              const kernels::AdamW& adamw);
  // As floats.
  Buffer<float> first() const { return values().first; }
  Buffer<float> second() const { return values().second; }

  // As they are stored, under `name`; the writer looks at them in write().
  void add_to(io::SafetensorsWriter& writer, const std::string& name) const;
  // Raises Error when the file has them in another form.
  void read_from(const io::SafetensorsReader& file, const std::string& name);

  int64_t size_bytes() const { return m_.size_bytes() + v_.size_bytes() + scales_.size_bytes(); }
  static double bytes_per_parameter(MomentForm form);

 private:
  struct Values {
    Buffer<float> first, second;
  };
  Values values() const;
  // One per tensor that is stored.
  struct Stored {
    const char* suffix;
    std::vector<int64_t> shape;
    io::StoredType type;
    void* data;
    int64_t size_bytes;
  };
  std::vector<Stored> stored() const;

  MomentForm form_;
  uint32_t key_;
  std::vector<int64_t> shape_;  // as they are stored: the parameter's
  int64_t rows_, cols_;         // a vector is one row
  int64_t blocks_;              // of a row
  Buffer<char> m_, v_;          // [rows, cols]
  Buffer<float> scales_;        // [rows, blocks, 2], of bits8
};

}  // namespace hone
