// Rows of data as the files of tests hold them.
#pragma once

#include <string>

namespace hone {

// A line. `prompt` and `truth` are JSON, so that they can be of any kind.
inline std::string data_row(const std::string& prompt, const std::string& truth = "\"1\"") {
  return R"({"data_source": "s", "prompt": )" + prompt + R"(, "reward_model": {"ground_truth": )" + truth + "}}\n";
}
// The messages of one that a user says, as JSON.
inline std::string user_says(const std::string& content) {
  return R"([{"role": "user", "content": ")" + content + R"("}])";
}

}  // namespace hone
