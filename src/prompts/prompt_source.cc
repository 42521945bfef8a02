#include "prompts/prompt_source.h"

#include <algorithm>
#include <limits>

#include "core/error.h"
#include "io/atomic_file.h"
#include "io/json.h"

namespace hone {

namespace {

using io::Json;
using io::JsonAt;

constexpr int64_t kFormat = 1;

int64_t read_count(const JsonAt& at, int64_t most) {
  const int64_t number = at.as_int();
  if (number < 0 || number > most) at.fail(fmt::format("expected 0 to {}, found {}", most, number));
  return number;
}

std::vector<uint32_t> read_order(const JsonAt& at, int64_t num_rows) {
  std::vector<uint32_t> order;
  std::vector<bool> seen(static_cast<size_t>(num_rows));
  for (const JsonAt& item : at.items()) {
    const auto row = static_cast<uint32_t>(read_count(item, num_rows - 1));
    if (seen[row]) item.fail(fmt::format("row {} is there twice", row));
    seen[row] = true;
    order.push_back(row);
  }
  if (order.size() != seen.size()) at.fail(fmt::format("expected {} rows, found {}", num_rows, order.size()));
  return order;
}

LengthEstimate read_estimate(const JsonAt& at) {
  LengthEstimate estimate;
  estimate.num_ids = at["num_ids"].as_double();
  if (!(estimate.num_ids >= 0)) at["num_ids"].fail(fmt::format("expected at least 0, found {}", estimate.num_ids));
  estimate.times_observed = read_count(at["times_observed"], std::numeric_limits<int64_t>::max());
  if (estimate.times_observed == 0) at["times_observed"].fail("expected at least 1");
  estimate.is_bound = at["is_bound"].as_bool();
  return estimate;
}

}  // namespace

PromptSource::PromptSource(const std::vector<Prompt>& prompts, const PromptSourceOptions& options)
    : prompts_(&prompts),
      options_(options),
      order_(static_cast<int64_t>(prompts.size()), options.batch_size, options.shuffle || options.order_by_length,
             options.seed) {
  HONE_CHECK(options.learn_lengths || !options.order_by_length, "an order by lengths that are not learnt");
  if (!options.learn_lengths) return;
  lengths_.emplace(static_cast<int64_t>(prompts.size()), options.ema_decay, options.default_length);
}

std::vector<DrawnPrompt> PromptSource::next(int64_t count) {
  std::vector<DrawnPrompt> drawn;
  for (int64_t i = 0; i < count; ++i) {
    const DataPosition position = order_.position();
    if (options_.order_by_length && position.index == 0 && lengths_->is_any_known()) {
      order_.reorder(length_aware_order(order_.order(), *lengths_, options_.batch_size, options_.length_order,
                                        options_.seed, static_cast<uint64_t>(position.epoch)));
    }
    const DrawnRow row = order_.next();
    drawn.push_back({&(*prompts_)[row.row], row.draw});
  }
  return drawn;
}

void longest_first(const PromptSource& source, std::vector<DrawnPrompt>& drawn) {
  std::stable_sort(drawn.begin(), drawn.end(), [&](const DrawnPrompt& a, const DrawnPrompt& b) {
    return source.expected_length(*a.prompt) > source.expected_length(*b.prompt);
  });
}

uint32_t PromptSource::row_of(const Prompt& prompt) const {
  const std::ptrdiff_t row = &prompt - prompts_->data();
  HONE_CHECK(row >= 0 && row < static_cast<std::ptrdiff_t>(prompts_->size()), "row {} of {}", row, prompts_->size());
  return static_cast<uint32_t>(row);
}

void PromptSource::observe(const Prompt& prompt, std::span<const AnswerLength> answers) {
  lengths_->observe(row_of(prompt), answers);
}

void PromptSource::write_lengths(const std::string& path) const {
  Json order = Json::array(), estimates = Json::array();
  for (const uint32_t row : order_.order()) order.push_back(int64_t{row});
  for (size_t row = 0; row < lengths_->rows().size(); ++row) {
    const LengthEstimate& estimate = lengths_->rows()[row];
    if (estimate.times_observed == 0) continue;
    estimates.push_back(Json::object({{"row", static_cast<int64_t>(row)},
                                      {"num_ids", estimate.num_ids},
                                      {"times_observed", estimate.times_observed},
                                      {"is_bound", estimate.is_bound}}));
  }
  Json file = Json::object({{"format", kFormat}, {"num_rows", static_cast<int64_t>(prompts_->size())}});
  file.set("order", std::move(order));
  file.set("estimates", std::move(estimates));
  io::write_file(path, file.dump() + "\n");
}

void PromptSource::read_lengths(const std::string& path) {
  const Json file = io::read_json(path);
  const JsonAt at(file, path);
  const auto num_rows = static_cast<int64_t>(prompts_->size());
  if (const int64_t format = at["format"].as_int(); format != kFormat) {
    at["format"].fail(fmt::format("expected {}, found {}", kFormat, format));
  }
  if (const int64_t found = at["num_rows"].as_int(); found != num_rows) {
    at["num_rows"].fail(fmt::format("the data has {} rows, found {}", num_rows, found));
  }
  std::vector<uint32_t> order = read_order(at["order"], num_rows);
  std::vector<LengthEstimate> estimates(static_cast<size_t>(num_rows));
  for (const JsonAt& item : at["estimates"].items()) {
    LengthEstimate& estimate = estimates[static_cast<size_t>(read_count(item["row"], num_rows - 1))];
    if (estimate.times_observed > 0) item["row"].fail("the row is there twice");
    estimate = read_estimate(item);
  }
  lengths_->restore(std::move(estimates));
  if (options_.order_by_length) order_.reorder(std::move(order));
}

}  // namespace hone
