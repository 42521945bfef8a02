#include "prompts/verl_row.h"

#include <utility>

namespace hone {

using io::Json;

Json verl_row(const std::string& data_source, Json prompt, const std::string& ability, const std::string& style,
              Json ground_truth, Json extra_info) {
  Json row = Json::object({{"data_source", data_source}, {"prompt", std::move(prompt)}});
  if (!ability.empty()) row.set("ability", ability);
  row.set("reward_model", Json::object({{"style", style}, {"ground_truth", std::move(ground_truth)}}));
  row.set("extra_info", std::move(extra_info));
  return row;
}

}  // namespace hone
