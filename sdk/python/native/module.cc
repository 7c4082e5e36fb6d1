#include "binding.h"

// atoll._native: the embedded filesystem, shell and policy (atoll.embedded is its public face), and the rules
// of `atoll config`.
namespace atl::python {

void raise_error(const Error& error) {
  nb::object made =
      nb::module_::import_("atoll.errors")
          .attr("from_code")(std::string(to_string(error.code())), error.message(), error.field());
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(made.ptr())), made.ptr());
  throw nb::python_error();
}

nb::str text_of(std::string_view text) {
  PyObject* made = PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "surrogateescape");
  if (!made) throw nb::python_error();
  return nb::steal<nb::str>(made);
}

}  // namespace atl::python

NB_MODULE(_native, module) {
  module.doc() = "The virtual filesystem, the shell, the policy and the settings of Atoll in this process.";
  atl::python::bind_storages(module);
  atl::python::bind_files(module);
  atl::python::bind_shell(module);
  atl::python::bind_policy(module);
  atl::python::bind_config(module);
}
