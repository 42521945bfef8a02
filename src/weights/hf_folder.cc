#include "weights/hf_folder.h"

#include <cstring>
#include <set>

#include "io/atomic_file.h"
#include "io/faults.h"
#include "io/file.h"
#include "io/safetensors.h"
#include "weights/hf_config.h"

namespace hone::weights {

namespace {

constexpr const char* kHead = "lm_head.weight";
constexpr const char* kCompanions[] = {
    "tokenizer.json", "tokenizer_config.json", "special_tokens_map.json", "generation_config.json", "vocab.json",
    "merges.txt",     "added_tokens.json",     "chat_template.jinja"};

std::vector<int64_t> piece_shape(const Parameter& parameter, const Piece& piece) {
  if (parameter.is_vector()) return {parameter.cols()};
  return {piece.rows, parameter.cols()};
}

bool is_ignored(const std::string& name) { return name.ends_with("rotary_emb.inv_freq"); }

void check_tensors(const io::SafetensorsReader& file, const Decoder& decoder, const std::string& folder) {
  io::Faults faults;
  std::set<std::string> known;
  for (const Parameter& parameter : decoder.parameters()) {
    for (const Piece& piece : parameter.pieces()) {
      known.insert(piece.name);
      const io::StoredTensor* tensor = file.find(piece.name);
      const auto shape = piece_shape(parameter, piece);
      if (tensor == nullptr) {
        faults.add(fmt::format("{}: tensor {} {} is missing", folder, piece.name, io::shape_text(shape)));
      } else if (tensor->shape != shape) {
        faults.add(fmt::format("{}: tensor {}: expected shape {}, found {}", tensor->file, piece.name,
                               io::shape_text(shape), io::shape_text(tensor->shape)));
      } else if (tensor->type != io::StoredType::f32 && tensor->type != io::StoredType::bf16 &&
                 tensor->type != io::StoredType::f16) {
        faults.add(fmt::format("{}: tensor {}: expected F32, BF16 or F16, found {}", tensor->file, piece.name,
                               io::name(tensor->type)));
      }
    }
  }
  for (const io::StoredTensor& tensor : file.tensors()) {
    const bool spare_head = decoder.config().tie_word_embeddings && tensor.name == kHead;
    if (!known.contains(tensor.name) && !is_ignored(tensor.name) && !spare_head) {
      faults.add(fmt::format("{}: tensor {} is not part of the model", tensor.file, tensor.name));
    }
  }
  faults.raise_if_any("the weights do not fit config.json",
                      "compare config.json (sizes, tie_word_embeddings) with the safetensors files");
}

// A tied model may carry a copy of its head; a different one would compute something else.
void check_spare_head(const io::SafetensorsReader& file, const Decoder& decoder) {
  const io::StoredTensor* head = file.find(kHead);
  if (head == nullptr || !decoder.config().tie_word_embeddings) return;
  const View<const float> table = decoder.parameters().front().master();
  const std::vector<float> values = io::read_floats(*head);
  if (static_cast<int64_t>(values.size()) != table.size() ||
      std::memcmp(values.data(), table.data, values.size() * sizeof(float)) != 0) {
    throw Error(
        fmt::format("{}: {} differs from the embedding although tie_word_embeddings is true", head->file, kHead),
        "set tie_word_embeddings to false in config.json to use this head");
  }
}

}  // namespace

void load_weights(Decoder& decoder, const std::string& folder) {
  const io::SafetensorsReader file(folder);
  check_tensors(file, decoder, folder);
  for (Parameter& parameter : decoder.parameters()) {
    for (const Piece& piece : parameter.pieces()) {
      View<float> rows = parameter.master().slice_rows(piece.row, piece.rows);
      io::read_floats(file.at(piece.name), 0, rows.size(), rows.data);
    }
  }
  check_spare_head(file, decoder);
}

std::unique_ptr<Decoder> load_decoder(const std::string& folder, DType dtype) {
  auto decoder = std::make_unique<Decoder>(load_config(folder), dtype);
  load_weights(*decoder, folder);
  return decoder;
}

void save_model(const Decoder& decoder, const std::string& folder, const std::string& source_folder) {
  io::SafetensorsWriter writer;
  for (const Parameter& parameter : decoder.parameters()) {
    for (const Piece& piece : parameter.pieces()) {
      const View<const float> rows = parameter.master().slice_rows(piece.row, piece.rows);
      writer.add(piece.name, piece_shape(parameter, piece), io::StoredType::f32, rows.data);
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
