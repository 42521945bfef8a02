#include "loop/process_memory.h"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <limits>
#include <sstream>

#include "core/error.h"

namespace hone {

namespace {

// The number after `key` in a file of "key: value" lines; -1 when it is not there.
int64_t number_after(const std::string& path, const std::string& key) {
  std::ifstream file(path);
  std::string line;
  while (std::getline(file, line)) {
    if (line.rfind(key, 0) != 0) continue;
    std::istringstream rest(line.substr(key.size()));
    int64_t value = -1;
    rest >> value;
    return value;
  }
  return -1;
}

int64_t number_in(const std::string& path) {
  std::ifstream file(path);
  int64_t value = -1;
  file >> value;  // "max" leaves -1
  return file ? value : -1;
}

}  // namespace

double gib(double bytes) { return bytes / (1 << 30); }

int64_t resident_bytes() {
  std::ifstream file("/proc/self/statm");
  int64_t total = 0, resident = 0;
  file >> total >> resident;
  return resident * sysconf(_SC_PAGESIZE);
}

std::optional<int64_t> peak_resident_bytes() {
  const int64_t kib = number_after("/proc/self/status", "VmHWM:");
  return kib < 0 ? std::nullopt : std::optional(kib * 1024);
}

bool reset_peak_resident() {
  std::ofstream file("/proc/self/clear_refs");
  file << "5" << std::flush;
  return file.good();
}

int64_t available_bytes() {
  int64_t available = number_after("/proc/meminfo", "MemAvailable:") * 1024;
  if (available < 0) available = std::numeric_limits<int64_t>::max();
  const int64_t limit = number_in("/sys/fs/cgroup/memory.max"), used = number_in("/sys/fs/cgroup/memory.current");
  // the group's count holds page cache, which the system gives back
  const int64_t cache = std::max<int64_t>(0, number_after("/sys/fs/cgroup/memory.stat", "inactive_file "));
  if (limit >= 0 && used >= 0) available = std::min(available, limit - used + cache);
  return available;
}

int64_t machine_bytes() {
  int64_t total = number_after("/proc/meminfo", "MemTotal:") * 1024;
  if (total < 0) total = std::numeric_limits<int64_t>::max();
  const int64_t limit = number_in("/sys/fs/cgroup/memory.max");
  return limit >= 0 ? std::min(total, limit) : total;
}

bool fits_memory(const std::vector<MemoryPart>& parts) {
  double sum = 0;
  for (const MemoryPart& part : parts) sum += part.size_bytes;
  return sum <= static_cast<double>(available_bytes());
}

void check_memory(const std::vector<MemoryPart>& parts) {
  double sum = 0;
  std::string list;
  for (const MemoryPart& part : parts) {
    sum += part.size_bytes;
    list += fmt::format("\n  {:<42} {:8.2f} GiB", part.name, gib(part.size_bytes));
  }
  if (fits_memory(parts)) return;
  const auto available = static_cast<double>(available_bytes());
  throw Error(fmt::format("this run does not fit: it needs {:.2f} GiB, {:.2f} GiB are available{}", gib(sum),
                          gib(available), list),
              "use a smaller model, a smaller token budget (ppo_max_token_len_per_gpu, max_token_len_per_gpu) or fewer "
              "answers at once (max_num_seqs)");
}

}  // namespace hone
