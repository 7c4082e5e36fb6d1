#pragma once

#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x03090000
#include <Python.h>

#include "guest/zygote/spare.h"

// What the runner (runners/python.py) calls, in whichever module it comes.
namespace atl::guest {

// spare(): make_spare().
inline PyObject* py_make_spare(PyObject*, PyObject*) {
  return PyLong_FromLong(make_spare());
}

// end_spare(pid)
inline PyObject* py_end_spare(PyObject*, PyObject* number) {
  const long pid = PyLong_AsLong(number);
  if (PyErr_Occurred() != nullptr) return nullptr;
  end_spare(static_cast<int>(pid));
  return PyLong_FromLong(0);
}

}  // namespace atl::guest
