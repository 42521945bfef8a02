#include "kernels/embedding.h"

#include "kernels/row_test_cases.h"

namespace hone::kernels {
namespace {

using namespace testing;

TEST(Embedding, ForwardCopiesAndBackwardAddsTokensInOrder) {
  for (const int64_t width : {1, 15, 16, 33, 255, 256, 257, 896}) {
    const std::vector<int32_t> ids = {3, 0, 3, 5, 3, 0, 1};
    const int64_t tokens = static_cast<int64_t>(ids.size());
    Matrix table(6, width, 1), dh(tokens, width, 2), dtable(6, width, 3);
    const std::vector<float> got = same_everywhere([&](Context& ctx) {
      Matrix h(tokens, width, 4), sum = dtable;
      std::vector<float> out;
      embedding_forward(ctx, h.f32(), ids, table.f32());
      embedding_backward(ctx, sum.f32(), ids, dh.f32());
      h.expect_guards();
      sum.expect_guards();
      append(out, h.f32());
      append(out, sum.f32());
      return out;
    });
    for (int64_t i = 0; i < tokens * width; ++i) {
      EXPECT_EQ(got[static_cast<size_t>(i)], table.f32()(ids[static_cast<size_t>(i / width)], i % width));
    }
    for (int64_t t = 0; t < tokens; ++t) {
      for (int64_t i = 0; i < width; ++i) dtable.f32()(ids[static_cast<size_t>(t)], i) += dh.f32()(t, i);
    }
    for (int64_t i = 0; i < 6 * width; ++i) {
      EXPECT_EQ(got[static_cast<size_t>(tokens * width + i)], dtable.f32()(i / width, i % width));
    }
  }
}

TEST(Embedding, TokensOfThePaddingIdAddNothing) {
  const std::vector<int32_t> ids = {3, 0, 3, 1};
  Matrix dh(4, 70, 2), dtable(6, 70, 3);
  const std::vector<float> got = same_everywhere([&](Context& ctx) {
    Matrix sum = dtable;
    std::vector<float> out;
    embedding_backward(ctx, sum.f32(), ids, dh.f32(), 3);
    append(out, sum.f32());
    return out;
  });
  for (const int64_t t : {1, 3}) {
    for (int64_t i = 0; i < 70; ++i) dtable.f32()(ids[static_cast<size_t>(t)], i) += dh.f32()(t, i);
  }
  for (int64_t i = 0; i < 6 * 70; ++i) EXPECT_EQ(got[static_cast<size_t>(i)], dtable.f32()(i / 70, i % 70));
}

TEST(Embedding, AnIdOutsideTheTableIsABugAndNoTokensAreFine) {
  Matrix table(6, 4, 1), h(1, 4, 2);
  Context ctx(1);
  for (const int32_t id : {-1, 6}) {
    const std::vector<int32_t> ids = {id};
    EXPECT_THROW(embedding_forward(ctx, h.f32(), ids, table.f32()), Bug);
    EXPECT_THROW(embedding_backward(ctx, table.f32(), ids, h.f32()), Bug);
  }
  embedding_forward(ctx, {nullptr, 0, 4}, {}, table.f32());
  embedding_backward(ctx, table.f32(), {}, {nullptr, 0, 4});
}

}  // namespace
}  // namespace hone::kernels
