#include "rollout/unfinished_file.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/error.h"
#include "io/atomic_file.h"
#include "io/json.h"

namespace hone {

namespace {

using io::Json;
using io::JsonAt;

constexpr int64_t kFormat = 1;

template <class T>
Json list_of(const std::vector<T>& values) {
  return Json::Array(values.begin(), values.end());
}

Json written(const UnfinishedSample& sample) {
  return Json::object({{"finish", sample.finish ? Json(name(*sample.finish)) : Json()},
                       {"response_ids", list_of(sample.response_ids)},
                       {"logprobs", list_of(sample.logprobs)},
                       {"versions", list_of(sample.versions)}});
}

void expect_keys(const JsonAt& at, std::span<const char* const> keys) {
  for (const char* key : keys) at[key];
  for (const Json::Member& member : at.value().as_object()) {
    if (std::find(keys.begin(), keys.end(), member.key) == keys.end()) at.fail("the key " + member.key + " is unknown");
  }
}

// Integers of at least 0 that fit int32_t.
std::vector<int32_t> read_numbers(const JsonAt& list) {
  std::vector<int32_t> numbers;
  for (const JsonAt& item : list.items()) {
    const int64_t number = item.as_int();
    if (number < 0 || number > std::numeric_limits<int32_t>::max()) item.fail(fmt::format("found {}", number));
    numbers.push_back(static_cast<int32_t>(number));
  }
  return numbers;
}

std::optional<FinishReason> read_finish(const JsonAt& at) {
  if (at.value().is_null()) return std::nullopt;
  if (const auto reason = find_finish_reason(at.as_string())) return reason;
  at.fail("expected null, end, stop, length or aborted, found " + at.as_string());
}

UnfinishedSample read_sample(const JsonAt& at) {
  static constexpr const char* kKeys[] = {"finish", "response_ids", "logprobs", "versions"};
  expect_keys(at, kKeys);
  UnfinishedSample sample;
  sample.finish = read_finish(at["finish"]);
  sample.response_ids = read_numbers(at["response_ids"]);
  sample.versions = read_numbers(at["versions"]);
  for (const JsonAt& item : at["logprobs"].items()) {
    const auto logprob = static_cast<float>(item.as_double());
    if (!(logprob <= 0) || !std::isfinite(logprob)) item.fail(fmt::format("expected at most 0, found {}", logprob));
    sample.logprobs.push_back(logprob);
  }
  const size_t num_ids = sample.response_ids.size();
  if (sample.logprobs.size() != num_ids || sample.versions.size() != num_ids) {
    at.fail(fmt::format("expected one log-prob and one version for each of {} ids, found {} and {}", num_ids,
                        sample.logprobs.size(), sample.versions.size()));
  }
  return sample;
}

}  // namespace

UnfinishedGroup read_group(const JsonAt& at, std::span<const Prompt> prompts) {
  static constexpr const char* kKeys[] = {"draw", "row", "prompt_ids", "temperature", "samples"};
  expect_keys(at, kKeys);
  UnfinishedGroup group;
  try {
    group.drawn.draw = at["draw"].value().as_uint();
  } catch (const Error& error) {
    at["draw"].fail(error.what());
  }
  const int64_t row = at["row"].as_int();
  if (row < 0 || row >= static_cast<int64_t>(prompts.size())) {
    at["row"].fail(fmt::format("found row {}, the data has {}", row, prompts.size()));
  }
  group.drawn.prompt = &prompts[static_cast<size_t>(row)];
  if (read_numbers(at["prompt_ids"]) != group.drawn.prompt->ids) {
    at["prompt_ids"].fail(fmt::format("row {} of the data is another prompt", row));
  }
  group.temperature = static_cast<float>(at["temperature"].as_double());
  if (!(group.temperature >= 0) || !std::isfinite(group.temperature)) {
    at["temperature"].fail(fmt::format("found {}", group.temperature));
  }
  for (const JsonAt& sample : at["samples"].items()) group.samples.push_back(read_sample(sample));
  if (group.samples.empty()) at["samples"].fail("expected at least one");
  return group;
}

Json group_as_json(const UnfinishedGroup& group, std::span<const Prompt> prompts) {
  const int64_t row = group.drawn.prompt - prompts.data();
  HONE_CHECK(row >= 0 && row < static_cast<int64_t>(prompts.size()), "draw {}: row {} of {}", group.drawn.draw, row,
             prompts.size());
  Json samples = Json::array();
  for (const UnfinishedSample& sample : group.samples) samples.push_back(written(sample));
  return Json::object({{"draw", group.drawn.draw},
                       {"row", row},
                       {"prompt_ids", list_of(group.drawn.prompt->ids)},
                       {"temperature", group.temperature},
                       {"samples", std::move(samples)}});
}

void write_unfinished(const std::string& path, std::span<const UnfinishedGroup> groups,
                      std::span<const Prompt> prompts) {
  Json list = Json::array();
  for (size_t g = 0; g < groups.size(); ++g) {
    const UnfinishedGroup& group = groups[g];
    HONE_CHECK(g == 0 || group.drawn.draw > groups[g - 1].drawn.draw, "draw {} is not in order", group.drawn.draw);
    list.push_back(group_as_json(group, prompts));
  }
  io::write_file(path, Json::object({{"format", kFormat}, {"groups", std::move(list)}}).dump() + '\n');
}

std::vector<UnfinishedGroup> read_unfinished(const std::string& path, std::span<const Prompt> prompts) {
  static constexpr const char* kKeys[] = {"format", "groups"};
  const Json file = io::read_json(path);
  const JsonAt at(file, path);
  const int64_t format = at["format"].as_int();
  if (format != kFormat) at["format"].fail(fmt::format("expected {}, found {}", kFormat, format));
  expect_keys(at, kKeys);
  std::vector<UnfinishedGroup> groups;
  for (const JsonAt& item : at["groups"].items()) {
    groups.push_back(read_group(item, prompts));
    const size_t last = groups.size() - 1;
    if (last > 0 && groups[last].drawn.draw <= groups[last - 1].drawn.draw) {
      item["draw"].fail(fmt::format("expected draws that ascend, found {} after {}", groups[last].drawn.draw,
                                    groups[last - 1].drawn.draw));
    }
  }
  return groups;
}

}  // namespace hone
