#include "io/folder_lock.h"

#include <gtest/gtest.h>

#include "core/error.h"
#include "io/file.h"

namespace hone::io {
namespace {

TEST(FolderLock, LetsOneInAtATime) {
  const std::string folder = ::testing::TempDir() + "/folder_lock_test";
  make_folders(folder);
  {
    const FolderLock first(folder);
    EXPECT_THROW(FolderLock{folder}, Error);
  }
  EXPECT_NO_THROW(FolderLock{folder});
}

}  // namespace
}  // namespace hone::io
