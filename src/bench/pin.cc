#include "bench/pin.h"

#include <pthread.h>
#include <sched.h>

#include <atomic>
#include <vector>

namespace hone::bench {

void pin(Team& team) {
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof(allowed), &allowed) != 0) return;
  std::vector<int> processors;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &allowed)) processors.push_back(cpu);
  }
  const int threads = team.num_threads();
  if (threads > static_cast<int>(processors.size())) return;
  std::atomic<int> arrived{0};
  team.run(threads, [&](int64_t, int thread) {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(processors[static_cast<size_t>(thread)], &one);
    pthread_setaffinity_np(pthread_self(), sizeof(one), &one);
    // A task for each thread: nobody takes a second one before all have theirs.
    for (arrived.fetch_add(1); arrived.load() < threads;) sched_yield();
  });
}

}  // namespace hone::bench
