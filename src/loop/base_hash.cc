#include "loop/base_hash.h"

#include <algorithm>
#include <bit>

namespace hone {

namespace {

constexpr int64_t kTile = 1 << 16;  // elements of one task

// FNV's step over whole numbers: every one that differs makes another hash.
uint64_t with(uint64_t hash, uint64_t number) { return (hash ^ number) * 0x100000001B3ull; }

uint64_t hash_of(kernels::Context& ctx, const Parameter& parameter) {
  const int64_t tiles = (parameter.size() + kTile - 1) / kTile;
  std::vector<uint64_t> of_tile(static_cast<size_t>(tiles));
  ctx.team.run(tiles, [&](int64_t tile) {
    std::vector<float> values(static_cast<size_t>(std::min(kTile, parameter.size() - tile * kTile)));
    parameter.read(tile * kTile, static_cast<int64_t>(values.size()), values.data());
    uint64_t hash = 0xCBF29CE484222325ull;
    for (const float value : values) hash = with(hash, std::bit_cast<uint32_t>(value));
    of_tile[static_cast<size_t>(tile)] = hash;
  });
  uint64_t hash = static_cast<uint64_t>(parameter.size());
  for (const uint64_t part : of_tile) hash = with(std::rotl(hash, 31), part);
  return hash;
}

}  // namespace

std::string base_hash(kernels::Context& ctx, const Decoder& decoder) {
  uint64_t hash = 0;
  for (const Parameter& parameter : decoder.parameters()) hash = with(std::rotl(hash, 31), hash_of(ctx, parameter));
  return fmt::format("{:016x}", hash);
}

}  // namespace hone
