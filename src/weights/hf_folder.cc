#include "weights/hf_folder.h"

#include <algorithm>
#include <atomic>
#include <cstring>

#include "io/atomic_file.h"
#include "io/file.h"
#include "io/safetensors.h"
#include "weights/hf_config.h"
#include "weights/model_files.h"
#include "weights/unexpected_tensor.h"

namespace hone::weights {

namespace {

constexpr const char* kCompanions[] = {
    "tokenizer.json", "tokenizer_config.json", "special_tokens_map.json", "generation_config.json", "vocab.json",
    "merges.txt",     "added_tokens.json",     "chat_template.jinja",     "chat_template.json"};

// Rows of a parameter out of the tensors of its pieces.
Parameter::RowSource rows_of(const Parameter& parameter, const ModelFiles& files) {
  struct Part {
    Piece piece;
    const io::StoredTensor* tensor;
  };
  std::vector<Part> parts;
  for (const Piece& piece : parameter.pieces()) parts.push_back({piece, &files.at(piece.name)});
  return [parts = std::move(parts), cols = parameter.cols()](int64_t first_row, int64_t rows, float* out) {
    for (const Part& part : parts) {
      const int64_t begin = std::max(first_row, part.piece.row);
      const int64_t end = std::min(first_row + rows, part.piece.row + part.piece.rows);
      if (begin >= end) continue;
      io::read_floats(*part.tensor, (begin - part.piece.row) * cols, (end - begin) * cols,
                      out + (begin - first_row) * cols);
    }
  };
}

// A tied model may carry a copy of its head; a different one would compute something else.
void check_spare_head(kernels::Context& ctx, const ModelFiles& files, const Decoder& decoder) {
  const io::StoredTensor* head = files.find(kHead);
  if (head == nullptr || !decoder.config().tie_word_embeddings) return;
  const View<const float> table = decoder.parameters().front().master();
  std::atomic<bool> equal = head->size == table.size();
  if (equal) {
    ctx.team.run(table.rows, [&](int64_t row) {
      std::vector<float> values(static_cast<size_t>(table.cols));
      io::read_floats(*head, row * table.cols, table.cols, values.data());
      if (std::memcmp(values.data(), table.row(row), values.size() * sizeof(float)) != 0) equal = false;
    });
  }
  if (equal) return;
  throw Error(fmt::format("{}: tensor {}: expected the values of model.embed_tokens.weight, because "
                          "tie_word_embeddings is true; found others",
                          head->file, kHead),
              "set tie_word_embeddings to false in config.json to use this head");
}

void load_checked(kernels::Context& ctx, Decoder& decoder, const ModelFiles& files) {
  for (Parameter& parameter : decoder.parameters()) {
    parameter.fill(ctx, decoder.dtype(), rows_of(parameter, files));
  }
  check_spare_head(ctx, files, decoder);
  for (const io::SafetensorsReader& file : files.files()) file.check_unchanged();
}

}  // namespace

void load_weights(kernels::Context& ctx, Decoder& decoder, const std::string& folder) {
  load_checked(ctx, decoder, open_model_files(folder, decoder.config()));
}

std::unique_ptr<Decoder> load_decoder(kernels::Context& ctx, const std::string& folder, DType dtype, DecoderUse use) {
  const ModelConfig config = load_config(folder);
  const ModelFiles files = open_model_files(folder, config);
  auto decoder = std::make_unique<Decoder>(config, dtype, use);
  load_checked(ctx, *decoder, files);
  return decoder;
}

std::unique_ptr<Decoder> load_decoder(const std::string& folder, DType dtype) {
  kernels::Context alone(1);
  return load_decoder(alone, folder, dtype);
}

void save_model(const Decoder& decoder, const std::string& folder, const std::string& source_folder) {
  io::SafetensorsWriter writer;
  for (const Parameter& parameter : decoder.parameters()) {
    for (const Piece& piece : parameter.pieces()) {
      const View<const float> rows = parameter.master().slice_rows(piece.row, piece.rows);
      writer.add(piece.name, parameter.spec().shape(piece), io::StoredType::f32, rows.data);
    }
  }
  writer.write(io::join_path(folder, "model.safetensors"));
  io::write_file(io::join_path(folder, "config.json"), config_text(decoder.config(), source_folder));
  for (const char* name : kCompanions) {
    const std::string from = io::join_path(source_folder, name);
    if (!source_folder.empty() && io::exists(from)) io::write_file(io::join_path(folder, name), io::read_file(from));
  }
}

}  // namespace hone::weights
