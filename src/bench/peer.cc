#include "bench/peer.h"

#include <dlfcn.h>

#include <cstdlib>
#include <filesystem>

namespace hone::bench {

Peer::Peer(int threads) {
  // Read when the module's thread library starts: its threads to cores of their own, as ours (pin.h).
  setenv("OMP_PROC_BIND", "true", 0);
  std::error_code error;
  const auto folder = std::filesystem::read_symlink("/proc/self/exe", error).parent_path();
  if (error) return;
  for (const char* place : {"", "lib", "../lib"}) {
    const auto path = folder / place / "libhone_bench_peer.so";
    void* module = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (module == nullptr) continue;
    // Never closed: the library's threads outlive their products.
    module_ = std::shared_ptr<void>(module, [](void*) {});
    const auto get = reinterpret_cast<const HonePeerApi* (*)()>(dlsym(module, "hone_peer_api"));
    if (get == nullptr) return;
    api_ = get();
    api_->set_threads(threads);
    return;
  }
}

}  // namespace hone::bench
