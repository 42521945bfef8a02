#include "loop/comparison.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "core/error.h"
#include "io/jsonl.h"

namespace hone {

namespace {

struct Row {
  ComparedSample sample;  // side a filled
  std::string data_source;
  std::optional<double> score;
};

Row read_row(const io::JsonAt& at) {
  Row row;
  try {
    row.sample.draw = at["draw"].value().as_uint();
  } catch (const Error& error) {
    at["draw"].fail(error.what());
  }
  row.sample.sample = at["sample"].as_int();
  row.sample.input = at["input"].as_string();
  row.sample.ground_truth = at["gts"].as_string();
  row.sample.output_a = at["output"].as_string();
  row.data_source = at["data_source"].as_string();
  if (!at["score"].value().is_null()) row.score = at["score"].as_double();
  return row;
}

std::vector<Row> read_rows(const std::string& file, io::Faults& faults) {
  std::vector<Row> rows;
  io::read_jsonl(file, faults, [&](io::JsonRow&& json) {
    try {
      rows.push_back(read_row(io::JsonAt(json.value, fmt::format("{}:{}", file, json.line))));
    } catch (const Error& error) {
      faults.add(error.what());
    }
  });
  return rows;
}

// Rows of the second file by (draw, sample).
using RowsByPlace = std::map<std::pair<uint64_t, int64_t>, Row>;

RowsByPlace by_place(std::vector<Row>&& rows, const std::string& file) {
  RowsByPlace result;
  for (Row& row : rows) {
    const auto place = std::pair(row.sample.draw, row.sample.sample);
    if (!result.emplace(place, std::move(row)).second) {
      throw Error(fmt::format("{}: draw {} has two samples {}", file, place.first, place.second));
    }
  }
  return result;
}

// The samples of one prompt.
struct PromptSums {
  double sum_a = 0, sum_b = 0;
  int64_t count = 0;
};

struct SourceSums {
  ComparedSource source;
  std::map<uint64_t, PromptSums> prompts;
};

void add_pair(Row& a, const Row& b, SourceSums& sums) {
  if (!a.score || !b.score) {
    ++sums.source.num_absent;
    return;
  }
  PromptSums& prompt = sums.prompts[a.sample.draw];
  prompt.sum_a += *a.score;
  prompt.sum_b += *b.score;
  ++prompt.count;
  if (*a.score == *b.score) return;
  ++(*b.score > *a.score ? sums.source.samples_won : sums.source.samples_lost);
  a.sample.output_b = b.sample.output_a;
  a.sample.score_a = *a.score;
  a.sample.score_b = *b.score;
  sums.source.changed.push_back(std::move(a.sample));
}

void sum_up(SourceSums& sums) {
  ComparedSource& source = sums.source;
  std::vector<double> differences;
  for (const auto& [draw, prompt] : sums.prompts) {
    const auto count = static_cast<double>(prompt.count);
    source.mean_a += prompt.sum_a / count;
    source.mean_b += prompt.sum_b / count;
    differences.push_back((prompt.sum_b - prompt.sum_a) / count);
    source.better += differences.back() > 0;
    source.worse += differences.back() < 0;
  }
  source.num_prompts = std::ssize(differences);
  if (differences.empty()) return;
  source.mean_a /= static_cast<double>(source.num_prompts);
  source.mean_b /= static_cast<double>(source.num_prompts);
  source.difference = normal_interval(differences);
  source.p_value = sign_test(source.better, source.worse);
}

}  // namespace

std::vector<ComparedSource> compare_evaluations(const std::string& file_a, const std::string& file_b) {
  io::Faults faults;
  std::vector<Row> rows_a = read_rows(file_a, faults);
  std::vector<Row> rows_b = read_rows(file_b, faults);
  faults.raise_if_any("the dumps cannot be compared as they are");
  const size_t size_a = rows_a.size(), size_b = rows_b.size();
  if (size_a != size_b) {
    throw Error(fmt::format("{} has {} samples, {} has {}", file_a, size_a, file_b, size_b),
                "evaluate both models on the same data with the same --n");
  }
  const RowsByPlace second = by_place(std::move(rows_b), file_b);
  std::map<std::string, SourceSums> sources;
  for (Row& row : rows_a) {
    const auto other = second.find({row.sample.draw, row.sample.sample});
    if (other == second.end() || other->second.data_source != row.data_source ||
        other->second.sample.input != row.sample.input ||
        other->second.sample.ground_truth != row.sample.ground_truth) {
      throw Error(fmt::format("{}: draw {}, sample {} of {} is not there, or of another prompt", file_b,
                              row.sample.draw, row.sample.sample, file_a),
                  "evaluate both models on the same data");
    }
    SourceSums& sums = sources[row.data_source];
    sums.source.data_source = row.data_source;
    add_pair(row, other->second, sums);
  }
  std::vector<ComparedSource> result;
  for (auto& [name, sums] : sources) {
    sum_up(sums);
    result.push_back(std::move(sums.source));
  }
  return result;
}

}  // namespace hone
