// An option tree with a field of every kind, for the tests of this folder.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "config/load.h"
#include "config/print.h"

namespace hone::config {

struct Sample {
  bool shuffle = true;
  int64_t batch = 8;
  double lr = 1e-6;
  std::string mode = "mean";
  std::string folder = "runs/${names.project}/x";
  std::string project = "hone";
  std::vector<std::string> files;
  std::vector<double> betas = {0.9, 0.999};
  std::optional<int64_t> limit;
  std::optional<double> high;
};

inline Schema schema_of(Sample& s) {
  Schema schema;
  schema.field("data.files", &s.files, "Files.").required().effect(Effect::nothing);
  schema.field("data.shuffle", &s.shuffle, "Shuffles.");
  schema.field("data.batch", &s.batch, "Rows.").at_least(1).at_most(1024);
  schema.field("data.limit", &s.limit, "At most so many | rows.").at_least(1).effect(Effect::length);
  schema.field("actor.optim.lr", &s.lr, "Rate.").at_least(0).below(1).also_called({"learning_rate"});
  schema.field("actor.optim.betas", &s.betas, "Betas.").at_least(0).below(1);
  schema.field("actor.mode", &s.mode, "Mode.").one_of({"mean", "sum"}).because("not there yet");
  schema.field("actor.high", &s.high, "High.").above(0).when("mode is mean");
  schema.field("names.project", &s.project, "Name.").effect(Effect::nothing);
  schema.field("names.folder", &s.folder, "Folder.").effect(Effect::nothing);
  schema.accepted("trainer.gpus", 8, "one process uses every core");
  schema.accepted("fsdp.*", ValueKind::any, "weights are not sharded");
  schema.refused("actor.kl", {0.001, 0}, "KL is off");
  schema.accepted("actor.micro", ValueKind::integer, "there is one size");
  schema.accepted("actor.micro_per_gpu", ValueKind::integer, "there is one size");
  schema.alternatives("actor.micro", "actor.micro_per_gpu");
  schema.refused("fsdp.offload", {false}, "a test of the closer rule");
  schema.renamed("actor.optim.rate", "actor.optim.lr");
  return schema;
}

struct Outcome {
  Sample sample;
  std::vector<std::string> notes;
  std::vector<std::string> faults;
  std::string yaml;
};

inline Outcome run(std::vector<std::string> arguments, bool with_files = true) {
  if (with_files) arguments.insert(arguments.begin(), "data.files=a.jsonl");
  Outcome outcome;
  Schema schema = schema_of(outcome.sample);
  io::Faults faults;
  outcome.notes = apply(schema, settings_of_arguments(arguments, faults), faults);
  outcome.faults = faults.list();
  outcome.yaml = effective_yaml(schema);
  return outcome;
}

}  // namespace hone::config
