// Every form of config.json that the families use, and everything that would compute something else.
#include "weights/hf_config.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>

#include "core/error.h"
#include "io/atomic_file.h"
#include "io/file.h"
#include "io/json.h"
#include "models/rope.h"

namespace hone {
namespace {

namespace fs = std::filesystem;

class HfConfig : public ::testing::Test {
 protected:
  HfConfig() : folder_((fs::temp_directory_path() / ("hone-config-" + std::to_string(::getpid()))).string()) {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  ~HfConfig() override { fs::remove_all(folder_); }

  // `keys` are put over a small model's; a null removes nothing, it is a null.
  void write(const std::string& architecture, const std::string& keys) const {
    io::Json config = io::parse_json(
        R"({"vocab_size": 100, "hidden_size": 64, "intermediate_size": 96, "num_hidden_layers": 4,
            "num_attention_heads": 4, "num_key_value_heads": 2, "max_position_embeddings": 1024})",
        "base");
    config.set("architectures", io::Json::array({architecture}));
    const io::Json changes = io::parse_json("{" + keys + "}", keys);
    for (const io::Json::Member& member : changes.as_object()) config.set(member.key, member.value);
    io::write_json(folder_ + "/config.json", config);
  }
  std::string error_of() const {
    try {
      weights::load_config(folder_);
    } catch (const Error& error) {
      EXPECT_EQ(error.exit_code(), 2);
      EXPECT_FALSE(error.hint().empty());
      return error.what();
    }
    return "";
  }

  std::string folder_;
};

constexpr const char* kLlama = "LlamaForCausalLM";
constexpr const char* kQwen2 = "Qwen2ForCausalLM";
constexpr const char* kQwen3 = "Qwen3ForCausalLM";

TEST_F(HfConfig, OldAndNewKeysGiveOneModel) {
  struct Form {
    const char* name;
    const char* old_keys;
    const char* new_keys;
  };
  const Form forms[] = {
      {"default", R"("rope_theta": 500000.0, "rope_scaling": null, "torch_dtype": "bfloat16")",
       R"("rope_parameters": {"rope_type": "default", "rope_theta": 500000.0}, "dtype": "bfloat16")"},
      {"default, empty object", R"("rope_theta": 500000.0, "rope_scaling": {})",
       R"("rope_scaling": {}, "rope_parameters": {"rope_theta": 500000.0})"},
      {"theta of the family", R"("rope_scaling": null)", R"("rope_parameters": {"rope_type": "default"})"},
      {"linear", R"("rope_theta": 10000, "rope_scaling": {"type": "linear", "factor": 4.0})",
       R"("rope_parameters": {"rope_type": "linear", "factor": 4.0, "rope_theta": 10000})"},
      {"llama3",
       R"("rope_theta": 500000.0, "rope_scaling": {"rope_type": "llama3", "factor": 32.0, "low_freq_factor": 1.0,
          "high_freq_factor": 4.0, "original_max_position_embeddings": 256})",
       R"("rope_parameters": {"rope_type": "llama3", "factor": 32.0, "low_freq_factor": 1.0, "rope_theta": 500000.0,
          "high_freq_factor": 4.0, "original_max_position_embeddings": 256})"},
      {"llama3, original length on top",
       R"("rope_scaling": {"rope_type": "llama3", "factor": 8, "low_freq_factor": 1, "high_freq_factor": 4},
          "original_max_position_embeddings": 256)",
       R"("rope_parameters": {"rope_type": "llama3", "factor": 8, "low_freq_factor": 1, "high_freq_factor": 4,
          "original_max_position_embeddings": 256})"},
      {"yarn", R"("rope_theta": 1e6, "rope_scaling": {"type": "yarn", "factor": 4.0,
          "original_max_position_embeddings": 512})",
       R"("rope_parameters": {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 512,
          "rope_theta": 1e6})"},
      {"yarn by layer type", R"("rope_theta": 1e6, "rope_scaling": {"type": "yarn", "factor": 2.0})",
       R"("rope_parameters": {"full_attention": {"rope_type": "yarn", "factor": 2.0, "rope_theta": 1e6}})"},
      {"multi-axis", R"("rope_theta": 1e6, "rope_scaling": {"type": "mrope", "mrope_section": [2, 3, 3]})",
       R"("rope_parameters": {"rope_type": "default", "rope_theta": 1e6})"},
  };
  for (const char* architecture : {kLlama, kQwen2, kQwen3}) {
    for (const Form& form : forms) {
      SCOPED_TRACE(fmt::format("{} {}", architecture, form.name));
      write(architecture, form.old_keys);
      const ModelConfig a = weights::load_config(folder_);
      write(architecture, form.new_keys);
      const ModelConfig b = weights::load_config(folder_);
      EXPECT_EQ(rotary_frequencies(a), rotary_frequencies(b));
      EXPECT_EQ(rotary_attention_factor(a), rotary_attention_factor(b));
      EXPECT_EQ(a.rope_theta, b.rope_theta);
      EXPECT_EQ(a.max_position_embeddings, b.max_position_embeddings);
    }
  }
}

