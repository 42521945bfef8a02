// Case F1: broken or unfitting weight files end before any compute, with file, tensor, expected and found.
#include "weights/model_files.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <functional>

#include "core/error.h"
#include "io/atomic_file.h"
#include "io/file.h"
#include "io/json.h"
#include "weights/hf_folder.h"
#include "weights/model_test_cases.h"

namespace hone {
namespace {

namespace fs = std::filesystem;

// A folder that a case breaks: one file, or three shards under an index.
class Folder {
 public:
  Folder(const ModelConfig& config, bool sharded)
      : path_(fs::temp_directory_path() / ("hone-files-" + std::to_string(::getpid()))) {
    fs::remove_all(path_);
    fs::create_directories(path_);
    Decoder decoder(config, DType::f32);
    decoder.initialize(1);
    weights::save_model(decoder, path(), "");
    if (!sharded) return;
    {
      const io::SafetensorsReader reader(path());
      io::Json map = io::Json::object();
      for (size_t shard = 0; shard < 3; ++shard) {
        io::SafetensorsWriter writer;
        const std::string name = shard_name(shard);
        for (size_t i = shard; i < reader.tensors().size(); i += 3) {
          const io::StoredTensor& tensor = reader.tensors()[i];
          map.set(tensor.name, name);
          writer.add_bytes(tensor.name, tensor.shape, tensor.type, tensor.data);
        }
        writer.write(file(name));
      }
      io::Json index = io::Json::object();
      index.set("metadata", io::Json::object({{"total_size", 0}}));
      index.set("weight_map", map);
      io::write_json(file("model.safetensors.index.json"), index);
    }
    fs::remove(file("model.safetensors"));
  }
  ~Folder() { fs::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  static std::string shard_name(size_t shard) { return fmt::format("model-{}.safetensors", shard); }
  std::string path() const { return path_.string(); }
  std::string file(const std::string& name) const { return (path_ / name).string(); }
  std::string weights() const { return file("model.safetensors"); }
  void set(const std::string& key, io::Json value) const {
    io::Json config = io::read_json(file("config.json"));
    config.set(key, std::move(value));
    io::write_json(file("config.json"), config);
  }
  void edit_bytes(const std::function<void(std::string&)>& edit) const {
    std::string bytes = io::read_file(weights());
    edit(bytes);
    io::write_file(weights(), bytes);
  }
  // Writes model.safetensors anew: change() may alter a tensor or, with false, leave it out.
  void rewrite(const std::function<bool(io::StoredTensor&)>& change,
               const std::function<void(io::SafetensorsWriter&)>& add = {}) const {
    {
      const io::SafetensorsReader reader(path());
      io::SafetensorsWriter writer;
      for (io::StoredTensor tensor : reader.tensors()) {
        if (change(tensor)) writer.add_bytes(tensor.name, tensor.shape, tensor.type, tensor.data);
      }
      if (add) add(writer);
      writer.write(file("new.safetensors"));
    }
    fs::rename(file("new.safetensors"), weights());
  }
  void add_tensor(const std::string& name, int64_t size) const {
    const std::vector<float> values(static_cast<size_t>(size));
    rewrite([](io::StoredTensor&) { return true; },
            [&](io::SafetensorsWriter& writer) { writer.add(name, {size}, io::StoredType::f32, values.data()); });
  }

 private:
  fs::path path_;
};

std::string error_of(const std::function<void()>& body) {
  try {
    body();
  } catch (const Error& error) {
    EXPECT_EQ(error.exit_code(), 2);
    EXPECT_FALSE(error.hint().empty()) << error.what();
    return error.what();
  }
  return "";
}

struct BrokenFile {
  const char* name;
  Family family;
  bool sharded;
  std::function<void(const Folder&)> damage;
  std::vector<std::string> parts;  // of the message; none: the folder is fine
};

std::vector<BrokenFile> broken_files() {
  const auto qwen3 = Family::qwen3;
  return {
      {"whole", qwen3, false, [](const Folder&) {}, {}},
      {"whole in shards", qwen3, true, [](const Folder&) {}, {}},
      {"cut at half",
       qwen3,
       false,
       [](const Folder& f) { f.edit_bytes([](std::string& b) { b.resize(b.size() / 2); }); },
       {"model.safetensors: tensor model.", "data_offsets", "bytes of data"}},
      {"seven bytes",
       qwen3,
       false,
       [](const Folder& f) { f.edit_bytes([](std::string& b) { b.resize(7); }); },
       {"model.safetensors: expected at least 8 bytes, found 7"}},
      {"empty",
       qwen3,
       false,
       [](const Folder& f) { f.edit_bytes([](std::string& b) { b.clear(); }); },
       {"model.safetensors: expected at least 8 bytes, found 0"}},
      {"header longer than the file",
       qwen3,
       false,
       [](const Folder& f) { f.edit_bytes([](std::string& b) { b[4] = 1; }); },
       {"model.safetensors: a header of", "bytes is announced, the file holds"}},
      {"one byte too many",
       qwen3,
       false,
       [](const Folder& f) { f.edit_bytes([](std::string& b) { b += 'x'; }); },
       {"model.safetensors: expected", "bytes of data, found"}},
      {"index naming a missing shard",
       qwen3,
       true,
       [](const Folder& f) { fs::remove(f.file(Folder::shard_name(1))); },
       {"model.safetensors.index.json: expected the shard model-1.safetensors with 8 tensors", "found no such file",
        "1 fault\n"}},
      {"a missing shard, a damaged one and a wrong shape",
       qwen3,
       true,
       [](const Folder& f) {
         fs::remove(f.file(Folder::shard_name(1)));
         io::write_file(f.file(Folder::shard_name(2)), "short");
         f.set("vocab_size", 24);
       },
       {"expected the shard model-1.safetensors", "model-2.safetensors: expected at least 8 bytes, found 5",
        "tensor model.embed_tokens.weight: expected shape [24, 12], found [23, 12]", "3 faults"}},
      {"tensor in another shard than the index says",
       qwen3,
       true,
       [](const Folder& f) {
         io::Json index = io::read_json(f.file("model.safetensors.index.json"));
         index.find("weight_map")->set("model.norm.weight", "model-1.safetensors");
         io::write_json(f.file("model.safetensors.index.json"), index);
       },
       {"tensor model.norm.weight: expected", "found no entry",
        "model-1.safetensors: tensor model.norm.weight: expected, as"}},
      {"a shard that is a folder with weights of its own",
       qwen3,
       true,
       [](const Folder& f) {
         const std::string shard = f.file(Folder::shard_name(1));
         fs::rename(shard, f.file("set-aside"));
         fs::create_directory(shard);
         fs::rename(f.file("set-aside"), shard + "/model.safetensors");
       },
       {"expected the shard model-1.safetensors to be a file, found a folder", "1 fault\n"}},
      {"index that leads out of the folder",
       qwen3,
       true,
       [](const Folder& f) {
         io::Json index = io::read_json(f.file("model.safetensors.index.json"));
         index.find("weight_map")->set("model.norm.weight", "../model-1.safetensors");
         io::write_json(f.file("model.safetensors.index.json"), index);
       },
       {"weight_map.model.norm.weight: expected the name of a file beside the index, found text \"../model-1"}},
      {"index that is no JSON",
       qwen3,
       true,
       [](const Folder& f) { io::write_file(f.file("model.safetensors.index.json"), "{"); },
       {"model.safetensors.index.json"}},
      {"no file at all",
       qwen3,
       false,
       [](const Folder& f) { fs::remove(f.weights()); },
       {"expected model.safetensors or model.safetensors.index.json, found neither"}},
      {"a file of another format",
       qwen3,
       false,
       [](const Folder& f) { fs::rename(f.weights(), f.file("pytorch_model.bin")); },
       {"expected model.safetensors or model.safetensors.index.json, found pytorch_model.bin, which is not read"}},
      {"wrong width everywhere",
       qwen3,
       false,
       [](const Folder& f) { f.set("hidden_size", 16); },
       {"tensor model.embed_tokens.weight: expected shape [23, 16], found [23, 12]",
        "tensor model.layers.1.mlp.down_proj.weight: expected shape [16, 20], found [12, 20]",
        "tensor model.norm.weight: expected shape [16], found [12]"}},
      {"one wrong shape",
       qwen3,
       false,
       [](const Folder& f) {
         f.rewrite([](io::StoredTensor& t) {
           if (t.name == "model.layers.0.self_attn.q_proj.weight") std::swap(t.shape[0], t.shape[1]);
           return true;
         });
       },
       {"tensor model.layers.0.self_attn.q_proj.weight: expected shape [24, 12], found [12, 24]", "1 fault\n"}},
      {"integers for weights",
       qwen3,
       false,
       [](const Folder& f) {
         f.rewrite([](io::StoredTensor& t) {
           if (t.name == "model.norm.weight") t.type = io::StoredType::i32;
           return true;
         });
       },
       {"tensor model.norm.weight: expected F32, BF16 or F16, found I32"}},
      {"a layer missing",
       qwen3,
       false,
       [](const Folder& f) { f.set("num_hidden_layers", 3); },
       {"tensor model.layers.2.self_attn.q_proj.weight: expected shape [24, 12], found no such tensor", "11 faults"}},
      {"a layer too many",
       qwen3,
       false,
       [](const Folder& f) { f.set("num_hidden_layers", 1); },
       {"tensor model.layers.1.self_attn.q_norm.weight: expected no such tensor, found [6]: num_hidden_layers is 1"}},
      {"head absent, tied", qwen3, false, [](const Folder&) {}, {}},
      {"head absent, untied",
       qwen3,
       false,
       [](const Folder& f) { f.set("tie_word_embeddings", false); },
       {"tensor lm_head.weight: expected shape [23, 12], found no such tensor (tie_word_embeddings is false"}},
      {"old rotary tables",
       qwen3,
       false,
       [](const Folder& f) { f.add_tensor("model.layers.0.self_attn.rotary_emb.inv_freq", 3); },
       {}},
      {"adapter beside the weights",
       Family::llama,
       false,
       [](const Folder& f) { f.add_tensor("model.layers.0.self_attn.q_proj.lora_A.weight", 3); },
       {"adapter weights have to be merged first"}},
      {"quantized weights",
       Family::llama,
       false,
       [](const Folder& f) { f.add_tensor("model.layers.0.self_attn.q_proj.qweight", 3); },
       {"quantized weights are not read"}},
      {"a classifier",
       Family::qwen2,
       false,
       [](const Folder& f) { f.add_tensor("score.weight", 12); },
       {"tensor score.weight: expected no such tensor, found [12]: the head of a classifier"}},
      {"names of a bare model",
       qwen3,
       false,
       [](const Folder& f) {
         f.rewrite([](io::StoredTensor& t) {
           t.name = t.name.substr(6);
           return true;
         });
       },
       {"tensor model.embed_tokens.weight: expected shape [23, 12], found no such tensor",
        "tensor embed_tokens.weight: expected no such tensor, found [23, 12]: names begin with model."}},
      {"biases that config.json does not name",
       Family::llama,
       false,
       [](const Folder& f) { f.add_tensor("model.layers.1.self_attn.o_proj.bias", 12); },
       {"o_proj.bias: expected no such tensor, found [12]: attention_bias is false"}},
      {"biases that config.json names",
       Family::llama,
       false,
       [](const Folder& f) { f.set("attention_bias", true); },
       {"tensor model.layers.0.self_attn.k_proj.bias: expected shape [12], found no such tensor", "8 faults"}},
      {"Qwen2 weights as Llama",
       Family::qwen2,
       false,
       [](const Folder& f) { f.set("architectures", io::Json::array({"LlamaForCausalLM"})); },
       {"tensor model.layers.0.self_attn.q_proj.bias: expected no such tensor, found [24]: attention_bias is false"}},
      {"Llama weights as Qwen3",
       Family::llama,
       false,
       [](const Folder& f) { f.set("architectures", io::Json::array({"Qwen3ForCausalLM"})); },
       {"tensor model.layers.0.self_attn.q_norm.weight: expected shape [6], found no such tensor"}},
      {"Qwen3 weights as Qwen2",
       qwen3,
       false,
       [](const Folder& f) { f.set("architectures", io::Json::array({"Qwen2ForCausalLM"})); },
       {"tensor model.layers.0.self_attn.q_proj.bias: expected shape [24], found no such tensor",
        "tensor model.layers.0.self_attn.q_norm.weight: expected no such tensor, found [6]: qwen2 has no norms"}},
  };
}

TEST(ModelFiles, F1BrokenFilesEndBeforeAnyComputeWithFileTensorExpectedAndFound) {
  for (const BrokenFile& c : broken_files()) {
    SCOPED_TRACE(c.name);
    const Folder folder(small_config(c.family, true), c.sharded);
    c.damage(folder);
    const std::string checked = error_of([&] { weights::check_model_files(folder.path()); });
    EXPECT_EQ(checked.empty(), c.parts.empty()) << checked;
    for (const std::string& part : c.parts) EXPECT_NE(checked.find(part), std::string::npos) << part << "\n" << checked;
    EXPECT_TRUE(c.parts.empty() || checked.find(folder.path()) != std::string::npos) << checked;
    EXPECT_EQ(error_of([&] { weights::load_decoder(folder.path(), DType::f32); }), checked) << "loading says the same";
  }
}

TEST(ModelFiles, ShardsAreTheSameModelAsOneFile) {
  std::vector<float> one;
  for (const bool sharded : {false, true}) {
    const Folder folder(small_config(Family::qwen2, true), sharded);
    const auto decoder = weights::load_decoder(folder.path(), DType::f32);
    std::vector<float> all;
    for (const Parameter& parameter : decoder->parameters()) {
      const Buffer<float> w = parameter.values();
      all.insert(all.end(), w.begin(), w.end());
    }
    if (!sharded) {
      one = all;
    } else {
      EXPECT_EQ(one, all);
    }
  }
}

TEST(ModelFiles, SizesThatConfigJsonDoesNotGiveAreNamedWhereTheyDoNotFit) {
  const Folder folder(small_config(Family::llama, true), false);
  io::Json config = io::read_json(folder.file("config.json"));
  std::erase_if(config.object_members(), [](const auto& member) { return member.key == "intermediate_size"; });
  io::write_json(folder.file("config.json"), config);
  try {
    weights::check_model_files(folder.path());
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(error.hint().find("intermediate_size = 11008"), std::string::npos) << error.hint();
  }
}

}  // namespace
}  // namespace hone
