// The other library of a benchmark, from a module beside the executable. Without the module there is no peer.
#pragma once

#include <memory>
#include <string>

#include "bench/peer/peer_api.h"
#include "core/bf16.h"
#include "core/view.h"

namespace hone::bench {

class Peer {
 public:
  // Looks for the module in the executable's folder, then in lib/ and ../lib/ of it.
  explicit Peer(int threads);
  explicit operator bool() const { return api_ != nullptr; }
  std::string name() const { return api_ != nullptr ? api_->name() : ""; }
  const HonePeerApi& api() const { return *api_; }

 private:
  std::shared_ptr<void> module_;
  const HonePeerApi* api_ = nullptr;
};

struct DestroyPeerProduct {
  const HonePeerApi* api;
  void operator()(HonePeerProduct* product) const { api->destroy(product); }
};
using PeerProduct = std::unique_ptr<HonePeerProduct, DestroyPeerProduct>;

}  // namespace hone::bench
