# Where `cmake --install` puts headers, library, CMake package, pkg-config file and documents. The
# prefix can be moved.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

target_include_directories(haul PUBLIC $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
install(TARGETS haul EXPORT haulTargets
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
        RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
        FILES_MATCHING PATTERN "*.h" PATTERN "*.hpp")

set(haul_package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/haul)
install(EXPORT haulTargets NAMESPACE haul:: DESTINATION ${haul_package_dir})
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/haulConfig.cmake.in
                              ${PROJECT_BINARY_DIR}/haulConfig.cmake
                              INSTALL_DESTINATION ${haul_package_dir} PATH_VARS
                              CMAKE_INSTALL_BINDIR)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/haulConfigVersion.cmake COMPATIBILITY
                                 SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/haulConfig.cmake ${PROJECT_BINARY_DIR}/haulConfigVersion.cmake
        DESTINATION ${haul_package_dir})

# haul.pc finds its prefix from where it lies, unless the packager gave absolute folders.
set(haul_pc_prefix ${CMAKE_INSTALL_PREFIX})
if(NOT IS_ABSOLUTE "${CMAKE_INSTALL_LIBDIR}")
    file(RELATIVE_PATH up "/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/")
    string(REGEX REPLACE "/$" "" up "${up}")
    set(haul_pc_prefix "\${pcfiledir}/${up}")
endif()
foreach(name IN ITEMS LIBDIR INCLUDEDIR)
    set(haul_pc_${name} "${CMAKE_INSTALL_${name}}")
    if(NOT IS_ABSOLUTE "${haul_pc_${name}}")
        set(haul_pc_${name} "\${prefix}/${haul_pc_${name}}")
    endif()
endforeach()
set(haul_pc_libs_private "${CMAKE_THREAD_LIBS_INIT}")
if(HAUL_HAS_CUDA)
    string(APPEND haul_pc_libs_private
           " -L\"${CUDAToolkit_LIBRARY_DIR}\" -l${haul_cudart} -ldl -lrt -lpthread")
endif()
if(HAUL_HAS_ZSTD)
    string(APPEND haul_pc_libs_private " -lzstd")
endif()
configure_file(${CMAKE_CURRENT_LIST_DIR}/haul.pc.in ${PROJECT_BINARY_DIR}/haul.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/haul.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

install(FILES ${PROJECT_SOURCE_DIR}/tools/gdb/haul.py DESTINATION ${CMAKE_INSTALL_DATADIR}/haul/gdb)
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE ${PROJECT_SOURCE_DIR}/README.md
        DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/docs/ DESTINATION ${CMAKE_INSTALL_DOCDIR}/docs)
# There once the target `docs` has been built.
install(DIRECTORY ${PROJECT_BINARY_DIR}/reference/html DESTINATION ${CMAKE_INSTALL_DOCDIR} OPTIONAL)
install(DIRECTORY ${PROJECT_BINARY_DIR}/reference/man/ DESTINATION ${CMAKE_INSTALL_MANDIR} OPTIONAL)
