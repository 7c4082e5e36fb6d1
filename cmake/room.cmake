# A room is a directory of src/ that becomes one static library `atoll_<name>` and, where it holds
# *_test.cc files, one test program `<name>_test`. Sources are found by pattern so that adding a file
# needs no edit here; sub-directories belong to their room unless listed in EXCLUDE.
#
#   atoll_room(vfs DEPENDS base os LIBS PkgConfig::ZSTD [ASIO] [EXCLUDE dir...] [TEST_LIBS lib...])
#
# ASIO: the room uses Boost.Asio and shares its precompiled header.
# UNITY: kilobytes of source that are compiled as one; the default is about 12 seconds of work.
# COLD: what the room does is system calls and parsing of small things, so that it is compiled with less optimisation in a
# third less time (docs/decisions/quick-build.md has the measurements). Tests are always.

# Precompiled headers are shared by all rooms, so definitions that they depend on must be the same everywhere.
add_library(atoll_pch_plain STATIC ${CMAKE_SOURCE_DIR}/cmake/pch.cc)
target_link_libraries(atoll_pch_plain PUBLIC atoll_flags fmt::fmt Threads::Threads)
target_precompile_headers(atoll_pch_plain PRIVATE ${CMAKE_SOURCE_DIR}/cmake/pch_plain.h)

add_library(atoll_pch_asio STATIC ${CMAKE_SOURCE_DIR}/cmake/pch.cc)
target_link_libraries(atoll_pch_asio PUBLIC atoll_flags fmt::fmt Threads::Threads Boost::headers OpenSSL::SSL OpenSSL::Crypto)
target_compile_definitions(atoll_flags INTERFACE BOOST_ASIO_NO_DEPRECATED BOOST_ASIO_DISABLE_BOOST_COROUTINE
  BOOST_CONTAINER_NO_LIB BOOST_JSON_NO_LIB BOOST_URL_NO_LIB)
target_precompile_headers(atoll_pch_asio PRIVATE ${CMAKE_SOURCE_DIR}/cmake/pch_asio.h)

if(CCACHE)
  set_target_properties(atoll_pch_plain atoll_pch_asio PROPERTIES
    CXX_COMPILER_LAUNCHER "${CMAKE_SOURCE_DIR}/scripts/compile-pch;${CMAKE_CXX_COMPILER_LAUNCHER}")
endif()

function(atoll_use_pch target asio)
  if(asio)
    target_link_libraries(${target} PUBLIC Boost::headers OpenSSL::SSL OpenSSL::Crypto)
    target_precompile_headers(${target} REUSE_FROM atoll_pch_asio)
  else()
    target_precompile_headers(${target} REUSE_FROM atoll_pch_plain)
  endif()
endfunction()

# Compiles the sources of a target in batches: headers and the templates of a batch are worked on once. `kilobytes` is the
# largest batch, so that a rebuild after one change stays short; batches of a room are of one size, so that no long one is
# waited for at the end. Files of one batch share a scope, so names in anonymous namespaces of a room must differ; the
# presets without unity builds prove that each file stands alone.
function(atoll_unity target kilobytes)
  if(NOT ATOLL_UNITY)
    return()
  endif()
  get_target_property(sources ${target} SOURCES)
  list(FILTER sources INCLUDE REGEX "\\.cc$")
  set(all 0)
  set(batched "")
  foreach(source ${sources})
    get_source_file_property(is_alone ${source} SKIP_UNITY_BUILD_INCLUSION)
    if(NOT is_alone)
      file(SIZE ${source} size_of_${source})
      math(EXPR all "${all} + ${size_of_${source}}")
      list(APPEND batched ${source})
    endif()
  endforeach()
  math(EXPR batches "(${all} + ${kilobytes} * 1024 - 1) / (${kilobytes} * 1024)")
  set(before 0)
  foreach(source ${batched})
    # The batch in which the middle of the file lies, if all were one long text.
    math(EXPR batch "(${before} + ${size_of_${source}} / 2) * ${batches} / ${all}")
    set_source_files_properties(${source} PROPERTIES UNITY_GROUP batch${batch})
    math(EXPR before "${before} + ${size_of_${source}}")
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  # g++ takes every file that is not named on its command line for a header, and warns of coroutines in it whose
  # frames hold local types.
  target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
endfunction()

function(atoll_cold target)
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O1>)
endfunction()

function(atoll_room name)
  cmake_parse_arguments(ROOM "ASIO;COLD" "UNITY" "DEPENDS;LIBS;EXCLUDE;TEST_LIBS" ${ARGN})
  file(GLOB_RECURSE all CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cc)
  foreach(dir ${ROOM_EXCLUDE})
    list(FILTER all EXCLUDE REGEX "^${CMAKE_CURRENT_SOURCE_DIR}/${dir}/")
  endforeach()
  set(tests ${all})
  list(FILTER tests INCLUDE REGEX "_test\\.cc$")
  set(fuzzers ${all})
  list(FILTER fuzzers INCLUDE REGEX "_fuzz\\.cc$")
  set(sources ${all})
  list(FILTER sources EXCLUDE REGEX "_(test|fuzz)\\.cc$")

  if(sources)
    add_library(atoll_${name} STATIC ${sources})
    if(NOT ROOM_UNITY)
      set(ROOM_UNITY 180)
      if(ROOM_ASIO)
        set(ROOM_UNITY 90)
      endif()
    endif()
    atoll_unity(atoll_${name} ${ROOM_UNITY})
    if(ROOM_COLD)
      atoll_cold(atoll_${name})
    endif()
    target_link_libraries(atoll_${name} PUBLIC atoll_flags fmt::fmt Threads::Threads)
    atoll_use_pch(atoll_${name} ${ROOM_ASIO})
    set(scope PUBLIC)
  else()
    add_library(atoll_${name} INTERFACE)
    set(scope INTERFACE)
  endif()
  list(TRANSFORM ROOM_DEPENDS PREPEND atoll_)
  target_link_libraries(atoll_${name} ${scope} ${ROOM_DEPENDS} ${ROOM_LIBS})

  if(tests AND NOT ATOLL_FUZZ)
    add_executable(${name}_test ${tests})
    atoll_cold(${name}_test)
    target_link_libraries(${name}_test PRIVATE atoll_${name} ${ROOM_TEST_LIBS} GTest::gtest GTest::gmock GTest::gtest_main)
    atoll_use_pch(${name}_test ${ROOM_ASIO})
    set_target_properties(${name}_test PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
    add_test(NAME ${name} COMMAND ${name}_test WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
    set_tests_properties(${name} PROPERTIES TIMEOUT 900)
  endif()
  if(ATOLL_FUZZ)
    foreach(source ${fuzzers})
      get_filename_component(fuzzer ${source} NAME_WE)
      add_executable(${fuzzer} ${source})
      target_link_libraries(${fuzzer} PRIVATE atoll_${name})
      target_link_options(${fuzzer} PRIVATE -fsanitize=fuzzer)
      set_target_properties(${fuzzer} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/fuzz)
    endforeach()
  endif()
endfunction()
