// What Trainer does with a decoder whose head is one value: a critic's.
#include <algorithm>

#include "algorithms/value_loss.h"
#include "kernels/elementwise.h"
#include "train/trainer.h"

namespace hone {

bool Trainer::value_sweep(std::span<const TrainSequence> sequences, std::span<const TokenWeights> weights,
                          const Objective& objective, ConstComputeView y_RD, View<float> dy_RD, TrainStep& result) {
  const int64_t R = y_RD.rows;
  Arena::Scope scope(ctx_.scratch);
  View<float> values_R1 = ctx_.scratch.take<float>(R, 1), dvalues_R1 = ctx_.scratch.take<float>(R, 1);
  decoder_.logits(ctx_, values_R1, y_RD);
  bool any = false;
  for (int64_t r = 0; r < R; ++r) {
    const auto row = static_cast<size_t>(r), s = static_cast<size_t>(packed_.sequences[row]);
    const auto offset = static_cast<size_t>(packed_.offsets[row]);
    const auto token = algorithms::clipped_value_loss(values_R1[r], sequences[s].values[offset],
                                                      sequences[s].returns[offset], objective.cliprange_value);
    dvalues_R1[r] = static_cast<float>(weights[s].policy * token.dvalue);
    any = any || dvalues_R1[r] != 0.0f;
    result.loss += weights[s].policy * token.loss;
    result.value += double{values_R1[r]};
    result.clip_fraction += token.clipped;
  }
  result.num_tokens += R;
  if (!any) {
    std::fill_n(dy_RD.data, dy_RD.size(), 0.0f);
    return false;
  }
  ConstComputeView dvalues = View<const float>(dvalues_R1);
  if (decoder_.dtype() != DType::f32) {
    ComputeView rounded = ctx_.scratch.take(decoder_.dtype(), R, 1);
    kernels::convert(ctx_, rounded, dvalues_R1);
    dvalues = rounded;
  }
  decoder_.logits_backward(ctx_, dy_RD, dvalues, y_RD);
  return true;
}

std::vector<std::vector<float>> Trainer::head_values(const Decoder& decoder, std::span<const TrainSequence> sequences,
                                                     ConstComputeView y_RD) {
  std::vector<std::vector<float>> values;
  for (const TrainSequence& s : sequences) values.emplace_back(static_cast<size_t>(s.num_response()));
  Arena::Scope scope(ctx_.scratch);
  View<float> values_R1 = ctx_.scratch.take<float>(y_RD.rows, 1);
  decoder.logits(ctx_, values_R1, y_RD);
  for (int64_t r = 0; r < y_RD.rows; ++r) {
    const auto row = static_cast<size_t>(r);
    values[static_cast<size_t>(packed_.sequences[row])][static_cast<size_t>(packed_.offsets[row])] = values_R1[r];
  }
  return values;
}

}  // namespace hone
