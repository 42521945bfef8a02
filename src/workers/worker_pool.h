// WorkerPool: workers that do the same, each for one caller at a time. A caller waits until one is free; which one it
// gets must make no difference.
#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "workers/worker.h"

namespace hone::workers {

class WorkerPool {
 public:
  // `options_of(i)` are those of worker i. None is started yet.
  WorkerPool(int num_workers, const std::function<WorkerOptions(int)>& options_of);

  // A worker, until its end.
  class Taken {
   public:
    Taken(WorkerPool& pool, Worker& worker) : pool_(pool), worker_(worker) {}
    ~Taken() { pool_.give_back(worker_); }
    Taken(const Taken&) = delete;
    Taken& operator=(const Taken&) = delete;
    Worker& worker() { return worker_; }

   private:
    WorkerPool& pool_;
    Worker& worker_;
  };
  Taken take();

  int size() const { return static_cast<int>(workers_.size()); }

 private:
  void give_back(Worker& worker);

  std::vector<std::unique_ptr<Worker>> workers_;
  std::mutex mutex_;
  std::condition_variable freed_;
  std::vector<Worker*> free_;  // the last one is taken first: what is asked little keeps few processes
};

}  // namespace hone::workers
