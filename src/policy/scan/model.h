#pragma once

#include <cstdint>

namespace atl::policy {

// What a scanner knows about a named function, module or object of Python or JavaScript.
// Which names have which model is in models.cc. The evaluator has a case for each in call_model().
enum class Model : std::uint8_t {
  none,
  // how names are reached
  import_function,   // __import__(name), importlib.import_module(name), require(name)
  module_table,      // sys.modules: a subscript names a module
  get_attribute,     // getattr(object, name), Reflect.get(object, name)
  attribute_getter,  // operator.attrgetter(name)(object)
  name_space,        // globals(), locals(), vars(): the call gives a mapping of names
  builtins,          // the builtins module; globalThis
  partial,           // functools.partial(f, ...): calling it calls f
  // what runs text as code
  run_code,           // eval, exec, new Function
  run_code_callback,  // setTimeout(text): only when given text
  run_shell,          // os.system(text)
  run_process,        // subprocess.run(text or list)
  run_exec,   // os.execl(path, word, ...), os.spawnv(mode, path, [word, ...]): words from the first text on
  run_cell,   // get_ipython().run_cell(text): a notebook's cell
  run_magic,  // get_ipython().run_cell_magic(word, line, body)
  itself,     // get_ipython(): the call gives what has the attributes
  load_code,  // marshal.loads, types.CodeType: code that is not text
  // what makes text
  chr,
  base64,
  hex,
  base32,
  base85,
  codecs_decode,
  decompress,
  bytes_from_hex,   // bytes.fromhex
  make_bytes,       // bytes, bytearray
  make_text,        // str, String
  from_char_codes,  // String.fromCharCode
  unescape,         // unescape, decodeURIComponent
  buffer_from,      // Buffer.from(text, encoding)
  reversed,
  map,          // map(chr, [...])
  format_join,  // "".join through str.join
  make_list,    // list, tuple
  // where text comes from
  remote,  // requests.get, urllib.request.urlopen, fetch
  // reached only to get out
  internal,       // process.binding, module.constructor._load
  function_type,  // types.FunctionType, Function
};

}  // namespace atl::policy
