#include "text/end_ids.h"

#include <algorithm>

#include "io/file.h"
#include "io/json.h"

namespace hone {

std::vector<int32_t> read_end_ids(const std::string& folder) {
  std::vector<int32_t> ids;
  const auto add = [&](const io::JsonAt& at) {
    const int64_t id = at.as_int();
    if (id < 0 || id > INT32_MAX) at.fail("an id is not negative and below 2^31");
    if (std::find(ids.begin(), ids.end(), id) == ids.end()) ids.push_back(static_cast<int32_t>(id));
  };
  for (const char* name : {"generation_config.json", "config.json"}) {
    const std::string path = io::join_path(folder, name);
    if (!io::exists(path)) continue;
    const io::Json json = io::read_json(path);
    const auto value = io::JsonAt(json, path).find("eos_token_id");
    if (!value) continue;
    if (value->value().is_array()) {
      for (const auto& item : value->items()) add(item);
    } else {
      add(*value);
    }
  }
  return ids;
}

}  // namespace hone
