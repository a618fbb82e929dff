# The target `docs`: the reference from the public headers, by Doxygen, in HTML and as man pages.
find_program(HAUL_DOXYGEN doxygen)
mark_as_advanced(HAUL_DOXYGEN)
if(HAUL_DOXYGEN)
    set(reference "${PROJECT_BINARY_DIR}/reference")
    configure_file(cmake/Doxyfile.in "${PROJECT_BINARY_DIR}/Doxyfile" @ONLY)
    add_custom_target(docs COMMAND "${CMAKE_COMMAND}" -E make_directory "${reference}"
                      COMMAND "${HAUL_DOXYGEN}" "${PROJECT_BINARY_DIR}/Doxyfile" VERBATIM)
else()
    add_custom_target(docs COMMAND "${CMAKE_COMMAND}" -E echo
                      "Install doxygen, and run cmake again."
                      COMMAND "${CMAKE_COMMAND}" -E false)
endif()
