// Logits, log-probs and every parameter gradient of the decoder against transformers (README.md says how the files
// were made), in float32 and, with bf16's own bound, in bf16; on every target of the machine.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <functional>

#include "io/safetensors.h"
#include "kernels/logprob.h"
#include "support/whole_sequences.h"
#include "weights/hf_folder.h"

namespace hone {
namespace {

struct Golden {
  explicit Golden(const std::string& folder) : file(folder + "/goldens.safetensors") {}
  std::vector<float> floats(const std::string& name) const { return io::read_floats(file.at(name)); }
  std::vector<int32_t> ints(const std::string& name) const {
    const io::StoredTensor& tensor = file.at(name);
    std::vector<int32_t> values(static_cast<size_t>(tensor.size));
    io::read_bytes(tensor, io::StoredType::i32, values.data(), tensor.size_bytes());
    return values;
  }
  io::SafetensorsReader file;
};

// Relative error in the Euclidean norm.
double norm_error(const float* got, const std::vector<float>& want) {
  double error = 0, norm = 0;
  for (size_t i = 0; i < want.size(); ++i) {
    error += (double{got[i]} - want[i]) * (double{got[i]} - want[i]);
    norm += double{want[i]} * want[i];
  }
  return std::sqrt(error / norm);
}

double largest(const std::vector<float>& values) {
  double max = 0;
  for (float v : values) max = std::max(max, std::abs(double{v}));
  return max;
}

void compare(const std::string& what, const float* got, const std::vector<float>& want, double tolerance) {
  for (size_t i = 0; i < want.size(); ++i) {
    ASSERT_NEAR(got[i], want[i], tolerance) << what << "[" << i << "]";
  }
}

// How a tensor is held against the golden one.
using Compare = std::function<void(const std::string& what, const float* got, const std::vector<float>& want)>;

void check(const std::string& folder, const kernels::cpu::Target& target, DType dtype, const Compare& compare_logits,
           const Compare& compare_gradient) {
  const Golden golden(folder);
  kernels::Context ctx(2, target);
  const auto decoder = weights::load_decoder(folder, dtype);
  decoder->allocate_gradients();
  decoder->publish(ctx, 0);

  const auto ids = golden.ints("input_ids");
  const ForwardBatch batch = test::whole_sequences(ids, golden.ints("cu_seqlens"));
  const auto T = batch.num_tokens();
  const int64_t V = decoder->config().vocab_size, D = decoder->config().hidden_size;
  KvCache kv(decoder->config(), dtype, static_cast<int64_t>(batch.block_table.size()));
  auto saved = Decoder::make_activations(Recompute::none);
  ComputeView y_TD = ctx.scratch.take(dtype, T, D);
  decoder->forward(ctx, batch, kv, y_TD, saved.get());
  View<float> logits_TV = ctx.scratch.take<float>(T, V);
  decoder->logits(ctx, logits_TV, y_TD);
  compare_logits("logits", logits_TV.data, golden.floats("logits"));

  std::vector<int32_t> targets = golden.ints("targets");
  for (int32_t& id : targets) id = std::max(id, 0);  // rows without target have weight 0
  const float temperature = golden.floats("temperature")[0];
  const kernels::LogprobRows rows{ctx.scratch.take<float>(T), ctx.scratch.take<float>(T), ctx.scratch.take<float>(T)};
  kernels::logprob_forward(ctx, rows, logits_TV, targets, temperature, V);
  compare_logits("entropy", rows.entropy_R.data, golden.floats("entropy"));
  const auto policy = golden.floats("policy_weights"), entropies = golden.floats("entropy_weights");
  auto logprobs = golden.floats("logprobs");
  double loss = 0;
  for (size_t t = 0; t < targets.size(); ++t) {
    const auto row = static_cast<int64_t>(t);
    loss += double{policy[t]} * rows.logprob_R[row] + double{entropies[t]} * rows.entropy_R[row];
    if (golden.ints("targets")[t] < 0) rows.logprob_R[row] = logprobs[t];  // a row without target
  }
  compare_logits("logprobs", rows.logprob_R.data, logprobs);
  const auto loss_f = static_cast<float>(loss);
  compare_logits("loss", &loss_f, golden.floats("loss"));

  ComputeView dlogits_TV = ctx.scratch.take(dtype, T, V);
  View<float> dy_TD = ctx.scratch.take<float>(T, D);
  kernels::logprob_backward(ctx, dlogits_TV, logits_TV, targets, temperature, V, rows,
                            View<const float>(policy.data(), T), View<const float>(entropies.data(), T));
  decoder->logits_backward(ctx, dy_TD, dlogits_TV, y_TD);
  decoder->backward(ctx, batch, kv, dy_TD, *saved);
  for (Parameter& parameter : decoder->parameters()) {
    for (const Piece& piece : parameter.pieces()) {
      const auto want = golden.floats("grad." + piece.name);
      compare_gradient("gradient of " + piece.name, parameter.gradient().row(piece.row), want);
    }
  }
}

// The table is the folders: every family with every rotary form.
std::vector<std::string> folders() {
  std::vector<std::string> all;
  for (const auto& entry : std::filesystem::directory_iterator(HONE_TEST_DATA)) {
    if (entry.is_directory()) all.push_back(entry.path().string());
  }
  std::sort(all.begin(), all.end());
  EXPECT_EQ(all.size(), 13u);
  return all;
}

void check_all(DType dtype, const Compare& compare_logits, const Compare& compare_gradient) {
  for (const auto& target : kernels::cpu::all_targets()) {
    if (!target.supported()) continue;
    for (const std::string& folder : folders()) {
      SCOPED_TRACE(fmt::format("{} {}", target.name, folder));
      check(folder, target, dtype, compare_logits, compare_gradient);
    }
  }
}

// transformers in f32 is itself up to 2e-5 in logits and 7e-6 (relative to a tensor's largest element) in gradients
// away from f64; we get the same room once more in logits and twice more in gradients.
TEST(Goldens, EqualsTransformersInFloat32) {
  check_all(
      DType::f32, [](const auto& what, const float* got, const auto& want) { compare(what, got, want, 4e-5); },
      [](const auto& what, const float* got, const auto& want) { compare(what, got, want, 2e-5 * largest(want)); });
}

// bf16 rounds every input of a product: a relative error of 2^-9 / sqrt(3) (root mean square) each. Forward and
// backward of 3 layers take about 14 roundings a layer on the way to a number, which add like a random walk:
// sqrt(42) * 2^-9 / sqrt(3) = 0.7 %; the norms' random weights and the softmax may stretch that fourfold, and yarn's
// attention factor of 1.5, which grows scores by its square, twice more. A gradient that cancels nearly (the embedding
// rows of rare ids, the bias of keys, which moves all scores of a query alike but for the rotation) is as wrong as its
// terms, so norms are compared, not elements, and the bound is 10 %. The loss is a sum of both signs, of terms
// around 1.
TEST(Goldens, StaysWithinBf16OfTransformers) {
  const auto close = [](const auto& what, const float* got, const auto& want) {
    if (what == "loss") {
      EXPECT_NEAR(got[0], want[0], 0.03);
    } else {
      EXPECT_LT(norm_error(got, want), 0.1) << what;
    }
  };
  check_all(DType::bf16, close, close);
}

}  // namespace
}  // namespace hone
