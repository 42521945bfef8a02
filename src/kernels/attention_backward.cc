// Attention backward: cut into tasks by shape, in three passes. Keys and values of every block are laid out anew; the
// queries of a sequence, in up to four segments, give dq and their share of dk and dv; the shares are added up. The
// last segment's share lies in its place already, unless the sequence shares a prefix: that belongs to another's rows.
#include <algorithm>
#include <cmath>

#include "kernels/attention_tasks.h"
#include "kernels/cpu/attention_kernels.h"

namespace hone::kernels {

namespace {

constexpr int64_t kMaxSegments = 4;    // of a sequence's queries
constexpr int64_t kSplitLength = 128;  // shorter sequences are one segment
constexpr int64_t kSumTile = 64;       // tokens

// Ends of the query segments of a sequence: equal causal cost, so with P tokens before the queries and C in all the
// k-th of n ends at token sqrt(P^2 + (C^2 - P^2) k / n). A function of the lengths alone.
struct Segments {
  int64_t count = 1, prefix = 0;
  int64_t num_parts = 0;           // leading segments whose shares of dk and dv lie apart
  int64_t end[kMaxSegments] = {};  // queries

  int64_t begin(int64_t k) const { return k == 0 ? 0 : end[k - 1]; }
  int64_t num_keys(int64_t k) const { return prefix + end[k]; }  // that the segment sees
  int64_t cost(int64_t k) const { return (end[k] - begin(k)) * (2 * prefix + begin(k) + end[k]); }
  // Where the parts of segment k begin, in floats: dk, then dv, each [num_keys][columns].
  int64_t part_offset(int64_t k, int64_t columns) const {
    int64_t offset = 0;
    for (int64_t i = 0; i < k; ++i) offset += 2 * num_keys(i) * columns;
    return offset;
  }
};
Segments segments_of(int64_t length, int64_t context) {
  Segments segments;
  segments.prefix = context - length;
  if (length >= kSplitLength) segments.count = kMaxSegments;
  segments.num_parts = length == 0 ? 0 : segments.prefix > 0 ? segments.count : segments.count - 1;
  const double before = static_cast<double>(segments.prefix * segments.prefix);
  const double all = static_cast<double>(context * context);
  for (int64_t k = 0; k + 1 < segments.count; ++k) {
    const double share = static_cast<double>(k + 1) / static_cast<double>(segments.count);
    segments.end[k] = (static_cast<int64_t>(std::sqrt(before + (all - before) * share)) - segments.prefix) / 16 * 16;
  }
  segments.end[segments.count - 1] = length;
  return segments;
}

// Where the scratch of one sequence's backward begins, in floats.
struct SequenceScratch {
  int64_t blocks = 0;  // [Hk][num_blocks] block forms
  int64_t parts = 0;   // of the segments that have them
};

struct Arguments {
  View<float> dq_T_HqC, dk_T_HkC, dv_T_HkC;
  View<const float> do_T_HqC;
  ConstComputeView o_T_HqC, q_T_HqC;
  const KvLayer& kv;
  View<const float> lse_T_Hq;
  const SequenceTable& sequences;
  float scale;
};

void check_shapes(const Arguments& a, const AttentionHeads& heads) {
  const int64_t T = a.q_T_HqC.rows;
  const auto check = [&](int64_t rows, int64_t cols, int64_t expected_cols, const char* what) {
    HONE_CHECK(rows == T && cols == expected_cols, "{} is {}x{}, expected {}x{}", what, rows, cols, T, expected_cols);
  };
  const int64_t Hq_C = heads.num_heads * heads.head_dim, Hk_C = heads.num_kv_heads * heads.head_dim;
  check(a.dq_T_HqC.rows, a.dq_T_HqC.cols, Hq_C, "dq");
  check(a.dk_T_HkC.rows, a.dk_T_HkC.cols, Hk_C, "dk");
  check(a.dv_T_HkC.rows, a.dv_T_HkC.cols, Hk_C, "dv");
  check(a.do_T_HqC.rows, a.do_T_HqC.cols, Hq_C, "do");
  check(a.o_T_HqC.rows, a.o_T_HqC.cols, Hq_C, "o");
  check(a.lse_T_Hq.rows, a.lse_T_Hq.cols, heads.num_heads, "lse");
  HONE_CHECK(a.o_T_HqC.dtype == a.kv.dtype, "o is {}, the cache {}", name(a.o_T_HqC.dtype), name(a.kv.dtype));
  check_table(a.sequences, a.kv, T);
}

class Backward {
 public:
  Backward(Context& ctx, const Arguments& arguments)
      : ctx_(ctx), a_(arguments), heads_(heads_of(arguments.kv, arguments.q_T_HqC)), scope_(ctx.scratch) {
    check_shapes(a_, heads_);
    place_scratch();
    list_tasks();
  }

