// What the process is given by the system: its standard streams and signals.
#pragma once

namespace hone::cli {

// For the first line of main. A standard stream that is closed becomes /dev/null: its number would go to the next file
// that is opened, and lines meant for people would land in it. A reader that leaves, or a limit on file sizes, is an
// error of a write, not the end of the process. A mapped file that another process cuts short ends this one with code
// 2 and the file's name.
void prepare_process();

}  // namespace hone::cli
