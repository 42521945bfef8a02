#include "kernels/filter.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/cpu/row_kernels.h"

namespace hone::kernels {

namespace {

constexpr float kMinusInfinity = -std::numeric_limits<float>::infinity();

// Scratch of one row, each of valid_vocab elements.
struct FilterScratch {
  float* logits;   // after bans, penalties and cuts
  int32_t* ids;    // candidates
  float* weights;  // of candidates; before them, counts of ids
};

// counts_V: any content.
void penalise(float* logits, int32_t* counts, const FilterRow& row, int64_t valid_vocab) {
  const Filter& f = row.filter;
  std::fill_n(counts, valid_vocab, 0);
  for (int32_t id : row.response_ids) ++counts[id];
  const auto apply = [&](int32_t id) {
    if (counts[id] < 0) return;  // done
    float& x = logits[id];
    x = x > 0.0f ? x / f.repetition_penalty : x * f.repetition_penalty;
    x -= f.frequency_penalty * static_cast<float>(counts[id]);
    if (counts[id] > 0) x -= f.presence_penalty;
    counts[id] = -1;
  };
  for (int32_t id : row.response_ids) apply(id);
  for (int32_t id : row.prompt_ids) apply(id);
}

// Orders candidates: the higher logit first, the lower id on a tie.
auto before(const float* logits) {
  return [logits](int32_t a, int32_t b) { return logits[a] > logits[b] || (logits[a] == logits[b] && a < b); };
}

// What top-k leaves of `count` candidates, which come to the front.
int64_t keep_top_k(int32_t* ids, int64_t count, const float* logits, int64_t k) {
  if (count <= k) return count;
  std::nth_element(ids, ids + (k - 1), ids + count, before(logits));
  const float last = logits[ids[k - 1]];
  return std::partition(ids + k, ids + count, [&](int32_t id) { return logits[id] == last; }) - ids;
}

// What top-p leaves of candidates whose probabilities are their weights over `total`; they come to the front in order.
int64_t keep_top_p(const FilterScratch& s, int64_t count, const cpu::LogprobKernels& kernels, float inv_temperature,
                   float max, double total, double top_p) {
  std::sort(s.ids, s.ids + count, before(s.logits));
  kernels.weigh(s.weights, s.ids, count, s.logits, inv_temperature, max);
  if (total == 0.0) {  // all there are
    for (int64_t i = 0; i < count; ++i) total += static_cast<double>(s.weights[i]);
  }
  double sum = 0.0;
  int64_t kept = 0;
  while (kept < count && (kept == 0 || sum < top_p * total)) sum += static_cast<double>(s.weights[kept++]);
  return kept;
}

// Collects candidates: the ids with at least `lowest`, but no further down than k ids and a share top_p of all need.
int64_t collect_enough(const FilterScratch& s, int64_t valid_vocab, const cpu::LogprobKernels& kernels,
                       float inv_temperature, float max, double all, float lowest, const Filter& f) {
  for (const float depth : {6.0f, 24.0f}) {  // e^-24 of 2^20 ids is less than float tells from 0
    const float bound = max - depth / inv_temperature;
    if (!(bound > lowest)) break;
    const int64_t count = kernels.collect(s.ids, s.logits, valid_vocab, bound);
    if (f.top_k > 0) {
      if (count >= f.top_k) return count;
      continue;
    }
    kernels.weigh(s.weights, s.ids, count, s.logits, inv_temperature, max);
    double sum = 0.0;
    for (int64_t i = 0; i < count; ++i) sum += static_cast<double>(s.weights[i]);
    if (sum >= static_cast<double>(f.top_p) * all * (1.0 + 1e-9)) return count;
  }
  return kernels.collect(s.ids, s.logits, valid_vocab, lowest);
}

// Leaves in s.logits what min-p, top-k and top-p leave; the others become -inf.
void cut(const FilterScratch& s, int64_t valid_vocab, const cpu::LogprobKernels& kernels, float temperature,
         const Filter& f) {
  const float inv_temperature = 1.0f / temperature;
  float max = 0.0f;
  const double all = kernels.measure(&max, s.logits, valid_vocab, inv_temperature);
  if (!(all > 0.0)) return;  // no distribution
  const float lowest = f.min_p > 0.0f ? max + std::log(f.min_p) / inv_temperature : kMinusInfinity;
  int64_t count = collect_enough(s, valid_vocab, kernels, inv_temperature, max, all, lowest, f);
  if (f.top_k > 0) count = keep_top_k(s.ids, count, s.logits, f.top_k);
  if (f.top_p < 1.0f) {
    const bool of_all = f.top_k <= 0 && f.min_p <= 0.0f;
    count = keep_top_p(s, count, kernels, inv_temperature, max, of_all ? all : 0.0, static_cast<double>(f.top_p));
  }
  for (int64_t i = 0; i < count; ++i) s.weights[i] = s.logits[s.ids[i]];
  std::fill_n(s.logits, valid_vocab, kMinusInfinity);
  for (int64_t i = 0; i < count; ++i) s.logits[s.ids[i]] = s.weights[i];
}

FilteredDraw draw_row(const FilterScratch& s, float* block_sums, const float* logits, int64_t valid_vocab,
                      const cpu::LogprobKernels& kernels, const FilterRow& row) {
  std::copy_n(logits, valid_vocab, s.logits);
  for (const std::span<const int32_t> banned : row.banned_ids) {
    for (int32_t id : banned) s.logits[id] = kMinusInfinity;
  }
  if (row.filter.penalises()) penalise(s.logits, s.ids, row, valid_vocab);
  const float temperature = row.draw.temperature;
  if (temperature > 0.0f && row.filter.cuts()) cut(s, valid_vocab, kernels, temperature, row.filter);
  FilteredDraw draw;
  float unused;
  draw.id = kernels.sample(&unused, s.logits, valid_vocab, temperature, row.draw.uniform, block_sums);
  kernels.logprobs(&draw.logprob, &draw.id, 1, logits, valid_vocab, temperature > 0.0f ? 1.0f / temperature : 1.0f);
  if (std::isnan(draw.logprob)) draw.id = 0;
  return draw;
}

void check_filter(const FilterRow& row, int64_t valid_vocab) {
  const Filter& f = row.filter;
  HONE_CHECK(f.top_p > 0.0f && f.top_p <= 1.0f && f.min_p >= 0.0f && f.min_p <= 1.0f && f.repetition_penalty > 0.0f &&
                 std::isfinite(f.repetition_penalty) && std::isfinite(f.presence_penalty) &&
                 std::isfinite(f.frequency_penalty),
             "top_p {}, min_p {}, penalties {}, {}, {}", f.top_p, f.min_p, f.repetition_penalty, f.presence_penalty,
             f.frequency_penalty);
  HONE_CHECK(
      row.draw.uniform >= 0.0f && row.draw.uniform < 1.0f &&
          (row.draw.temperature == 0.0f || (row.draw.temperature > 0.0f && std::isfinite(1.0f / row.draw.temperature))),
      "uniform {}, temperature {}", row.draw.uniform, row.draw.temperature);
  for (const std::span<const int32_t> ids : {row.prompt_ids, row.response_ids, row.banned_ids[0], row.banned_ids[1]}) {
    for (int32_t id : ids) HONE_CHECK(id >= 0 && id < valid_vocab, "id {} of {}", id, valid_vocab);
  }
}

}  // namespace

void sample_filtered(Context& ctx, std::span<FilteredDraw> draws_N, View<const float> logits_RV,
                     std::span<const int64_t> rows_N, std::span<const FilterRow> filters_N, int64_t valid_vocab) {
  const int64_t N = static_cast<int64_t>(rows_N.size());
  HONE_CHECK(draws_N.size() == rows_N.size() && filters_N.size() == rows_N.size(), "{} draws, {} rows, {} filters",
             draws_N.size(), rows_N.size(), filters_N.size());
  HONE_CHECK(valid_vocab >= 1 && valid_vocab <= logits_RV.cols, "{} of {} ids valid", valid_vocab, logits_RV.cols);
  for (int64_t i = 0; i < N; ++i) {
    HONE_CHECK(rows_N[static_cast<size_t>(i)] < logits_RV.rows, "row {} of {}", rows_N[static_cast<size_t>(i)],
               logits_RV.rows);
    check_filter(filters_N[static_cast<size_t>(i)], valid_vocab);
  }
  Arena::Scope scope(ctx.scratch);
  const int64_t most = std::min<int64_t>(N, 4 * ctx.team.num_threads());  // rows at once: three times as much scratch
  View<float> logits = ctx.scratch.take<float>(most, valid_vocab), weights = ctx.scratch.take<float>(most, valid_vocab);
  View<int32_t> ids = ctx.scratch.take<int32_t>(most, valid_vocab);
  View<float> block_sums = ctx.scratch.take<float>(most, (valid_vocab + cpu::kLogprobBlock - 1) / cpu::kLogprobBlock);
  for (int64_t begin = 0; begin < N; begin += most) {
    ctx.team.run(std::min(most, N - begin), [&](int64_t k) {
      const size_t i = static_cast<size_t>(begin + k);
      draws_N[i] = draw_row({logits.row(k), ids.row(k), weights.row(k)}, block_sums.row(k), logits_RV.row(rows_N[i]),
                            valid_vocab, *ctx.target.rows->logprob, filters_N[i]);
    });
  }
}

void top_logprobs(Context& ctx, std::span<int32_t> ids_K, std::span<float> logprobs_K, View<const float> logits_V,
                  float temperature, int64_t valid_vocab) {
  const int64_t K = static_cast<int64_t>(ids_K.size());
  HONE_CHECK(ids_K.size() == logprobs_K.size() && K <= valid_vocab && valid_vocab <= logits_V.size(),
             "{} ids, {} log-probs, {} of {} ids valid", K, logprobs_K.size(), valid_vocab, logits_V.size());
  if (K == 0) return;
  const cpu::LogprobKernels& kernels = *ctx.target.rows->logprob;
  Arena::Scope scope(ctx.scratch);
  View<int32_t> all = ctx.scratch.take<int32_t>(valid_vocab);
  const float* logits = logits_V.data;
  float max = 0.0f;
  kernels.measure(&max, logits, valid_vocab, 1.0f);
  int64_t count = 0;
  for (float depth = 8.0f; count < K && depth < 1e6f; depth *= 4.0f) {
    count = kernels.collect(all.data, logits, valid_vocab, max - depth);
  }
  if (count < K) {  // rows with -inf or NaN: those count as the lowest
    for (count = 0; count < valid_vocab; ++count) all[count] = static_cast<int32_t>(count);
  }
  const auto key = [&](int32_t id) { return std::isnan(logits[id]) ? kMinusInfinity : logits[id]; };
  std::partial_sort(all.data, all.data + K, all.data + count,
                    [&](int32_t a, int32_t b) { return key(a) > key(b) || (key(a) == key(b) && a < b); });
  std::copy_n(all.data, K, ids_K.data());
  kernels.logprobs(logprobs_K.data(), ids_K.data(), K, logits, valid_vocab,
                   temperature > 0.0f ? 1.0f / temperature : 1.0f);
}

}  // namespace hone::kernels
