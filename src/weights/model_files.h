// ModelFiles: the weight files of a model folder, their headers read and nothing else; and the check that they hold
// exactly the tensors that config.json asks for. Every fault is found in one go, before anything heavy.
#pragma once

#include <deque>
#include <set>
#include <string>
#include <unordered_map>

#include "io/faults.h"
#include "io/safetensors.h"
#include "models/layout.h"

namespace hone::weights {

// Raises one Error that lists all faults of folder/config.json, or of the weight files beside it: a file that is
// missing or damaged; a tensor that is missing, unexpected (with the reason), of another shape or no float type. A head
// may be absent or present when the model ties it to the embedding; load_decoder compares one that is present.
void check_model_files(const std::string& folder);

class ModelFiles {
 public:
  // model.safetensors, or the shards under model.safetensors.index.json. What cannot be read goes to `faults`.
  ModelFiles(const std::string& folder, io::Faults& faults);

  const io::StoredTensor* find(const std::string& name) const;  // nullptr when absent
  const io::StoredTensor& at(const std::string& name) const;    // must be there
  const std::deque<io::SafetensorsReader>& files() const { return files_; }
  // True for a tensor that stands in a file with a fault of its own.
  bool is_lost(const std::string& name) const { return lost_.contains(name); }
  // The file that says where tensors are, for messages.
  const std::string& list() const { return list_; }

 private:
  void open(const std::string& path, io::Faults& faults);
  void open_index(const std::string& folder, io::Faults& faults);

  std::string list_;
  std::deque<io::SafetensorsReader> files_;
  std::unordered_map<std::string, const io::StoredTensor*> by_name_;
  std::set<std::string> lost_;
};

// Opens the files of `folder` for a model of this configuration; raises the Error of check_model_files.
ModelFiles open_model_files(const std::string& folder, const ModelConfig& config);

// Holds the headers against the layout of the model.
void check_tensors(const ModelFiles& files, const ModelConfig& config, io::Faults& faults);

}  // namespace hone::weights
