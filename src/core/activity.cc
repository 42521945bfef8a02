#include "core/activity.h"

#include <fmt/core.h>

#include <algorithm>
#include <mutex>
#include <utility>

namespace hone {

namespace {

// Threads come and go in every part of the program, and what they do says nothing about results: the one list that
// all of them share.
struct Registry {
  std::mutex mutex;
  std::vector<Activity*> activities;
  uint64_t next_id = 0;
};

Registry& registry() {
  static auto* const instance = new Registry;  // outlives every thread
  return *instance;
}

}  // namespace

Activity::Activity(std::string name) : name_(std::move(name)) {
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  id_ = all.next_id++;
  all.activities.push_back(this);
}

Activity::~Activity() {
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  all.activities.erase(std::find(all.activities.begin(), all.activities.end(), this));
}

Activity& Activity::of_this_thread() {
  thread_local Activity activity("thread");
  return activity;
}

void Activity::rename(std::string name) {
  const std::lock_guard lock(registry().mutex);
  name_ = std::move(name);
}

std::string Activity::doing() const {
  std::string text;
  const int depth = std::clamp(depth_.load(std::memory_order_relaxed), 0, kMaxDepth);
  for (int i = 0; i < depth; ++i) {
    const Frame& frame = frames_[static_cast<size_t>(i)];
    const char* what = frame.what.load(std::memory_order_relaxed);
    const int64_t number = frame.number.load(std::memory_order_relaxed);
    if (what == nullptr) continue;
    if (!text.empty()) text += " > ";
    text += what;
    if (number != kNoNumber) text += fmt::format(" {}", number);
  }
  return text.empty() ? "idle" : text;
}

std::vector<Activity::State> Activity::all() {
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  std::vector<State> states;
  for (const Activity* activity : all.activities) {
    states.push_back(
        {activity->id_, activity->beats_.load(std::memory_order_relaxed), activity->name_, activity->doing()});
  }
  return states;
}

}  // namespace hone
