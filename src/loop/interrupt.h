// Interrupt: SIGINT and SIGTERM while a run is on. The first asks the loop to save and leave; the second leaves at once
// with exit code 130 (what was saved before stays loadable).
#pragma once

namespace hone {

class Interrupt {
 public:
  // `message`: what the first one prints; a literal.
  explicit Interrupt(const char* message = "\ninterrupted: saving after this step; once more leaves at once\n");
  ~Interrupt();  // restores the handlers
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;
  bool requested() const;
};

}  // namespace hone
