#include "kernels/reference/row_operations.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

namespace hone::kernels::reference {

namespace {
double rrms_of(const double* x, int64_t width, double eps) {
  double squares = 0.0;
  for (int64_t i = 0; i < width; ++i) squares += x[i] * x[i];
  return 1.0 / std::sqrt(squares / static_cast<double>(width) + eps);
}

// dx = r (u - x r^2 mean(u x)), u = dy w;  dw += dy x r.
void norm_backward(double* dx, double* dw, const double* dy, const double* x, const double* w, double r,
                   int64_t width) {
  double dot_ux = 0.0;
  for (int64_t i = 0; i < width; ++i) dot_ux += dy[i] * w[i] * x[i];
  for (int64_t i = 0; i < width; ++i) {
    dw[i] += dy[i] * x[i] * r;
    dx[i] = r * (dy[i] * w[i] - x[i] * r * r * dot_ux / static_cast<double>(width));
  }
}

double sigmoid(double x) { return 1.0 / (1.0 + std::exp(-x)); }
}  // namespace

void rms_norm_forward(Rows y_TD, Rows rrms_T, ConstRows x_TD, ConstRows w_D, double eps) {
  for (int64_t t = 0; t < x_TD.rows; ++t) {
    rrms_T[t] = rrms_of(x_TD.row(t), x_TD.cols, eps);
    for (int64_t i = 0; i < x_TD.cols; ++i) y_TD(t, i) = x_TD(t, i) * rrms_T[t] * w_D[i];
  }
}

void rms_norm_backward(Rows dx_TD, Rows dw_D, ConstRows dy_TD, ConstRows dresidual_TD, ConstRows x_TD, ConstRows w_D,
                       ConstRows rrms_T) {
  for (int64_t t = 0; t < x_TD.rows; ++t) {
    norm_backward(dx_TD.row(t), dw_D.data, dy_TD.row(t), x_TD.row(t), w_D.data, rrms_T[t], x_TD.cols);
    for (int64_t i = 0; i < x_TD.cols; ++i) dx_TD(t, i) += dresidual_TD(t, i);
  }
}

void head_norm_rope_forward(Rows y_THC, Rows rrms_TH, ConstRows x_THC, ConstRows w_C, int64_t num_heads,
                            ConstRows cos_TR, ConstRows sin_TR, double eps) {
  const int64_t head_dim = x_THC.cols / num_heads, pairs = head_dim / 2;
  for (int64_t t = 0; t < x_THC.rows; ++t) {
    for (int64_t h = 0; h < num_heads; ++h) {
      const double* x = x_THC.row(t) + h * head_dim;
      double* y = y_THC.row(t) + h * head_dim;
      double r = 1.0;
      if (w_C.size() > 0) r = rrms_TH(t, h) = rrms_of(x, head_dim, eps);
      for (int64_t j = 0; j < pairs; ++j) {
        const double a = x[j] * r * (w_C.size() > 0 ? w_C[j] : 1.0);
        const double b = x[j + pairs] * r * (w_C.size() > 0 ? w_C[j + pairs] : 1.0);
        y[j] = a * cos_TR(t, j) - b * sin_TR(t, j);
        y[j + pairs] = b * cos_TR(t, j) + a * sin_TR(t, j);
      }
    }
  }
}

void head_norm_rope_backward(Rows dx_THC, Rows dw_C, ConstRows dy_THC, ConstRows x_THC, ConstRows w_C,
                             int64_t num_heads, ConstRows cos_TR, ConstRows sin_TR, ConstRows rrms_TH) {
  const int64_t head_dim = dy_THC.cols / num_heads, pairs = head_dim / 2;
  for (int64_t t = 0; t < dy_THC.rows; ++t) {
    for (int64_t h = 0; h < num_heads; ++h) {
      const double* dy = dy_THC.row(t) + h * head_dim;
      double* dx = dx_THC.row(t) + h * head_dim;
      for (int64_t j = 0; j < pairs; ++j) {
        dx[j] = dy[j] * cos_TR(t, j) + dy[j + pairs] * sin_TR(t, j);
        dx[j + pairs] = dy[j + pairs] * cos_TR(t, j) - dy[j] * sin_TR(t, j);
      }
      if (w_C.size() == 0) continue;
      norm_backward(dx, dw_C.data, dx, x_THC.row(t) + h * head_dim, w_C.data, rrms_TH(t, h), head_dim);
    }
  }
}

void swiglu_forward(Rows out_TF, ConstRows gate_up_T2F) {
  for (int64_t t = 0; t < out_TF.rows; ++t) {
    for (int64_t i = 0; i < out_TF.cols; ++i) {
      const double g = gate_up_T2F(t, i);
      out_TF(t, i) = g * sigmoid(g) * gate_up_T2F(t, out_TF.cols + i);
    }
  }
}

void swiglu_backward(Rows d_gate_up_T2F, ConstRows dout_TF, ConstRows gate_up_T2F) {
  for (int64_t t = 0; t < dout_TF.rows; ++t) {
    for (int64_t i = 0; i < dout_TF.cols; ++i) {
      const double g = gate_up_T2F(t, i), s = sigmoid(g);
      d_gate_up_T2F(t, i) = dout_TF(t, i) * gate_up_T2F(t, dout_TF.cols + i) * (s + g * s * (1.0 - s));
      d_gate_up_T2F(t, dout_TF.cols + i) = dout_TF(t, i) * g * s;
    }
  }
}

Logprob logprob_forward(ConstRows logits_V, int64_t target, double temperature) {
  double highest = logits_V[0];
  for (int64_t v = 0; v < logits_V.cols; ++v) highest = std::max(highest, logits_V[v]);
  double sum = 0.0, weighted = 0.0;  // of e^d and e^d d, d = (logit - highest) / temperature
  for (int64_t v = 0; v < logits_V.cols; ++v) {
    const double d = (logits_V[v] - highest) / temperature;
    sum += std::exp(d);
    if (std::exp(d) > 0.0) weighted += std::exp(d) * d;
  }
  return {(logits_V[target] - highest) / temperature - std::log(sum), std::log(sum) - weighted / sum,
          highest / temperature + std::log(sum)};
}

void logprob_backward(Rows dlogits_V, ConstRows logits_V, int64_t target, double temperature, double dlogprob,
                      double dentropy) {
  const Logprob forward = logprob_forward(logits_V, target, temperature);
  for (int64_t v = 0; v < logits_V.cols; ++v) {
    const double logprob = logits_V[v] / temperature - forward.lse, p = std::exp(logprob);
    dlogits_V[v] = ((v == target ? 1.0 : 0.0) - p) * dlogprob / temperature;
    if (p > 0.0) dlogits_V[v] -= p * (logprob + forward.entropy) * dentropy / temperature;
  }
}

void penalise(Rows logits_V, const FilterRow& row) {
  const Filter& f = row.filter;
  for (int64_t v = 0; v < logits_V.cols; ++v) {
    const auto in_prompt = std::count(row.prompt_ids.begin(), row.prompt_ids.end(), v);
    const auto in_response = std::count(row.response_ids.begin(), row.response_ids.end(), v);
    double& x = logits_V[v];
    if (in_prompt + in_response > 0) x = x > 0.0 ? x / f.repetition_penalty : x * f.repetition_penalty;
    x -= f.frequency_penalty * static_cast<double>(in_response) + (in_response > 0 ? f.presence_penalty : 0.0);
  }
}

void cut(Rows logits_V, double temperature, const Filter& f) {
  std::vector<int64_t> order(static_cast<size_t>(logits_V.cols));
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) { return logits_V[a] > logits_V[b]; });
  const double highest = logits_V[order[0]];
  const auto weight = [&](int64_t v) { return std::exp((logits_V[v] - highest) / temperature); };
  size_t kept = 0;  // the first so many of `order`
  while (kept < order.size() && weight(order[kept]) >= f.min_p) ++kept;
  if (f.top_k > 0 && kept > static_cast<size_t>(f.top_k)) {
    const double last = logits_V[order[static_cast<size_t>(f.top_k) - 1]];
    while (logits_V[order[kept - 1]] < last) --kept;
  }
  double total = 0.0, sum = 0.0;
  for (size_t i = 0; i < kept; ++i) total += weight(order[i]);
  size_t nucleus = 0;
  while (nucleus < kept && sum < f.top_p * total) sum += weight(order[nucleus++]);
  if (f.top_p == 1.0f) nucleus = kept;
  for (size_t i = nucleus; i < order.size(); ++i) logits_V[order[i]] = -std::numeric_limits<double>::infinity();
}

void adamw_step(Rows w, Rows m, Rows v, ConstRows g, const AdamW& options) {
  const double beta1 = options.beta1, beta2 = options.beta2;
  const double c1 = 1.0 - std::pow(beta1, static_cast<double>(options.step));
  const double c2 = 1.0 - std::pow(beta2, static_cast<double>(options.step));
  for (int64_t i = 0; i < w.size(); ++i) {
    const double gradient = g[i] * options.gradient_scale;
    m[i] = beta1 * m[i] + (1.0 - beta1) * gradient;
    v[i] = beta2 * v[i] + (1.0 - beta2) * gradient * gradient;
    w[i] -= options.lr * (options.weight_decay * w[i] + (m[i] / c1) / (std::sqrt(v[i] / c2) + options.eps));
  }
}

}  // namespace hone::kernels::reference
