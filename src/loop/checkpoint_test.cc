#include "loop/checkpoint.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <functional>

#include "core/error.h"
#include "core/random.h"
#include "io/atomic_file.h"
#include "io/file.h"
#include "models/tiny_config.h"
#include "prompts/arithmetic_task.h"
#include "weights/adapter_folder.h"
#include "weights/gguf_convert.h"
#include "weights/hf_config.h"
#include "weights/hf_folder.h"

namespace hone {
namespace {

namespace fs = std::filesystem;

class Checkpoint : public ::testing::Test {
 protected:
  Checkpoint() : folder_((fs::temp_directory_path() / ("hone-checkpoint-" + std::to_string(::getpid()))).string()) {
    fs::remove_all(folder_);
    decoder_.initialize(1);
    decoder_.allocate_gradients();
    take_steps(decoder_, optimizer_);
  }
  ~Checkpoint() override { fs::remove_all(folder_); }

  // Five, with gradients that are the same for every decoder.
  static void take_steps(Decoder& decoder, Optimizer& optimizer) {
    kernels::Context ctx(1);
    for (uint32_t step = 0; step < 5; ++step) {
      for (size_t p = 0; p < decoder.trained().size(); ++p) {
        const View<float> g = decoder.trained()[p].gradient();
        for (int64_t i = 0; i < g.size(); ++i) {
          g[i] = random_normal({2, Stream::test}, p, step, static_cast<uint32_t>(i));
        }
      }
      optimizer.step(ctx, decoder, 1e-3);
    }
  }
  TrainingState state_of(int64_t step) const {
    TrainingState state;
    state.global_step = step;
    state.position = {3, 17, 0xffffffffffffff00u};
    state.version = 41;
    state.optimizer_steps = 5;
    state.kind = "grpo";
    state.numeric_mode = "float32/any/1";
    state.data_hash = "00ff";
    state.config = "actor:\n  lr: 1e-4\n";
    return state;
  }
  void save(int64_t step) { save_checkpoint(folder_, state_of(step), decoder_, optimizer_, {}); }

