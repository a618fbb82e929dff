# haul, the program that looks at images. It stands on the public headers alone.
file(GLOB haul_tool_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tools/haul/*.c)
add_executable(haul_tool ${haul_tool_sources})
set_target_properties(haul_tool PROPERTIES OUTPUT_NAME haul)
haul_strict(haul_tool)
target_link_libraries(haul_tool PRIVATE haul)
if(HAUL_INSTALL)
    file(RELATIVE_PATH haul_libraries "/${CMAKE_INSTALL_BINDIR}" "/${CMAKE_INSTALL_LIBDIR}")
    set_target_properties(haul_tool PROPERTIES INSTALL_RPATH "$ORIGIN/${haul_libraries}")
    install(TARGETS haul_tool RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
    install(FILES ${PROJECT_SOURCE_DIR}/tools/haul/haul.1 DESTINATION
            ${CMAKE_INSTALL_MANDIR}/man1)
endif()
