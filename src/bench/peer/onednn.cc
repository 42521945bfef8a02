// oneDNN behind peer_api.h, versions 2 and 3. Variant 0 is its inner product, 1 its matmul.
#include <dnnl.hpp>
#include <memory>
#include <string>
#include <unordered_map>

#include "bench/peer/peer_api.h"

extern "C" void omp_set_num_threads(int);

namespace {

using dnnl::memory;
using Tag = memory::format_tag;

dnnl::engine& cpu() {
  static dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  return engine;
}

dnnl::stream& stream() {
  static dnnl::stream stream(cpu());
  return stream;
}

template <class Primitive, class... Args>
typename Primitive::primitive_desc describe(const Args&... args) {
#if DNNL_VERSION_MAJOR >= 3
  return typename Primitive::primitive_desc(cpu(), args...);
#else
  return typename Primitive::primitive_desc(typename Primitive::desc(args...), cpu());
#endif
}

// The same for backward primitives, which want the forward description as a hint.
template <class Primitive, class Hint, class... Args>
typename Primitive::primitive_desc describe_backward(const Hint& hint, const Args&... args) {
#if DNNL_VERSION_MAJOR >= 3
  return typename Primitive::primitive_desc(cpu(), args..., hint);
#else
  return typename Primitive::primitive_desc(typename Primitive::desc(args...), cpu(), hint);
#endif
}

}  // namespace

struct HonePeerProduct {
  dnnl::primitive primitive;
  memory a, b, out;  // in the order of run(); for dw a = dy, b = x
  std::unordered_map<int, memory> args;
  memory::desc weights;
  memory::dims weight_dims, weight_strides;  // of the plain W [N, K] as the primitive names its axes
};

namespace {

memory empty(const memory::desc& desc) { return memory(desc, cpu(), nullptr); }

void bind(HonePeerProduct& p, const dnnl::primitive& primitive, int a, const memory::desc& a_desc, int b,
          const memory::desc& b_desc, int out, const memory::desc& out_desc) {
  p.primitive = primitive;
  p.a = empty(a_desc);
  p.b = empty(b_desc);
  p.out = empty(out_desc);
  p.args = {{a, p.a}, {b, p.b}, {out, p.out}};
}

void make_inner_product(HonePeerProduct& p, int kind, memory::data_type type, int64_t T, int64_t N, int64_t K) {
  const auto f32 = memory::data_type::f32;
  const memory::desc x({T, K}, type, Tag::ab), w({N, K}, type, Tag::any), y({T, N}, f32, Tag::ab);
  p.weight_dims = {N, K};
  p.weight_strides = {K, 1};
  if (kind == kHonePeerForward) {
    const auto pd = describe<dnnl::inner_product_forward>(dnnl::prop_kind::forward_inference, x, w, y);
    p.weights = pd.weights_desc();
    bind(p, dnnl::inner_product_forward(pd), DNNL_ARG_SRC, x, DNNL_ARG_WEIGHTS, p.weights, DNNL_ARG_DST, y);
    return;
  }
  const memory::desc dy({T, N}, type, Tag::ab), dx({T, K}, f32, Tag::ab), dw({N, K}, f32, Tag::any);
  const auto hint = describe<dnnl::inner_product_forward>(dnnl::prop_kind::forward_training, x, w,
                                                          memory::desc({T, N}, type, Tag::ab));
  if (kind == kHonePeerDx) {
    const auto pd = describe_backward<dnnl::inner_product_backward_data>(hint, dx, w, dy);
    p.weights = pd.weights_desc();
    bind(p, dnnl::inner_product_backward_data(pd), DNNL_ARG_DIFF_DST, dy, DNNL_ARG_WEIGHTS, p.weights,
         DNNL_ARG_DIFF_SRC, dx);
  } else {
    const auto pd = describe_backward<dnnl::inner_product_backward_weights>(hint, x, dw, dy);
    p.weights = pd.diff_weights_desc();
    bind(p, dnnl::inner_product_backward_weights(pd), DNNL_ARG_DIFF_DST, dy, DNNL_ARG_SRC, x, DNNL_ARG_DIFF_WEIGHTS,
         p.weights);
  }
}

void make_matmul(HonePeerProduct& p, int kind, memory::data_type type, int64_t T, int64_t N, int64_t K) {
  const auto f32 = memory::data_type::f32;
  if (kind == kHonePeerDw) {
    const memory::desc dy_t({N, T}, type, memory::dims{1, N}), x({T, K}, type, Tag::ab), dw({N, K}, f32, Tag::any);
    const auto pd = describe<dnnl::matmul>(dy_t, x, dw);
    p.weights = pd.dst_desc();
    bind(p, dnnl::matmul(pd), DNNL_ARG_SRC, dy_t, DNNL_ARG_WEIGHTS, x, DNNL_ARG_DST, p.weights);
    return;
  }
  const bool forward = kind == kHonePeerForward;
  const int64_t depth = forward ? K : N, columns = forward ? N : K;
  p.weight_dims = {depth, columns};
  p.weight_strides = forward ? memory::dims{1, K} : memory::dims{K, 1};
  const memory::desc a({T, depth}, type, Tag::ab), w({depth, columns}, type, Tag::any), y({T, columns}, f32, Tag::ab);
  const auto pd = describe<dnnl::matmul>(a, w, y);
  p.weights = pd.weights_desc();
  bind(p, dnnl::matmul(pd), DNNL_ARG_SRC, a, DNNL_ARG_WEIGHTS, p.weights, DNNL_ARG_DST, y);
}

HonePeerProduct* create(int kind, int variant, int bf16, int64_t T, int64_t N, int64_t K) {
  try {
    auto p = std::make_unique<HonePeerProduct>();
    const auto type = bf16 != 0 ? memory::data_type::bf16 : memory::data_type::f32;
    (variant == 0 ? make_inner_product : make_matmul)(*p, kind, type, T, N, K);
    return p.release();
  } catch (const dnnl::error&) {
    return nullptr;
  }
}

const char* name() {
  static const std::string text = [] {
    const dnnl_version_t* v = dnnl_version();
    return "oneDNN " + std::to_string(v->major) + "." + std::to_string(v->minor) + "." + std::to_string(v->patch);
  }();
  return text.c_str();
}

void pack(HonePeerProduct* p, const float* w_NK, void* packed) {
  memory plain({p->weight_dims, memory::data_type::f32, p->weight_strides}, cpu(), const_cast<float*>(w_NK));
  memory target(p->weights, cpu(), packed);
  dnnl::reorder(plain, target).execute(stream(), plain, target);
  stream().wait();
}

void run(HonePeerProduct* p, const void* a, const void* b, void* out) {
  p->a.set_data_handle(const_cast<void*>(a));
  p->b.set_data_handle(const_cast<void*>(b));
  p->out.set_data_handle(out);
  p->primitive.execute(stream(), p->args);
  stream().wait();
}

const HonePeerApi kApi = {
    name,
    [](int threads) { omp_set_num_threads(threads); },
    [] { return 2; },
    create,
    [](const HonePeerProduct* p) { return static_cast<int64_t>(p->weights.get_size()); },
    pack,
    [](HonePeerProduct* p, const void* a, const void* packed, float* out) { run(p, a, packed, out); },
    [](HonePeerProduct* p, const void* dy, const void* x, void* dw) { run(p, dy, x, dw); },
    [](HonePeerProduct* p) { delete p; },
};

}  // namespace

extern "C" __attribute__((visibility("default"))) const HonePeerApi* hone_peer_api(void) { return &kApi; }
