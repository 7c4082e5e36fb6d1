# Compiler flags, cache and linker: everything about how we build, nothing about what.

add_library(atoll_flags INTERFACE)
target_compile_options(atoll_flags INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Woverloaded-virtual -Wimplicit-fallthrough -Werror)
# g++ 12 reports false positives here when it inlines std::string, std::variant and coroutine frames at -O2.
target_compile_options(atoll_flags INTERFACE
  $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict -Wno-maybe-uninitialized -Wno-stringop-overflow -Wno-array-bounds
    -Wno-stringop-overread -Wno-dangling-pointer -Wno-free-nonheap-object -Wno-missing-field-initializers -Wno-mismatched-new-delete>)
target_compile_options(atoll_flags INTERFACE
  $<$<CXX_COMPILER_ID:Clang>:-Wno-missing-field-initializers -Wno-deprecated-declarations -Wno-gnu-statement-expression
    -Wno-gnu-statement-expression-from-macro-expansion -Wno-vla-cxx-extension -Wno-c99-designator>)
# g++ collects the garbage of its own heap again and again. With this bound, in kilobytes, it does not for files of ours: a
# tenth of its time is saved for a tenth more memory (docs/decisions/quick-build.md).
target_compile_options(atoll_flags INTERFACE $<$<CXX_COMPILER_ID:GNU>:--param=ggc-min-heapsize=2000000>)
target_include_directories(atoll_flags INTERFACE ${CMAKE_SOURCE_DIR}/src)
target_compile_definitions(atoll_flags INTERFACE ATOLL_VERSION="${PROJECT_VERSION}")

set(CMAKE_CXX_FLAGS_RELEASE "-O2 -DNDEBUG -g0")
set(CMAKE_C_FLAGS_RELEASE "-O2 -DNDEBUG -g0")
set(CMAKE_CXX_FLAGS_DEBUG "-O0 -g1")
set(CMAKE_CXX_FLAGS_SANITIZE "-O1 -g1 -fno-omit-frame-pointer")
set(CMAKE_C_FLAGS_SANITIZE "-O1 -g1 -fno-omit-frame-pointer")

if(ATOLL_SANITIZE)
  add_compile_options(-fsanitize=${ATOLL_SANITIZE} -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${ATOLL_SANITIZE})
  # Asio has fences, which ThreadSanitizer does not see; it is built to do without them.
  if(ATOLL_SANITIZE MATCHES thread AND CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    add_compile_options(-Wno-tsan)
  endif()
endif()
if(ATOLL_FUZZ)
  add_compile_options(-fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all)
  add_link_options(-fsanitize=address,undefined)
endif()
if(ATOLL_COVERAGE)
  # The compiler would write counters down at every fork() and exec() and then reset them, for all who share them.
  add_compile_options(--coverage -fprofile-update=atomic -fdata-sections -fno-builtin-fork -fno-builtin-execv
    -fno-builtin-execve -fno-builtin-execvp -fno-builtin-execl -fno-builtin-execle -fno-builtin-execlp)
  add_link_options(--coverage -fuse-ld=bfd)
  add_library(atoll_coverage STATIC ${CMAKE_CURRENT_LIST_DIR}/coverage.c)
  target_link_libraries(atoll_flags INTERFACE -Wl,--wrap=_exit atoll_coverage
    -Wl,-T,${CMAKE_CURRENT_LIST_DIR}/coverage_counters.ld)
endif()

find_program(CCACHE ccache)
if(CCACHE)
  # Precompiled headers need these two; the base directory lets two checkouts share results.
  set(launcher env CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
      CCACHE_BASEDIR=${CMAKE_SOURCE_DIR} CCACHE_NOHASHDIR=1
      CCACHE_PCH_EXTSUM=1 ${CCACHE})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${launcher})
  set(CMAKE_C_COMPILER_LAUNCHER ${launcher})
  if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-fpch-preprocess>)
  endif()
endif()
find_program(MOLD mold)
find_program(LLD ld.lld)
if(ATOLL_COVERAGE)
  # Its linker was chosen above.
elseif(MOLD AND CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  add_link_options(-fuse-ld=mold)
elseif(LLD AND CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  add_link_options(-fuse-ld=lld)
endif()
