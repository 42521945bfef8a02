#include "kernels/logprob.h"

#include <cmath>

#include "kernels/cpu/row_kernels.h"
#include "kernels/row_tasks.h"

namespace hone::kernels {

namespace {
void check_rows(View<const float> logits_RV, int64_t valid_vocab, int64_t rows) {
  HONE_CHECK(logits_RV.rows == rows, "{} rows of logits, {} of the rest", logits_RV.rows, rows);
  HONE_CHECK(valid_vocab >= 1 && valid_vocab <= logits_RV.cols && logits_RV.cols <= INT32_MAX, "{} of {} ids valid",
             valid_vocab, logits_RV.cols);
}

void check_targets(std::span<const int32_t> targets_R, int64_t valid_vocab) {
  for (size_t r = 0; r < targets_R.size(); ++r) {
    HONE_CHECK(targets_R[r] >= 0 && targets_R[r] < valid_vocab, "target {} of row {}, {} valid ids", targets_R[r], r,
               valid_vocab);
  }
}

float inverse(float temperature) {
  HONE_CHECK(temperature > 0.0f && std::isfinite(1.0f / temperature), "temperature {}", temperature);
  return 1.0f / temperature;
}
}  // namespace

void logprob_forward(Context& ctx, const LogprobRows& out, View<const float> logits_RV,
                     std::span<const int32_t> targets_R, float temperature, int64_t valid_vocab) {
  const int64_t rows = static_cast<int64_t>(targets_R.size());
  check_rows(logits_RV, valid_vocab, rows);
  check_targets(targets_R, valid_vocab);
  HONE_CHECK(out.logprob_R.size() == rows && out.entropy_R.size() == rows && out.lse_R.size() == rows,
             "logprob {}, entropy {}, lse {}, {} rows", out.logprob_R.size(), out.entropy_R.size(), out.lse_R.size(),
             rows);
  const float inv_temperature = inverse(temperature);
  const auto kernel = ctx.target.rows->logprob->forward;
  for_rows(ctx, rows, valid_vocab, [&](int64_t r) {
    kernel(&out.logprob_R[r], &out.entropy_R[r], &out.lse_R[r], logits_RV.row(r), valid_vocab, inv_temperature,
           targets_R[static_cast<size_t>(r)]);
  });
}

void logprob_backward(Context& ctx, ComputeView dlogits_RV, View<const float> logits_RV,
                      std::span<const int32_t> targets_R, float temperature, int64_t valid_vocab,
                      const LogprobRows& forward, View<const float> dlogprob_R, View<const float> dentropy_R) {
  const int64_t rows = static_cast<int64_t>(targets_R.size()), vocab = logits_RV.cols;
  check_rows(logits_RV, valid_vocab, rows);
  check_targets(targets_R, valid_vocab);
  HONE_CHECK(dlogits_RV.rows == rows && dlogits_RV.cols == vocab, "dlogits {}x{}, logits {}x{}", dlogits_RV.rows,
             dlogits_RV.cols, rows, vocab);
  HONE_CHECK(forward.lse_R.size() == rows && forward.entropy_R.size() == rows && dlogprob_R.size() == rows &&
                 dentropy_R.size() == rows,
             "lse {}, entropy {}, dlogprob {}, dentropy {}, {} rows", forward.lse_R.size(), forward.entropy_R.size(),
             dlogprob_R.size(), dentropy_R.size(), rows);
  const float inv_temperature = inverse(temperature);
  const auto kernel = ctx.target.rows->logprob->backward[dlogits_RV.dtype == DType::bf16];
  for_rows(ctx, rows, vocab, [&](int64_t r) {
    kernel(dlogits_RV.row(r), logits_RV.row(r), vocab, valid_vocab, inv_temperature, targets_R[static_cast<size_t>(r)],
           forward.lse_R[r], forward.entropy_R[r], dlogprob_R[r], dentropy_R[r]);
  });
}

void sample(Context& ctx, std::span<int32_t> ids_R, View<float> logprob_R, View<const float> logits_RV,
            std::span<const DrawRow> draws_R, int64_t valid_vocab) {
  const int64_t rows = static_cast<int64_t>(draws_R.size());
  check_rows(logits_RV, valid_vocab, rows);
  HONE_CHECK(static_cast<int64_t>(ids_R.size()) == rows && logprob_R.size() == rows, "ids {}, logprob {}, {} rows",
             ids_R.size(), logprob_R.size(), rows);
  for (const DrawRow& draw : draws_R) {
    HONE_CHECK(draw.uniform >= 0.0f && draw.uniform < 1.0f, "uniform {}", draw.uniform);
    if (draw.temperature != 0.0f) inverse(draw.temperature);
  }
  Arena::Scope scope(ctx.scratch);
  const View<float> block_sums =
      ctx.scratch.take<float>(rows, (valid_vocab + cpu::kLogprobBlock - 1) / cpu::kLogprobBlock);
  const auto kernel = ctx.target.rows->logprob->sample;
  for_rows(ctx, rows, valid_vocab, [&](int64_t r) {
    const DrawRow& draw = draws_R[static_cast<size_t>(r)];
    ids_R[static_cast<size_t>(r)] =
        kernel(&logprob_R[r], logits_RV.row(r), valid_vocab, draw.temperature, draw.uniform, block_sums.row(r));
  });
}

}  // namespace hone::kernels
