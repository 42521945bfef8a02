// One linear product of ours and the peer's fastest way to do it, on the same values, with a rotation of weights.
#pragma once

#include <cstdint>
#include <vector>

#include "bench/peer.h"
#include "bench/timing.h"
#include "core/buffer.h"
#include "kernels/products.h"

namespace hone::bench {

struct LinearShape {
  HonePeerKind kind = kHonePeerForward;
  int64_t T = 0, N = 0, K = 0;  // tokens, outputs, inputs

  double flops() const { return 2.0 * static_cast<double>(T) * static_cast<double>(N) * static_cast<double>(K); }
};

class LinearBench {
 public:
  // The calls pass through `copies` equal weights in turn (dw: outputs). Raises Bug when the two results differ.
  LinearBench(kernels::Context& ctx, const Peer& peer, DType dtype, LinearShape shape, int copies);

  // Seconds of one call; each repetition times `calls` of them.
  Medians measure(int repetitions, int calls);
  // The faster of the two sides' best call.
  double best_flops(int repetitions);

 private:
  void run_ours(int calls);
  void run_peers(int calls);
  void wake();
  void wake_peer();
  void choose_peer(const Peer& peer, const Buffer<float>& w_NK);
  double trial(const HonePeerApi& api, HonePeerProduct* product, const Buffer<float>& w_NK);
  void compare();

  kernels::Context& ctx_;
  DType dtype_;
  LinearShape shape_;
  int copies_;
  Buffer<char> a_, x_;  // a: x (forward) or dy; x: only dw
  Buffer<float> out_, peer_out_;
  std::vector<kernels::PackedMatrix> weights_;
  PeerProduct peer_product_{nullptr, {nullptr}}, peer_waker_{nullptr, {nullptr}};
  std::vector<Buffer<char>> peer_weights_;
  Buffer<float> waker_;
  int64_t next_ = 0, peer_next_ = 0;
};

}  // namespace hone::bench
