#include "binding.h"

namespace atl::python {

void bind_policy(nb::module_& module) {
  nb::class_<SecurityManager>(module, "Policy", "A policy that reads code.")
      .def("validate", [](const SecurityManager& self, const std::string& code, const std::string& language) {
        auto known = policy::parse_language(language);
        if (!known) {
          raise_error(
              Error(Code::invalid_argument, "the policy does not know the language '" + language + "'")
                  .with_field("language"));
        }
        std::string json;
        {
          nb::gil_scoped_release release;
          json = policy::to_json(self.validate(code, *known));
        }
        return text_of(json);
      });
  module.def("shipped_policies", &shipped_policies);
  module.def("shipped_policy", [](const std::string& name) {
    return std::make_unique<SecurityManager>(unlocked([&] { return shipped_policy(name); }));
  });
  module.def("load_policy", [](const std::string& file) {
    return std::make_unique<SecurityManager>(unlocked([&] { return load_policy(file); }));
  });
}

}  // namespace atl::python