  void run() {
    const int64_t C = heads_.head_dim;
    ctx_.team.run(
        forms_.size(), [&](int64_t i) { make_block_forms(forms_[i]); }, "attention_backward: block forms");
    const int64_t scratch_floats = (cpu::attention_backward_scratch(max_queries_, C) + 15) / 16 * 16;
    const View<float> scratch = ctx_.scratch.take<float>(ctx_.team.num_threads(), scratch_floats);
    ctx_.team.run(
        tasks_.size(), [&](int64_t i, int thread) { compute(tasks_[i], scratch.row(thread)); }, "attention_backward");
    ctx_.team.run(
        sums_.size(), [&](int64_t i) { add_parts(sums_[i]); }, "attention_backward: sums");
  }

 private:
  int64_t offset(int64_t s) const { return a_.sequences.cu_seqlens[static_cast<size_t>(s)]; }
  int64_t length(int64_t s) const { return offset(s + 1) - offset(s); }
  int64_t context(int64_t s) const { return a_.sequences.context_lens[static_cast<size_t>(s)]; }
  int64_t num_blocks(int64_t s) const { return (context(s) + kKvBlock - 1) / kKvBlock; }
  Segments segments(int64_t s) const { return segments_of(length(s), context(s)); }
  int64_t owner(int64_t s) const {
    return a_.sequences.prefix_of.empty() ? -1 : a_.sequences.prefix_of[static_cast<size_t>(s)];
  }
  int64_t end_of_sharers(int64_t s) const;
  int64_t num_summed(int64_t s) const;
  int64_t columns() const { return heads_.num_kv_heads * heads_.head_dim; }

  void place_scratch();
  void list_tasks();
  void make_block_forms(const AttentionTask& task) const;
  void compute(const AttentionTask& task, float* scratch) const;
  void add_parts(const AttentionTask& task) const;
  void add_parts_of(int64_t s, int64_t begin, int64_t end, int64_t row) const;

