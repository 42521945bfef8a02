// Workers made of small programs of the system: what a worker may do wrong, and that nothing is left behind.
#include "workers/worker.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "core/error.h"

namespace hone::workers {
namespace {

using io::Json;

WorkerOptions shell(const std::string& script) {
  WorkerOptions options;
  options.name = "the test's worker";
  options.argv = {"sh", "-c", script};
  options.start_seconds = 0;
  return options;
}

std::string error_of(Worker& worker, const Json& question, double seconds) {
  try {
    worker.request(question, seconds);
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

size_t open_descriptors() {
  size_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) count += entry.exists() || true;
  return count;
}

bool is_alive(pid_t pid) { return ::kill(pid, 0) == 0; }

// `cat` answers every request with itself.
TEST(Worker, AnswersRequestsOfAnySize) {
  Worker worker(shell("exec cat"));
  for (const size_t size : {size_t{0}, size_t{1}, size_t{65531}, size_t{65536}, size_t{3'000'000}}) {
    const Json question = Json::object({{"text", std::string(size, 'x')}});
    EXPECT_EQ(worker.request(question, 20), question) << size;
  }
  EXPECT_EQ(worker.num_starts(), 1);
}

TEST(Worker, ManyThreadsTakeTurns) {
  Worker worker(shell("exec cat"));
  std::vector<std::thread> threads;
  std::atomic<int> wrong = 0;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 50; ++i) {
        const Json question = Json::object({{"thread", t}, {"i", i}});
        wrong += worker.request(question, 20) != question;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(worker.num_starts(), 1);
}

TEST(Worker, TheWatchdogSeesWhatItDoes) {
  const auto doing = [] {
    for (const Activity::State& state : Activity::all()) {
      if (state.name == "the test's worker") return state.doing;
    }
    return std::string("gone");
  };
  Worker worker(shell("sleep 100"));
  EXPECT_EQ(doing(), "idle");
  std::thread asking([&] { error_of(worker, Json(), 2); });
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (doing() == "idle" && std::chrono::steady_clock::now() < end) std::this_thread::yield();
  EXPECT_EQ(doing().substr(0, 19), "answering, process ");
  asking.join();
  EXPECT_EQ(doing(), "idle");
}

TEST(Worker, ALateAnswerIsGivenUpInTimeAndTheNextRequestStartsAnew) {
  // sleeps at the first start, answers at the second
  const std::string flag =
      (std::filesystem::temp_directory_path() / fmt::format("hone_worker_{}", ::getpid())).string();
  Worker worker(shell(fmt::format("if [ -e {0} ]; then exec cat; fi; touch {0}; sleep 100 & sleep 100", flag)));
  const auto began = std::chrono::steady_clock::now();
  EXPECT_NE(error_of(worker, Json::object(), 0.3).find("the test's worker gave no answer within 0.3 s"),
            std::string::npos);
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(5));
  EXPECT_EQ(worker.pid(), -1);
  EXPECT_EQ(worker.request(Json::object({{"a", 1}}), 20), Json::object({{"a", 1}}));
  EXPECT_EQ(worker.num_starts(), 2);
  std::filesystem::remove(flag);
}

TEST(Worker, ACrashIsNamedWithItsLastWords) {
  Worker dies(shell("echo 'out of luck' >&2; exit 3"));
  const std::string said = error_of(dies, Json::object(), 20);
  EXPECT_NE(said.find("ended with exit code 3"), std::string::npos) << said;
  EXPECT_NE(said.find("out of luck"), std::string::npos) << said;
  Worker killed(shell("kill -9 $$"));
  EXPECT_NE(error_of(killed, Json::object(), 20).find("ended with signal 9 (Killed)"), std::string::npos);
  EXPECT_NE(error_of(killed, Json::object(), 20).find("signal 9"), std::string::npos) << "and once more";
  EXPECT_EQ(killed.num_starts(), 2);
}

TEST(Worker, AProcessThatDiedBetweenRequestsIsReplaced) {
  Worker worker(shell("exec cat"));
  worker.request(Json::object(), 20);
  ::kill(worker.pid(), SIGKILL);
  std::string said;
  for (int i = 0; i < 2; ++i) said = error_of(worker, Json::object(), 20);  // the first may still meet the dying one
  EXPECT_EQ(said, "no error");
}

TEST(Worker, TooLongAnswersAndNoiseAreCutOff) {
  WorkerOptions options = shell("yes");  // "y\ny\n" is a length of 175 MB
  options.max_reply_bytes = 1'000'000;
  Worker noisy(options);
  EXPECT_NE(error_of(noisy, Json::object(), 20).find("the limit is 1000000"), std::string::npos);
  Worker chatty(shell("yes >&2"));  // error output is drained while waiting
  EXPECT_NE(error_of(chatty, Json::object(), 0.5).find("gave no answer"), std::string::npos);
  Worker no_json(shell("cat >/dev/null & printf '\\003\\000\\000\\000abc'; sleep 100"));
  EXPECT_NE(error_of(no_json, Json::object(), 20).find("not JSON"), std::string::npos);
}

TEST(Worker, AWriteToADeadWorkerIsNoSignal) {
  struct sigaction by_default {
  }, before{};
  by_default.sa_handler = SIG_DFL;
  sigaction(SIGPIPE, &by_default, &before);
  Worker worker(shell("exec 0<&-; sleep 100"));
  const Json question = Json::object({{"text", std::string(3'000'000, 'x')}});
  EXPECT_NE(error_of(worker, question, 20).find("the test's worker"), std::string::npos);
  sigaction(SIGPIPE, &before, nullptr);
}

TEST(Worker, AMissingProgramIsNamed) {
  WorkerOptions options = shell("");
  options.argv = {"hone-no-such-program"};
  options.install_hint = "install it";
  Worker worker(options);
  try {
    worker.request(Json::object(), 1);
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "the test's worker: cannot start 'hone-no-such-program': No such file or directory");
    EXPECT_EQ(error.hint(), "install it");
  }
}

TEST(Worker, NothingIsLeftBehind) {
  const size_t before = open_descriptors();
  pid_t pid = -1;
  for (int i = 0; i < 20; ++i) {
    Worker worker(shell("exec cat"));
    worker.request(Json::object(), 20);
    pid = worker.pid();
    error_of(worker, Json::object({{"x", 1}}), 0.0);
  }
  EXPECT_EQ(open_descriptors(), before);
  EXPECT_FALSE(is_alive(pid)) << "neither running nor a zombie";
}

// A process that nobody waits for stays as a zombie where process 1 is no init.
bool is_running(pid_t pid) {
  std::ifstream file(fmt::format("/proc/{}/stat", pid));
  std::string stat;
  if (!std::getline(file, stat)) return false;
  const size_t state = stat.rfind(") ") + 2;
  return stat[state] != 'Z' && stat[state] != 'X';
}

TEST(Worker, WhatAProcessStartedEndsWithItWhenItEndsByItself) {
  Worker worker(shell("sleep 100 </dev/null >/dev/null 2>&1 & echo \"started $!\" >&2; exit 3"));
  const std::string said = error_of(worker, Json::object(), 20);
  EXPECT_NE(said.find("ended with exit code 3"), std::string::npos) << said;
  const size_t number = said.find("started ");
  ASSERT_NE(number, std::string::npos) << said;
  const auto pid = static_cast<pid_t>(std::stol(said.substr(number + 8)));
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (is_running(pid) && std::chrono::steady_clock::now() < end) std::this_thread::yield();
  EXPECT_FALSE(is_running(pid));
  if (is_running(pid)) ::kill(pid, SIGKILL);
}

TEST(Worker, OtherFilesOfOursAreClosedInTheChild) {
  const int open_file = ::open("/dev/null", O_RDONLY);  // without O_CLOEXEC
  Worker worker(shell(fmt::format("if [ -e /proc/self/fd/{} ]; then exit 7; fi; exec cat", open_file)));
  EXPECT_EQ(error_of(worker, Json::object(), 20), "no error");
  ::close(open_file);
}

TEST(Worker, WhatItSaysBesideItsAnswersIsHandedOnWhole) {
  std::string said;
  WorkerOptions options = shell("echo begun >&2; cat; echo over >&2");
  options.on_output = [&](std::string_view bytes) { said += bytes; };
  {
    Worker worker(options);
    worker.request(Json::object(), 20);
    ::kill(worker.pid(), SIGTERM);
    error_of(worker, Json::object(), 20);
  }
  EXPECT_EQ(said.substr(0, 6), "begun\n");
  said.clear();
  options.argv = {"sh", "-c", "yes | head -c 300000 >&2; exit 3"};
  Worker worker(options);
  error_of(worker, Json::object(), 20);
  EXPECT_EQ(said.size(), 300000u);
}

TEST(Worker, TimeAndDeathAreToldApart) {
  Worker late(shell("sleep 100")), dead(shell("exit 3"));
  EXPECT_THROW(late.request(Json::object(), 0.1), WorkerTimeout);
  try {
    dead.request(Json::object(), 20);
    FAIL();
  } catch (const WorkerTimeout&) {
    FAIL();
  } catch (const WorkerError&) {
  }
}

TEST(Worker, VariablesOfItsEnvironmentAreBesideOurs) {
  ::setenv("HONE_TEST_OURS", "ours", 1);
  ::setenv("HONE_TEST_BOTH", "ours", 1);
  WorkerOptions options = shell("echo $HONE_TEST_OURS $HONE_TEST_BOTH $HONE_TEST_NEW >&2; exit 1");
  options.environment = {"HONE_TEST_BOTH=its", "HONE_TEST_NEW=its"};
  Worker worker(options);
  const std::string said = error_of(worker, Json::object(), 20);
  EXPECT_NE(said.find("ours its its"), std::string::npos) << said;
  ::unsetenv("HONE_TEST_OURS");
  ::unsetenv("HONE_TEST_BOTH");
}

TEST(Worker, MemoryIsLimited) {
  WorkerOptions options = shell("ulimit -v >&2; exit 1");
  options.memory_bytes = int64_t{256} << 20;
  Worker worker(options);
  // the limit is set a moment after the start: a shell may read it before
  std::string said;
  for (int i = 0; i < 20 && said.find("262144") == std::string::npos; ++i) said = error_of(worker, Json::object(), 20);
  EXPECT_NE(said.find("262144"), std::string::npos) << said;
}

}  // namespace
}  // namespace hone::workers
