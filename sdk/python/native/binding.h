#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/function.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include "atoll/core.h"

// What the parts of the module share: Python's exceptions for our errors, bytes and paths.
namespace atl::python {

namespace nb = nanobind;

// Raises the class of atoll.errors for the code. Holds the interpreter's lock.
[[noreturn]] void raise_error(const Error& error);

template <class T>
T value(Result<T> result) {
  if (!result) raise_error(result.error());
  if constexpr (!std::is_void_v<T>) return std::move(*result);
}

// Runs without the interpreter's lock, then raises or gives the value. Everything that changes a filesystem
// runs so: a storage that is written in Python needs the lock, maybe for another thread's change.
template <class Work>
auto unlocked(Work work) {
  decltype(work()) result = [&] {
    nb::gil_scoped_release release;
    return work();
  }();
  return value(std::move(result));
}

inline Path path_of(const std::string& text) {
  return value(Path::posix(text));
}
inline nb::bytes bytes_of(std::string_view text) {
  return nb::bytes(text.data(), text.size());
}
// Bytes that are no UTF-8 come as surrogates, as os.fsdecode() has them.
nb::str text_of(std::string_view text);

void bind_storages(nb::module_& module);
void bind_files(nb::module_& module);
void bind_shell(nb::module_& module);
void bind_policy(nb::module_& module);
void bind_config(nb::module_& module);

}  // namespace atl::python
