// Adapters: what they leave as it is, what they keep to the bit, and how they travel. Their gradients and law 1 are in
// gradients_test.cc and parity/law1_test.cc.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <filesystem>

#include "io/safetensors.h"
#include "support/tiny_training.h"
#include "weights/adapter_folder.h"

namespace hone {
namespace {

std::vector<TrainSequence> some_sequences() {
  std::vector<TrainSequence> sequences;
  for (uint32_t s = 0; s < 6; ++s) {
    TrainSequence& sequence = sequences.emplace_back();
    for (uint32_t i = 0; i < 9 + 4 * s; ++i) {
      sequence.ids.push_back(static_cast<int32_t>(random_below({6, Stream::test}, i < 4 ? 0 : s, i, 0, 14)));
    }
    sequence.num_prompt = 4;
    sequence.old_logprobs.assign(5 + 4 * s, -2.5f);
    sequence.advantage = s % 2 == 0 ? 1.0f : -1.5f;
  }
  return sequences;
}

// With weights that are the same for the same seed.
struct Adapted {
  explicit Adapted(const LoraConfig& lora, DType dtype = DType::f32,
                   TrainerOptions options = test::tiny_trainer_options(), int threads = 1)
      : ctx(threads), decoder(test::tiny_config(), dtype, lora) {
    decoder.initialize(4);
    test::randomize_norms(decoder, 4);
    if (lora.rank > 0) decoder.initialize_adapters(ctx, 4);
    trainer = std::make_unique<Trainer>(ctx, decoder, options);
  }
  std::vector<float> gradient() { return test::gradients_of(decoder); }
  std::vector<float> weights(const std::vector<Parameter>& parameters) const {
    std::vector<float> all;
    for (const Parameter& parameter : parameters) {
      const Buffer<float> values = parameter.values();
      all.insert(all.end(), values.begin(), values.end());
    }
    return all;
  }
  kernels::Context ctx;
  Decoder decoder;
  std::unique_ptr<Trainer> trainer;
};

TEST(Lora, NewAdaptersChangeNothingAndTrainingChangesThemAlone) {
  const auto sequences = some_sequences();
  for (const DType dtype : {DType::f32, DType::bf16}) {
    Adapted plain({}, dtype), adapted(test::tiny_lora(3), dtype);
    const auto expected = plain.trainer->score(sequences);
    EXPECT_EQ(adapted.trainer->score(sequences), expected) << "B is 0";
    const auto own = adapted.weights(adapted.decoder.parameters());
    const auto adapters = adapted.weights(adapted.decoder.adapters());
    for (int step = 0; step < 3; ++step) {
      const TrainStep done = adapted.trainer->step(sequences, test::policy_objective(), 1e-2);
      ASSERT_EQ(done.optimizer.outcome, StepOutcome::applied);
    }
    EXPECT_EQ(adapted.weights(adapted.decoder.parameters()), own);
    EXPECT_NE(adapted.weights(adapted.decoder.adapters()), adapters);
    EXPECT_NE(adapted.trainer->score(sequences), expected);
    EXPECT_EQ(adapted.trainer->score(sequences, true), expected) << "the reference is the model without them";
    EXPECT_EQ(adapted.decoder.parameters()[2].trainable(), false);
  }
}

TEST(Lora, MicroBatchesThreadsAndRecomputationAreAsWithoutAdapters) {
  const auto sequences = some_sequences();
  Adapted whole(test::tiny_lora(5));
  test::randomize_adapters(whole.decoder, 9);
  whole.trainer->accumulate(sequences, test::policy_objective());
  const auto expected = whole.gradient();
  double size = 0;
  for (const float g : expected) size += double{g} * g;
  ASSERT_GT(size, 0.0);
  for (const Recompute recompute : {Recompute::selective, Recompute::full}) {
    TrainerOptions recomputing = test::tiny_trainer_options();
    recomputing.recompute = recompute;
    Adapted other(test::tiny_lora(5), DType::f32, recomputing, 3);
    test::randomize_adapters(other.decoder, 9);
    other.trainer->accumulate(sequences, test::policy_objective());
    const auto got = other.gradient();
    EXPECT_EQ(std::memcmp(got.data(), expected.data(), expected.size() * sizeof(float)), 0) << name(recompute);
  }
  Adapted cut(test::tiny_lora(5), DType::f32, test::tiny_trainer_options(30));
  test::randomize_adapters(cut.decoder, 9);
  cut.trainer->accumulate(sequences, test::policy_objective());
  const auto got = cut.gradient();
  double error = 0;
  for (size_t i = 0; i < got.size(); ++i) error += std::pow(double{got[i]} - expected[i], 2);
  EXPECT_LE(std::sqrt(error), 1e-6 * std::sqrt(size));
}

TEST(Lora, AnAdapterTravelsInPeftsFormatAndComesBackToTheBit) {
  const test::TemporaryFolder folder("lora-peft");
  test::write_tiny_model(folder / "model", 5);
  kernels::Context ctx(2);
  const LoraConfig lora{3, 6.0, {"q_proj", "v_proj", "down_proj"}};
  const auto decoder = weights::load_adapted_decoder(ctx, folder / "model", DType::f32, lora);
  test::randomize_adapters(*decoder, 3);
  io::make_folders(folder / "adapter");
  weights::save_adapter(*decoder, folder / "adapter", folder / "model", folder / "model");
  const io::SafetensorsReader file(folder / "adapter" + "/adapter_model.safetensors");
  EXPECT_EQ(file.tensors().size(), 2u * 3u * static_cast<size_t>(decoder->config().num_layers));
  const ModelConfig& c = decoder->config();
  const auto shape = [&](const std::string& module, const char* matrix) {
    return file.at(fmt::format("base_model.model.model.layers.1.{}.lora_{}.weight", module, matrix)).shape;
  };
  EXPECT_EQ(shape("self_attn.q_proj", "A"), (std::vector<int64_t>{3, c.hidden_size}));
  EXPECT_EQ(shape("self_attn.v_proj", "B"), (std::vector<int64_t>{c.kv_size(), 3}));
  EXPECT_EQ(shape("mlp.down_proj", "A"), (std::vector<int64_t>{3, c.intermediate_size}));

  const weights::AdapterConfig config = weights::load_adapter_config(folder / "adapter");
  EXPECT_EQ(config.lora, lora);
  EXPECT_EQ(config.base_model, folder / "model");
  const auto again = weights::load_decoder(ctx, folder / "adapter", DType::f32, DecoderUse::sample);
  for (size_t p = 0; p < decoder->adapters().size(); ++p) {
    const Buffer<float> a = decoder->adapters()[p].values(), b = again->adapters()[p].values();
    EXPECT_EQ(std::memcmp(a.data(), b.data(), static_cast<size_t>(a.size_bytes())), 0);
  }
  auto other = weights::load_adapted_decoder(ctx, folder / "model", DType::f32, {4, 6.0, lora.modules});
  EXPECT_THROW(weights::load_adapter(ctx, *other, folder / "adapter"), Error) << "another rank";
}

TEST(Lora, MergedWeightsAreTheSameModel) {
  const auto sequences = some_sequences();
  const test::TemporaryFolder folder("lora-merged");
  Adapted adapted(test::tiny_lora(3));
  test::randomize_adapters(adapted.decoder, 3);
  const auto expected = adapted.trainer->score(sequences);
  weights::save_model(adapted.decoder, folder.path(), "");
  const auto merged = weights::load_decoder(folder.path(), DType::f32);
  kernels::Context ctx(1);
  Trainer trainer(ctx, *merged, test::tiny_trainer_options());
  const auto got = trainer.score(sequences);
  double furthest = 0, without = 0;
  const auto plain = adapted.trainer->score(sequences, true);
  for (size_t s = 0; s < got.size(); ++s) {
    for (size_t i = 0; i < got[s].size(); ++i) {
      furthest = std::max(furthest, std::abs(double{got[s][i]} - double{expected[s][i]}));
      without = std::max(without, std::abs(double{plain[s][i]} - double{expected[s][i]}));
    }
  }
  EXPECT_GT(without, 0.1) << "the adapters matter";
  EXPECT_LE(furthest, 1e-5) << "sums in another order, on log-probs of about 3";
}

// PEFT's own folders: no config.json, and a dropout that counts in training alone.
TEST(Lora, AnAdapterIsSampledFromByTheModelThatItNames) {
  const test::TemporaryFolder folder("lora-base");
  test::write_tiny_model(folder / "model", 5);
  kernels::Context ctx(1);
  const LoraConfig lora = test::tiny_lora(2);
  const auto decoder = weights::load_adapted_decoder(ctx, folder / "model", DType::f32, lora);
  test::randomize_adapters(*decoder, 3);
  const std::string adapter = folder / "adapter", path = adapter + "/adapter_config.json";
  io::make_folders(adapter);
  weights::save_adapter(*decoder, adapter, folder / "./model", folder / "model");
  EXPECT_EQ(weights::adapter_base(adapter), std::filesystem::absolute(folder / "model").string());
  std::filesystem::remove(adapter + "/config.json");
  const io::Json saved = io::read_json(path);
  const auto load_with = [&](const char* key, io::Json value) -> std::string {
    io::Json json = saved;
    json.set(key, std::move(value));
    io::write_json(path, json);
    try {
      const auto again = weights::load_decoder(ctx, adapter, DType::f32, DecoderUse::sample);
      EXPECT_EQ(again->config(), decoder->config());
      return "";
    } catch (const Error& error) {
      return error.what();
    }
  };
  EXPECT_EQ(load_with("lora_dropout", io::Json(0.05)), "");
  EXPECT_EQ(weights::load_adapter_config(adapter).dropout, 0.05);
  const auto expect_part = [](const std::string& text, const char* part) {
    EXPECT_NE(text.find(part), std::string::npos) << part << " in " << text;
  };
  expect_part(load_with("base_model_name_or_path", nullptr), "base_model_name_or_path: expected the folder");
  expect_part(load_with("base_model_name_or_path", io::Json("org/name")), "org/name, which is no folder");
  expect_part(load_with("base_model_name_or_path", io::Json(adapter)), "which is an adapter itself");
  io::write_json(path, saved);
  weights::save_companions(decoder->config(), adapter, "");
  try {
    weights::load_decoder(ctx, adapter, DType::f32);
    FAIL() << "an adapter is no model to train";
  } catch (const Error& error) {
    expect_part(error.what(), "an adapter: name the model");
  }
}

TEST(Lora, WhatAnAdapterCannotBeIsListedAtOnce) {
  const test::TemporaryFolder folder("lora-config");
  io::write_file(folder / "adapter_config.json",
                 R"({"peft_type": "LORA", "r": 0, "target_modules": ["q_proj", "lm_head"],
                     "use_dora": true, "lora_dropout": 1.5, "bias": "all",
                     "init_lora_weights": "pissa_niter_16", "lora_alpha": -8})");
  try {
    weights::load_adapter_config(folder.path());
    FAIL();
  } catch (const Error& error) {
    for (const char* part :
         {"r: expected 1 to 65536", "use_dora", "lora_dropout: expected a number below 1", "bias: expected none",
          "init_lora_weights: expected true", "lora_alpha: expected above 0", "target_modules: expected all-linear"}) {
      EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << part << " in " << error.what();
    }
  }
}

}  // namespace
}  // namespace hone
