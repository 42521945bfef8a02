// RequestError: why a request is refused, as OpenAI's API says it.
#pragma once

#include <string>
#include <utility>

#include "core/error.h"

namespace hone::serve {

class RequestError : public Error {
 public:
  // `param`: the field at fault, empty when there is none.
  RequestError(int status, const std::string& message, std::string param = "", std::string code = "")
      : Error(message), status_(status), param_(std::move(param)), code_(std::move(code)) {}
  int status() const { return status_; }
  const std::string& param() const { return param_; }
  const std::string& code() const { return code_; }

 private:
  int status_;
  std::string param_, code_;
};

}  // namespace hone::serve
