# haul-describe, a program in Python. It is installed whatever is here, and says itself what it
# misses.
set(HAUL_PYTHON "" CACHE FILEPATH
    "The Python that runs haul-describe: with clang.cindex and elftools")
if(NOT HAUL_PYTHON)
    foreach(python IN ITEMS /usr/bin/python3 python3)
        execute_process(COMMAND ${python} -c "import clang.cindex, elftools" RESULT_VARIABLE failed
                        OUTPUT_QUIET ERROR_QUIET)
        if(NOT HAUL_PYTHON AND failed STREQUAL "0")
            set_property(CACHE HAUL_PYTHON PROPERTY VALUE ${python})
        endif()
    endforeach()
endif()
mark_as_advanced(HAUL_PYTHON)
set(haul_python ${HAUL_PYTHON})
if(NOT haul_python)
    set(haul_python python3)
    message(STATUS
            "haul-describe lacks Python's clang.cindex or elftools (Debian: python3-clang "
            "python3-pyelftools)")
endif()

set(haul_describe_command ${haul_python} ${PROJECT_SOURCE_DIR}/tools/describe CACHE INTERNAL "")
include(${CMAKE_CURRENT_LIST_DIR}/haulDescribe.cmake)

if(HAUL_INSTALL)
    if(NOT IS_ABSOLUTE "${haul_python}")
        set(haul_python "/usr/bin/env ${haul_python}")
    endif()
    file(RELATIVE_PATH haul_describe_folder "/${CMAKE_INSTALL_BINDIR}"
         "/${CMAKE_INSTALL_DATAROOTDIR}/haul/describe")
    configure_file(${CMAKE_CURRENT_LIST_DIR}/haul-describe.in ${PROJECT_BINARY_DIR}/haul-describe
                   @ONLY)
    install(PROGRAMS ${PROJECT_BINARY_DIR}/haul-describe DESTINATION ${CMAKE_INSTALL_BINDIR})
    install(DIRECTORY ${PROJECT_SOURCE_DIR}/tools/describe/ DESTINATION
            ${CMAKE_INSTALL_DATAROOTDIR}/haul/describe
            FILES_MATCHING PATTERN "*.py")
    install(FILES ${PROJECT_SOURCE_DIR}/tools/describe/haul-describe.1 DESTINATION
            ${CMAKE_INSTALL_MANDIR}/man1)
    install(FILES ${CMAKE_CURRENT_LIST_DIR}/haulDescribe.cmake DESTINATION ${haul_package_dir})
endif()
