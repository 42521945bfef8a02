#include "bench/linear_bench.h"

#include <cmath>

#include "bench/filler.h"

namespace hone::bench {

namespace {

constexpr int64_t kWakerSize = 64;

Buffer<float> values(int64_t size) {
  Buffer<float> out(size);
  for (int64_t i = 0; i < size; ++i) out[i] = filler(static_cast<uint64_t>(i));
  return out;
}

Buffer<char> compute_values(DType dtype, int64_t size) {
  Buffer<char> out(size * size_bytes(dtype));
  for (int64_t i = 0; i < size; ++i) {
    const float v = filler(static_cast<uint64_t>(i));
    if (dtype == DType::f32) {
      reinterpret_cast<float*>(out.data())[i] = v;
    } else {
      reinterpret_cast<bf16*>(out.data())[i] = bf16(v);
    }
  }
  return out;
}

double sum_of_squares(const Buffer<float>& buffer) {
  double total = 0;
  for (float v : buffer) total += static_cast<double>(v) * v;
  return total;
}

}  // namespace

LinearBench::LinearBench(kernels::Context& ctx, const Peer& peer, DType dtype, LinearShape shape, int copies)
    : ctx_(ctx), dtype_(dtype), shape_(shape), copies_(copies), waker_(3 * kWakerSize * kWakerSize) {
  const auto [kind, T, N, K] = shape;
  const Buffer<float> w_NK = kind == kHonePeerDw ? Buffer<float>() : values(N * K);
  a_ = compute_values(dtype, T * (kind == kHonePeerForward ? K : N));
  if (kind == kHonePeerDw) {
    x_ = compute_values(dtype, T * K);
    out_ = Buffer<float>(N * K);
  } else {
    const bool forward = kind == kHonePeerForward;
    out_ = Buffer<float>(T * (forward ? N : K));
    auto packed = kernels::PackedMatrix::allocate(ctx.target, dtype, forward ? N : K, forward ? K : N);
    forward ? pack(ctx, packed, w_NK.view(N, K)) : pack_transposed(ctx, packed, w_NK.view(N, K));
    for (int i = 0; i < copies; ++i) {
      weights_.push_back({packed.dtype, packed.columns, packed.depth, packed.panel, packed.data.copy(), {}});
    }
  }
  if (peer) choose_peer(peer, w_NK);
  if (peer_product_) compare();
}

void LinearBench::run_ours(int calls) {
  const auto [kind, T, N, K] = shape_;
  for (int i = 0; i < calls; ++i) {
    if (kind == kHonePeerDw) {
      product_dw(ctx_, out_.view(N, K), ConstComputeView(a_.data(), dtype_, T, N),
                 ConstComputeView(x_.data(), dtype_, T, K));
    } else {
      const kernels::PackedMatrix& packed = weights_[static_cast<size_t>(next_++ % copies_)];
      product(ctx_, out_.view(T, packed.columns), ConstComputeView(a_.data(), dtype_, T, packed.depth), packed,
              kernels::Store::overwrite);
    }
  }
}

void LinearBench::run_peers(int calls) {
  const HonePeerApi& api = *peer_product_.get_deleter().api;
  for (int i = 0; i < calls; ++i) {
    if (shape_.kind == kHonePeerDw) {
      api.run_dw(peer_product_.get(), a_.data(), x_.data(), peer_out_.data());
    } else {
      api.run(peer_product_.get(), a_.data(), peer_weights_[static_cast<size_t>(peer_next_++ % copies_)].data(),
              peer_out_.data());
    }
  }
}

double LinearBench::trial(const HonePeerApi& api, HonePeerProduct* product, const Buffer<float>& w_NK) {
  peer_weights_.clear();
  const int64_t weight_bytes = api.weight_bytes(product);
  if (shape_.kind == kHonePeerDw) {
    peer_out_ = Buffer<float>(weight_bytes / int64_t(sizeof(float)));
  } else {
    peer_out_ = Buffer<float>(out_.size());
    peer_weights_.emplace_back(weight_bytes);
    api.pack(product, w_NK.data(), peer_weights_[0].data());
  }
  const int copies = std::exchange(copies_, 1);
  peer_product_ = PeerProduct(product, {&api});
  run_peers(1);
  double best = seconds_of([&] { run_peers(1); });
  if (best < 0.1) best = std::min(best, seconds_of([&] { run_peers(1); }));
  copies_ = copies;
  return best;
}

void LinearBench::choose_peer(const Peer& peer, const Buffer<float>& w_NK) {
  const HonePeerApi& api = peer.api();
  const auto create = [&](int variant) {
    return api.create(shape_.kind, variant, dtype_ == DType::bf16, shape_.T, shape_.N, shape_.K);
  };
  int fastest = -1;
  double fastest_seconds = 0;
  for (int variant = 0; variant < api.num_variants(); ++variant) {
    HonePeerProduct* product = create(variant);
    if (product == nullptr) continue;
    const double seconds = trial(api, product, w_NK);
    if (fastest < 0 || seconds < fastest_seconds) {
      fastest = variant;
      fastest_seconds = seconds;
    }
  }
  if (fastest < 0) return;
  trial(api, create(fastest), w_NK);
  for (int i = 1; i < copies_ && !peer_weights_.empty(); ++i) peer_weights_.push_back(peer_weights_[0].copy());
  peer_waker_ = PeerProduct(api.create(kHonePeerForward, 1, 0, kWakerSize, kWakerSize, kWakerSize), {&api});
}

void LinearBench::compare() {
  if (shape_.kind == kHonePeerDw) out_ = Buffer<float>(out_.size());
  run_ours(1);
  run_peers(1);
  // The layout of dw is the peer's own, so the comparison must not depend on places.
  const double ours = sum_of_squares(out_), peers = sum_of_squares(peer_out_);
  HONE_CHECK(std::abs(ours - peers) <= 1e-3 * ours, "product {}: {}x{}x{}: sum of squares {}, the peer's {}",
             static_cast<int>(shape_.kind), shape_.T, shape_.N, shape_.K, ours, peers);
}

void LinearBench::wake() {
  for (int i = 0; i < 20; ++i) ctx_.team.run(ctx_.team.num_threads(), [](int64_t) {});
}

void LinearBench::wake_peer() {
  float* data = waker_.data();
  constexpr int64_t kSize = kWakerSize * kWakerSize;
  for (int i = 0; i < 20 && peer_waker_; ++i) {
    peer_waker_.get_deleter().api->run(peer_waker_.get(), data, data + kSize, data + 2 * kSize);
  }
}

Medians LinearBench::measure(int repetitions, int calls) {
  std::function<void()> peers;
  if (peer_product_) peers = [&] { run_peers(calls); };
  const Medians m = medians_by_turns(
      repetitions, [&] { wake(); }, [&] { run_ours(calls); }, [&] { wake_peer(); }, peers);
  return {m.ours / calls, m.peers / calls};
}

double LinearBench::best_flops(int repetitions) {
  double best = 0;
  run_ours(1);
  for (int i = 0; i < repetitions; ++i) {
    best = std::max(best, shape_.flops() / seconds_of([&] { run_ours(1); }));
  }
  if (!peer_product_) return best;
  run_peers(1);
  for (int i = 0; i < repetitions; ++i) {
    best = std::max(best, shape_.flops() / seconds_of([&] { run_peers(1); }));
  }
  return best;
}

}  // namespace hone::bench
