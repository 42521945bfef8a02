// EngineThread: the one thread that touches the engine while a server runs. Other threads hand it requests and read
// queues; it steps as long as there is work and sleeps otherwise. A request whose reader has left is aborted before the
// next step, so its blocks are free then.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "rollout/engine.h"
#include "serve/answer_queue.h"

namespace hone::serve {

struct EngineJob {
  std::vector<Prompt> prompts;
  SamplingParams sampling;  // without what depends on the prompt's place
  int64_t n = 1;            // answers to each
  bool seeded = false;      // sampling.key is the client's: equal requests get equal answers
  std::shared_ptr<AnswerQueue> queue;
  int64_t num_answers() const { return n * static_cast<int64_t>(prompts.size()); }
};

struct EngineCounts {
  int64_t answers_in_flight = 0, answers_running = 0, answers_waiting = 0;
  int64_t requests_ended = 0, requests_aborted = 0, requests_refused = 0;
  int64_t num_kv_blocks = 0, num_free_kv_blocks = 0;
  EngineStats engine;
};

class EngineThread {
 public:
  // The engine (with record_steps) outlives this, and nobody else touches it meanwhile. `max_answers`: in flight,
  // running and waiting together; one request is always let in.
  EngineThread(Engine& engine, int64_t max_answers);
  ~EngineThread() { stop(); }
  EngineThread(const EngineThread&) = delete;
  EngineThread& operator=(const EngineThread&) = delete;

  // False: too many answers are in flight, or the engine has stopped. The job has been checked: it fits the model and
  // the cache.
  bool submit(std::shared_ptr<EngineJob> job);
  // Ends what is in flight, closes its queues and ends the thread.
  void stop();
  // Why the engine stopped by itself; empty: it has not.
  std::string failure() const;
  EngineCounts counts() const;

 private:
  struct Flight {  // a prompt of a job
    std::shared_ptr<EngineJob> job;
    int32_t first_choice = 0;
  };
  void run();
  void work();
  void enter(const std::shared_ptr<EngineJob>& job);
  void abort_left();
  void distribute();
  void remove(uint64_t draw);
  void note_counts();

  Engine& engine_;
  const int64_t max_answers_;
  std::map<uint64_t, Flight> flights_;        // by draw; of the engine's thread
  std::map<const EngineJob*, int64_t> open_;  // prompts of a job that are not done; of the engine's thread
  std::map<const EngineJob*, std::vector<AnswerPiece>> pieces_;  // of one step
  uint64_t next_draw_ = 0;

  mutable std::mutex mutex_;  // of what follows
  std::condition_variable changed_;
  std::deque<std::shared_ptr<EngineJob>> entering_;
  EngineCounts counts_;
  bool stopping_ = false;
  std::string failure_;
  std::thread thread_;
};

}  // namespace hone::serve
