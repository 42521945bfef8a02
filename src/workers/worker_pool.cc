#include "workers/worker_pool.h"

#include "core/error.h"

namespace hone::workers {

WorkerPool::WorkerPool(int num_workers, const std::function<WorkerOptions(int)>& options_of) {
  HONE_CHECK(num_workers > 0, "{} workers", num_workers);
  for (int i = 0; i < num_workers; ++i) workers_.push_back(std::make_unique<Worker>(options_of(i)));
  for (size_t i = workers_.size(); i > 0; --i) free_.push_back(workers_[i - 1].get());
}

WorkerPool::Taken WorkerPool::take() {
  std::unique_lock lock(mutex_);
  freed_.wait(lock, [this] { return !free_.empty(); });
  Worker& worker = *free_.back();
  free_.pop_back();
  return {*this, worker};
}

void WorkerPool::give_back(Worker& worker) {
  {
    const std::lock_guard lock(mutex_);
    free_.push_back(&worker);
  }
  freed_.notify_one();
}

}  // namespace hone::workers
