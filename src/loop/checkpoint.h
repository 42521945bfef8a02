// Checkpoint: FOLDER/global_step_N is a plain Hugging Face folder with the training state beside it:
//   config.json, model.safetensors (float32), tokenizer files; or, where adapters are trained, adapter_config.json and
//     adapter_model.safetensors, and on request merged/, a Hugging Face folder with all weights
//   training_state/state.json, training_state/optimizer.safetensors
//   training_state/config.yaml         effective options of the run that saved it
//   training_state/speculation.json    what speculation's decisions depend on, where it is on
//     (rollout/speculation_file.h)
//   training_state/answer_lengths.json, training_state/unfinished.json, training_state/early_stopping.json, where a run
//     has such (loop/training_rollout.h, loop/early_stopping.h)
//   training_state/critic/             model.safetensors and optimizer.safetensors of a critic (loop/critic_training.h)
//   training_state/kl_controller.json  weight of an adaptive KL in the reward (loop/kl_reward.h)
//   training_state/complete            written last; a folder without it is not a checkpoint
// The folder appears whole or not at all, so saving never harms an older one.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "models/decoder.h"
#include "records/data_position.h"
#include "train/optimizer.h"

namespace hone {

struct TrainingState {
  int64_t global_step = 0;
  DataPosition position;
  int32_t version = 0;                  // of the policy
  int64_t optimizer_steps = 0;          // applied
  std::optional<int64_t> critic_steps;  // the same of a critic, where there is one
  std::string kind;                     // "grpo" or "sft": one cannot go on as the other
  std::string form;                     // of what is trained and of its moments: another one cannot go on from it
  std::string numeric_mode;
  std::string data_hash;
  std::string scorer_hash;  // of a reward function or service (OutsideScorer::mark); empty without
  std::string base_hash;    // of the weights under adapters (loop/base_hash.h); empty without, and in old checkpoints
  std::string config;       // effective options, YAML; empty in checkpoints that were saved without
  std::string speculation;  // JSON; empty without speculation
  bool operator==(const TrainingState&) const = default;
};

std::string checkpoint_path(const std::string& folder, int64_t global_step);
// N of PATH/global_step_N, with slashes at its end or not; nothing for another name.
std::optional<int64_t> step_of_checkpoint(const std::string& path);
// Steps of the complete checkpoints in the folder, ascending.
std::vector<int64_t> list_checkpoints(const std::string& folder);

struct SaveOptions {
  std::string source_folder;  // of tokenizer files, and the model that adapters belong to
  bool merged = false;        // adapters also merged into the weights
};

// `more` puts what else a kind of run has to keep beside state.json, given that folder.
void save_checkpoint(const std::string& folder, const TrainingState& state, const Decoder& decoder,
                     const Optimizer& optimizer, const SaveOptions& options,
                     const std::function<void(const std::string& folder)>& more = {});
// The folder of state.json.
std::string state_folder(const std::string& checkpoint);

// Writes the step of the newest complete checkpoint into FOLDER/latest_checkpointed_iteration.txt, for people and for
// tools that know verl's folders; without one there is no such file.
void name_latest(const std::string& folder);

// state.json and config.yaml alone: cheap, for checks before anything is loaded. Raises Error on a folder that is not
// complete, another format, numbers out of range, a step that is not that of the folder's name.
TrainingState read_training_state(const std::string& checkpoint);
// The same, and that config.json and config.yaml can be read and the files of tensors are as long as their headers say;
// cheap too.
TrainingState check_checkpoint(const std::string& checkpoint);
// The newest step whose checkpoint passes that check, below `before`.
std::optional<int64_t> newest_sound_checkpoint(const std::string& folder, int64_t before);
// Moments and step count; the weights are loaded like any model's.
void load_optimizer(const std::string& checkpoint, const Decoder& decoder, const TrainingState& state,
                    Optimizer& optimizer);

// A model beside the run's own, with its moments, in an existing folder of the training state. Raises Error, before
// anything is written, where its weights are not finite.
void save_beside(const std::string& folder, const Decoder& decoder, const Optimizer& optimizer);
// Its moments.
void load_moments(const std::string& folder, const Decoder& decoder, Optimizer& optimizer);
std::string critic_folder(const std::string& state_folder);

// Removes the complete checkpoints that are older than the `keep` newest sound ones (0: none). What is damaged does not
// count and, where nothing sound is newer, is not removed: the last good checkpoint always stays. Raises Error when one
// cannot be removed; it is then there as it was.
void remove_old_checkpoints(const std::string& folder, int64_t keep);

}  // namespace hone
