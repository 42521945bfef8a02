#include "loop/early_stopping.h"

#include <fmt/core.h>

#include "io/file.h"
#include "io/json.h"

namespace hone {

namespace {

std::string path_in(const std::string& folder) { return io::join_path(folder, "early_stopping.json"); }

}  // namespace

bool EarlyStopping::observe(double loss, int64_t global_step) {
  if (!(loss < best_loss_ - threshold_)) {
    ++num_worse_;
    return false;
  }
  best_loss_ = loss;
  best_step_ = global_step;
  num_worse_ = 0;
  return true;
}

void EarlyStopping::save(const std::string& folder) const {
  io::write_json(path_in(folder), io::Json::object({{"best_loss", io::Json::number_or_null(best_loss_)},
                                                    {"best_step", best_step_},
                                                    {"num_worse", num_worse_}}));
}

void EarlyStopping::restore(const std::string& folder) {
  if (!io::exists(path_in(folder))) return;
  const io::Json json = io::read_json(path_in(folder));
  const io::JsonAt at(json, path_in(folder));
  const bool none = at["best_loss"].value().is_null();
  best_loss_ = none ? std::numeric_limits<double>::infinity() : at["best_loss"].as_double();
  best_step_ = at["best_step"].as_int();
  num_worse_ = at["num_worse"].as_int();
  if (best_step_ < 0) at["best_step"].fail(fmt::format("expected at least 0, found {}", best_step_));
  if (num_worse_ < 0) at["num_worse"].fail(fmt::format("expected at least 0, found {}", num_worse_));
}

}  // namespace hone