TEST_F(HfConfig, FamiliesDifferInBiasesNormsHeadsAndDefaults) {
  struct Case {
    const char* architecture;
    const char* keys;
    bool qk_norm, qkv_bias, o_bias, mlp_bias;
    int64_t head_dim, kv_heads;
  };
  const Case cases[] = {
      {kLlama, "", false, false, false, false, 16, 2},
      {kLlama, R"("attention_bias": true)", false, true, true, false, 16, 2},
      {kLlama, R"("mlp_bias": true)", false, false, false, true, 16, 2},
      {kLlama, R"("head_dim": 24)", false, false, false, false, 24, 2},
      {kLlama, R"("head_dim": null, "num_key_value_heads": null)", false, false, false, false, 16, 4},
      {kLlama, R"("pretraining_tp": 2, "rope_interleaved": false, "is_llama_config": true, "sliding_window": 8)", false,
       false, false, false, 16, 2},
      {kQwen2, "", false, true, false, false, 16, 2},
      {kQwen2, R"("attention_bias": false, "mlp_bias": true)", false, true, false, false, 16, 2},
      {kQwen2, R"("num_key_value_heads": null)", false, true, false, false, 16, 4},
      {kQwen3, "", true, false, false, false, 128, 2},
      {kQwen3, R"("head_dim": null)", true, false, false, false, 16, 2},
      {kQwen3, R"("head_dim": 32, "attention_bias": true)", true, true, true, false, 32, 2},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(fmt::format("{} {}", c.architecture, c.keys));
    write(c.architecture, c.keys);
    const ModelConfig config = weights::load_config(folder_);
    EXPECT_EQ(config.qk_norm, c.qk_norm);
    EXPECT_EQ(config.qkv_bias, c.qkv_bias);
    EXPECT_EQ(config.o_bias, c.o_bias);
    EXPECT_EQ(config.mlp_bias, c.mlp_bias);
    EXPECT_EQ(config.head_dim, c.head_dim);
    EXPECT_EQ(config.num_kv_heads, c.kv_heads);
    EXPECT_EQ(config.rope_theta, 10000.0f);
    EXPECT_FALSE(config.tie_word_embeddings);
    EXPECT_EQ(config.pad_token_id, -1);
  }
}

TEST_F(HfConfig, AbsentKeysHaveTheDefaultsOfTheirFamily) {
  io::write_file(folder_ + "/config.json", R"({"model_type": "llama"})");
  ModelConfig c = weights::load_config(folder_);
  EXPECT_EQ(c.vocab_size, 32000);
  EXPECT_EQ(c.hidden_size, 4096);
  EXPECT_EQ(c.intermediate_size, 11008);
  EXPECT_EQ(c.num_layers, 32);
  EXPECT_EQ(c.num_kv_heads, 32);
  EXPECT_EQ(c.head_dim, 128);
  EXPECT_EQ(c.max_position_embeddings, 2048);
  EXPECT_EQ(weights::defaulted_sizes(folder_),
            "vocab_size = 32000, hidden_size = 4096, intermediate_size = 11008, num_hidden_layers = 32, "
            "num_attention_heads = 32, num_key_value_heads = 32, head_dim = 128");
  io::write_file(folder_ + "/config.json", R"({"model_type": "qwen2", "hidden_size": 896})");
  c = weights::load_config(folder_);
  EXPECT_EQ(c.vocab_size, 151936);
  EXPECT_EQ(c.intermediate_size, 22016);
  EXPECT_EQ(c.head_dim, 28);
  EXPECT_EQ(c.max_position_embeddings, 32768);
}

