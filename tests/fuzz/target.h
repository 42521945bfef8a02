// What a fuzz target gives and gets. A target is one file NAME_target.cc that ends with FUZZ_TARGET(run, material);
// tests/fuzz/driver.cc runs them all.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#ifndef HONE_FUZZ_MATERIAL
#define HONE_FUZZ_MATERIAL hone_fuzz_material
#endif

namespace hone::fuzz {

struct Material {
  std::vector<std::string> seeds;       // valid inputs and near misses
  std::vector<std::string> dictionary;  // words of the format
  // Brings a mutated input back to a form whose first check passes (a length in front, say); used on half of them.
  std::function<void(std::string&)> repair;
  size_t usual_bytes = 1024;  // longer inputs are cut, but for one in thousands
  // What opens and closes a level of the format: one input in a thousand is nested up to tens of thousands of levels.
  std::vector<std::pair<std::string, std::string>> nests = {};
};

// Tells the driver what became of an input: a new behaviour makes the input a seed. Letters outside of quotes count, so
// that messages which differ in numbers and names are one.
void behaviour(std::string_view what);

// A broken property: the driver writes the input to a file and ends with 1.
[[noreturn]] void fail(const char* condition, const std::string& detail);

}  // namespace hone::fuzz

// The ends of a target, inside of hone::fuzz: LLVMFuzzerTestOneInput, any fuzzer's entry, hands an input to
// run(std::string_view); material() is what this driver starts from. The build gives both names of their own, so that
// all targets live in one program.
#define FUZZ_TARGET(run, material)                                                       \
  extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) { /* NOLINT */ \
    run({reinterpret_cast<const char*>(data), size});                                    \
    return 0;                                                                            \
  }                                                                                      \
  Material HONE_FUZZ_MATERIAL() { return material(); }

#define FUZZ_CHECK(condition, detail)         \
  do {                                        \
    if (!(condition)) [[unlikely]]            \
      ::hone::fuzz::fail(#condition, detail); \
  } while (false)
