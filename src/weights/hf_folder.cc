#include "weights/hf_folder.h"

#include <algorithm>
#include <atomic>
#include <cstring>

#include "io/atomic_file.h"
#include "io/file.h"
#include "io/safetensors.h"
#include "text/companions.h"
#include "weights/adapter_folder.h"
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
    const WeightTensor* tensor;
  };
  std::vector<Part> parts;
  for (const Piece& piece : parameter.pieces()) parts.push_back({piece, &files.at(piece.name)});
  return [parts = std::move(parts), cols = parameter.cols()](int64_t first_row, int64_t rows, float* out) {
    for (const Part& part : parts) {
      const int64_t begin = std::max(first_row, part.piece.row);
      const int64_t end = std::min(first_row + rows, part.piece.row + part.piece.rows);
      if (begin >= end) continue;
      part.tensor->read((begin - part.piece.row) * cols, (end - begin) * cols, out + (begin - first_row) * cols);
    }
  };
}

// A tied model may carry a copy of its head; a different one would compute something else.
void check_spare_head(kernels::Context& ctx, const ModelFiles& files, const Decoder& decoder) {
  const WeightTensor* head = files.find(kLanguageHead);
  if (head == nullptr || !decoder.config().tie_word_embeddings) return;
  const Parameter& table = decoder.parameters().front();
  std::atomic<bool> equal = head->size == table.size();
  if (equal) {
    const WeightTensor& embedding = files.at(table.pieces().front().name);
    ctx.team.run(table.rows(), [&](int64_t row) {
      const auto cols = static_cast<size_t>(table.cols());
      std::vector<float> values(cols), expected(cols);
      head->read(row * table.cols(), table.cols(), values.data());
      embedding.read(row * table.cols(), table.cols(), expected.data());
      if (std::memcmp(values.data(), expected.data(), cols * sizeof(float)) != 0) equal = false;
    });
  }
  if (equal) return;
  throw Error(fmt::format("{}: tensor {}: expected the values of model.embed_tokens.weight, because "
                          "tie_word_embeddings is true; found others",
                          head->file, kLanguageHead),
              "set tie_word_embeddings to false in config.json to use this head");
}

// `use` is a DecoderUse or a LoraConfig.
template <class Use>
std::unique_ptr<Decoder> load_into(kernels::Context& ctx, const std::string& folder, DType dtype, const Use& use) {
  const ModelConfig config = load_config(folder);
  const ModelFiles files = open_model_files(folder, config);
  auto decoder = std::make_unique<Decoder>(config, dtype, use);
  for (Parameter& parameter : decoder->parameters()) parameter.fill(ctx, rows_of(parameter, files));
  check_spare_head(ctx, files, *decoder);
  files.check_unchanged();
  return decoder;
}

}  // namespace

std::unique_ptr<Decoder> load_decoder(kernels::Context& ctx, const std::string& folder, DType dtype, DecoderUse use) {
  if (is_adapter_folder(folder) && use == DecoderUse::sample) {
    auto decoder = load_adapted_decoder(ctx, adapter_base(folder), dtype, load_adapter_config(folder).lora);
    load_adapter(ctx, *decoder, folder);
    return decoder;
  }
  return load_into(ctx, folder, dtype, use);
}

std::unique_ptr<Decoder> load_adapted_decoder(kernels::Context& ctx, const std::string& folder, DType dtype,
                                              const LoraConfig& lora) {
  return load_into(ctx, folder, dtype, lora);
}

std::unique_ptr<Decoder> load_value_decoder(kernels::Context& ctx, const std::string& folder, DType dtype) {
  ModelConfig config = load_config(folder);
  const ModelFiles files = open_value_files(folder, config);
  config.value_head = true;
  auto decoder = std::make_unique<Decoder>(config, dtype);
  for (Parameter& parameter : decoder->parameters()) {
    const bool is_new = files.find(parameter.pieces().front().name) == nullptr;
    const Parameter::RowSource zeros = [cols = parameter.cols()](int64_t, int64_t rows, float* out) {
      std::fill_n(out, rows * cols, 0.0f);
    };
    parameter.fill(ctx, is_new ? zeros : rows_of(parameter, files));
  }
  files.check_unchanged();
  return decoder;
}

