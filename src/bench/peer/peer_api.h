// What the peer module offers through dlopen: linear products of another library, as fast as that library can.
// The module is built apart from the product and only where the library is found. Plain C types alone.
#pragma once

#include <stdint.h>

extern "C" {

typedef struct HonePeerProduct HonePeerProduct;

enum HonePeerKind { kHonePeerForward = 0, kHonePeerDx = 1, kHonePeerDw = 2 };

typedef struct HonePeerApi {
  const char* (*name)(void);  // library and version
  void (*set_threads)(int threads);
  int (*num_variants)(void);  // ways the library has to do a product; the caller keeps the fastest
  // Row-major activations [T, .] in float (bf16 = 0) or bf16, results in float, weights in the library's best layout.
  // Null when the library has no such variant.
  HonePeerProduct* (*create)(int kind, int variant, int bf16, int64_t T, int64_t N, int64_t K);
  int64_t (*weight_bytes)(const HonePeerProduct*);  // of its packed layout (dw: of the result)
  void (*pack)(HonePeerProduct*, const float* w_NK, void* packed);
  // forward: y = x W^T (a = x); dx: dx = dy W (a = dy).
  void (*run)(HonePeerProduct*, const void* a, const void* packed, float* out);
  // dw = dy^T x, overwritten, in the library's best layout of weight_bytes.
  void (*run_dw)(HonePeerProduct*, const void* dy, const void* x, void* dw);
  void (*destroy)(HonePeerProduct*);
} HonePeerApi;

// The one exported symbol.
const HonePeerApi* hone_peer_api(void);
}