  Context& ctx_;
  Arguments a_;
  AttentionHeads heads_;
  Arena::Scope scope_;
  View<SequenceScratch> places_;
  View<float> shared_;
  int64_t max_queries_ = 0;
  View<AttentionTask> forms_;  // first = block
  View<AttentionTask> tasks_;  // first = segment
  View<AttentionTask> sums_;   // first, count = tokens
};

// One past the last sequence that shares the first tokens of s.
int64_t Backward::end_of_sharers(int64_t s) const {
  int64_t end = s + 1;
  while (end < a_.sequences.num_sequences() && owner(end) == s) ++end;
  return end;
}

// How many of the sequence's first rows sum parts, their own or those of sharers. (All of a sharer's.)
int64_t Backward::num_summed(int64_t s) const {
  const Segments own = segments(s);
  int64_t end = own.num_parts > 0 ? own.end[own.num_parts - 1] : 0;
  for (int64_t sharer = s + 1; sharer < end_of_sharers(s); ++sharer) end = std::max(end, segments(sharer).prefix);
  return end;
}

void Backward::place_scratch() {
  const int64_t S = a_.sequences.num_sequences(), Hk = heads_.num_kv_heads;
  places_ = ctx_.scratch.take<SequenceScratch>(S);
  int64_t num_tasks = 0, num_forms = 0, num_sums = 0, num_floats = 0;
  for (int64_t s = 0; s < S; ++s) {
    const Segments segments = this->segments(s);
    const int64_t o = owner(s);
    HONE_CHECK(segments.prefix == 0 || (o >= 0 && o < s && owner(o) < 0 && s < end_of_sharers(o) &&
                                        segments.prefix <= length(o) && length(o) == context(o)),
               "backward of sequence {} with {} of {} queries after sequence {}", s, length(s), context(s), o);
    places_[s].blocks = num_floats;
    num_floats += Hk * num_blocks(s) * cpu::attention_block_floats(heads_.head_dim);
    places_[s].parts = num_floats;
    num_floats += segments.part_offset(segments.num_parts, columns());
    num_floats = (num_floats + 15) / 16 * 16;
    if (length(s) == 0) continue;
    num_forms += Hk * num_blocks(s);
    num_tasks += Hk * segments.count;
    num_sums += (num_summed(s) + kSumTile - 1) / kSumTile;
    for (int64_t k = 0; k < segments.count; ++k) {
      max_queries_ = std::max(max_queries_, segments.end[k] - segments.begin(k));
    }
  }
  shared_ = ctx_.scratch.take<float>(num_floats);
  forms_ = ctx_.scratch.take<AttentionTask>(num_forms);
  tasks_ = ctx_.scratch.take<AttentionTask>(num_tasks);
  sums_ = ctx_.scratch.take<AttentionTask>(num_sums);
}

void Backward::list_tasks() {
  int64_t form = 0, n = 0, sum = 0;
  for (int64_t s = 0; s < a_.sequences.num_sequences(); ++s) {
    if (length(s) == 0) continue;
    const Segments segments = this->segments(s);
    const auto sequence = static_cast<int32_t>(s);
    for (int32_t h = 0; h < heads_.num_kv_heads; ++h) {
      for (int32_t b = 0; b < num_blocks(s); ++b) forms_[form++] = {0, sequence, h, b, 1};
      for (int64_t k = 0; k < segments.count; ++k) {
        tasks_[n++] = {segments.cost(k), sequence, h, static_cast<int32_t>(k), 1};
      }
    }
    const int64_t end = num_summed(s);
    for (int64_t t = 0; t < end; t += kSumTile) {
      sums_[sum++] = {0, sequence, 0, static_cast<int32_t>(t), static_cast<int32_t>(std::min(kSumTile, end - t))};
    }
  }
  sort_by_cost(tasks_);
}

void Backward::make_block_forms(const AttentionTask& task) const {
  const int64_t s = task.sequence, h = task.kv_head, b = task.first, C = heads_.head_dim;
  const int64_t block = a_.sequences.block_table[static_cast<size_t>(s * a_.sequences.max_blocks + b)];
  const int64_t first = (block * heads_.num_kv_heads + h) * C * kKvBlock * size_bytes(a_.kv.dtype);
  cpu::AttentionBlockForms x;
  x.bf16 = a_.kv.dtype == DType::bf16;
  x.keys = static_cast<const char*>(a_.kv.keys) + first;
  x.values = static_cast<const char*>(a_.kv.values) + first;
  x.keys_by_channel = shared_.data + places_[s].blocks + (h * num_blocks(s) + b) * cpu::attention_block_floats(C);
  x.keys_by_token = x.keys_by_channel + C * kKvBlock;
  x.values_by_channel = x.keys_by_token + kKvBlock * cpu::padded_head_dim(C);
  x.num_tokens = std::min(kKvBlock, context(s) - b * kKvBlock);
  x.head_dim = C;
  ctx_.target.attention->block_forms(x);
}

// dq of a segment's queries; dk and dv in their place or as parts.
void Backward::compute(const AttentionTask& task, float* scratch) const {
  const int64_t s = task.sequence, h = task.kv_head, k = task.first, C = heads_.head_dim, head = h * heads_.group;
  const Segments segments = this->segments(s);
  const int64_t t = offset(s) + segments.begin(k);
  cpu::AttentionBackwardTask x;
  x.bf16 = a_.kv.dtype == DType::bf16;
  x.blocks = shared_.data + places_[s].blocks + h * num_blocks(s) * cpu::attention_block_floats(C);
  x.first_query = segments.prefix + segments.begin(k);
  x.num_queries = segments.end[k] - segments.begin(k);
  x.group = heads_.group;
  x.head_dim = C;
  x.q = a_.q_T_HqC.at(t, head * C);
  x.q_stride = a_.q_T_HqC.stride;
  x.o = a_.o_T_HqC.at(t, head * C);
  x.o_stride = a_.o_T_HqC.stride;
  x.d_o = &a_.do_T_HqC(t, head * C);
  x.d_o_stride = a_.do_T_HqC.stride;
  x.lse = &a_.lse_T_Hq(t, head);
  x.lse_stride = a_.lse_T_Hq.stride;
  x.dq = &a_.dq_T_HqC(t, head * C);
  x.dq_stride = a_.dq_T_HqC.stride;
  if (k >= segments.num_parts) {
    x.dk = &a_.dk_T_HkC(offset(s), h * C);
    x.dk_stride = a_.dk_T_HkC.stride;
    x.dv = &a_.dv_T_HkC(offset(s), h * C);
    x.dv_stride = a_.dv_T_HkC.stride;
  } else {
    x.dk = shared_.data + places_[s].parts + segments.part_offset(k, columns()) + h * C;
    x.dv = x.dk + segments.num_keys(k) * columns();
    x.dk_stride = x.dv_stride = columns();
  }
  x.scale = a_.scale;
  x.scratch = scratch;
  ctx_.target.attention->backward(x);
}

void Backward::add_parts(const AttentionTask& task) const {
  const int64_t s = task.sequence, row = offset(s) + task.first, end = task.first + task.count;
  const Segments own = segments(s);
  if (own.num_parts == own.count) {  // nothing lies in its place
    for (int64_t t = 0; t < task.count; ++t) {
      std::fill_n(&a_.dk_T_HkC(row + t, 0), columns(), 0.0f);
      std::fill_n(&a_.dv_T_HkC(row + t, 0), columns(), 0.0f);
    }
  }
  add_parts_of(s, own.prefix + task.first, own.prefix + end, row);
  for (int64_t sharer = s + 1; sharer < end_of_sharers(s); ++sharer) {
    add_parts_of(sharer, task.first, std::min(end, segments(sharer).prefix), row);
  }
}

// What the segments of a sequence say of its keys [begin, end), added to the rows from `row` on.
void Backward::add_parts_of(int64_t s, int64_t begin, int64_t end, int64_t row) const {
  const Segments segments = this->segments(s);
  for (int64_t key = begin; key < end; ++key, ++row) {
    const float* dk[kMaxSegments];
    const float* dv[kMaxSegments];
    int64_t num_parts = 0;
    for (int64_t k = 0; k < segments.num_parts; ++k) {
      if (segments.num_keys(k) <= key) continue;
      const float* part = shared_.data + places_[s].parts + segments.part_offset(k, columns());
      dk[num_parts] = part + key * columns();
      dv[num_parts++] = part + (segments.num_keys(k) + key) * columns();
    }
    if (num_parts == 0) continue;
    ctx_.target.attention->add_parts(&a_.dk_T_HkC(row, 0), dk, num_parts, columns());
    ctx_.target.attention->add_parts(&a_.dv_T_HkC(row, 0), dv, num_parts, columns());
  }
}

}  // namespace

void attention_backward(Context& ctx, View<float> dq_T_HqC, View<float> dk_T_HkC, View<float> dv_T_HkC,
                        View<const float> do_T_HqC, ConstComputeView o_T_HqC, ConstComputeView q_T_HqC,
                        const KvLayer& kv, View<const float> lse_T_Hq, const SequenceTable& sequences, float scale) {
  Backward(ctx, {dq_T_HqC, dk_T_HkC, dv_T_HkC, do_T_HqC, o_T_HqC, q_T_HqC, kv, lse_T_Hq, sequences, scale}).run();
}

double attention_backward_scratch_bytes(int64_t num_kv_heads, int64_t head_dim, bool shares_prompts) {
  constexpr int64_t kLength = 1 << 10;
  const int64_t context = shares_prompts ? 2 * kLength : kLength;
  const Segments segments = segments_of(kLength, context);
  const int64_t forms = (context + kKvBlock - 1) / kKvBlock * num_kv_heads * cpu::attention_block_floats(head_dim);
  const int64_t parts = segments.part_offset(segments.num_parts, num_kv_heads * head_dim);
  return static_cast<double>((forms + parts) * int64_t{sizeof(float)}) / static_cast<double>(kLength);
}

}  // namespace hone::kernels