  std::string folder_;
  Decoder decoder_{tiny_model_config(23, 6), DType::f32};
  Optimizer optimizer_{decoder_, {}};
};

bool same_bits(View<const float> a, View<const float> b) {
  return a.size() == b.size() && std::memcmp(a.data, b.data, static_cast<size_t>(a.size()) * sizeof(float)) == 0;
}

TEST_F(Checkpoint, StateWeightsAndMomentsComeBackToTheBit) {
  save(7);
  const std::string path = checkpoint_path(folder_, 7);
  EXPECT_EQ(read_training_state(path), state_of(7));
  const auto decoder = weights::load_decoder(path, DType::f32);
  Optimizer optimizer(*decoder, {});
  load_optimizer(path, *decoder, read_training_state(path), optimizer);
  EXPECT_EQ(optimizer.num_steps(), 5);
  for (size_t p = 0; p < decoder_.parameters().size(); ++p) {
    EXPECT_TRUE(same_bits(decoder->parameters()[p].values().view(), decoder_.parameters()[p].values().view()));
    EXPECT_TRUE(same_bits(optimizer.moments()[p].first().view(), optimizer_.moments()[p].first().view()));
    EXPECT_TRUE(same_bits(optimizer.moments()[p].second().view(), optimizer_.moments()[p].second().view()));
  }
}

TEST_F(Checkpoint, EveryFormGoesOnToTheSameBitsAndNoOtherCan) {
  constexpr MomentForm kForms[] = {MomentForm::f32, MomentForm::bf16, MomentForm::bits8};
  const LoraConfig lora{3, 5.0, {"q_proj", "down_proj"}};
  for (const DType dtype : {DType::f32, DType::bf16}) {
    for (const bool adapted : {false, true}) {
      for (const MomentForm form : kForms) {
        SCOPED_TRACE(fmt::format("{} {} adapters {}", name(dtype), name(form), adapted));
        kernels::Context ctx(1);
        const auto make = [&] {
          const ModelConfig config = tiny_model_config(23, 6);
          auto decoder =
              adapted ? std::make_unique<Decoder>(config, dtype, lora) : std::make_unique<Decoder>(config, dtype);
          decoder->initialize(1);
          if (adapted) decoder->initialize_adapters(ctx, 2);
          decoder->allocate_gradients();
          return decoder;
        };
        const auto first = make();
        OptimizerOptions options;
        options.moments = form;
        Optimizer optimizer(*first, options);
        take_steps(*first, optimizer);
        fs::remove_all(folder_);
        save_checkpoint(folder_, state_of(7), *first, optimizer, {});
        const std::string path = checkpoint_path(folder_, 7);
        EXPECT_EQ(check_checkpoint(path), state_of(7));

        auto second = make();
        if (adapted) {
          EXPECT_FALSE(io::exists(path + "/model.safetensors"));
          weights::load_adapter(ctx, *second, path);
        } else {
          second = weights::load_decoder(path, dtype);
          second->allocate_gradients();
        }
        Optimizer restored(*second, options);
        load_optimizer(path, *second, read_training_state(path), restored);
        take_steps(*first, optimizer);
        take_steps(*second, restored);
        for (size_t p = 0; p < first->trained().size(); ++p) {
          EXPECT_TRUE(same_bits(first->trained()[p].values().view(), second->trained()[p].values().view()));
          EXPECT_TRUE(same_bits(optimizer.moments()[p].second().view(), restored.moments()[p].second().view()));
        }
        for (const MomentForm other : kForms) {
          if (other == form) continue;
          OptimizerOptions others;
          others.moments = other;
          Optimizer wrong(*second, others);
          EXPECT_THROW(load_optimizer(path, *second, state_of(7), wrong), Error) << name(other);
        }
      }
    }
  }
}

// A folder or a GGUF file, of all weights as of adapters.
TEST_F(Checkpoint, TheFilesBesideTheWeightsStayWhenTheModelIsMovedAway) {
  const std::string model = folder_ + "-model", gguf = folder_ + ".gguf";
  Decoder adapted(tiny_model_config(23, 6), DType::f32, LoraConfig{3, 5.0, {"q_proj", "down_proj"}});
  adapted.initialize(1);
  kernels::Context ctx(1);
  adapted.initialize_adapters(ctx, 2);
  Optimizer of_adapters(adapted, {});
  for (const std::string& source : {model, gguf}) {
    for (const bool is_adapted : {false, true}) {
      SCOPED_TRACE(fmt::format("{} adapters {}", source, is_adapted));
      fs::remove_all(folder_);
      write_arithmetic_tokenizer(model);
      io::write_file(model + "/generation_config.json", "{\"eos_token_id\": 13}\n");
      weights::save_model(decoder_, model, "");
      weights::model_to_gguf(model, gguf, io::GgmlType::f32);
      const auto save_step = [&](int64_t step) {
        save_checkpoint(folder_, state_of(step), is_adapted ? adapted : decoder_, is_adapted ? of_adapters : optimizer_,
                        {.source_folder = source});
      };
      save_step(1);
      fs::remove_all(source);
      save_step(2);
      for (const char* name : {"/tokenizer.json", "/tokenizer_config.json", "/generation_config.json"}) {
        ASSERT_TRUE(io::exists(checkpoint_path(folder_, 2) + name)) << name;
        EXPECT_EQ(io::read_file(checkpoint_path(folder_, 2) + name), io::read_file(checkpoint_path(folder_, 1) + name));
      }
      EXPECT_EQ(weights::load_config(checkpoint_path(folder_, 2)), weights::load_config(checkpoint_path(folder_, 1)));
    }
  }
  fs::remove_all(model);
  fs::remove_all(gguf);
}

TEST_F(Checkpoint, AFolderThatIsNotCompleteIsNoCheckpoint) {
  EXPECT_TRUE(list_checkpoints(folder_).empty());
  save(10);
  save(9);
  save(2);
  fs::remove(checkpoint_path(folder_, 10) + "/training_state/complete");
  fs::create_directories(folder_ + "/global_step_12");
  fs::create_directories(folder_ + "/global_step_x/training_state");
  io::write_file(folder_ + "/global_step_x/training_state/complete", "");
  EXPECT_EQ(list_checkpoints(folder_), (std::vector<int64_t>{2, 9}));
  EXPECT_THROW(read_training_state(checkpoint_path(folder_, 10)), Error);
  EXPECT_THROW(read_training_state(checkpoint_path(folder_, 77)), Error);
}

TEST_F(Checkpoint, OfOldOnesTheNewestStay) {
  for (int64_t step : {1, 2, 9, 10, 11}) save(step);
  remove_old_checkpoints(folder_, 0);
  EXPECT_EQ(list_checkpoints(folder_).size(), 5u) << "0 keeps all";
  remove_old_checkpoints(folder_, 2);
  EXPECT_EQ(list_checkpoints(folder_), (std::vector<int64_t>{10, 11})) << "by number, not by name";
  EXPECT_FALSE(io::exists(checkpoint_path(folder_, 9)));
  remove_old_checkpoints(folder_, 5);
  EXPECT_EQ(list_checkpoints(folder_), (std::vector<int64_t>{10, 11}));
}

// Of {1..5}, with some damaged in some way: what stays when `keep` are kept.
TEST_F(Checkpoint, TheLastGoodOneIsNeverRemoved) {
  const auto cut = [](const std::string& path) { fs::resize_file(path, fs::file_size(path) / 2); };
  struct Damage {
    const char* name;
    std::function<void(const std::string& checkpoint)> apply;
  };
  const Damage damages[] = {
      {"weights cut", [&](const std::string& c) { cut(c + "/model.safetensors"); }},
      {"weights gone", [](const std::string& c) { fs::remove(c + "/model.safetensors"); }},
      {"moments cut", [&](const std::string& c) { cut(c + "/training_state/optimizer.safetensors"); }},
      {"state cut", [&](const std::string& c) { cut(c + "/training_state/state.json"); }},
      {"state gone", [](const std::string& c) { fs::remove(c + "/training_state/state.json"); }},
      {"config cut", [&](const std::string& c) { cut(c + "/config.json"); }},
      {"options broken", [](const std::string& c) { io::write_file(c + "/training_state/config.yaml", "{"); }},
      {"another step",
       [](const std::string& c) {
         const std::string path = c + "/training_state/state.json";
         std::string state = io::read_file(path);
         const size_t at = state.find("\"global_step\": ");
         io::write_file(path, state.insert(at + 15, "7"));
       }},
      {"not complete", [](const std::string& c) { fs::remove(c + "/training_state/complete"); }},
  };
  for (int64_t step : {1, 2, 3, 4, 5}) save(step);
  const std::string whole = folder_ + "-whole";
  fs::remove_all(whole);
  fs::rename(folder_, whole);
  for (const Damage& damage : damages) {
    for (const int64_t keep : {1, 2}) {
      fs::remove_all(folder_);
      fs::copy(whole, folder_, fs::copy_options::recursive);
      for (int64_t step : {4, 5}) damage.apply(checkpoint_path(folder_, step));
      remove_old_checkpoints(folder_, keep);
      EXPECT_TRUE(fs::exists(checkpoint_path(folder_, 3))) << damage.name;
      EXPECT_NO_THROW(check_checkpoint(checkpoint_path(folder_, 3))) << damage.name;
      EXPECT_EQ(fs::exists(checkpoint_path(folder_, 2)), keep == 2) << damage.name;
      EXPECT_FALSE(fs::exists(checkpoint_path(folder_, 1))) << damage.name;
      EXPECT_TRUE(fs::exists(checkpoint_path(folder_, 5))) << damage.name << ": what is damaged is left to the user";
      EXPECT_EQ(newest_sound_checkpoint(folder_, 100), 3);
      EXPECT_EQ(newest_sound_checkpoint(folder_, 3), keep == 2 ? std::optional<int64_t>(2) : std::nullopt);
    }
    fs::remove_all(folder_);
    fs::create_directories(folder_);
    fs::copy(checkpoint_path(whole, 1), checkpoint_path(folder_, 1), fs::copy_options::recursive);
    damage.apply(checkpoint_path(folder_, 1));
    remove_old_checkpoints(folder_, 1);
    EXPECT_TRUE(fs::exists(checkpoint_path(folder_, 1))) << damage.name << ": nothing newer is there";
  }
  fs::remove_all(whole);
}

TEST_F(Checkpoint, AStepIsReadFromANameOfAnyForm) {
  const std::pair<const char*, std::optional<int64_t>> cases[] = {
      {"global_step_7", 7},
      {"a/b/global_step_7", 7},
      {"/a/global_step_12/", 12},
      {"a/global_step_0///", 0},
      {"global_step_", {}},
      {"global_step_x", {}},
      {"global_step_-3", {}},
      {"a/global_step_7/actor", {}},
      {"", {}},
      {"///", {}},
      {"global_step_7.set_aside", {}},
      {"my_global_step_7", {}},
  };
  for (const auto& [path, step] : cases) EXPECT_EQ(step_of_checkpoint(path), step) << path;
}

TEST_F(Checkpoint, AStateOfAnotherStepThanItsFolderIsRefused) {
  save(6);
  fs::rename(checkpoint_path(folder_, 6), checkpoint_path(folder_, 60));
  try {
    read_training_state(checkpoint_path(folder_, 60));
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("global_step: expected 60, the step of the folder's name, found 6"),
              std::string::npos)
        << error.what();
  }
  fs::rename(checkpoint_path(folder_, 60), folder_ + "/copy");
  EXPECT_EQ(read_training_state(folder_ + "/copy").global_step, 6) << "a folder of another name says nothing";
}

TEST_F(Checkpoint, AStateThatDoesNotFitIsRefused) {
  save(1);
  const std::string path = checkpoint_path(folder_, 1);
  ModelConfig wider = tiny_model_config(23, 6);
  wider.intermediate_size = 21;
  Decoder decoder(wider, DType::f32);
  Optimizer optimizer(decoder, {});
  EXPECT_THROW(load_optimizer(path, decoder, state_of(1), optimizer), Error);
  const std::string state = io::read_file(path + "/training_state/state.json");
  const size_t at = state.find("\"format_version\": 1");
  ASSERT_NE(at, std::string::npos);
  io::write_file(path + "/training_state/state.json", std::string(state).replace(at, 19, "\"format_version\": 9"));
  EXPECT_THROW(read_training_state(path), Error);
}

// Writes that fail half-way, as on a full disk: files may not grow beyond a limit, from none to all but the last bytes.
TEST_F(Checkpoint, ASaveThatFailsLeavesTheOlderOneWhole) {
  save(3);
  const std::string path = checkpoint_path(folder_, 3);
  const auto size = static_cast<rlim_t>(fs::file_size(path + "/training_state/optimizer.safetensors"));
  ::signal(SIGXFSZ, SIG_IGN);
  rlimit before;
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  int failed = 0;
  for (const rlim_t limit : {rlim_t{0}, rlim_t{100}, size / 3, size / 2, size - 1}) {
    const rlimit now{limit, before.rlim_max};
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &now), 0);
    decoder_.parameters()[0].set(0, decoder_.parameters()[0].get(0) + 1.0f);
    for (const int64_t step : {3, 4}) {
      try {
        save(step);
      } catch (const Error&) {
        ++failed;
      }
    }
    ::setrlimit(RLIMIT_FSIZE, &before);
    EXPECT_EQ(list_checkpoints(folder_), (std::vector<int64_t>{3}));
    EXPECT_EQ(read_training_state(path), state_of(3));
    const auto decoder = weights::load_decoder(path, DType::f32);
    EXPECT_NE(decoder->parameters()[0].get(0), decoder_.parameters()[0].get(0));
  }
  ::signal(SIGXFSZ, SIG_DFL);
  EXPECT_EQ(failed, 10);
  save(4);
  EXPECT_EQ(list_checkpoints(folder_), (std::vector<int64_t>{3, 4}));
}

}  // namespace
}  // namespace hone
