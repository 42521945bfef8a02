// fuzz: runs the targets of this folder on mutated inputs. Everything is a function of the seed and the number of
// executions, so that a finding comes back; --input FILE runs one input again.
//   fuzz [--parser NAME] [--executions N] [--seed S] [--input FILE] [--list]
// Each input lies in a block of exactly its size, where the address sanitizer sees every byte read beyond it. A crash,
// a broken property, and time beyond a bound that is linear in the size end with 1 and leave the input in
// fuzz-PARSER.bin.
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <memory>
#include <string>
#include <unordered_set>

#include "core/error.h"
#include "fuzz/mutation.h"
#include "fuzz/target.h"
#include "io/file.h"

extern "C" void __sanitizer_set_death_callback(void (*callback)()) __attribute__((weak));
// Undefined behaviour traps in a sanitized build; the address sanitizer then shows where.
extern "C" const char* __asan_default_options();
extern "C" const char* __asan_default_options() { return "handle_sigill=1"; }

namespace hone::fuzz {

#define HONE_FUZZ_TARGET(name)                                                    \
  extern "C" int hone_fuzz_##name(const uint8_t* data, size_t size); /* NOLINT */ \
  Material hone_fuzz_material_##name();
#include "fuzz/targets.inc"
#undef HONE_FUZZ_TARGET

namespace {

struct Target {
  const char* name;
  int (*run)(const uint8_t* data, size_t size);
  Material (*material)();
};

const Target kTargets[] = {
#define HONE_FUZZ_TARGET(name) {#name, hone_fuzz_##name, hone_fuzz_material_##name},
#include "fuzz/targets.inc"
#undef HONE_FUZZ_TARGET
};

// What runs at the moment, for whoever has to tell of its end.
struct Current {
  const Target* target = nullptr;
  const uint8_t* data = nullptr;
  size_t size = 0;
  uint64_t seed = 0, execution = 0;
  volatile sig_atomic_t ticks = 0;
  bool told = false;
};
Current g_current;
std::unordered_set<uint64_t>* g_behaviours = nullptr;
bool g_is_new = false;

void tell_end() {
  if (g_current.told || g_current.target == nullptr) return;
  g_current.told = true;
  char path[128];
  std::snprintf(path, sizeof path, "fuzz-%s.bin", g_current.target->name);
  std::fprintf(stderr, "fuzz: %s, seed %llu, execution %llu: input of %zu bytes written to %s\n",
               g_current.target->name, static_cast<unsigned long long>(g_current.seed),
               static_cast<unsigned long long>(g_current.execution), g_current.size, path);
  if (std::FILE* file = std::fopen(path, "wb")) {
    std::fwrite(g_current.data, 1, g_current.size, file);
    std::fclose(file);
  }
}

void on_signal(int number) {
  std::fprintf(stderr, "fuzz: ended by signal %d (%s)\n", number, number == SIGALRM ? "one input takes too long" : "");
  tell_end();
  std::_Exit(1);
}

// Rings every ten seconds; twice within one execution is a hang.
void on_alarm(int number) {
  static uint64_t last_execution = ~uint64_t{0};
  if (g_current.execution == last_execution) {
    g_current.ticks = g_current.ticks + 1;
    if (g_current.ticks >= 2) on_signal(number);
  }
  if (g_current.execution != last_execution) g_current.ticks = 0;
  last_execution = g_current.execution;
  alarm(10);
}

void prepare() {
  if (__sanitizer_set_death_callback != nullptr) {
    __sanitizer_set_death_callback(tell_end);
  } else {
    for (const int number : {SIGSEGV, SIGBUS, SIGILL, SIGFPE}) signal(number, on_signal);
  }
  signal(SIGABRT, on_signal);
  signal(SIGALRM, on_alarm);
  std::set_terminate([] {
    std::fprintf(stderr, "fuzz: an exception nobody caught\n");
    tell_end();
    std::_Exit(1);
  });
}

double cpu_seconds() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// Seconds that an input may take: generous for sanitized code on a busy machine, and linear.
double time_bound(size_t size) { return 0.05 + 20e-6 * static_cast<double>(size); }

double run_once(const Target& target, const std::string& input) {
  // a block of exactly the input's size; without a byte the data is still an address
  const std::unique_ptr<uint8_t[]> block(new uint8_t[input.size()]);
  if (!input.empty()) std::memcpy(block.get(), input.data(), input.size());
  g_current.data = block.get();
  g_current.size = input.size();
  const double start = cpu_seconds();
  target.run(block.get(), input.size());
  return cpu_seconds() - start;
}

double run_bounded(const Target& target, const std::string& input) {
  double seconds = run_once(target, input);
  for (int again = 0; again < 3 && seconds > time_bound(input.size()); ++again) {
    seconds = std::min(seconds, run_once(target, input));
  }
  if (seconds <= time_bound(input.size())) return seconds;
  const std::unique_ptr<uint8_t[]> block(new uint8_t[input.size()]);
  std::memcpy(block.get(), input.data(), input.size());
  g_current.data = block.get();
  fail("time linear in the size", fmt::format("{:.3f} s for {} bytes", seconds, input.size()));
}

struct Summary {
  uint64_t executions = 0, seeds = 0;
  double seconds = 0, slowest = 0;
};

Summary fuzz(const Target& target, uint64_t seed, uint64_t executions) {
  constexpr size_t kMostSeeds = 4096;
  const Material material = target.material();
  std::unordered_set<uint64_t> behaviours;
  g_behaviours = &behaviours;
  g_current = {};
  g_current.target = &target;
  g_current.seed = seed;
  std::vector<std::string> corpus = material.seeds;
  if (corpus.empty()) corpus.emplace_back();
  const size_t num_given = corpus.size();
  Dice dice(seed);
  Summary summary;
  const double start = cpu_seconds();
  for (uint64_t n = 0; n < executions; ++n) {
    g_current.execution = n;
    // the given seeds as they are, then mutations of a seed, the latest ones more often
    std::string input =
        n < num_given ? corpus[n]
                      : corpus[dice.one_in(3) ? corpus.size() - 1 - dice.below(std::min<size_t>(corpus.size(), 16))
                                              : dice.below(corpus.size())];
    if (n >= num_given) mutate(input, corpus, material, dice);
    g_is_new = false;
    summary.slowest = std::max(summary.slowest, run_bounded(target, input));
    if (g_is_new && n >= num_given && input.size() <= 4096) {
      if (corpus.size() < kMostSeeds) {
        corpus.push_back(std::move(input));
      } else {
        corpus[num_given + dice.below(corpus.size() - num_given)] = std::move(input);
      }
    }
  }
  summary.executions = executions;
  summary.seeds = behaviours.size();
  summary.seconds = cpu_seconds() - start;
  g_current.target = nullptr;
  return summary;
}

uint64_t number_of(const std::string& option, const std::string& text) {
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) {
    throw Error(fmt::format("{}: expected a number, found {}", option, text));
  }
  return value;
}

int run(const std::vector<std::string>& arguments) {
  uint64_t executions = 20000, seed = 1;
  std::string parser, input;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const std::string& option = arguments[i];
    if (option == "--list") {
      for (const Target& target : kTargets) std::printf("%s\n", target.name);
      return 0;
    }
    if (i + 1 >= arguments.size()) throw Error(fmt::format("{}: expected a value", option));
    const std::string& value = arguments[++i];
    if (option == "--executions") {
      executions = number_of(option, value);
    } else if (option == "--seed") {
      seed = number_of(option, value);
    } else if (option == "--parser") {
      parser = value;
    } else if (option == "--input") {
      input = value;
    } else {
      throw Error(fmt::format("{}: unknown option", option));
    }
  }
  bool found = false;
  prepare();
  for (const Target& target : kTargets) {
    if (!parser.empty() && parser != target.name) continue;
    found = true;
    if (!input.empty()) {
      g_current.target = &target;
      std::printf("%s: %.6f s\n", target.name, run_bounded(target, io::read_file(input)));
      continue;
    }
    alarm(10);
    const Summary summary = fuzz(target, seed, executions);
    std::printf("%-20s %10llu executions  %8.0f a second of processor time  %6llu behaviours  slowest %.3f ms\n",
                target.name, static_cast<unsigned long long>(summary.executions),
                static_cast<double>(summary.executions) / summary.seconds,
                static_cast<unsigned long long>(summary.seeds), summary.slowest * 1e3);
    std::fflush(stdout);
  }
  if (!found) throw Error(fmt::format("--parser {}: unknown; --list names them", parser));
  return 0;
}

}  // namespace

void behaviour(std::string_view what) {
  uint64_t hash = 0xcbf29ce484222325u;
  bool quoted = false;
  what = what.substr(0, what.find("last read"));  // the JSON parser quotes the input behind it
  for (const char c : what) {
    if (c == '"' || c == '\'') quoted = !quoted;
    if (quoted || !((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'))) continue;
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  }
  if (g_behaviours != nullptr && g_behaviours->size() < 100000 && g_behaviours->insert(hash).second) g_is_new = true;
}

void fail(const char* condition, const std::string& detail) {
  std::fprintf(stderr, "fuzz: property broken: %s: %s\n", condition, detail.c_str());
  tell_end();
  std::_Exit(1);
}

}  // namespace hone::fuzz

int main(int argc, char** argv) {
  try {
    return hone::fuzz::run(std::vector<std::string>(argv + 1, argv + argc));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "fuzz: %s\n", error.what());
    return 2;
  }
}
