#include "loop/evaluation_file.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "core/error.h"
#include "io/json.h"
#include "rollout/unfinished_file.h"

namespace hone {

namespace {

Group finished(UnfinishedGroup&& unfinished) {
  Group group{unfinished.drawn, {}};
  for (UnfinishedSample& sample : unfinished.samples) {
    Trajectory t;
    t.draw = unfinished.drawn.draw;
    t.sample = static_cast<uint32_t>(group.trajectories.size());
    t.prompt_ids = unfinished.drawn.prompt->ids;
    t.response_ids = std::move(sample.response_ids);
    t.logprobs = std::move(sample.logprobs);
    t.versions = std::move(sample.versions);
    t.temperature = unfinished.temperature;
    t.finish = sample.finish.value();
    group.trajectories.push_back(std::move(t));
  }
  return group;
}

}  // namespace

EvaluationFile::EvaluationFile(std::string path, const std::string& mark, std::span<const Prompt> prompts, int64_t n)
    : path_(std::move(path)),
      header_(io::Json::object({{"evaluation", mark}}).dump()),
      prompts_(prompts),
      n_(n),
      is_there_(prompts.size()) {
  io::cut_back_to(path_, [&](std::string_view line) {
    read(line);
    return true;
  });
  file_ = std::make_unique<io::LineFile>(path_);
  if (num_lines_ == 0) file_->write_line(header_);
}

void EvaluationFile::read(std::string_view line) {
  ++num_lines_;
  if (num_lines_ == 1) {
    if (line == header_) return;
    throw Error(fmt::format("{} holds answers of another evaluation", path_),
                "take the model, the data and the options of then, or remove the file");
  }
  const io::Json json = io::parse_json(line, path_, num_lines_);
  const io::JsonAt at(json, fmt::format("{}:{}", path_, num_lines_));
  UnfinishedGroup group = read_group(at, prompts_);
  const auto is_open = [](const UnfinishedSample& sample) { return !sample.finish; };
  if (std::ssize(group.samples) != n_ || std::any_of(group.samples.begin(), group.samples.end(), is_open)) {
    at["samples"].fail(fmt::format("expected {} answers at their end", n_));
  }
  const auto row = static_cast<uint64_t>(group.drawn.prompt - prompts_.data());
  if (group.drawn.draw != row || is_there_[row]) {
    at["draw"].fail(fmt::format("found {} at row {}, or the row twice", group.drawn.draw, row));
  }
  is_there_[row] = true;
  groups_.push_back(finished(std::move(group)));
}

void EvaluationFile::add(const Group& group) {
  UnfinishedGroup record{group.drawn, 1.0f, {}};
  for (const Trajectory& t : group.trajectories) {
    record.temperature = t.temperature;
    record.samples.push_back({t.response_ids, t.logprobs, t.versions, t.finish});
  }
  file_->write_line(group_as_json(record, prompts_).dump());
}

void EvaluationFile::remove() {
  file_.reset();
  std::filesystem::remove(path_);
}

}  // namespace hone
