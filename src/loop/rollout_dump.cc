#include "loop/rollout_dump.h"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <variant>

#include "io/atomic_file.h"
#include "io/file.h"
#include "io/json.h"

namespace hone {

namespace {

void set_extra(io::Json& row, const ScoreExtra& extra) {
  const auto* number = std::get_if<double>(&extra.value);
  row.set(free_key(row, shown_name(extra)),
          number != nullptr ? io::Json::number_or_null(*number) : io::Json(std::get<std::string>(extra.value)));
}

io::Json row_of(const Group& group, const Trajectory& t, int64_t global_step) {
  io::Json row = io::Json::object();
  row.set("input", group.drawn.prompt->text);
  row.set("output", t.response_text);
  row.set("gts", group.drawn.prompt->ground_truth);
  row.set("score", t.score.value ? io::Json(*t.score.value) : io::Json());
  if (t.reward && t.reward != t.score.value) row.set("reward", *t.reward);
  row.set("step", global_step);
  row.set("data_source", group.drawn.prompt->data_source);
  row.set("draw", t.draw);
  row.set("sample", int64_t{t.sample});
  row.set("finish", name(t.finish));
  if (t.capped) row.set("capped", true);
  if (t.advantages.empty()) {
    row.set("advantage", t.advantage);
  } else {
    row.set("advantages", io::Json::Array(t.advantages.begin(), t.advantages.end()));
  }
  row.set("temperature", t.temperature);
  row.set("prompt_ids", io::Json::Array(t.prompt_ids.begin(), t.prompt_ids.end()));
  row.set("response_ids", io::Json::Array(t.response_ids.begin(), t.response_ids.end()));
  row.set("logprobs", io::Json::Array(t.logprobs.begin(), t.logprobs.end()));
  row.set("versions", io::Json::Array(t.versions.begin(), t.versions.end()));
  if (!t.score.reason.empty()) row.set("reason", t.score.reason);
  if (t.score.verdict) row.set("verdict", name(*t.score.verdict));
  for (const ScoreExtra& extra : t.score.extras) set_extra(row, extra);
  return row;
}

}  // namespace

std::string free_key(const io::Json& object, std::string name) {
  while (object.find(name) != nullptr) name = "extra_" + name;
  return name;
}

void write_rollouts(const std::vector<std::string>& paths, int64_t global_step, std::span<const Group> groups) {
  std::string text;
  for (const Group& group : groups) {
    for (const Trajectory& t : group.trajectories) text += row_of(group, t, global_step).dump() + '\n';
  }
  for (const std::string& path : paths) {
    if (const auto parent = std::filesystem::path(path).parent_path().string(); !parent.empty()) {
      io::make_folders(parent);
    }
    io::write_file(path, text);
  }
}

std::string show_samples(int64_t count, int64_t global_step, std::span<const Group> groups) {
  const auto num_groups = static_cast<int64_t>(groups.size());
  const int64_t shown = std::min(count, num_groups);
  std::string text;
  for (int64_t i = 0; i < shown; ++i) {
    const Group& group = groups[static_cast<size_t>(i * num_groups / shown)];
    if (group.trajectories.empty()) continue;
    const Trajectory& t = group.trajectories.front();
    const std::string score = t.score.value ? fmt::format("{}", *t.score.value) : "absent";
    text += fmt::format("-- validation after step {}, {}: score {} ({}), ground truth {}\n{}{}\n", global_step,
                        group.drawn.prompt->data_source, score, t.score.reason, group.drawn.prompt->ground_truth,
                        group.drawn.prompt->text, t.response_text);
  }
  return text;
}

}  // namespace hone
