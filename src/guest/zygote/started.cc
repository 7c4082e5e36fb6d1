// The extension of an interpreter that was started as a program: what a zygote's child has from its zygote,
// sent over the control stream and loaded from memory. It needs no library, so it fits into any Python
// from 3.9 on.
#include "guest/zygote/spare_module.h"

namespace atl::guest {
namespace {

PyMethodDef methods[] = {{"spare", py_make_spare, METH_NOARGS, nullptr},
                         {"end_spare", py_end_spare, METH_O, nullptr},
                         {nullptr, nullptr, 0, nullptr}};
// In two phases: Python keeps no list of such modules.
PyModuleDef_Slot slots[] = {{0, nullptr}};
PyModuleDef definition{
    PyModuleDef_HEAD_INIT, "atoll_spare", nullptr, 0, methods, slots, nullptr, nullptr, nullptr};

}  // namespace
}  // namespace atl::guest

PyMODINIT_FUNC PyInit_atoll_spare() {
  return PyModuleDef_Init(&atl::guest::definition);
}
