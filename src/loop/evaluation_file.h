// EvaluationFile: the answers of an evaluation that is not at its end, on disk, so that the same command goes on after
// it was stopped at any point. Lines of JSON: {"evaluation": MARK}, then a finished group a line (unfinished_file.h).
// Scores are not kept: scoring an answer again gives the same.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "io/line_file.h"
#include "records/trajectory.h"

namespace hone {

class EvaluationFile {
 public:
  // Opens the file or makes it. `mark` names all that decides the answers to the prompts, n each. A line that a killed
  // process left unfinished is cut off. Raises Error for the file of another evaluation.
  EvaluationFile(std::string path, const std::string& mark, std::span<const Prompt> prompts, int64_t n);

  // What the file held when it was opened, draws being rows of the prompts.
  int64_t num_groups() const { return std::ssize(groups_); }
  std::vector<Group> take_groups() { return std::move(groups_); }
  void add(const Group& group);
  // When the evaluation is at its end.
  void remove();

 private:
  void read(std::string_view line);

  std::string path_, header_;
  std::span<const Prompt> prompts_;
  int64_t n_;
  std::vector<bool> is_there_;  // [prompts]
  int64_t num_lines_ = 0;
  std::vector<Group> groups_;
  std::unique_ptr<io::LineFile> file_;
};

}  // namespace hone
