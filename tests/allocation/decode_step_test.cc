// A decode step allocates nothing once the engine has warmed up: malloc and its kin count their calls in this program.
#include <gtest/gtest.h>

#include <atomic>
#include <cerrno>

#include "rollout/engine_test_cases.h"

// glibc's own, under the names by which they can be reached when the usual ones are replaced.
extern "C" {
void* __libc_malloc(size_t size);
void* __libc_calloc(size_t count, size_t size);
void* __libc_realloc(void* data, size_t size);
void* __libc_memalign(size_t alignment, size_t size);
}

namespace {
std::atomic<bool> counting{false};
std::atomic<int64_t> num_allocations{0};

void count() {
  if (counting.load(std::memory_order_relaxed)) num_allocations.fetch_add(1, std::memory_order_relaxed);
}
}  // namespace

extern "C" {
void* malloc(size_t size) { return count(), __libc_malloc(size); }
void* calloc(size_t number, size_t size) { return count(), __libc_calloc(number, size); }
void* realloc(void* data, size_t size) { return count(), __libc_realloc(data, size); }
void* aligned_alloc(size_t alignment, size_t size) { return count(), __libc_memalign(alignment, size); }
void* memalign(size_t alignment, size_t size) { return count(), __libc_memalign(alignment, size); }
int posix_memalign(void** data, size_t alignment, size_t size) {
  count();
  *data = __libc_memalign(alignment, size);
  return *data == nullptr ? ENOMEM : 0;
}
}

namespace hone::engine_test {
namespace {

// Allocations of any thread while the body runs.
template <class Body>
int64_t allocations_of(const Body& body) {
  num_allocations = 0;
  counting = true;
  body();
  counting = false;
  return num_allocations;
}

TEST(Allocation, EveryWayToAllocateIsCounted) {
  std::vector<int32_t> grows;
  EXPECT_EQ(allocations_of([&] { grows.push_back(1); }), 1);
  struct alignas(64) Line {
    char bytes[64];
  };
  std::unique_ptr<Line> line;
  EXPECT_EQ(allocations_of([&] { line = std::make_unique<Line>(); }), 1);
  Buffer<char> buffer;
  EXPECT_EQ(allocations_of([&] { buffer = Buffer<char>(100); }), 1);
}

struct StepCase {
  const char* name;
  Mode mode;
  int num_threads;
  float temperature;
  int64_t logits_bytes;
};

class DecodeStep : public testing::TestWithParam<StepCase> {};

// Prompts of several lengths, groups and single answers, which cross the borders of blocks at different steps.
TEST_P(DecodeStep, AllocatesNothingOnceWarm) {
  const StepCase& a_case = GetParam();
  const auto decoder = make_decoder(a_case.mode);
  kernels::Context ctx(a_case.num_threads, *a_case.mode.target);
  Task task;
  task.sampling.ignore_eos = true;
  task.sampling.temperature = a_case.temperature;
  task.sampling.max_new_tokens = 150;
  EngineOptions options = options_of(32, 64, 256);
  options.logits_bytes = a_case.logits_bytes;
  Engine engine(ctx, *decoder, options);
  int64_t num_answers = 0;
  for (const DrawnPrompt& drawn : task.draws) {
    engine.add(drawn, Task::num_samples(drawn.draw), task.sampling);
    num_answers += Task::num_samples(drawn.draw);
  }
  while (engine.num_waiting() > 0) engine.step();
  for (int warm_up = 0; warm_up < 2; ++warm_up) engine.step();
  ASSERT_EQ(engine.num_running(), num_answers);

  const int64_t scratch_bytes = ctx.scratch.size_bytes(), before = engine.stats().num_generated;
  EXPECT_EQ(allocations_of([&] {
              for (int i = 0; i < 120; ++i) engine.step();
            }),
            0);
  EXPECT_EQ(ctx.scratch.size_bytes(), scratch_bytes);  // large scratch is mapped, not allocated
  EXPECT_EQ(engine.stats().num_generated - before, 120 * num_answers);
  EXPECT_EQ(engine.stats().num_preemptions, 0);
  EXPECT_EQ(engine.run_all().size(), task.draws.size());
}

const Mode kRounded{&kernels::cpu::default_target(), DType::bf16};
INSTANTIATE_TEST_SUITE_P(Modes, DecodeStep,
                         testing::Values(StepCase{"f32", kDefault, 1, 1.0f, 1 << 20},
                                         StepCase{"bf16OnTwoThreads", kRounded, 2, 0.7f, 1 << 20},
                                         StepCase{"LogitsInPieces", kDefault, 2, 1.0f, 1024},
                                         StepCase{"Greedy", kDefault, 1, 0.0f, 1 << 20}),
                         [](const auto& test) { return std::string(test.param.name); });

}  // namespace
}  // namespace hone::engine_test
