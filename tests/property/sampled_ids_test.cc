// Cases K2 and K4 from the engine to the loss: the ids that were sampled are the ids that are trained on, whatever
// their text would be encoded to again; an answer ends on an end id, which is trained on, and padding does not exist.
#include <gtest/gtest.h>

#include <deque>

#include "io/utf8.h"
#include "loop/evaluate.h"
#include "loop/group_sequences.h"
#include "models/tiny_config.h"
#include "rollout/engine.h"
#include "support/tiny_training.h"
#include "text/tokenizer.h"

namespace hone {
namespace {

using Ids = std::vector<int32_t>;

// A tiny model whose answers are forced: every sample of a draw to the ids of its row.
class ForcedAnswers {
 public:
  explicit ForcedAnswers(int64_t vocab_size, int64_t pad_token_id = -1) : ctx_(1) {
    ModelConfig config = tiny_model_config(vocab_size, 8);
    config.pad_token_id = pad_token_id;
    decoder_ = std::make_unique<Decoder>(config, DType::f32);
    decoder_->initialize(1);
    decoder_->publish(ctx_, 0);
  }
  Group answer(const std::vector<Ids>& answers, int64_t max_new_tokens, const Ids& end_ids) {
    EngineOptions options;
    options.num_kv_blocks = 16;
    options.forced_id = [&](uint64_t, uint32_t sample, int64_t index) {
      return answers.at(sample).at(static_cast<size_t>(index));
    };
    Engine engine(ctx_, *decoder_, options);
    SamplingParams sampling;
    sampling.max_new_tokens = max_new_tokens;
    sampling.end_ids = end_ids;
    engine.add({&prompt_, 1}, static_cast<int>(answers.size()), sampling);
    return engine.run_all().at(0);
  }
  TrainStep train(const Group& group) {
    std::vector<TrainSequence> sequences;
    append_sequences(group, sequences);
    for (TrainSequence& sequence : sequences) sequence.advantage = 1.0f;
    TrainerOptions options;
    options.valid_vocab = decoder_->config().vocab_size;
    Trainer trainer(ctx_, *decoder_, options);
    return trainer.step(sequences, test::policy_objective(), 1e-4);
  }
  const Prompt& prompt() const { return prompt_; }

 private:
  Prompt prompt_{.ids = {1, 2, 3}, .text = "", .data_source = "", .ground_truth = "", .file = "", .line = 0};
  kernels::Context ctx_;
  std::unique_ptr<Decoder> decoder_;
};

// Two ids whose joined text is encoded to a single one.
Ids split_token(const Tokenizer& tokenizer) {
  for (int32_t id = 0; id < tokenizer.vocab_size(); ++id) {
    const std::string text = tokenizer.decode(Ids{id}, true);
    if (text.size() < 4 || tokenizer.encode(text, false) != Ids{id}) continue;
    for (size_t cut = 1; cut < text.size(); ++cut) {
      const Ids head = tokenizer.encode(text.substr(0, cut), false), tail = tokenizer.encode(text.substr(cut), false);
      if (head.size() == 1 && tail.size() == 1) return {head[0], tail[0]};
    }
  }
  return {};
}

TEST(SampledIds, AreTheIdsOfTheTrainingRowWhateverTheirTextIsEncodedToAgain) {
  const Tokenizer tokenizer = Tokenizer::load(HONE_TEST_DATA "/../text/smollm2");
  const Ids two = split_token(tokenizer), llama = tokenizer.encode("🦙", false);
  ASSERT_EQ(two.size(), 2u);
  ASSERT_GT(llama.size(), 1u);
  Ids forced = two;
  forced.insert(forced.end(), llama.begin(), llama.end() - 1);  // the limit cuts the animal in two
  ForcedAnswers model(tokenizer.vocab_size());
  Group group = model.answer({forced}, static_cast<int64_t>(forced.size()), {});

  Trajectory& t = group.trajectories[0];
  EXPECT_EQ(t.response_ids, forced);
  EXPECT_EQ(t.logprobs.size(), forced.size());
  EXPECT_EQ(t.finish, FinishReason::length);
  const std::string text = tokenizer.decode(t.response_ids, true);
  EXPECT_EQ(io::find_broken_utf8(text), std::string::npos);
  EXPECT_EQ(text.rfind(tokenizer.decode(two, true), 0), 0u);
  EXPECT_NE(tokenizer.encode(text, false), forced);

  t.score.value = 1.0f;
  std::vector<TrainSequence> rows;
  append_sequences(group, rows);
  ASSERT_EQ(rows.size(), 1u);
  Ids expected = model.prompt().ids;
  expected.insert(expected.end(), forced.begin(), forced.end());
  EXPECT_EQ(rows[0].ids, expected);
  EXPECT_EQ(model.train(group).num_tokens, static_cast<int64_t>(forced.size()));
}

TEST(SampledIds, AnEndIdIsTheLastOneAndInTheLossEvenWhereItIsThePadToo) {
  ForcedAnswers model(16, 7);
  Group group = model.answer({{5, 9}, {5, 6, 7}, {4, 5, 6, 8}}, 4, {7, 9});
  const std::vector<Ids> answers{{5, 9}, {5, 6, 7}, {4, 5, 6, 8}};
  for (Trajectory& t : group.trajectories) {
    EXPECT_EQ(t.response_ids, answers[t.sample]);
    EXPECT_EQ(t.logprobs.size(), t.response_ids.size());
    EXPECT_EQ(t.finish, t.sample == 2 ? FinishReason::length : FinishReason::end);
    t.score.value = 1.0f;
  }
  EXPECT_EQ(model.train(group).num_tokens, 2 + 3 + 4);  // each 7 and 9 counts, and nothing else is there
}

}  // namespace
}  // namespace hone
