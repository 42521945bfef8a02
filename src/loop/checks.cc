#include "loop/checks.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "core/error.h"
#include "io/file.h"
#include "loop/checkpoint.h"
#include "loop/process_memory.h"

namespace hone {

namespace {

// The folder itself, or the nearest one above it that is there.
std::string existing_part(std::string path) {
  while (!path.empty() && !io::exists(path)) {
    const size_t slash = path.find_last_of('/');
    if (slash == std::string::npos) return ".";
    path.resize(slash == 0 && path.size() > 1 ? 1 : slash);
  }
  return path.empty() ? "/" : path;
}

}  // namespace

void check_vocabulary(const std::string& folder, const Tokenizer& tokenizer, const ModelConfig& config) {
  if (tokenizer.vocab_size() <= config.vocab_size) return;
  throw Error(
      fmt::format("{}: the tokenizer knows {} ids, the model {}", folder, tokenizer.vocab_size(), config.vocab_size),
      "take config.json and tokenizer.json from one model");
}

double checkpoint_bytes(int64_t num_parameters) { return 12.0 * static_cast<double>(num_parameters) + (1 << 20); }

int64_t most_new_checkpoints(const RunSpace& space) {
  if (space.first_step >= space.total_steps) return 0;
  int64_t saves = 1;  // after the last step
  if (space.save_freq > 0) saves += (space.total_steps - 1) / space.save_freq - space.first_step / space.save_freq;
  if (space.max_to_keep <= 0) return saves;
  // one more than are kept: the old one goes after the new one has come
  const std::vector<int64_t> there = list_checkpoints(io::join_path(space.folder, "checkpoints"));
  const auto stay = std::upper_bound(there.begin(), there.end(), space.first_step) - there.begin();
  const int64_t room = std::max<int64_t>(0, space.max_to_keep - stay);
  return std::min(saves, room + 1);
}

void check_run_space(const RunSpace& space) {
  const std::string place = existing_part(space.folder);
  if (!io::is_folder(place)) {
    throw Error(fmt::format("{}: expected a folder, found a file", place),
                "move it away, or name another trainer.default_local_dir");
  }
  if (::access(place.c_str(), W_OK | X_OK) != 0) io::raise_system("write into", place, errno);
  const int64_t count = most_new_checkpoints(space);
  const double needed = checkpoint_bytes(space.num_parameters) * static_cast<double>(count);
  const double free = io::free_bytes(place);
  if (needed <= free) return;
  throw Error(
      fmt::format("{}: expected {:.3f} GiB of free disk for {} checkpoint{} of {:.3f} GiB, found {:.3f} GiB",
                  space.folder, gib(needed), count, count == 1 ? "" : "s", gib(checkpoint_bytes(space.num_parameters)),
                  gib(free)),
      "make room, keep fewer (trainer.max_actor_ckpt_to_keep, in SFT trainer.max_ckpt_to_keep), save less often "
      "(trainer.save_freq) or name another trainer.default_local_dir");
}

}  // namespace hone
