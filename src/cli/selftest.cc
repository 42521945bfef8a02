// hone selftest: does this machine compute as it should? Products of every target against plain loops, and law 1 on a
// small random model: the log-probs of sampling are those of training to the bit. No files, a few seconds.
#include <cstring>

#include "cli/commands.h"
#include "core/error.h"
#include "kernels/products.h"
#include "kernels/reference/products.h"
#include "loop/group_sequences.h"
#include "loop/numeric_mode.h"
#include "models/tiny_config.h"
#include "rollout/engine.h"
#include "train/trainer.h"

namespace hone::cli {

namespace {

// Groups of answers drawn from a random model are scored by training: every log-prob has to be the same 32 bits.
bool one_policy(kernels::Context& ctx, DType dtype) {
  Decoder decoder(tiny_model_config(97, 16), dtype);
  decoder.initialize(7);
  TrainerOptions options;
  options.valid_vocab = 97;
  Trainer trainer(ctx, decoder, options);
  EngineOptions engine_options;
  engine_options.max_num_batched_tokens = 13;  // prompts are cut, batches change
  engine_options.max_num_seqs = 5;
  engine_options.num_kv_blocks = 32;
  Engine engine(ctx, decoder, engine_options);
  SamplingParams sampling;
  sampling.max_new_tokens = 40;
  sampling.key = {1, Stream::test};
  sampling.end_ids = {3};
  Prompt prompts[3];
  for (int p = 0; p < 3; ++p) {
    for (int i = 0; i < 5 + 17 * p; ++i) prompts[p].ids.push_back((i * 31 + p) % 97);
    engine.add({&prompts[p], static_cast<uint64_t>(p)}, 4, sampling);
  }
  std::vector<TrainSequence> sequences;
  for (Group& group : engine.run_all()) {
    for (Trajectory& t : group.trajectories) t.score.value = 0.0f;
    append_sequences(group, sequences);
  }
  const auto scored = trainer.score(sequences);
  for (size_t s = 0; s < sequences.size(); ++s) {
    if (std::memcmp(scored[s].data(), sequences[s].old_logprobs.data(), scored[s].size() * sizeof(float)) != 0) {
      return false;
    }
  }
  return !sequences.empty();
}

bool products_equal_reference(kernels::Context& ctx, DType dtype) {
  const int64_t T = 19, N = 101, K = 77;
  Buffer<float> x(T * K), w(N * K), y(T * N), want(T * N);
  for (int64_t i = 0; i < x.size(); ++i) x[i] = random_normal({2, Stream::test}, static_cast<uint64_t>(i), 0, 0);
  for (int64_t i = 0; i < w.size(); ++i) w[i] = random_normal({2, Stream::test}, static_cast<uint64_t>(i), 1, 0);
  Buffer<bf16> x16(T * K);
  for (int64_t i = 0; i < x.size(); ++i) x16[i] = bf16(x[i]);
  const ConstComputeView input = dtype == DType::f32 ? ConstComputeView(View<const float>(x.data(), T, K))
                                                     : ConstComputeView(View<const bf16>(x16.data(), T, K));
  auto packed = kernels::PackedMatrix::allocate(ctx.target, dtype, N, K);
  kernels::pack(ctx, packed, View<const float>(w.data(), N, K));
  kernels::product(ctx, y.view(T, N), input, packed, kernels::Store::overwrite);
  kernels::reference::product(want.view(T, N), input, View<const float>(w.data(), N, K), kernels::Store::overwrite);
  return std::memcmp(y.data(), want.data(), static_cast<size_t>(y.size_bytes())) == 0;
}

}  // namespace

int run_selftest(const SelftestArgs& args) {
  const int threads = resolve_threads(args.threads);
  bool all = true;
  const auto line = [&](const char* target, const std::string& what, bool passed) {
    fmt::print("{:<11} {:<52} {}\n", target, what, passed ? "ok" : "FAILED");
    all = all && passed;
  };
  for (const auto& target : kernels::cpu::all_targets()) {
    if (!target.supported()) {
      fmt::print("{:<11} not on this processor\n", target.name);
      continue;
    }
    kernels::Context ctx(threads, target);
    for (DType dtype : {DType::f32, DType::bf16}) {
      line(target.name, fmt::format("{} products equal plain loops to the bit", name(dtype)),
           products_equal_reference(ctx, dtype));
      line(target.name, fmt::format("{} sampled and trained log-probs are equal to the bit", name(dtype)),
           one_policy(ctx, dtype));
    }
  }
  const auto& best = kernels::cpu::default_target();
  fmt::print("default: {}, {}\n", best.name, numeric_mode(resolve_dtype("auto", best), best));
  return all ? 0 : 1;
}

}  // namespace hone::cli
