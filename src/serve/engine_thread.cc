#include "serve/engine_thread.h"

#include <exception>
#include <set>
#include <utility>

namespace hone::serve {

EngineThread::EngineThread(Engine& engine, int64_t max_answers) : engine_(engine), max_answers_(max_answers) {
  note_counts();
  thread_ = std::thread([this] { run(); });
}

bool EngineThread::submit(std::shared_ptr<EngineJob> job) {
  const std::lock_guard lock(mutex_);
  const bool full = counts_.answers_in_flight > 0 && counts_.answers_in_flight + job->num_answers() > max_answers_;
  if (full || stopping_ || !failure_.empty()) {
    ++counts_.requests_refused;
    return false;
  }
  counts_.answers_in_flight += job->num_answers();
  entering_.push_back(std::move(job));
  changed_.notify_one();
  return true;
}

void EngineThread::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    changed_.notify_one();
  }
  if (thread_.joinable()) thread_.join();
}

std::string EngineThread::failure() const {
  const std::lock_guard lock(mutex_);
  return failure_;
}

EngineCounts EngineThread::counts() const {
  const std::lock_guard lock(mutex_);
  return counts_;
}

void EngineThread::run() {
  std::string failure;
  try {
    work();
  } catch (const std::exception& error) {
    failure = error.what();
  }
  std::set<std::shared_ptr<EngineJob>> jobs;
  for (const auto& [draw, flight] : flights_) {
    jobs.insert(flight.job);
    if (failure.empty()) engine_.abort(draw);
  }
  if (failure.empty()) engine_.take_finished();
  const std::lock_guard lock(mutex_);
  stopping_ = true;
  failure_ = failure;
  jobs.insert(entering_.begin(), entering_.end());
  entering_.clear();
  for (const std::shared_ptr<EngineJob>& job : jobs) job->queue->close(failure.empty() ? "the server stops" : failure);
  counts_.answers_in_flight = 0;
  counts_.num_free_kv_blocks = engine_.num_free_kv_blocks();
}

void EngineThread::work() {
  for (;;) {
    std::deque<std::shared_ptr<EngineJob>> entering;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] { return stopping_ || !entering_.empty() || !flights_.empty(); });
      if (stopping_) return;
      entering.swap(entering_);
    }
    for (const std::shared_ptr<EngineJob>& job : entering) enter(job);
    abort_left();
    engine_.step();
    distribute();
    note_counts();
  }
}

void EngineThread::enter(const std::shared_ptr<EngineJob>& job) {
  open_[job.get()] = static_cast<int64_t>(job->prompts.size());
  for (size_t p = 0; p < job->prompts.size(); ++p) {
    const uint64_t draw = next_draw_++;
    SamplingParams sampling = job->sampling;
    if (job->seeded) sampling.key_draw = p;
    engine_.add({&job->prompts[p], draw}, static_cast<int>(job->n), sampling);
    flights_[draw] = {job, static_cast<int32_t>(static_cast<int64_t>(p) * job->n)};
  }
}

void EngineThread::abort_left() {
  std::vector<uint64_t> draws;
  for (const auto& [draw, flight] : flights_) {
    if (flight.job->queue->left()) draws.push_back(draw);
  }
  for (const uint64_t draw : draws) {
    engine_.abort(draw);
    remove(draw);
  }
  engine_.take_finished();
}

// Ids of the last step to their queues; draws that are done go.
void EngineThread::distribute() {
  for (const StepId& step : engine_.step_ids()) {
    const auto found = flights_.find(step.draw);
    if (found == flights_.end()) continue;
    const EngineJob& job = *found->second.job;
    AnswerPiece piece{
        found->second.first_choice + static_cast<int32_t>(step.sample), step.id, step.logprob, step.finish, {}};
    const auto top = engine_.step_top_logprobs().begin() + step.top_begin;
    piece.top.assign(top, top + job.sampling.num_top_logprobs);
    pieces_[&job].push_back(std::move(piece));
  }
  for (auto& [job, pieces] : pieces_) job->queue->put(std::move(pieces));
  pieces_.clear();
  for (const Group& group : engine_.take_finished()) remove(group.drawn.draw);
}

void EngineThread::remove(uint64_t draw) {
  const auto found = flights_.find(draw);
  const std::shared_ptr<EngineJob> job = found->second.job;
  flights_.erase(found);
  if (--open_[job.get()] > 0) return;
  open_.erase(job.get());
  const bool left = job->queue->left();
  job->queue->close();
  const std::lock_guard lock(mutex_);
  counts_.answers_in_flight -= job->num_answers();
  ++(left ? counts_.requests_aborted : counts_.requests_ended);
}

void EngineThread::note_counts() {
  const std::lock_guard lock(mutex_);
  counts_.answers_running = engine_.num_running();
  counts_.answers_waiting = engine_.num_waiting();
  counts_.num_kv_blocks = engine_.num_kv_blocks();
  counts_.num_free_kv_blocks = engine_.num_free_kv_blocks();
  counts_.engine = engine_.stats();
}

}  // namespace hone::serve