std::unique_ptr<Decoder> random_value_decoder(kernels::Context& ctx, const std::string& folder, DType dtype,
                                              uint64_t seed) {
  ModelConfig config = load_config(folder);
  config.value_head = true;
  auto decoder = std::make_unique<Decoder>(config, dtype);
  decoder->initialize(ctx, seed);
  decoder->parameters().back().fill(
      ctx, [&](int64_t, int64_t rows, float* out) { std::fill_n(out, rows * config.hidden_size, 0.0f); });
  decoder->publish(ctx, 0);
  return decoder;
}

std::unique_ptr<Decoder> load_decoder(const std::string& folder, DType dtype) {
  kernels::Context alone(1);
  return load_decoder(alone, folder, dtype);
}

namespace {

// Elements of a parameter as a checkpoint has them, adapters merged.
void read_merged(const Decoder& decoder, size_t p, int64_t begin, int64_t size, float* out) {
  const Parameter& parameter = decoder.parameters()[p];
  parameter.read(begin, size, out);
  if (decoder.lora().rank == 0) return;
  const int64_t cols = parameter.cols(), rank = decoder.lora().rank;
  for (const LoraPiece& piece : decoder.lora_layout().pieces[p]) {
    const int64_t first = std::max(begin / cols, piece.row);
    const int64_t last = std::min((begin + size + cols - 1) / cols, piece.row + piece.rows);
    if (first >= last) continue;
    const Buffer<float> a = decoder.adapters()[piece.a].values();
    std::vector<float> b(static_cast<size_t>((last - first) * rank)), sum(static_cast<size_t>(cols));
    decoder.adapters()[piece.b].read((first - piece.row) * rank, (last - first) * rank, b.data());
    for (int64_t row = first; row < last; ++row) {
      std::fill(sum.begin(), sum.end(), 0.0f);
      for (int64_t r = 0; r < rank; ++r) {
        const float factor = b[static_cast<size_t>((row - first) * rank + r)];
        for (int64_t c = 0; c < cols; ++c) sum[static_cast<size_t>(c)] += factor * a[r * cols + c];
      }
      for (int64_t i = std::max(begin, row * cols); i < std::min(begin + size, (row + 1) * cols); ++i) {
        out[i - begin] += decoder.lora().scale() * sum[static_cast<size_t>(i - row * cols)];
      }
    }
  }
}

}  // namespace

void save_model(const Decoder& decoder, const std::string& folder, const std::string& source_folder) {
  io::SafetensorsWriter writer;
  for (size_t p = 0; p < decoder.parameters().size(); ++p) {
    const Parameter& parameter = decoder.parameters()[p];
    for (const Piece& piece : parameter.pieces()) {
      const int64_t first = piece.row * parameter.cols();
      writer.add(piece.name, parameter.spec().shape(piece), io::StoredType::f32,
                 [&decoder, p, first](int64_t begin, int64_t size, float* out) {
                   read_merged(decoder, p, first + begin, size, out);
                 });
    }
  }
  writer.write(io::join_path(folder, "model.safetensors"));
  save_companions(decoder.config(), folder, source_folder);
}

void save_companions(const ModelConfig& config, const std::string& folder, const std::string& source_folder) {
  io::write_file(io::join_path(folder, "config.json"), config_text(config, source_folder));
  if (!io::exists(source_folder)) return;
  for (const char* name : kCompanions) {
    if (const auto text = text::read_companion(source_folder, name)) io::write_file(io::join_path(folder, name), *text);
  }
}

}  // namespace hone::weights
