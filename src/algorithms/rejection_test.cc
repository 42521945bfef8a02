#include "algorithms/rejection.h"

#include <gtest/gtest.h>

#include <cmath>

namespace hone::algorithms {
namespace {

TEST(Rejection, SaysWhatIsWrongWithItsText) {
  std::vector<Rejection> out;
  EXPECT_NE(parse_rejections("seq_k1", "2", out).find("found \"seq_k1\""), std::string::npos);
  EXPECT_NE(parse_rejections("seq_max_k1", "2", out).find("found \"seq_max_k1\""), std::string::npos);
  EXPECT_NE(parse_rejections("token_k1,token_k2", "2,3,4", out).find("expected one threshold or 2, found 3"),
            std::string::npos);
  for (const char* bound : {"", "x", "0", "-1", "nan", "inf", "1.1_2", "0.5_0.9", "0.5_2_3", "0.5"}) {
    EXPECT_NE(parse_rejections("token_k1", bound, out), "") << bound;
  }
  for (const char* bound : {"", "0.5_2", "0", "-1"}) EXPECT_NE(parse_rejections("token_k3", bound, out), "") << bound;
  EXPECT_EQ(parse_rejections(" seq_sum_k1 , token_k2", "2", out), "");
  ASSERT_EQ(out.size(), 2u);
  EXPECT_DOUBLE_EQ(out[0].low, -std::log(2.0));
  EXPECT_DOUBLE_EQ(out[0].high, std::log(2.0));
  EXPECT_DOUBLE_EQ(out[1].high, 2.0);
}

}  // namespace
}  // namespace hone::algorithms