TEST_F(HfConfig, ThePaddingIdMayCountFromTheEnd) {
  write(kLlama, R"("pad_token_id": 5)");
  EXPECT_EQ(weights::load_config(folder_).pad_token_id, 5);
  write(kLlama, R"("pad_token_id": -1)");
  EXPECT_EQ(weights::load_config(folder_).pad_token_id, 99);
}

TEST_F(HfConfig, YarnReachesFactorTimesTheOriginalLength) {
  write(kQwen2, R"("rope_scaling": {"type": "yarn", "factor": 4.0, "original_max_position_embeddings": 1024})");
  EXPECT_EQ(weights::load_config(folder_).max_position_embeddings, 4096);
  write(kQwen2, R"("rope_scaling": {"type": "yarn", "original_max_position_embeddings": 256})");  // factor 1024 / 256
  const ModelConfig c = weights::load_config(folder_);
  EXPECT_EQ(c.max_position_embeddings, 1024);
  EXPECT_EQ(c.rope_scaling.factor, 4.0);
}

// A window matters where some layer has one and the context is longer than it.
TEST_F(HfConfig, SlidingWindowsAreRefusedWhereTheyWouldMatter) {
  struct Case {
    const char* keys;
    const char* fault;
  };
  const Case cases[] = {
      {R"("use_sliding_window": false, "sliding_window": 8, "max_window_layers": 2)", ""},
      {R"("use_sliding_window": true, "sliding_window": 8, "max_window_layers": 4)", ""},
      {R"("use_sliding_window": true, "sliding_window": 1024, "max_window_layers": 0)", ""},
      {R"("use_sliding_window": true, "sliding_window": null, "max_window_layers": 0)", ""},
      {R"("use_sliding_window": true)", ""},  // the defaults: 4096 tokens, from layer 28 on
      {R"("use_sliding_window": true, "sliding_window": 8, "layer_types":
          ["full_attention", "full_attention", "full_attention", "full_attention"])",
       ""},
      {R"("use_sliding_window": true, "sliding_window": 8, "max_window_layers": 3)",
       "use_sliding_window: expected false, found true: 1 of 4 layers would see the last 8 tokens of a context of "
       "1024"},
      {R"("use_sliding_window": true, "sliding_window": 1023, "max_window_layers": 0)", "4 of 4 layers"},
      {R"("use_sliding_window": true, "sliding_window": 8, "layer_types":
          ["full_attention", "sliding_attention", "full_attention", "sliding_attention"])",
       "2 of 4 layers"},
      {R"("sliding_window": 8, "layer_types":
          ["full_attention", "sliding_attention", "full_attention", "sliding_attention"])",
       "layer_types: expected full_attention alone, found sliding_attention in 2 layers although"},
      {R"("layer_types": ["full_attention"])",
       "layer_types: expected a list of num_hidden_layers = 4, found a list of 1"},
      {R"("layer_types": ["full_attention", "chunked_attention", "full_attention", "full_attention"])",
       "layer_types: expected full_attention, found text \"chunked_attention\""},
  };
  for (const char* architecture : {kQwen2, kQwen3}) {
    for (const Case& c : cases) {
      SCOPED_TRACE(c.keys);
      write(architecture, c.keys);
      const std::string error = error_of();
      EXPECT_EQ(error.empty(), std::string(c.fault).empty()) << error;
      EXPECT_NE(error.find(c.fault), std::string::npos) << error;
    }
  }
}

