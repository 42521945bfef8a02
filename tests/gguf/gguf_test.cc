// GGUF in and out: blocks against the values that ggml's own package reads; whole models there and back; a GGUF file in
// the place of a folder.
#include "io/gguf.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "core/error.h"
#include "io/jsonl.h"
#include "loop/checkpoint.h"
#include "support/command.h"
#include "support/tiny_run.h"
#include "text/companions.h"
#include "text/end_ids.h"
#include "text/gguf_tokenizer.h"
#include "text/tokenizer.h"
#include "text/tokenizer_file.h"
#include "train/optimizer.h"
#include "weights/gguf_convert.h"
#include "weights/hf_config.h"
#include "weights/hf_folder.h"

namespace hone::test {
namespace {

using io::GgmlType;
using io::Json;

std::vector<uint8_t> from_hex(const std::string& hex) {
  std::vector<uint8_t> bytes;
  for (size_t i = 0; i + 1 < hex.size(); i += 2) {
    bytes.push_back(static_cast<uint8_t>(std::stoi(hex.substr(i, 2), nullptr, 16)));
  }
  return bytes;
}

std::vector<float> floats_of(const std::string& hex) {
  const std::vector<uint8_t> bytes = from_hex(hex);
  std::vector<float> values(bytes.size() / sizeof(float));
  std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

const io::GgmlForm* form_called(const std::string& name) {
  for (uint32_t number = 0; number < 64; ++number) {
    const io::GgmlForm* form = io::find_ggml_form(number);
    if (form != nullptr && form->name == name) return form;
  }
  return nullptr;
}

TEST(GgufBlocks, HoldWhatGgmlsOwnPackageReadsAndWritesToTheBit) {
  int64_t read = 0, written = 0;
  const Json rows = io::read_json(HONE_TEST_DATA "/blocks.json");
  for (const Json& row : rows.as_array()) {
    SCOPED_TRACE(row.at("type").as_string());
    const io::GgmlForm* form = form_called(row.at("type").as_string());
    ASSERT_NE(form, nullptr);
    const std::vector<uint8_t> bytes = from_hex(row.at("bytes").as_string());
    const std::vector<float> values = floats_of(row.at("values").as_string());
    if (row.find("written") != nullptr) {
      std::vector<uint8_t> ours(bytes.size());
      for (size_t b = 0; b < values.size() / static_cast<size_t>(form->elements); ++b) {
        form->write(values.data() + b * static_cast<size_t>(form->elements),
                    ours.data() + b * static_cast<size_t>(form->bytes));
      }
      EXPECT_EQ(ours, bytes);
      ++written;
      continue;
    }
    std::vector<float> ours(values.size());
    io::read_ggml_row(form->type, bytes.data(), static_cast<int64_t>(values.size()), ours.data());
    EXPECT_EQ(std::memcmp(ours.data(), values.data(), values.size() * sizeof(float)), 0);
    ++read;
    if (form->write == nullptr || form->elements > 1) continue;
    std::vector<uint8_t> again(bytes.size());  // halves hold what was read out of them
    for (size_t i = 0; i < values.size(); ++i) {
      form->write(values.data() + i, again.data() + i * static_cast<size_t>(form->bytes));
    }
    EXPECT_EQ(again, bytes);
    ++written;
  }
  EXPECT_EQ(read, 10);
  EXPECT_EQ(written, 3);
}

std::vector<std::vector<float>> weights_of(const std::string& model) {
  std::vector<std::vector<float>> all;
  const auto decoder = weights::load_decoder(model, DType::f32);
  for (const Parameter& parameter : decoder->parameters()) {
    all.emplace_back(static_cast<size_t>(parameter.size()));
    parameter.read(0, parameter.size(), all.back().data());
  }
  return all;
}

class GgufModel : public ::testing::Test {
 protected:
  TemporaryFolder inputs_{"gguf"};
};

TEST_F(GgufModel, ThereAndBackAgainIsTheSameModelInEveryFamily) {
  for (auto [name, config] : tiny_families()) {
    SCOPED_TRACE(name);
    if (config.family == Family::qwen3) config.qkv_bias = config.o_bias = false;  // GGUF has none for it
    if (config.family == Family::llama) {
      config.pad_token_id = 3;
      config.rope_scaling.original_length = 1024;  // one of four frequencies is between: it tells the length
    }
    const std::string folder = inputs_ / name, gguf = folder + ".gguf", back = folder + "-back";
    write_tiny_model(folder, 5, config);
    const auto weights = weights_of(folder);
    weights::model_to_gguf(folder, gguf, GgmlType::f32);
    weights::gguf_to_folder(gguf, back);
    EXPECT_EQ(weights_of(gguf), weights);
    EXPECT_EQ(weights_of(back), weights);
    ModelConfig after = weights::load_config(back);
    EXPECT_EQ(after, weights::load_config(gguf));
    // a factor on top of another one, in float
    EXPECT_NEAR(after.rope_scaling.attention_factor, config.rope_scaling.attention_factor, 1e-7);
    after.rope_scaling.attention_factor = config.rope_scaling.attention_factor;
    after.initializer_range = config.initializer_range;  // of random weights alone
    EXPECT_EQ(after, weights::load_config(folder));
    const Tokenizer tokenizer = Tokenizer::load(folder);
    for (const std::string& model : {gguf, back}) {
      EXPECT_EQ(find_end_ids(model, Tokenizer::load(model)).ids, find_end_ids(folder, tokenizer).ids);
      EXPECT_EQ(Tokenizer::load(model).encode("12+34", true), tokenizer.encode("12+34", true));
    }
  }
}

// The files of transformers' converter hold, of each head, rows 0, D / 2, 1, D / 2 + 1, ...
TEST_F(GgufModel, LlamaFilesHoldTheTwoHalvesOfARotaryPairSideBySide) {
  ModelConfig config = tiny_families()[2].second;
  ASSERT_EQ(config.family, Family::llama);
  write_tiny_model(inputs_ / "m", 5, config);
  weights::model_to_gguf(inputs_ / "m", inputs_ / "m.gguf", GgmlType::f32);
  const io::GgufReader gguf(inputs_ / "m.gguf");
  const io::SafetensorsReader hf(inputs_ / "m");
  for (const auto& [ours, theirs, heads] :
       {std::tuple{"blk.1.attn_q.", "model.layers.1.self_attn.q_proj.", config.num_heads},
        {"blk.1.attn_k.", "model.layers.1.self_attn.k_proj.", config.num_kv_heads}}) {
    const int64_t dim = config.head_dim, cols = config.hidden_size;
    const std::vector<float> weight = io::read_floats(hf.at(std::string(theirs) + "weight"));
    const std::vector<float> bias = io::read_floats(hf.at(std::string(theirs) + "bias"));
    const auto *weight_out = reinterpret_cast<const float*>(gguf.find(std::string(ours) + "weight")->data),
               *bias_out = reinterpret_cast<const float*>(gguf.find(std::string(ours) + "bias")->data);
    int64_t row = 0;
    for (int64_t head = 0; head < heads; ++head) {
      for (int64_t i = 0; i < dim / 2; ++i) {
        for (const int64_t from : {head * dim + i, head * dim + dim / 2 + i}) {
          EXPECT_EQ(std::memcmp(weight_out + row * cols, weight.data() + from * cols, sizeof(float) * cols), 0) << row;
          EXPECT_EQ(bias_out[row], bias[static_cast<size_t>(from)]) << row;
          ++row;
        }
      }
    }
  }
}

TEST_F(GgufModel, HalfPrecisionStaysAsItIsThereAndBack) {
  const std::string folder = inputs_ / "m";
  write_tiny_model(folder, 5);
  for (const auto& [name, type, bound] :
       {std::tuple{"f16", GgmlType::f16, 0x1p-11}, {"bf16", GgmlType::bf16, 0x1p-8}}) {
    SCOPED_TRACE(name);
    const std::string one = folder + name, two = one + "-back";
    weights::model_to_gguf(folder, one + ".gguf", type);
    weights::gguf_to_folder(one + ".gguf", one);
    weights::model_to_gguf(one, two + ".gguf", type);
    weights::gguf_to_folder(two + ".gguf", two);
    EXPECT_EQ(io::read_file(two + ".gguf"), io::read_file(one + ".gguf"));
    EXPECT_EQ(io::read_file(two + "/model.safetensors"), io::read_file(one + "/model.safetensors"));
    const io::SafetensorsReader file(one);
    EXPECT_EQ(io::name(file.at("model.embed_tokens.weight").type),
              name == std::string("f16") ? std::string("F16") : "BF16");
    const auto exact = weights_of(folder), rounded = weights_of(one);
    for (size_t p = 0; p < exact.size(); ++p) {
      for (size_t i = 0; i < exact[p].size(); ++i) {
        ASSERT_LE(std::abs(rounded[p][i] - exact[p][i]), bound * std::abs(exact[p][i]) + 0x1p-24);
      }
    }
  }
}

TEST_F(GgufModel, Q8RoundsToAStepOfItsBlockAndRowsThatAreNoBlocksAreF16) {
  ModelConfig config = tiny_config();
  config.hidden_size = 64;
  config.intermediate_size = 40;
  write_tiny_model(inputs_ / "m", 5, config);
  weights::model_to_gguf(inputs_ / "m", inputs_ / "m.gguf", GgmlType::q8_0);
  const io::GgufReader file(inputs_ / "m.gguf");
  EXPECT_EQ(file.find("blk.0.attn_q.weight")->type, GgmlType::q8_0);
  EXPECT_EQ(file.find("blk.0.ffn_down.weight")->type, GgmlType::f16);  // rows of 40
  EXPECT_EQ(file.find("blk.0.attn_norm.weight")->type, GgmlType::f32);
  const auto exact = weights_of(inputs_ / "m"), rounded = weights_of(inputs_ / "m.gguf");
  for (size_t p = 0; p < exact.size(); ++p) {
    float largest = 0;
    for (const float w : exact[p]) largest = std::max(largest, std::abs(w));
    for (size_t i = 0; i < exact[p].size(); ++i) {
      // half a step, and the scale's own rounding to half
      ASSERT_LE(std::abs(rounded[p][i] - exact[p][i]), largest * (0.5 / 127 + 0x1p-11) * 1.001);
    }
  }
}

TEST_F(GgufModel, WhatAFileCannotSayIsRefusedByName) {
  const auto expect_refused = [&](const std::string& model, const std::string& part) {
    std::string found;
    try {
      weights::model_to_gguf(inputs_ / model, inputs_ / "x.gguf", GgmlType::f16);
    } catch (const Error& error) {
      found = error.what();
    }
    EXPECT_NE(found.find(part), std::string::npos) << part << ": " << found;
    EXPECT_FALSE(io::exists(inputs_ / "x.gguf"));
  };
  write_tiny_model(inputs_ / "qwen3", 5, tiny_families()[0].second);
  expect_refused("qwen3", "attention_bias: expected false, found true");
  write_tiny_model(inputs_ / "m", 5);
  const Json sound = io::read_json(inputs_ / "m/tokenizer.json");
  const auto expect_tokenizer_refused = [&](const std::function<void(Json&)>& change, const std::string& part) {
    Json tokenizer = sound;
    change(tokenizer);
    io::write_json(inputs_ / "m/tokenizer.json", tokenizer);
    expect_refused("m", part);
  };
  expect_tokenizer_refused([](Json& t) { t.find("added_tokens")->array_items()[0].set("lstrip", true); },
                           "expected no single_word, lstrip or rstrip");
  expect_tokenizer_refused([](Json& t) { t.find("model")->set("ignore_merges", true); },
                           "model.ignore_merges: expected false beside the cut qwen2, found true");
  expect_tokenizer_refused(
      [](Json& t) { t.find("pre_tokenizer")->find("pretokenizers")->array_items()[0].set("invert", true); },
      "pre_tokenizer");
}

TEST_F(GgufModel, AFileOfAnotherModelIsRefusedByNameAndLeavesNoFolder) {
  write_tiny_model(inputs_ / "m", 5);
  weights::model_to_gguf(inputs_ / "m", inputs_ / "m.gguf", GgmlType::f32);
  const std::string sound = io::read_file(inputs_ / "m.gguf");
  const auto with = [&](std::string from, const std::string& to) {
    std::string bytes = sound;
    const size_t at = bytes.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    bytes.replace(at, to.size(), to);
    io::write_file(inputs_ / "x.gguf", bytes);
    const Result result = run_hone(inputs_.path(), {"convert", inputs_ / "x.gguf", inputs_ / "x"});
    EXPECT_EQ(result.code, 2) << result.err;
    EXPECT_FALSE(io::exists(inputs_ / "x"));
    return result.err;
  };
  const auto expect = [](const std::string& message, const std::string& part) {
    EXPECT_NE(message.find(part), std::string::npos) << message;
  };
  expect(with("qwen3", "qwenX"), "general.architecture: expected llama, qwen2 or qwen3, found text \"qwenX\"");
  expect(with("gpt2", "bert"), "tokenizer.ggml.model: expected gpt2 (byte-level BPE), found bert");
  const std::string length("\5\0\0\0\0\0\0\0", 8);
  expect(with(length + "qwen2", length + "llada"), "tokenizer.ggml.pre: expected one of");
  expect(with("blk.0.ffn_up.weight", "blk.0.ffn_xx.weight"), "tensor blk.0.ffn_xx.weight: expected no such tensor");
  expect(with("blk.0.ffn_up.weight", "blk.0.ffn_xx.weight"), "model.layers.0.mlp.up_proj.weight: expected shape");
  expect(with("qwen3.block_count", "qwen3.block_coun?"), "qwen3.block_count: expected a size above 0, found none");
  io::write_file(inputs_ / "x.gguf", sound.substr(0, sound.size() / 2));
  EXPECT_EQ(run_hone(inputs_.path(), {"convert", inputs_ / "x.gguf", inputs_ / "x"}).code, 2);
  EXPECT_FALSE(io::exists(inputs_ / "x"));
}

// Names of Hugging Face among them: they would be taken for tensors of the model, or for tables that are passed over.
TEST_F(GgufModel, TensorsWithOtherNamesAreRefusedByName) {
  write_tiny_model(inputs_ / "m", 5);
  weights::model_to_gguf(inputs_ / "m", inputs_ / "m.gguf", GgmlType::f32);
  const io::GgufReader sound(inputs_ / "m.gguf");
  for (const char* name : {"model.norm.weight", "model.layers.0.self_attn.rotary_emb.inv_freq", "blk.0.attn_rot_embd",
                           "v.patch_embd.weight"}) {
    SCOPED_TRACE(name);
    io::GgufWriter writer;
    for (const auto& [key, value] : sound.metadata().as_object()) writer.set(key, value);
    for (const io::GgufTensor& tensor : sound.tensors()) {
      writer.add(tensor.name, tensor.shape, GgmlType::f32, [&tensor](int64_t row, float* out) {
        io::read_ggml_row(tensor.type, tensor.data + row * tensor.cols * 4, tensor.cols, out);
      });
    }
    writer.add(name, {2, 2}, GgmlType::f32, [](int64_t, float* out) { std::fill_n(out, 2, 0.0f); });
    writer.write(inputs_ / "x.gguf");
    const Result result = run_hone(inputs_.path(), {"convert", inputs_ / "x.gguf", inputs_ / "x"});
    EXPECT_EQ(result.code, 2);
    EXPECT_NE(result.err.find(fmt::format("tensor {}: expected no such tensor, found [2, 2]", name)), std::string::npos)
        << result.err;
  }
}

// The cut tokenizers of published models with the reference's ids: through a GGUF file they are the same.
TEST_F(GgufModel, TokenizersGiveTheReferencesIdsThroughAFile) {
  for (const auto& [name, size, cut] : {std::tuple{"smollm2", 49152, "smollm"},
                                        {"qwen2_5", 151936, "qwen2"},
                                        {"qwen3", 151936, "qwen2"},
                                        {"llama3", 128256, "llama-bpe"}}) {
    SCOPED_TRACE(name);
    const std::string folder = HONE_TEST_DATA "/../text/" + std::string(name);
    io::GgufWriter writer;
    text::add_tokenizer_to_gguf(writer, folder, size);
    writer.write(inputs_ / "t.gguf");
    EXPECT_EQ(io::GgufReader(inputs_ / "t.gguf").metadata().at("tokenizer.ggml.pre").as_string(), cut);
    const Tokenizer tokenizer = Tokenizer::load(inputs_ / "t.gguf"), own = Tokenizer::load(folder);
    EXPECT_EQ(tokenizer.prefix_ids(), own.prefix_ids());
    EXPECT_EQ(tokenizer.vocab_size(), own.vocab_size());
    io::Faults faults;
    for (const auto& [line, row] : io::read_jsonl(folder + "/reference.jsonl", faults)) {
      const std::string& given = row.at("text").as_string();
      std::vector<int32_t> expected;
      for (const auto& id : row.at("ids").as_array()) expected.push_back(static_cast<int32_t>(id.as_int()));
      EXPECT_EQ(tokenizer.encode(given, row.at("special").as_bool()), expected) << given;
      EXPECT_EQ(tokenizer.decode(expected, true), row.at("shown").as_string());
    }
    EXPECT_TRUE(faults.empty());
  }
}

TEST_F(GgufModel, ChatTemplatesAndEndIdsComeOutAsTheyWentIn) {
  const std::string folder = inputs_ / "chat", gguf = folder + ".gguf";
  write_chat_model(folder);
  Json config = io::read_json(folder + "/tokenizer_config.json");
  const Json one = "{{ messages[0]['content'] }}";
  const auto named = [](const char* name, const char* text) {
    return Json::object({{"name", name}, {"template", text}});
  };
  const Json several = Json::array({named("default", "{{ 1 }}"), named("tool_use", "{{ 2 }}")});
  for (const Json& given : {one, several}) {
    config.set("chat_template", given);
    io::write_json(folder + "/tokenizer_config.json", config);
    weights::model_to_gguf(folder, gguf, GgmlType::f32);
    EXPECT_EQ(text::read_companion_json(gguf, "tokenizer_config.json")->at("chat_template"), given);
  }
  EXPECT_EQ(find_end_ids(gguf, Tokenizer::load(gguf)).ids, std::vector<int32_t>{47});
  // a file that llama.cpp's converter wrote: the ids of its keys, and control tokens of known names
  Json metadata = io::GgufReader(gguf).metadata();
  auto& members = metadata.object_members();
  std::erase_if(members, [](const Json::Member& member) { return member.key == "hone.end_ids"; });
  metadata.set("tokenizer.ggml.eos_token_id", 3);
  EXPECT_EQ(text::generation_config_of_gguf(metadata, gguf), Json::object({{"eos_token_id", Json::array({3, 47})}}));
}

// As older versions of transformers save them.
TEST_F(GgufModel, TemplatesAndSpecialTokensOfFilesOfTheirOwnAreNotLost) {
  const std::string folder = inputs_ / "chat", gguf = folder + ".gguf";
  write_chat_model(folder);
  std::filesystem::remove(folder + "/generation_config.json");
  io::write_json(folder + "/tokenizer_config.json", Json::object({{"pad_token", "a"}}));
  io::write_json(folder + "/chat_template.json", Json::object({{"chat_template", "{{ 3 }}"}}));
  io::write_json(folder + "/special_tokens_map.json",
                 Json::object({{"bos_token", Json::object({{"content", "<|im_start|>"}})},
                               {"eos_token", "<|im_end|>"},
                               {"pad_token", "b"}}));
  weights::model_to_gguf(folder, gguf, GgmlType::f32);
  const Json config = *text::read_companion_json(gguf, "tokenizer_config.json");
  EXPECT_EQ(config.at("chat_template"), Json("{{ 3 }}"));
  EXPECT_EQ(config.at("bos_token"), Json("<|im_start|>"));
  EXPECT_EQ(config.at("eos_token"), Json("<|im_end|>"));
  EXPECT_EQ(config.at("pad_token"), Json("a"));
  for (const std::string& model : {folder, gguf}) {
    EXPECT_EQ(find_end_ids(model, Tokenizer::load(model)).ids, std::vector<int32_t>{47}) << model;
  }
}

TEST_F(GgufModel, EveryCommandTakesAFileInThePlaceOfAFolder) {
  const std::string folder = inputs_.path(), model = folder + "/model", gguf = folder + "/m.gguf";
  write_tiny_inputs(folder);
  EXPECT_EQ(run_hone(folder, {"convert", model, gguf, "--outtype", "f32"}).code, 0);
  const auto same = [&](Arguments before, Arguments after) {
    const Result with_folder = run_hone(folder, before + Arguments{model} + after);
    const Result with_file = run_hone(folder, before + Arguments{gguf} + after);
    EXPECT_EQ(with_file.code, 0) << with_file.err;
    EXPECT_EQ(with_file.out, with_folder.out);
    EXPECT_FALSE(with_file.out.empty());
  };
  same({"tokenize", "--tokenizer"}, {"12+3"});
  same({"generate", "--threads", "1", "--dtype", "float32", "--max-new-tokens", "8", "--json", "--model"}, {"1+2"});
  same({"render", "--chat-template", "{{ messages[0]['content'] }}", "--user", "1+2", "--tokenizer"}, {});
  EXPECT_EQ(run_hone(folder, {"convert", gguf, folder + "/again.gguf", "--outtype", "q8_0"}).code, 0);
  const std::string before = io::read_file(gguf);
  const Result kept = run_hone(folder, {"convert", model, gguf});
  EXPECT_EQ(kept.code, 2);
  EXPECT_NE(kept.err.find(gguf + ": expected no such file yet, found one"), std::string::npos) << kept.err;
  EXPECT_EQ(io::read_file(gguf), before);
  EXPECT_EQ(run_hone(folder, {"convert", gguf, gguf, "--outtype", "f16", "--force"}).code, 0);  // in its own place
  EXPECT_NE(io::read_file(gguf), before);
  EXPECT_EQ(run_hone(folder, {"convert", gguf, folder + "/back", "--outtype", "f16"}).code, 2);
  EXPECT_EQ(run_hone(folder, {"convert", model, folder + "/back"}).code, 2);
  EXPECT_EQ(run_hone(folder, {"convert", model, folder + "/x.gguf", "--outtype", "q4_0"}).code, 2);
}

TEST_F(GgufModel, ARunFromAFileIsThatFromTheFolderToTheBitAndGoesOn) {
  const std::string folder = inputs_.path(), gguf = folder + "/m.gguf";
  write_tiny_inputs(folder);
  weights::model_to_gguf(folder + "/model", gguf, GgmlType::f32);
  const auto train = [&](const std::string& run, const std::string& steps, const std::string& model) {
    const Result result = run_hone(
        folder, tiny_train(folder, run) + Arguments{"actor_rollout_ref.model.path=" + model, "trainer.save_freq=1",
                                                    "trainer.total_training_steps=" + steps});
    EXPECT_EQ(result.code, 0) << result.err;
  };
  train(folder + "/a", "2", folder + "/model");
  train(folder + "/b", "1", gguf);
  train(folder + "/b", "2", gguf);
  EXPECT_EQ(io::read_file(last_checkpoint(folder + "/b") + "/model.safetensors"),
            io::read_file(last_checkpoint(folder + "/a") + "/model.safetensors"));
  EXPECT_EQ(metrics_of(folder + "/b"), metrics_of(folder + "/a"));
  const std::string checkpoint = last_checkpoint(folder + "/b");
  EXPECT_EQ(weights::load_config(checkpoint), weights::load_config(gguf));
  EXPECT_EQ(find_end_ids(checkpoint, Tokenizer::load(checkpoint)).ids, std::vector<int32_t>{13});
  EXPECT_EQ(run_hone(folder, {"convert", checkpoint, folder + "/trained.gguf"}).code, 0);
  // another layout of the same tokenizer, and another tokenizer
  const std::string saved = checkpoint + "/tokenizer.json";
  io::write_file(saved, io::read_json(saved).dump() + "\n");
  train(folder + "/b", "3", gguf);
  Json tokenizer = io::read_json(last_checkpoint(folder + "/b") + "/tokenizer.json");
  tokenizer.find("added_tokens")->array_items()[0].set("content", "<|other|>");
  io::write_json(last_checkpoint(folder + "/b") + "/tokenizer.json", tokenizer);
  const Result other = run_hone(
      folder, tiny_train(folder, folder + "/b") + Arguments{"actor_rollout_ref.model.path=" + gguf,
                                                            "trainer.save_freq=1", "trainer.total_training_steps=4"});
  EXPECT_EQ(other.code, 2);
  EXPECT_NE(other.err.find("(tokenizer.json): expected the model of"), std::string::npos) << other.err;
}

// Between two saves of a run.
TEST_F(GgufModel, AModelThatWasMovedAwayEndsNoRunAndLeavesItsTokenizerInEveryCheckpoint) {
  const std::string gguf = inputs_ / "m.gguf", run = inputs_ / "run";
  write_tiny_model(inputs_ / "m", 5);
  weights::model_to_gguf(inputs_ / "m", gguf, GgmlType::f32);
  const auto decoder = weights::load_decoder(gguf, DType::f32);
  const Optimizer optimizer(*decoder, {});
  const auto save = [&](int64_t step) {
    TrainingState state;
    state.global_step = step;
    state.kind = "sft";
    save_checkpoint(run, state, *decoder, optimizer, {gguf, false});
    return checkpoint_path(run, step);
  };
  const std::string first = save(1);
  std::filesystem::remove(gguf);
  const std::string second = save(2);
  for (const char* name : {"/config.json", "/tokenizer.json", "/tokenizer_config.json", "/generation_config.json"}) {
    EXPECT_EQ(io::read_file(second + name), io::read_file(first + name)) << name;
  }
  weights::save_model(*decoder, inputs_.path(), gguf);  // no checkpoint yet
  EXPECT_EQ(weights::load_config(inputs_.path()), decoder->config());
}

}  // namespace
}  // namespace hone::test
