#include "weights/gguf_tensors.h"

#include <algorithm>

#include "core/error.h"
#include "weights/gguf_names.h"

namespace hone::weights {

namespace {

io::StoredType stored_as(io::GgmlType type) {
  if (type == io::GgmlType::f16) return io::StoredType::f16;
  return type == io::GgmlType::bf16 ? io::StoredType::bf16 : io::StoredType::f32;
}

// Elements of one row.
void read_in_row(const io::GgufTensor& tensor, int64_t row, int64_t first, int64_t count, float* out) {
  const io::GgmlForm& form = io::ggml_form(tensor.type);
  const uint8_t* data = tensor.data + row * (tensor.cols / form.elements * form.bytes);
  if (form.elements == 1) return io::read_floats(stored_as(tensor.type), data + first * form.bytes, count, out);
  if (count == tensor.cols) return io::read_ggml_row(tensor.type, data, tensor.cols, out);
  std::vector<float> whole(static_cast<size_t>(tensor.cols));
  io::read_ggml_row(tensor.type, data, tensor.cols, whole.data());
  std::copy_n(whole.begin() + first, count, out);
}

// Reads elements in Hugging Face's order; `head_dim` as gguf_row takes it.
void read_gguf(const io::GgufTensor& tensor, int64_t head_dim, int64_t begin, int64_t size, float* out) {
  if (head_dim > 0 && tensor.shape.size() < 2) {  // a bias: its elements are what rows are elsewhere
    for (int64_t i = 0; i < size; ++i) read_in_row(tensor, 0, gguf_row(begin + i, head_dim), 1, out + i);
    return;
  }
  if (head_dim == 0 && io::ggml_form(tensor.type).elements == 1) return read_in_row(tensor, 0, begin, size, out);
  for (int64_t done = 0; done < size;) {
    const int64_t row = (begin + done) / tensor.cols, first = (begin + done) % tensor.cols;
    const int64_t count = std::min(size - done, tensor.cols - first);
    read_in_row(tensor, gguf_row(row, head_dim), first, count, out + done);
    done += count;
  }
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
    all.push_back({*name, path, tensor.shape, tensor.rows * tensor.cols, stored_as(tensor.type),
                   [&tensor, head_dim](int64_t begin, int64_t size, float* out) {
                     read_gguf(tensor, head_dim, begin, size, out);
                   }});
  }
  return all;
}

}  // namespace hone::weights
