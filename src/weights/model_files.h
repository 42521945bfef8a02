// ModelFiles: the weight files of a model folder, or a GGUF file, their headers read and nothing else; and the check
// that they hold exactly the tensors that config.json asks for. Every fault is found in one go, before anything heavy.
#pragma once

#include <deque>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "io/faults.h"
#include "io/gguf.h"
#include "io/safetensors.h"
#include "models/layout.h"
#include "weights/weight_tensor.h"

namespace hone::weights {

// Raises one Error that lists all faults of folder/config.json (or of a GGUF file in its place), or of the weight files
// beside it: a file that is missing or damaged; a tensor that is missing, unexpected (with the reason), of another
// shape or no float type. A head may be absent or present when the model ties it to the embedding; load_decoder
// compares one that is present.
void check_model_files(const std::string& folder);

class ModelFiles {
 public:
  // model.safetensors, or the shards under model.safetensors.index.json; or `folder` is a GGUF file, of which the
  // configuration says how rows lie. What cannot be read goes to `faults`.
  ModelFiles(const std::string& folder, const ModelConfig& config, io::Faults& faults);

  const WeightTensor* find(const std::string& name) const;              // nullptr when absent
  const WeightTensor& at(const std::string& name) const;                // must be there
  const std::deque<WeightTensor>& tensors() const { return tensors_; }  // in file order
  bool is_open() const { return gguf_ != nullptr || !files_.empty(); }  // a file of them could be read
  // After the last read: raises Error when a file was written or replaced meanwhile.
  void check_unchanged() const;
  // True for a tensor that stands in a file with a fault of its own.
  bool is_lost(const std::string& name) const { return lost_.contains(name); }
  // The file that says where tensors are, for messages.
  const std::string& list() const { return list_; }

 private:
  void open(const std::string& path, io::Faults& faults);
  void open_gguf(const std::string& path, const ModelConfig& config, io::Faults& faults);
  void open_index(const std::string& folder, io::Faults& faults);

  std::string list_;
  std::deque<io::SafetensorsReader> files_;
  std::unique_ptr<io::GgufReader> gguf_;
  std::deque<WeightTensor> tensors_;
  std::unordered_map<std::string, const WeightTensor*> by_name_;
  std::set<std::string> lost_;
};

// Opens the files of `folder` for a model of this configuration; raises the Error of check_model_files.
ModelFiles open_model_files(const std::string& folder, const ModelConfig& config);

// The same for a critic: a language model, or one whose head is score.weight. `config` is the language model's.
ModelFiles open_value_files(const std::string& folder, const ModelConfig& config);

// Holds the headers against the layout of the model.
void check_tensors(const ModelFiles& files, const ModelConfig& config, io::Faults& faults);

}  // namespace hone::weights