TEST_F(HfConfig, WhatWouldComputeSomethingElseIsRefusedByName) {
  struct Case {
    const char* keys;
    const char* fault;
  };
  const Case cases[] = {
      {R"("architectures": ["MistralForCausalLM"])",
       "architectures: expected LlamaForCausalLM, Qwen2ForCausalLM or Qwen3ForCausalLM, found text \"MistralFor"},
      {R"("architectures": ["Qwen3MoeForCausalLM"])", "found text \"Qwen3MoeForCausalLM\""},
      {R"("architectures": ["LlamaForSequenceClassification"])", "found text \"LlamaForSequenceClassification\""},
      {R"("architectures": null, "model_type": "gemma2")",
       "model_type: expected llama, qwen2 or qwen3, found text \"gemma2\""},
      {R"("architectures": [])", "found neither it nor model_type"},
      {R"("hidden_act": "gelu")", "hidden_act: expected silu, found text \"gelu\""},
      {R"("attention_dropout": 0.1)", "attention_dropout: expected 0, found number 0.1"},
      {R"("quantization_config": {"quant_method": "awq", "bits": 4})",
       "quantization_config: expected none, found text \"awq\""},
      {R"("partial_rotary_factor": 0.5)", "partial_rotary_factor: expected 1, found number 0.5"},
      {R"("rope_scaling": {"rope_type": "dynamic", "factor": 2.0})",
       "rope_scaling.rope_type: expected default, linear, llama3 or yarn, found text \"dynamic\""},
      {R"("rope_scaling": {"type": "longrope"})", "rope_scaling.type: expected default, linear, llama3 or yarn"},
      {R"("rope_parameters": {"rope_type": "su"})", "rope_parameters.rope_type: expected default, linear"},
      {R"("rope_scaling": "linear")", "rope_scaling: expected an object or null, found text \"linear\""},
      {R"("rope_scaling": {"type": "linear"})", "rope_scaling.factor: expected a number above 0, found none"},
      {R"("rope_scaling": {"type": "linear", "factor": 0})",
       "rope_scaling.factor: expected a number above 0, found num"},
      {R"("rope_scaling": {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 4, "high_freq_factor": 1})",
       "rope_scaling.high_freq_factor: expected above low_freq_factor = 4, found 1"},
      {R"("rope_scaling": {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 4})",
       "rope_scaling.high_freq_factor: expected a number above 0, found none"},
      {R"("rope_scaling": {"rope_type": "yarn", "factor": 4, "truncate": 1})",
       "rope_scaling.truncate: expected true or false"},
      {R"("rope_scaling": {"rope_type": "yarn", "factor": "4"})", "rope_scaling.factor: expected a number above 0"},
      {R"("rope_theta": -1.0)", "rope_theta: expected a number above 0"},
      {R"("rope_parameters": {"rope_theta": "1e6"})", "rope_parameters.rope_theta: expected a number above 0"},
      {R"("num_key_value_heads": 3)", "num_attention_heads: expected a multiple of num_key_value_heads, found 4 and 3"},
      {R"("head_dim": 5)", "head_dim: expected an even number, found 5"},
      {R"("hidden_size": 66, "head_dim": null)", "hidden_size: expected a multiple of num_attention_heads"},
      {R"("vocab_size": "many")", "vocab_size: expected a positive integer, found text \"many\""},
      {R"("hidden_size": 0)", "hidden_size: expected a positive integer, found"},
      {R"("tie_word_embeddings": 1)", "tie_word_embeddings: expected true or false"},
      {R"("pad_token_id": 100)", "pad_token_id: expected an id below vocab_size = 100"},
      {R"("rms_norm_eps": null, "num_hidden_layers": 2000000000, "hidden_size": 2000000000)", "sizes: a model of"},
      {R"("num_hidden_layers": 2000000000)", "num_hidden_layers: expected at most 10000, found 2000000000"},
      {R"("use_sliding_window": "no")", "use_sliding_window: expected true or false"},
      {R"("attention_bias": "no")", "attention_bias: expected true or false"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.keys);
    write(kQwen3, c.keys);
    const std::string error = error_of();
    EXPECT_NE(error.find(c.fault), std::string::npos) << error;
    EXPECT_NE(error.find(folder_ + "/config.json: "), std::string::npos) << error;
  }
  write(kQwen3, R"("hidden_act": "gelu", "head_dim": 3, "rope_theta": 0)");
  EXPECT_NE(error_of().find("3 faults"), std::string::npos) << "all in one go";
}

}  // namespace
}  // namespace hone
