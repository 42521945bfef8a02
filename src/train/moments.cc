#include "train/moments.h"

#include <algorithm>

#include "kernels/cpu/row_kernels.h"

namespace hone {

namespace {

constexpr int64_t kScaleBlock = kernels::cpu::kMomentBlock;

int64_t element_bytes(MomentForm form) { return form == MomentForm::f32 ? 4 : form == MomentForm::bf16 ? 2 : 1; }

}  // namespace

const char* name(MomentForm form) {
  return form == MomentForm::f32 ? "float32" : form == MomentForm::bf16 ? "bfloat16" : "8bit";
}

Moments::Moments(const Parameter& parameter, MomentForm form, uint32_t key)
    : form_(form),
      key_(key),
      shape_{parameter.rows(), parameter.cols()},
      rows_(parameter.kind() == ParameterKind::matrix ? parameter.rows() : 1),
      cols_(parameter.kind() == ParameterKind::matrix ? parameter.cols() : parameter.size()),
      blocks_((cols_ + kScaleBlock - 1) / kScaleBlock),
      m_(rows_ * cols_ * element_bytes(form)),
      v_(rows_ * cols_ * element_bytes(form)),
      scales_(form == MomentForm::bits8 ? rows_ * blocks_ * 2 : 0) {}

void Moments::update(const kernels::cpu::Target& target, int64_t first_row, View<float> w, const float* gradient,
                     const kernels::AdamW& adamw) {
  const int64_t begin = first_row * w.cols;
  if (form_ == MomentForm::f32) {
    float *m = reinterpret_cast<float*>(m_.data()) + begin, *v = reinterpret_cast<float*>(v_.data()) + begin;
    return kernels::adamw_range(target, w.data, m, v, gradient + begin, w.size(), adamw);
  }
  const kernels::cpu::AdamWCoefficients c = kernels::coefficients(adamw);
  const kernels::cpu::UpdateKernels& kernels = *target.rows->update;
  const uint32_t key = key_ * 0x85ebca6bu ^ static_cast<uint32_t>(adamw.step) * 0xc2b2ae35u;
  if (form_ == MomentForm::bf16) {
    uint16_t *m = reinterpret_cast<uint16_t*>(m_.data()) + begin, *v = reinterpret_cast<uint16_t*>(v_.data()) + begin;
    return kernels.adamw_bf16(w.data, m, v, gradient + begin, w.size(), c, {key, static_cast<uint32_t>(begin)});
  }
  // row after row, and a part of a vector that begins with a block
  for (int64_t at = begin, end = begin + w.size(); at < end;) {
    const int64_t col = at % cols_, size = std::min(cols_ - col, end - at);
    HONE_CHECK(col % kScaleBlock == 0, "row {} of {} columns", first_row, w.cols);
    float* scales = scales_.data() + 2 * (at / cols_ * blocks_ + col / kScaleBlock);
    kernels.adamw_8bit(w.data + (at - begin), reinterpret_cast<uint8_t*>(m_.data()) + at,
                       reinterpret_cast<uint8_t*>(v_.data()) + at, scales, gradient + at, size, c,
                       {key, static_cast<uint32_t>(at)});
    at += size;
  }
}

Moments::Values Moments::values() const {
  Values all{Buffer<float>(rows_ * cols_), Buffer<float>(rows_ * cols_)};
  const auto widen = [&](const Buffer<char>& from, Buffer<float>& to) {
    for (int64_t i = 0; i < to.size(); ++i) {
      to[i] = form_ == MomentForm::f32 ? reinterpret_cast<const float*>(from.data())[i]
                                       : static_cast<float>(reinterpret_cast<const bf16*>(from.data())[i]);
    }
  };
  if (form_ != MomentForm::bits8) {
    widen(m_, all.first);
    widen(v_, all.second);
    return all;
  }
  for (int64_t row = 0; row < rows_; ++row) {
    kernels::cpu::default_target().rows->update->read_8bit(
        all.first.data() + row * cols_, all.second.data() + row * cols_,
        reinterpret_cast<const uint8_t*>(m_.data()) + row * cols_,
        reinterpret_cast<const uint8_t*>(v_.data()) + row * cols_, scales_.data() + row * blocks_ * 2, cols_);
  }
  return all;
}

std::vector<Moments::Stored> Moments::stored() const {
  const io::StoredType type = form_ == MomentForm::f32    ? io::StoredType::f32
                              : form_ == MomentForm::bf16 ? io::StoredType::bf16
                                                          : io::StoredType::u8;
  const auto of = [](const auto& buffer) { return const_cast<void*>(static_cast<const void*>(buffer.data())); };
  std::vector<Stored> all{{"m", shape_, type, of(m_), m_.size_bytes()}, {"v", shape_, type, of(v_), v_.size_bytes()}};
  if (form_ == MomentForm::bits8) {
    all.push_back({"scales", {rows_, blocks_, 2}, io::StoredType::f32, of(scales_), scales_.size_bytes()});
  }
  return all;
}

void Moments::add_to(io::SafetensorsWriter& writer, const std::string& name) const {
  for (const Stored& s : stored()) writer.add_bytes(name + "." + s.suffix, s.shape, s.type, s.data);
}

void Moments::read_from(const io::SafetensorsReader& file, const std::string& name) {
  for (const Stored& s : stored()) {
    const io::StoredTensor& tensor = file.at(name + "." + s.suffix, s.shape);
    io::read_bytes(tensor, s.type, s.data, s.size_bytes);
  }
}

double Moments::bytes_per_parameter(MomentForm form) {
  return form == MomentForm::bits8 ? 2 + 8.0 / static_cast<double>(kScaleBlock)
                                   : 2 * static_cast<double>(element_bytes(form));
}

}  // namespace hone
