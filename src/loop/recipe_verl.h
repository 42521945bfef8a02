// verl's keys beyond the honoured ones: which are accepted without a meaning, which are refused unless neutral, and
// why. Each is listed once, with verl's default; groups that several roles have (sharding, profiler, checkpoint,
// optimizer) once for all of them. recipe_verl.cc holds those of the whole run, recipe_verl_roles.cc those of models.
#pragma once

#include <initializer_list>
#include <string>

#include "config/schema.h"

namespace hone::verl {

inline constexpr const char* kDevices = "one process uses every core; there are no devices to divide";
inline constexpr const char* kSharded = "weights are not sharded or offloaded";
inline constexpr const char* kMasters = "master weights are float32; products take the dtype of the run";
inline constexpr const char* kOnePolicy =
    "sampling and training share weights and kernels: no second pass, nothing to correct";
inline constexpr const char* kOldCorrection =
    "it is an older name; on policy there is nothing to correct, else algorithm.rollout_correction.rollout_is and "
    "rollout_rs are the keys";
inline constexpr const char* kOff = "the part it belongs to is off";
inline constexpr const char* kOneEngine = "there is one engine";
inline constexpr const char* kSameWeights = "the engine reads the trainer's weights";
inline constexpr const char* kPrompts = "prompts are text";
inline constexpr const char* kRows = "rows are read before the run";
inline constexpr const char* kNoRay = "there is no Ray";
inline constexpr const char* kProfiler = "there is no profiler yet; timing_s/* in metrics.jsonl tells of phases";
inline constexpr const char* kNotYet = "not there yet";

using config::ValueKind;

// A key and verl's default, or what it takes where that is null.
struct Key {
  Key(const char* key_name, io::Json value) : name(key_name), default_value(std::move(value)), has_default(true) {}
  Key(const char* key_name, ValueKind value_kind) : name(key_name), kind(value_kind) {}
  const char* name;
  io::Json default_value;
  bool has_default = false;
  ValueKind kind = ValueKind::any;
};
// All accepted for one reason; `prefix` ends with a dot or is empty.
void accept(config::Schema& s, const std::string& prefix, const char* reason, std::initializer_list<Key> keys);

// Groups under a prefix that ends with a dot.
void add_fsdp(config::Schema& s, const std::string& prefix);
void add_megatron(config::Schema& s, const std::string& prefix);
void add_profiler(config::Schema& s, const std::string& prefix);
void add_checkpoint(config::Schema& s, const std::string& prefix);
// What is beside the fields of run_recipe.h.
void add_optimizer(config::Schema& s, const std::string& prefix);
void add_model(config::Schema& s, const std::string& prefix);

// actor, ref, rollout, critic.
void add_roles(config::Schema& s);

}  // namespace hone::verl
