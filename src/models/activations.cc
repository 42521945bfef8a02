#include "models/activations.h"

namespace hone {

namespace {

// What goes through the lists below: memory is taken, or its bytes are counted.
struct Taking {
  Arena& memory;
  DType dtype;
  int64_t T;
  void operator()(View<float>& x, int64_t cols) const { x = memory.take<float>(T, cols); }
  void operator()(ComputeView& x, int64_t cols) const { x = memory.take(dtype, T, cols); }
  void one_a_token(View<float>& x) const { x = memory.take<float>(T); }
};
struct Counting {
  DType dtype;
  int64_t& bytes;
  void operator()(View<float>&, int64_t cols) const { bytes += cols * int64_t{sizeof(float)}; }
  void operator()(ComputeView&, int64_t cols) const { bytes += cols * size_bytes(dtype); }
  void one_a_token(View<float>&) const { bytes += int64_t{sizeof(float)}; }
};

template <class Visit>
void visit_projections(LayerActivations& a, const ModelConfig& c, const Visit& visit) {
  visit(a.qkv_TN, c.q_size() + 2 * c.kv_size());
}

template <class Visit>
void visit_kept(LayerActivations& a, const ModelConfig& c, const Visit& visit) {
  visit(a.k_rrms_TH, c.num_kv_heads);
  visit(a.lse_TH, c.num_heads);
  visit(a.o_THC, c.q_size());
  visit(a.middle_TD, c.hidden_size);
  visit(a.gate_up_T2F, 2 * c.intermediate_size);
}

template <class Visit>
void visit_recomputed(LayerActivations& a, const ModelConfig& c, const Visit& visit) {
  visit.one_a_token(a.input_rrms_T);
  visit(a.a_TD, c.hidden_size);
  visit(a.q_rrms_TH, c.num_heads);
  visit(a.q_THC, c.q_size());
  visit.one_a_token(a.middle_rrms_T);
  visit(a.b_TD, c.hidden_size);
  visit(a.act_TF, c.intermediate_size);
}

}  // namespace

void LayerActivations::take_projections(Arena& memory, const ModelConfig& c, DType dtype, int64_t T) {
  visit_projections(*this, c, Taking{memory, dtype, T});
}

void LayerActivations::take_kept(Arena& memory, const ModelConfig& c, DType dtype, int64_t T) {
  visit_kept(*this, c, Taking{memory, dtype, T});
}

void LayerActivations::take_recomputed(Arena& memory, const ModelConfig& c, DType dtype, int64_t T) {
  visit_recomputed(*this, c, Taking{memory, dtype, T});
}

namespace {

template <class List>
int64_t bytes_of(const List& list, const ModelConfig& c, DType dtype) {
  int64_t bytes = 0;
  LayerActivations none;
  list(none, c, Counting{dtype, bytes});
  return bytes;
}

}  // namespace

int64_t LayerActivations::projection_bytes(const ModelConfig& c, DType dtype) {
  return bytes_of(visit_projections<Counting>, c, dtype);
}

int64_t LayerActivations::kept_bytes(const ModelConfig& c, DType dtype) {
  return bytes_of(visit_kept<Counting>, c, dtype);
}

int64_t LayerActivations::recomputed_bytes(const ModelConfig& c, DType dtype) {
  return bytes_of(visit_recomputed<Counting>, c, dtype);
}

}  // namespace hone
