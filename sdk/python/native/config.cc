#include "binding.h"
#include "config/configuration.h"

namespace atl::python {
namespace {

using Variables = std::map<std::string, std::string>;

nb::dict load_config(const std::string& file, const Variables& environment, const Variables& arguments) {
  config::Sources from{config::find_file(file, environment), environment, arguments, {}};
  const config::Configuration loaded = unlocked([&] { return config::Configuration::load(from); });
  nb::list values;
  for (const config::Setting& setting : config::settings()) {
    const config::Value& value = loaded.value(setting.key);
    const bool hidden = setting.secret && !value.text.empty();
    values.append(nb::make_tuple(text_of(setting.key), text_of(hidden ? "(set)" : value.text),
                                 text_of(value.origin), text_of(setting.help)));
  }
  nb::dict made;
  made["values"] = values;
  made["warnings"] = loaded.warnings();
  return made;
}

}  // namespace

void bind_config(nb::module_& module) {
  module.def("load_config", &load_config, nb::arg("file"), nb::arg("environment"), nb::arg("arguments"),
             "Settings of the service with their origins, by the rules of `atoll config`.");
}

}  // namespace atl::python
