#include "train/trainer.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "core/fixed_math.h"
#include "kernels/logprob.h"
#include "train/micro_batches.h"

namespace hone {

struct Trainer::Rows {
  ConstComputeView y_RD;  // hidden states that the head reads
  float temperature = 1.0f;
};

namespace {

// Whether the loss may have a gradient at the sequence's tokens.
bool may_teach(const TrainSequence& s, const Objective& objective) {
  return objective.kind == Objective::Kind::sft || s.advantage != 0.0f || objective.entropy_coeff != 0.0;
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

// Takes the micro-batch's sequences out of `sequences`.
std::vector<TrainSequence> taken(std::span<TrainSequence> sequences, const BalancedMicroBatches& balanced,
                                 const MicroBatch& micro) {
  std::vector<TrainSequence> part;
  for (size_t i = micro.begin; i < micro.end; ++i) part.push_back(std::move(sequences[balanced.order[i]]));
  return part;
}

int64_t chunk_rows(int64_t logits_bytes, int64_t vocab) {
  return std::max<int64_t>(1, logits_bytes / (vocab * int64_t{sizeof(float)}));
}

KvLayers kv_layers(const TrainerOptions& options) {
  return options.recompute == Recompute::full ? KvLayers::shared : KvLayers::own;
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
  // The others come last: micro-batches of their own, without backward.
  const auto others = std::stable_partition(sequences.begin(), sequences.end(),
                                            [&](const TrainSequence& s) { return may_teach(s, objective); });
  TrainStep result;
  algorithms::BatchCounts counts;
  for (const TrainSequence& s : sequences) {
    counts.tokens += s.num_loss();
    counts.sequences += 1;
  }
  decoder_.zero_gradients(ctx_);
  for (const std::span<TrainSequence> alike :
       {std::span(sequences.begin(), others), std::span(others, sequences.end())}) {
    const BalancedMicroBatches balanced = micro_batches(alike, options_, decoder_.config());
    for (const MicroBatch& micro : balanced.batches) {
      const std::vector<TrainSequence> part = taken(alike, balanced, micro);
      std::vector<double> weights;
      for (const TrainSequence& s : part) {
        weights.push_back(
            algorithms::token_weight(objective.aggregation, counts, s.num_loss(), objective.loss_scale_factor));
      }
      Arena::Scope scope(ctx_.scratch);
      Rows rows;
      forward(part, activations_.get(), rows);
      View<float> dy_RD = ctx_.scratch.take<float>(rows.y_RD.rows, decoder_.config().hidden_size);
      const bool any = head_sweep(part, weights, objective, rows, dy_RD, result);
      if (any) decoder_.backward(ctx_, packed_.batch, kv_, dy_RD, *activations_);
    }
  }
  if (result.num_tokens > 0) {
    const auto n = static_cast<double>(result.num_tokens);
    for (double* mean : {&result.entropy, &result.ppo_kl, &result.clip_fraction, &result.clip_fraction_lower,
                         &result.probs_difference_mean, &result.probs_difference_std}) {
      *mean /= n;
    }
    const double squares = result.probs_difference_std, mean = result.probs_difference_mean;
    result.probs_difference_std = std::sqrt(std::max(0.0, squares - mean * mean));
  }
  return result;
}

std::vector<std::vector<float>> Trainer::score(std::span<const TrainSequence> all, bool without_adapters) {
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
    forward(taken(sequences, balanced, micro), nullptr, rows, without_adapters);
    const int64_t R = rows.y_RD.rows, V = decoder_.config().vocab_size;
    const int64_t chunk = chunk_rows(options_.logits_bytes, V);
    for (int64_t begin = 0; begin < R; begin += chunk) {
      Arena::Scope inner(ctx_.scratch);
      const int64_t count = std::min(chunk, R - begin);
      View<float> logits_RV = ctx_.scratch.take<float>(count, V);
      const kernels::LogprobRows out{ctx_.scratch.take<float>(count), ctx_.scratch.take<float>(count),
                                     ctx_.scratch.take<float>(count)};
      decoder_.logits(ctx_, logits_RV, rows.y_RD.slice_rows(begin, count));
      const auto first = static_cast<size_t>(begin);
      kernels::logprob_forward(ctx_, out, logits_RV,
                               std::span(packed_.targets).subspan(first, static_cast<size_t>(count)), rows.temperature,
                               options_.valid_vocab);
      for (int64_t r = 0; r < count; ++r) {
        const auto row = first + static_cast<size_t>(r);
        const size_t s = source[balanced.order[micro.begin + static_cast<size_t>(packed_.sequences[row])]];
        logprobs[s][static_cast<size_t>(packed_.offsets[row])] = out.logprob_R[r];
      }
    }
  }
  return logprobs;
}

void Trainer::forward(std::span<const TrainSequence> sequences, Activations* saved, Rows& rows, bool without_adapters) {
  pack_sequences(packed_, sequences, options_.share_prompts);
  packed_.batch.without_adapters = without_adapters;
  rows.temperature = sequences.front().temperature;
  for (const TrainSequence& s : sequences) {
    HONE_CHECK(s.temperature == rows.temperature, "temperatures {} and {} in one micro-batch", s.temperature,
               rows.temperature);
  }
  if (kv_.num_blocks() < packed_.num_blocks) {
    kv_ = KvCache();  // the old one goes first
    kv_ = KvCache(decoder_.config(), decoder_.dtype(), packed_.num_blocks, kv_layers(options_));
  }
  const auto R = static_cast<int64_t>(packed_.batch.logit_rows.size());
  ComputeView y_RD = ctx_.scratch.take(decoder_.dtype(), R, decoder_.config().hidden_size);
  decoder_.forward(ctx_, packed_.batch, kv_, y_RD, saved);
  rows.y_RD = y_RD;
}

// Loss and gradient of the head in one sweep over chunks of rows: the logits of a chunk are formed once, reduced, and
// turned into their own gradient. Returns whether any row has a gradient; without one dy is 0.
bool Trainer::head_sweep(std::span<const TrainSequence> sequences, std::span<const double> weights,
                         const Objective& objective, const Rows& rows, View<float> dy_RD, TrainStep& result) {
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
      const TrainSequence& sequence = sequences[s];
      const float old = sequence.old_logprobs.empty()
                            ? part.logprob_R[r]
                            : sequence.old_logprobs[static_cast<size_t>(packed_.offsets[row])];
      const ObjectiveRow o =
          objective_row(objective, part.logprob_R[r], part.entropy_R[r], old, sequence.advantage, weights[s]);
      dlogprob[r] = o.dlogprob;
      dentropy[r] = o.dentropy;
      any = any || o.dlogprob != 0.0f || o.dentropy != 0.0f;
      const double difference = double{part.logprob_R[r]} - double{old};
      result.loss += o.loss;
      result.entropy_loss += o.entropy_loss;
      result.entropy += double{part.entropy_R[r]};
      result.ppo_kl -= difference;
      result.clip_fraction += o.clipped;
      result.clip_fraction_lower += o.clipped_lower;
      const double probs = fixed::exp(double{part.logprob_R[r]}) - fixed::exp(double{old});
      result.probs_difference_max = std::max(result.probs_difference_max, std::abs(probs));
      result.probs_difference_mean += std::abs(probs);
      result.probs_difference_std += probs * probs;  // the mean of squares until the end
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

double Trainer::memory_bytes(const ModelConfig& config, DType dtype, const TrainerOptions& options,
                             const TrainerWork& work) {
  const double largest = std::max(static_cast<double>(options.micro_batch_tokens), work.longest_sequence);
  const double step = std::min(largest, work.step_ids), score = std::min(largest, work.score_ids);
  const double trained = work.trained > 0 ? work.trained : static_cast<double>(config.num_parameters());
  const double states = trained * (sizeof(float) + Moments::bytes_per_parameter(options.optimizer.moments));
  const int64_t widest = std::max(2 * config.intermediate_size, config.q_size() + 2 * config.kv_size());
  // of a shared prompt every sharer has gradients of keys and values
  const int64_t shared = options.share_prompts ? 2 * config.kv_size() : 0;
  const auto scratch = static_cast<double>((4 * config.hidden_size + 3 * widest + shared) * int64_t{sizeof(float)});
  const double kv = static_cast<double>(KvCache::block_bytes(config, dtype, kv_layers(options))) / kernels::kKvBlock;
  const auto kept = static_cast<double>(Decoder::activation_bytes_per_token(config, dtype, options.recompute)) + kv;
  // scoring keeps nothing but keys and values
  const auto passing = static_cast<double>(Decoder::passing_bytes_per_token(config, dtype)) + kv;
  return states + Decoder::transposed_bytes(config, dtype) + step * kept +
         std::max(step * scratch, score * (passing + scratch)) + 2.0 * static_cast<double>(options.logits_bytes);
}

}  // namespace hone
