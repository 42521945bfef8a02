// Logits of a model in float32, for comparison with another program (tools/check_gguf): model_logits MODEL IDS OUT.
// IDS is a safetensors file with input_ids and cu_seqlens (I32, as in tests/goldens), OUT gets logits [T, V].
#include <algorithm>
#include <cstdio>

#include "core/error.h"
#include "io/safetensors.h"
#include "support/whole_sequences.h"
#include "weights/hf_folder.h"

namespace hone {
namespace {

std::vector<int32_t> ints(const io::SafetensorsReader& file, const std::string& name) {
  const io::StoredTensor& tensor = file.at(name);
  std::vector<int32_t> values(static_cast<size_t>(tensor.size));
  io::read_bytes(tensor, io::StoredType::i32, values.data(), static_cast<int64_t>(values.size() * sizeof(int32_t)));
  return values;
}

void write_logits(const std::string& model, const std::string& ids, const std::string& out) {
  const io::SafetensorsReader file(ids);
  const ForwardBatch batch = test::whole_sequences(ints(file, "input_ids"), ints(file, "cu_seqlens"));
  kernels::Context ctx(2);
  const auto decoder = weights::load_decoder(ctx, model, DType::f32, DecoderUse::sample);
  const int64_t T = batch.num_tokens(), V = decoder->config().vocab_size, D = decoder->config().hidden_size;
  KvCache kv(decoder->config(), DType::f32, static_cast<int64_t>(batch.block_table.size()));
  ComputeView y_TD = ctx.scratch.take(DType::f32, T, D);
  decoder->forward(ctx, batch, kv, y_TD, nullptr);
  View<float> logits_TV = ctx.scratch.take<float>(T, V);
  decoder->logits(ctx, logits_TV, y_TD);
  io::SafetensorsWriter writer;
  writer.add("logits", {T, V}, io::StoredType::f32,
             [&](int64_t begin, int64_t size, float* to) { std::copy_n(logits_TV.data + begin, size, to); });
  writer.write(out);
}

}  // namespace
}  // namespace hone

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fprintf(stderr, "usage: model_logits MODEL IDS OUT\n");
    return 2;
  }
  try {
    hone::write_logits(argv[1], argv[2], argv[3]);
    return 0;
  } catch (const hone::Error& error) {
    std::fprintf(stderr, "error: %s\n", error.what());
    return 2;
  }
}
