#include "sandbox/interpreter_boot.h"

#include <fmt/format.h>

#include "guest/runners.h"

namespace atl::sandbox {
using guest::runner;

namespace {

// How each interpreter is started: a line of its own language that reads the runner from the control stream.
constexpr const char* kPythonBoot =
    "import os;f=int(os.environ.pop('ATOLL_CONTROL_FD'));os.set_inheritable(f,False);h=b''\n"
    "while not h.endswith(b'\\n'):h+=os.read(f,1)\n"
    "n=int(h[2:]);s=b''\n"
    "while len(s)<n:s+=os.read(f,n-len(s))\n"
    "import builtins\n"
    "exec(compile(s,'<atoll>','exec'),{'__name__':'__atoll__','__builtins__':dict(vars(builtins)),'FD':f})";

// In a block: names of its own at the top would be taken from every cell. The runner gets a realm of its own.
constexpr const char* kNodeBoot =
    "{const fd=Number(process.env.ATOLL_CONTROL_FD);delete process.env.ATOLL_CONTROL_FD;const "
    "fs=require('fs');"
    "let h='';const b=Buffer.alloc(1);while(!h.endsWith('\\n')){fs.readSync(fd,b,0,1);h+=b.toString()}"
    "const n=Number(h.slice(2)),s=Buffer.alloc(n);for(let i=0;i<n;)i+=fs.readSync(fd,s,i,n-i);"
    "const vm=require('vm');vm.compileFunction(s.toString(),['fd','require','load','main'],"
    "{filename:'atoll-runner',parsingContext:vm.createContext()})(fd,require,s=>import(s),globalThis);}";

constexpr const char* kBashBoot =
    "LC_ALL=C IFS= read -r -u \"$ATOLL_CONTROL_FD\" __atoll_line; "
    "LC_ALL=C IFS= read -r -d '' -N \"${__atoll_line:2}\" -u \"$ATOLL_CONTROL_FD\" __atoll_line; "
    "eval \"$__atoll_line\"";

// R can read a socket by its number, and nothing else that has only a number.
constexpr const char* kRBoot =
    "local({f<-as.integer(Sys.getenv('ATOLL_CONTROL_FD'));Sys.unsetenv('ATOLL_CONTROL_FD');"
    "g<-function(n){x<-.Call(utils:::C_sockread,f,n);if(!nzchar(x))quit('no');x};"
    "h<-'';while(!endsWith(h,'\\n'))h<-paste0(h,g(1L));n<-as.integer(substring(h,3L));"
    "s<-raw();while(length(s)<n)s<-c(s,charToRaw(g(n-length(s))));"
    "e<-list2env(as.list(baseenv(),all.names=TRUE),parent=baseenv());e$FD<-f;"
    "eval(parse(text=rawToChar(s),keep.source=FALSE,encoding='UTF-8'),e)})";

// Java cannot read a descriptor before it runs a program, and runs one from a source only if that is a file:
// bash makes one without a name (older than 5.1, or told to be so, it keeps a document in a file). Short
// runs, not throughput, are what interpreters are for: one compiler and one collector start sooner and hold
// less.
constexpr const char* kJavaBoot =
    "lacks() { printf 'N %d\\n%s' \"${#1}\" \"$1\" >&\"$ATOLL_CONTROL_FD\"; exit 127; }\n"
    "type -P java >/dev/null || lacks 'there is no program java'\n"
    "type -P jshell >/dev/null || lacks 'java is there, but without a compiler and jshell'\n"
    "BASH_COMPAT=50 control=$ATOLL_CONTROL_FD memory=$ATOLL_MEMORY_BYTES\n"
    "unset ATOLL_CONTROL_FD ATOLL_MEMORY_BYTES\n"
    "export LANG=${LANG:-C.UTF-8}\n"
    "exec java -XX:TieredStopAtLevel=1 -XX:+UseSerialGC -XX:-UsePerfData -Xshare:auto "
    "${memory:+-XX:MaxRAM=$memory -XX:MaxRAMPercentage=50} -Djava.awt.headless=true -Dfile.encoding=UTF-8 "
    "-Dstdout.encoding=UTF-8 -Dstderr.encoding=UTF-8 -Dsun.stdout.encoding=UTF-8 -Dsun.stderr.encoding=UTF-8 "
    "--add-opens java.base/java.io=ALL-UNNAMED --add-opens java.base/java.lang=ALL-UNNAMED "
    "--source 11 /dev/fd/9 \"$control\" 9<<'ATOLL'\n";

// Deno refuses descriptors that it did not open itself: functions of the C library read and write this one.
// It has to have an inspector of its own process and to strip types; a version without them says so.
constexpr const char* kDenoBoot =
    "{const fd=Number(Deno.env.get('ATOLL_CONTROL_FD'));Deno.env.delete('ATOLL_CONTROL_FD');"
    "const io={parameters:['i32','buffer','usize','i32'],result:'isize'};"
    "const {symbols:c}=Deno.dlopen('libc.so.6',{fcntl:{parameters:['i32','i32','i32'],result:'i32'},"
    "_exit:{parameters:['i32'],result:'void'},recv:io,send:io,receive:{...io,name:'recv',nonblocking:true}});"
    "c.fcntl(fd,2,1);"
    "const lacks=(e)=>{const w=new TextEncoder().encode(`deno ${Deno.version.deno} is too old: "
    "${e.message}`);"
    "const h=new TextEncoder().encode(`N ${w.length}\\n`);c.send(fd,h,h.length,0);c.send(fd,w,w.length,0);"
    "c._exit(127)};"
    "let h='';const b=new Uint8Array(1);"
    "while(!h.endsWith('\\n')){if(c.recv(fd,b,1,0)<1)c._exit(0);h+=String.fromCharCode(b[0])}"
    "const n=Number(h.slice(2)),s=new Uint8Array(n);for(let "
    "i=0;i<n;)i+=Number(c.recv(fd,s.subarray(i),n-i,0));"
    "try{const m=(w)=>process.getBuiltinModule('node:'+w),vm=m('vm');"
    "new (m('inspector').Session)().connect();m('module').stripTypeScriptTypes('1');"
    "vm.compileFunction(new TextDecoder().decode(s),['fd','libc','load','main'],"
    "{filename:'atoll-runner',parsingContext:vm.createContext()})(fd,c,(w,o)=>import(w,o),globalThis)}"
    "catch(e){lacks(e)}}";

// Both are loaded when a cell needs one of them.
std::string_view rest_of_python() {
  static const std::string kRest =
      std::string(runner("python_rest.py")) + std::string(runner("python_charts.py"));
  return kRest;
}

std::string_view recipe_for(Language language) {
  switch (language) {
    case Language::r: return "r";
    case Language::java: return "java";
    case Language::deno: return "deno";
    default: return "base";
  }
}

}  // namespace

ProcessSpec runner_process(const InterpreterInfo& info) {
  ProcessSpec spec;
  spec.cwd = info.cwd;
  switch (info.language) {
    case Language::python: spec.argv = {"python3", "-c", kPythonBoot}; break;
    case Language::javascript:
    case Language::typescript:
      // Before 20.12 (Debian has 18) cells can import modules only with this switch.
      spec.argv = {"node",   "--expose-internals", "--experimental-vm-modules", "--no-warnings", "-e",
                   kNodeBoot};
      break;
    case Language::shell: spec.argv = {"bash", "--norc", "--noprofile", "-c", kBashBoot}; break;
    case Language::r:
      spec.argv = {"R", "--no-echo", "--no-save", "--no-restore", "--no-init-file", "-e", kRBoot};
      break;
    case Language::java:
      spec.argv = {"bash", "--norc", "--noprofile", "-c",
                   fmt::format("{}{}ATOLL\n", kJavaBoot, runner("Runner.java"))};
      break;
    case Language::deno: spec.argv = {"deno", "eval", "--quiet", kDenoBoot}; break;
  }
  return spec;
}

std::vector<std::pair<guest::ToRunner, std::string_view>> first_messages(const InterpreterInfo& info) {
  switch (info.language) {
    case Language::python:
      return {{guest::ToRunner::source, runner("python.py")}, {guest::ToRunner::rest, rest_of_python()}};
    case Language::javascript:
    case Language::typescript: return {{guest::ToRunner::source, runner("node.js")}};
    case Language::shell: return {{guest::ToRunner::source, runner("bash.sh")}};
    case Language::r: return {{guest::ToRunner::source, runner("r.R")}};
    case Language::java: return {};  // it was started with it
    case Language::deno: return {{guest::ToRunner::source, runner("deno.js")}};
  }
  std::unreachable();
}

bool wants_memory(Language language) {
  return language == Language::java;
}

std::string lacks_interpreter(Language language, std::string_view problem) {
  const auto packages = [&]() -> std::string_view {
    switch (language) {
      case Language::python: return "Debian's python3";
      case Language::javascript:
      case Language::typescript: return "Debian's nodejs";
      case Language::shell: return "Debian's bash";
      case Language::r: return "Debian's r-base-core";
      case Language::java: return "Debian's openjdk-17-jdk-headless (another JDK from 11 on will do)";
      case Language::deno: return "npm's deno, from 2.9 on";
    }
    std::unreachable();
  };
  return fmt::format(
      "no interpreter for {} in this environment: {}; it needs {}, on this machine where the environment "
      "shows its "
      "programs, else in a recipe for `atoll env build` (`{}` is shipped)",
      to_string(language), problem, packages(), recipe_for(language));
}

}  // namespace atl::sandbox
