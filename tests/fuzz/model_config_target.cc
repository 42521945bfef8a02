// config.json of a model: what is accepted has sizes that fit together and whose sums stay in 64 bits.
#include <cmath>

#include "core/error.h"
#include "fuzz/target.h"
#include "io/faults.h"
#include "weights/hf_config.h"

namespace hone::fuzz {
namespace {

void run(std::string_view text) {
  ModelConfig config;
  try {
    config = weights::parse_config(io::parse_json(text, "config.json"), "config.json");
  } catch (const io::FaultError& error) {
    for (const std::string& fault : error.faults()) {
      behaviour(fault);
      FUZZ_CHECK(fault.starts_with("config.json: "), fault);
    }
    return;
  } catch (const Error& error) {
    behaviour(error.what());
    FUZZ_CHECK(std::string_view(error.what()).starts_with("config.json:"), error.what());
    return;
  }
  behaviour(std::string("accepted") + (config.tie_word_embeddings ? "tied" : "untied"));
  for (const int64_t size : {config.vocab_size, config.hidden_size, config.intermediate_size, config.num_layers,
                             config.num_heads, config.num_kv_heads, config.head_dim, config.max_position_embeddings}) {
    FUZZ_CHECK(size >= 1 && size <= int64_t{1} << 31, std::to_string(size));
  }
  FUZZ_CHECK(config.num_heads % config.num_kv_heads == 0 && config.head_dim % 2 == 0, "heads");
  FUZZ_CHECK(config.num_parameters() > 0 && config.num_parameters() < int64_t{1} << 44, "parameters");
  FUZZ_CHECK(std::isfinite(config.rope_theta) && config.rope_theta > 0 && config.rms_norm_eps > 0, "numbers");
}

Material material() {
  const std::string sizes =
      R"("vocab_size": 151936, "hidden_size": 896, "intermediate_size": 4864, "num_hidden_layers": 24, )"
      R"("num_attention_heads": 14, "num_key_value_heads": 2, "max_position_embeddings": 32768, "rms_norm_eps": 1e-06, )";
  return {
      {R"({"architectures": ["Qwen3ForCausalLM"], "model_type": "qwen3", "head_dim": 128, "hidden_act": "silu", )" +
           sizes +
           R"("rope_theta": 1000000, "rope_scaling": null, "tie_word_embeddings": true, "attention_bias": false})",
       R"({"architectures": ["Qwen2ForCausalLM"], "model_type": "qwen2", "use_sliding_window": false, )" + sizes +
           R"("sliding_window": 32768, "max_window_layers": 21, "rope_theta": 1000000.0, "tie_word_embeddings": true, "torch_dtype": "bfloat16"})",
       R"({"architectures": ["LlamaForCausalLM"], "model_type": "llama", )" + sizes +
           R"("rope_scaling": {"rope_type": "llama3", "factor": 32.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0, "original_max_position_embeddings": 8192}, "mlp_bias": false, "dtype": "float32"})",
       R"({"model_type": "qwen3", )" + sizes +
           R"("rope_parameters": {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 32768, "rope_theta": 1e6}, "layer_types": ["full_attention"]})",
       "{}", "[]"},
      {"\"rope_scaling\": ",
       "\"rope_parameters\": ",
       "\"rope_type\": ",
       "\"type\": ",
       "\"linear\"",
       "\"yarn\"",
       "\"llama3\"",
       "\"dynamic\"",
       "\"default\"",
       "\"factor\": ",
       "\"head_dim\": ",
       "\"layer_types\": ",
       "\"sliding_attention\"",
       "null",
       "true",
       "false",
       "\"attention_bias\": ",
       "\"use_sliding_window\": ",
       "\"tie_word_embeddings\": ",
       "\"beta_fast\": ",
       "\"attention_factor\": "},
      {}};
}

}  // namespace

FUZZ_TARGET(run, material)

}  // namespace hone::fuzz
