# What `cmake --install` puts where.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
set(package ${CMAKE_INSTALL_LIBDIR}/cmake/Atoll)
# Headers of rooms that the core's own header includes, under their own names in a directory of theirs.
set(rooms ${CMAKE_INSTALL_INCLUDEDIR}/atoll/rooms)

configure_package_config_file(${CMAKE_CURRENT_SOURCE_DIR}/AtollConfig.cmake.in ${CMAKE_CURRENT_BINARY_DIR}/AtollConfig.cmake
  INSTALL_DESTINATION ${package} PATH_VARS CMAKE_INSTALL_INCLUDEDIR CMAKE_INSTALL_LIBDIR)
# Before 1.0 a minor version may change what programs use.
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/AtollConfigVersion.cmake COMPATIBILITY SameMinorVersion)

# A tree in which only the program was built has no archives yet.
install(CODE "execute_process(COMMAND \"${CMAKE_COMMAND}\" --build \"${CMAKE_BINARY_DIR}\" --target atoll_sdk COMMAND_ERROR_IS_FATAL ANY)")
install(FILES ${ATOLL_BUNDLES} DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY include/atoll core/include/atoll DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/AtollConfig.cmake ${CMAKE_CURRENT_BINARY_DIR}/AtollConfigVersion.cmake
  DESTINATION ${package})
foreach(header ${ATOLL_CORE_HEADERS})
  get_filename_component(room ${header} DIRECTORY)
  install(FILES ${CMAKE_SOURCE_DIR}/src/${header} DESTINATION ${rooms}/${room})
endforeach()
install(PROGRAMS ${CMAKE_BINARY_DIR}/atoll DESTINATION ${CMAKE_INSTALL_BINDIR} OPTIONAL)
