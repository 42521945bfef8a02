#include "weights/gguf_convert.h"

#include <vector>

#include "core/error.h"
#include "io/atomic_file.h"
#include "io/file.h"
#include "io/gguf.h"
#include "io/safetensors.h"
#include "text/companions.h"
#include "text/gguf_tokenizer.h"
#include "text/tokenizer_file.h"
#include "weights/gguf_config.h"
#include "weights/gguf_names.h"
#include "weights/hf_config.h"
#include "weights/model_files.h"

namespace hone::weights {

void gguf_to_folder(const std::string& gguf, const std::string& folder) {
  const ModelConfig config = load_config(gguf);
  const ModelFiles files = open_model_files(gguf, config);
  text::read_tokenizer_folder(gguf);  // strict: what could not be used is not written
  io::AtomicFolder out(folder);
  io::SafetensorsWriter writer;
  for (const WeightTensor& tensor : files.tensors()) writer.add(tensor.name, tensor.shape, tensor.type, tensor.read);
  writer.write(io::join_path(out.path(), "model.safetensors"));
  files.check_unchanged();
  io::write_json(io::join_path(out.path(), "config.json"), read_config_json(gguf));
  for (const char* name : {"tokenizer.json", "tokenizer_config.json", "generation_config.json"}) {
    io::write_file(io::join_path(out.path(), name), text::read_companion(gguf, name).value());
  }
  out.commit();
}

void model_to_gguf(const std::string& model, const std::string& gguf, io::GgmlType type) {
  const ModelConfig config = load_config(model);
  const ModelFiles files = open_model_files(model, config);
  io::GgufWriter writer;
  add_config_to_gguf(writer, config, type, model);
  text::add_tokenizer_to_gguf(writer, model, config.vocab_size);
  for (const ParameterSpec& spec : ModelLayout(config).parameters) {
    for (const Piece& piece : spec.pieces) {
      const WeightTensor& tensor = files.at(piece.name);
      const int64_t cols = tensor.shape.back(), head_dim = paired_head_dim(config, piece.name);
      const std::string name = gguf_tensor_name(piece.name).value();
      if (tensor.shape.size() == 2) {
        const bool fits = cols % io::ggml_form(type).elements == 0;
        writer.add(name, tensor.shape, fits ? type : io::GgmlType::f16,
                   [&tensor, cols, head_dim](int64_t row, float* out) {
                     tensor.read(hf_row(row, head_dim) * cols, cols, out);
                   });
      } else {
        writer.add(name, tensor.shape, io::GgmlType::f32, [&tensor, head_dim](int64_t, float* out) {
          std::vector<float> values(static_cast<size_t>(tensor.size));
          tensor.read(0, tensor.size, values.data());
          for (int64_t i = 0; i < tensor.size; ++i) out[i] = values[static_cast<size_t>(hf_row(i, head_dim))];
        });
      }
    }
  }
  writer.write(gguf, [&] { files.check_unchanged(); });
}

}  // namespace hone::weights
