#include "text/python_text.h"

#include <gtest/gtest.h>

namespace hone::text {
namespace {

TEST(PythonText, StripsWhatPythonStrips) {
  EXPECT_EQ(python_strip(" \t\n\r\f\v a b \x1c\x1d\x1e\x1f"), "a b");
  EXPECT_EQ(python_strip("\u3000\u00a0\u2003\u2028x\u1680\u205f\u202f\u0085"), "x");
  EXPECT_EQ(python_strip("\ufeffx\u200b"), "\ufeffx\u200b") << "neither is white space to Python";
  EXPECT_EQ(python_strip(" \n "), "");
  EXPECT_EQ(python_strip(""), "");
  EXPECT_EQ(python_strip("\n\n a \n", "\n"), " a ");
  EXPECT_EQ(python_lstrip("\n\na\n", "\n"), "a\n");
  EXPECT_EQ(python_rstrip("\n\na\n\n", "\n"), "\n\na");
  EXPECT_EQ(python_rstrip("\n", "\n"), "");
}

}  // namespace
}  // namespace hone::text
