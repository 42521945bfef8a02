#include "train/trainer.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "core/fixed_math.h"
#include "kernels/logprob.h"
#include "models/activations.h"
#include "train/micro_batches.h"

namespace hone {

struct Trainer::Rows {
  ConstComputeView y_RD;  // hidden states that the head reads
  float temperature = 1.0f;
};

struct Trainer::Losses {
  std::span<const TrainSequence> sequences;
  std::span<const TokenWeights> weights;              // [sequence]
  std::span<const std::vector<double>> coefficients;  // [sequence][response id]; empty where the loss has none

  ObjectiveToken token(size_t sequence, size_t offset, float logprob, float entropy) const {
    const TrainSequence& s = sequences[sequence];
    const auto at = static_cast<int64_t>(offset);
    ObjectiveToken token;
    token.policy = {logprob, s.old_logprobs.empty() ? logprob : s.old_logprobs[offset], s.advantage_at(at),
                    s.weight_at(at), coefficients.empty() ? 0.0 : coefficients[sequence][offset]};
    token.rollout_logprob = s.rollout_logprobs.empty() ? token.policy.old_logprob : s.rollout_logprobs[offset];
    token.entropy = entropy;
    token.ref_logprob = s.ref_logprobs.empty() ? logprob : s.ref_logprobs[offset];
    return token;
  }
};

// A part of an optimizer batch: everything of it that is in a list.
struct Trainer::Part {
  std::span<TrainSequence> sequences;
  std::span<TokenWeights> weights;              // [sequence]
  std::span<std::vector<double>> coefficients;  // [sequence][response id] of a loss that needs the whole batch
};

namespace {

// Whether the loss may have a gradient at the sequence's tokens.
bool may_teach(const TrainSequence& s, const Objective& objective) {
  if (!objective.is_policy() || objective.policy->teaches_without_advantage) return true;
  if (objective.entropy_coeff != 0.0 || (objective.kl && objective.kl_coef != 0.0)) return true;
  if (s.advantages.empty()) return s.advantage != 0.0f;
  return std::any_of(s.advantages.begin(), s.advantages.end(), [](float a) { return a != 0.0f; });
}

// Sequences with an id that has loss; the others (an answer of 0 ids) have nothing to learn from.
std::vector<TrainSequence> with_response(std::span<const TrainSequence> sequences) {
  std::vector<TrainSequence> kept;
  for (const TrainSequence& s : sequences) {
    if (s.num_loss() > 0) kept.push_back(s);
  }
  return kept;
}

BalancedMicroBatches micro_batches(std::span<const TrainSequence> sequences, const TrainerOptions& options,
                                   const ModelConfig& config) {
  std::vector<SequenceRows> rows;
  for (size_t i = 0; i < sequences.size(); ++i) {
    const bool shares = options.share_prompts && i > 0 && same_prompt(sequences[i - 1], sequences[i]);
    rows.push_back({sequences[i].num_rows(), shares ? sequences[i].num_prompt : 0});
  }
  return balance_micro_batches(rows, {options.micro_batch_tokens, options.micro_batch_sequences}, config.hidden_size);
}

// Takes what belongs to the micro-batch out of a list in the order of its sequences.
template <class T>
std::vector<T> taken(std::span<T> all, const BalancedMicroBatches& balanced, const MicroBatch& micro) {
  std::vector<T> part;
  for (size_t i = micro.begin; i < micro.end; ++i) part.push_back(std::move(all[balanced.order[i]]));
  return part;
}

// The weight of each sequence's tokens, by the counts of the whole optimizer batch.
std::vector<TokenWeights> token_weights(std::span<const TrainSequence> sequences, const Objective& objective) {
  algorithms::BatchCounts counts;
  for (const TrainSequence& s : sequences) {
    counts.tokens += s.num_loss();
    counts.sequences += 1;
  }
  std::vector<TokenWeights> weights;
  for (const TrainSequence& s : sequences) {
    const auto weight = [&](algorithms::LossAggregation mode) {
      return algorithms::token_weight(mode, counts, s.num_loss(), objective.loss_scale_factor);
    };
    weights.push_back({weight(objective.policy_aggregation()), weight(objective.aggregation)});
  }
  return weights;
}

// Bypass mode: what is corrected is the update's own policy. Sequences of which nothing is left are taken out.
algorithms::CorrectionStatistics correct_sequences(std::vector<TrainSequence>& sequences,
                                                   algorithms::SequenceLogprobs logprobs,
                                                   const algorithms::RolloutCorrection& correction) {
  std::vector<algorithms::RatioRow> rows;
  for (size_t k = 0; k < sequences.size(); ++k) {
    rows.push_back({logprobs[k], sequences[k].old_logprobs, sequences[k].loss_mask});
  }
  algorithms::Corrected corrected = algorithms::correct(rows, correction);
  for (size_t k = 0; k < sequences.size(); ++k) {
    sequences[k].loss_mask = std::move(corrected.masks[k]);
    if (!corrected.weights.empty()) sequences[k].weights = std::move(corrected.weights[k]);
  }
  std::erase_if(sequences, [](const TrainSequence& s) { return s.num_loss() == 0; });
  return corrected.statistics;
}

int64_t chunk_rows(int64_t logits_bytes, int64_t vocab) {
  return std::max<int64_t>(1, logits_bytes / (vocab * int64_t{sizeof(float)}));
}

}  // namespace

Trainer::Trainer(kernels::Context& ctx, Decoder& decoder, const TrainerOptions& options)
    : ctx_(ctx),
      decoder_(decoder),
      options_(options),
      optimizer_(decoder, options.optimizer),
      activations_(Decoder::make_activations(options.recompute)) {
  decoder_.allocate_gradients();
  decoder_.publish(ctx_, decoder_.version());
}

TrainStep Trainer::step(std::span<const TrainSequence> sequences, const Objective& objective, double lr) {
  TrainStep result = accumulate(sequences, objective);
  result.optimizer = optimizer_.step(ctx_, decoder_, lr);
  if (result.optimizer.outcome != StepOutcome::applied) return result;
  const auto start = std::chrono::steady_clock::now();
  decoder_.publish(ctx_, decoder_.version() + 1);
  result.publish_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return result;
}

TrainStep Trainer::accumulate(std::span<const TrainSequence> all, const Objective& objective) {
  std::vector<TrainSequence> sequences = with_response(all);
  for (const TrainSequence& s : sequences) {
    HONE_CHECK(!objective.kl || !s.ref_logprobs.empty(), "a KL loss without log-probs of the reference");
    HONE_CHECK(!objective.is_policy() || !s.old_logprobs.empty(), "a policy loss without old log-probs");
    HONE_CHECK(!decoder_.config().value_head || (!s.returns.empty() && !s.values.empty()),
               "a value loss without returns and values");
  }
  TrainStep result;
  if (objective.correction) {
    result.correction = correct_sequences(sequences, score(sequences), *objective.correction);
  }
  // the others come last
  const auto others = std::stable_partition(sequences.begin(), sequences.end(),
                                            [&](const TrainSequence& s) { return may_teach(s, objective); });
  std::vector<TokenWeights> weights = token_weights(sequences, objective);
  algorithms::Coefficients coefficients;
  if (objective.is_policy() && objective.policy->whole_batch) {
    coefficients = coefficients_of(sequences, score(sequences), objective);
  }
  decoder_.zero_gradients(ctx_);
  const auto num_teaching = static_cast<size_t>(others - sequences.begin());
  const auto part = [&](size_t begin, size_t end) {
    const auto of = [&](auto& list) { return std::span(list).subspan(begin, end - begin); };
    return Part{of(sequences), of(weights), coefficients.empty() ? std::span(coefficients) : of(coefficients)};
  };
  sweep(part(0, num_teaching), true, objective, result);
  sweep(part(num_teaching, sequences.size()), false, objective, result);
  result.finish();
  return result;
}

algorithms::Coefficients Trainer::coefficients_of(std::span<const TrainSequence> sequences,
                                                  algorithms::SequenceLogprobs logprobs,
                                                  const Objective& objective) const {
  const RandomKey key{objective.seed, Stream::policy_loss};
  return objective.policy->coefficients(sequences, logprobs, objective.options, key,
                                        static_cast<uint64_t>(optimizer_.num_steps()));
}

void Trainer::sweep(const Part& part, bool teaches, const Objective& objective, TrainStep& result) {
  const bool two_sweeps = objective.is_policy() && objective.policy->coefficients != nullptr;
  const BalancedMicroBatches balanced = micro_batches(part.sequences, options_, decoder_.config());
  for (const MicroBatch& micro : balanced.batches) {
    const std::vector<TrainSequence> sequences = taken(part.sequences, balanced, micro);
    const std::vector<TokenWeights> weights = taken(part.weights, balanced, micro);
    Arena::Scope scope(ctx_.scratch);
    Rows rows;
    forward(decoder_, sequences, teaches ? activations_.get() : nullptr, rows);
    algorithms::Coefficients coefficients;
    if (!part.coefficients.empty()) {
      coefficients = taken(part.coefficients, balanced, micro);
    } else if (two_sweeps && teaches) {
      coefficients = coefficients_of(sequences, head_logprobs(decoder_, sequences, rows), objective);
    }
    View<float> dy_RD = ctx_.scratch.take<float>(rows.y_RD.rows, decoder_.config().hidden_size);
    const bool any = decoder_.config().value_head
                         ? value_sweep(sequences, weights, objective, rows.y_RD, dy_RD, result)
                         : head_sweep({sequences, weights, coefficients}, objective, rows, dy_RD, result);
    HONE_CHECK(teaches || !any, "a gradient of sequences that have none");
    if (any) decoder_.backward(ctx_, packed_.batch, kv_, dy_RD, *activations_);
  }
}

void TrainStep::add(const ObjectiveToken& token, const ObjectiveRow& row) {
  loss += row.loss;
  entropy_loss += row.entropy_loss;
  kl_loss += row.kl;
  entropy += double{token.entropy};
  ppo_kl -= double{token.policy.logprob} - double{token.policy.old_logprob};
  clip_fraction += row.clipped;
  clip_fraction_lower += row.clipped_lower;
  const double probs = fixed::exp(double{token.policy.logprob}) - fixed::exp(double{token.rollout_logprob});
  probs_difference_max = std::max(probs_difference_max, std::abs(probs));
  probs_difference_mean += std::abs(probs);
  probs_difference_std += probs * probs;  // the mean of squares until the end
}

void TrainStep::finish() {
  if (num_tokens == 0) return;
  const auto n = static_cast<double>(num_tokens);
  for (double* mean : {&entropy, &ppo_kl, &clip_fraction, &clip_fraction_lower, &probs_difference_mean,
                       &probs_difference_std, &value}) {
    *mean /= n;
  }
  const double squares = probs_difference_std, mean = probs_difference_mean;
  probs_difference_std = std::sqrt(std::max(0.0, squares - mean * mean));
}

std::vector<std::vector<float>> Trainer::score(std::span<const TrainSequence> all, const Decoder& decoder,
                                               bool without_adapters) {
  std::vector<std::vector<float>> logprobs(all.size());
  std::vector<size_t> source;
  for (size_t i = 0; i < all.size(); ++i) {
    if (all[i].num_loss() > 0) source.push_back(i);
    logprobs[i].resize(static_cast<size_t>(all[i].num_response()));
  }
  std::vector<TrainSequence> sequences = with_response(all);
  const BalancedMicroBatches balanced = micro_batches(sequences, options_, decoder_.config());
  for (const MicroBatch& micro : balanced.batches) {
    Arena::Scope scope(ctx_.scratch);
    Rows rows;
    const std::vector<TrainSequence> part = taken(std::span(sequences), balanced, micro);
    forward(decoder, part, nullptr, rows, without_adapters);
    std::vector<std::vector<float>> of_part =
        decoder.config().value_head ? head_values(decoder, part, rows.y_RD) : head_logprobs(decoder, part, rows);
    for (size_t k = 0; k < part.size(); ++k) {
      logprobs[source[balanced.order[micro.begin + k]]] = std::move(of_part[k]);
    }
  }
  return logprobs;
}

// Log-prob of every response id with loss, 0 for the others.
std::vector<std::vector<float>> Trainer::head_logprobs(const Decoder& decoder, std::span<const TrainSequence> sequences,
                                                       const Rows& rows) {
  std::vector<std::vector<float>> logprobs;
  for (const TrainSequence& s : sequences) logprobs.emplace_back(static_cast<size_t>(s.num_response()));
  const int64_t R = rows.y_RD.rows, V = decoder.config().vocab_size;
  const int64_t chunk = chunk_rows(options_.logits_bytes, V);
  for (int64_t begin = 0; begin < R; begin += chunk) {
    Arena::Scope inner(ctx_.scratch);
    const int64_t count = std::min(chunk, R - begin);
    View<float> logits_RV = ctx_.scratch.take<float>(count, V);
    const kernels::LogprobRows out{ctx_.scratch.take<float>(count), ctx_.scratch.take<float>(count),
                                   ctx_.scratch.take<float>(count)};
    decoder.logits(ctx_, logits_RV, rows.y_RD.slice_rows(begin, count));
    const auto first = static_cast<size_t>(begin);
    kernels::logprob_forward(ctx_, out, logits_RV,
                             std::span(packed_.targets).subspan(first, static_cast<size_t>(count)), rows.temperature,
                             options_.valid_vocab);
    for (int64_t r = 0; r < count; ++r) {
      const auto row = first + static_cast<size_t>(r);
      auto& of_sequence = logprobs[static_cast<size_t>(packed_.sequences[row])];
      of_sequence[static_cast<size_t>(packed_.offsets[row])] = out.logprob_R[r];
    }
  }
  return logprobs;
}

void Trainer::forward(const Decoder& decoder, std::span<const TrainSequence> sequences, Activations* saved, Rows& rows,
                      bool without_adapters) {
  pack_sequences(packed_, sequences, options_.share_prompts);
  packed_.batch.without_adapters = without_adapters;
  rows.temperature = sequences.front().temperature;
  for (const TrainSequence& s : sequences) {
    HONE_CHECK(s.temperature == rows.temperature, "temperatures {} and {} in one micro-batch", s.temperature,
               rows.temperature);
  }
  if (kv_.num_blocks() < packed_.num_blocks) {
    kv_ = KvCache();  // the old one goes first
    kv_ = KvCache(decoder.config(), decoder.dtype(), packed_.num_blocks, kv_layers(options_.recompute));
  }
  const auto R = static_cast<int64_t>(packed_.batch.logit_rows.size());
  ComputeView y_RD = ctx_.scratch.take(decoder.dtype(), R, decoder.config().hidden_size);
  decoder.forward(ctx_, packed_.batch, kv_, y_RD, saved);
  rows.y_RD = y_RD;
}

// Loss and gradient of the head in one sweep over chunks of rows: the logits of a chunk are formed once, reduced, and
// turned into their own gradient. Returns whether any row has a gradient; without one dy is 0.
bool Trainer::head_sweep(const Losses& losses, const Objective& objective, const Rows& rows, View<float> dy_RD,
                         TrainStep& result) {
  const int64_t R = rows.y_RD.rows, V = decoder_.config().vocab_size;
  const int64_t chunk = std::min(R, chunk_rows(options_.logits_bytes, V));
  Arena::Scope scope(ctx_.scratch);
  View<float> logits = ctx_.scratch.take<float>(chunk, V);
  // in float32 the gradient takes the place of the logits
  ComputeView dlogits = decoder_.dtype() == DType::f32 ? ComputeView(logits) : ctx_.scratch.take(DType::bf16, chunk, V);
  const kernels::LogprobRows out{ctx_.scratch.take<float>(chunk), ctx_.scratch.take<float>(chunk),
                                 ctx_.scratch.take<float>(chunk)};
  View<float> dlogprob = ctx_.scratch.take<float>(chunk), dentropy = ctx_.scratch.take<float>(chunk);
  bool any_in_batch = false;
  for (int64_t begin = 0; begin < R; begin += chunk) {
    const int64_t count = std::min(chunk, R - begin);
    const auto first = static_cast<size_t>(begin);
    const auto targets = std::span(packed_.targets).subspan(first, static_cast<size_t>(count));
    const ConstComputeView y = rows.y_RD.slice_rows(begin, count);
    const kernels::LogprobRows part{{out.logprob_R.data, count}, {out.entropy_R.data, count}, {out.lse_R.data, count}};
    decoder_.logits(ctx_, logits.slice_rows(0, count), y);
    kernels::logprob_forward(ctx_, part, logits.slice_rows(0, count), targets, rows.temperature, options_.valid_vocab);
    bool any = false;
    for (int64_t r = 0; r < count; ++r) {
      const auto row = first + static_cast<size_t>(r);
      const auto s = static_cast<size_t>(packed_.sequences[row]);
      const ObjectiveToken token =
          losses.token(s, static_cast<size_t>(packed_.offsets[row]), part.logprob_R[r], part.entropy_R[r]);
      const ObjectiveRow o = objective_row(objective, token, losses.weights[s]);
      dlogprob[r] = o.dlogprob;
      dentropy[r] = o.dentropy;
      any = any || o.dlogprob != 0.0f || o.dentropy != 0.0f;
      result.add(token, o);
    }
    View<float> dy = dy_RD.slice_rows(begin, count);
    if (any) {
      ComputeView d = dlogits.slice_rows(0, count);
      kernels::logprob_backward(ctx_, d, logits.slice_rows(0, count), targets, rows.temperature, options_.valid_vocab,
                                part, View<const float>(dlogprob.data, count), View<const float>(dentropy.data, count));
      decoder_.logits_backward(ctx_, dy, d, y);
    } else {
      std::fill_n(dy.data, dy.size(), 0.0f);
    }
    any_in_batch = any_in_batch || any;
  }
  result.num_tokens += R;
  return any_in_batch;
}

}  // namespace hone
