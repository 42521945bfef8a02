#include "loop/reference.h"

#include "core/activity.h"
#include "loop/group_sequences.h"
#include "weights/hf_config.h"
#include "weights/hf_folder.h"

namespace hone {

Reference::Reference(kernels::Context& ctx, const ModelRecipe& model, uint64_t seed, DType dtype) {
  if (model.lora.is_on()) return;
  const Doing doing("loading the reference");
  if (model.load_format == "dummy") {
    decoder_ = std::make_unique<Decoder>(weights::load_config(model.path), dtype, DecoderUse::sample);
    decoder_->initialize(ctx, seed);
  } else {
    decoder_ = weights::load_decoder(ctx, model.path, dtype, DecoderUse::sample);
  }
  decoder_->publish(ctx, 0);
}

void Reference::score(Trainer& trainer, std::span<Group> groups) const {
  const std::vector<Trajectory*> answers = trained_answers(groups);
  const std::vector<TrainSequence> sequences = sequences_of(answers);
  std::vector<std::vector<float>> logprobs =
      decoder_ ? trainer.score(sequences, *decoder_) : trainer.score(sequences, /*without_adapters=*/true);
  for (size_t i = 0; i < answers.size(); ++i) answers[i]->ref_logprobs = std::move(logprobs[i]);
}

}  // namespace hone
