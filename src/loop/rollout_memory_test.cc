#include "loop/rollout_memory.h"

#include <gtest/gtest.h>

#include "models/tiny_config.h"

namespace hone {
namespace {

TEST(RolloutMemory, AskedForIsWithinATwentiethOfWhatAStepTakes) {
  const ModelConfig config = tiny_model_config(600, 16);
  for (const DType dtype : {DType::f32, DType::bf16}) {
    for (const int64_t budget : {256, 64}) {
      kernels::Context ctx(1);
      Decoder decoder(config, dtype, DecoderUse::sample);
      decoder.initialize(ctx, 1);
      decoder.publish(ctx, 0);
      EngineOptions options;
      options.max_num_seqs = 16;
      options.max_num_batched_tokens = budget;
      options.num_kv_blocks = 64;
      Engine engine(ctx, decoder, options);
      SamplingParams sampling;
      sampling.max_new_tokens = 8;
      sampling.valid_vocab = config.vocab_size;
      std::vector<Prompt> prompts(8);
      for (size_t draw = 0; draw < prompts.size(); ++draw) {
        prompts[draw].ids.assign(72, static_cast<int32_t>(draw));
        engine.add({&prompts[draw], draw}, 2, sampling);
      }
      engine.run_all();
      const double asked = rollout_scratch_bytes(config, dtype, options, 80);
      const auto taken = static_cast<double>(ctx.scratch.peak_bytes());
      EXPECT_NEAR(asked, taken, 0.05 * taken) << name(dtype) << " " << budget;
    }
  }
}

}  // namespace
}  // namespace hone
