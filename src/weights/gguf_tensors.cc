#include "weights/gguf_tensors.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "core/error.h"
#include "weights/gguf_names.h"

namespace hone::weights {

namespace {

using Read = std::function<void(int64_t begin, int64_t size, float* out)>;

// Elements in Hugging Face's order; `head_dim` as gguf_row takes it.
Read read_matrix(const io::GgufTensor& tensor, int64_t head_dim) {
  return [&tensor, head_dim](int64_t begin, int64_t size, float* out) {
    if (head_dim == 0) return io::read_ggml_elements(tensor.type, tensor.data, begin, size, out);
    for (int64_t done = 0; done < size;) {
      const int64_t row = (begin + done) / tensor.cols, first = (begin + done) % tensor.cols;
      const int64_t count = std::min(size - done, tensor.cols - first);
      const int64_t at = gguf_row(row, head_dim) * tensor.cols + first;
      io::read_ggml_elements(tensor.type, tensor.data, at, count, out + done);
      done += count;
    }
  };
}

// The same of a bias, whose elements are what rows are elsewhere: it is put in order once.
Read read_paired_bias(const io::GgufTensor& tensor, int64_t head_dim) {
  std::vector<float> stored(static_cast<size_t>(tensor.cols)), ordered;
  io::read_ggml_row(tensor.type, tensor.data, tensor.cols, stored.data());
  for (int64_t i = 0; i < tensor.cols; ++i) ordered.push_back(stored[static_cast<size_t>(gguf_row(i, head_dim))]);
  return [ordered = std::move(ordered)](int64_t begin, int64_t size, float* out) {
    std::copy_n(ordered.begin() + begin, size, out);
  };
}

}  // namespace

std::vector<WeightTensor> gguf_tensors(const io::GgufContent& content, const ModelConfig& config,
                                       const std::string& path, io::Faults& faults, std::vector<std::string>& lost) {
  std::vector<WeightTensor> all;
  for (const io::GgufTensor& tensor : content.tensors) {
    if (tensor.name == kRopeFactors) continue;
    const auto name = hf_tensor_name(tensor.name);
    if (!name) {
      faults.add(fmt::format("{}: tensor {}: expected no such tensor, found {}: it is not part of a dense decoder",
                             path, tensor.name, io::shape_text(tensor.shape)));
      continue;
    }
    const int64_t head_dim = paired_head_dim(config, *name);
    if (head_dim > 0 && (tensor.shape.empty() || tensor.shape.front() % head_dim != 0)) {
      faults.add(fmt::format("{}: tensor {}: expected whole heads of {} rows, found {}", path, tensor.name, head_dim,
                             io::shape_text(tensor.shape)));
      lost.push_back(*name);
      continue;
    }
    const bool is_paired_bias = head_dim > 0 && tensor.shape.size() == 1;
    all.push_back({*name, path, tensor.shape, tensor.rows * tensor.cols, io::ggml_form(tensor.type).exact,
                   is_paired_bias ? read_paired_bias(tensor, head_dim) : read_matrix(tensor, head_dim)});
  }
  return all;
}

}  // namespace hone::weights
