# What CMake projects call of haul-describe. haul_describe_command is the program, set before this
# is included.

# haul_describe(TARGET OUTPUT file HEADERS header... TYPES type... [ANSWERS file...]
#               [OPTIONS option...])
# Makes file.c and file.h in the build folder whenever a header or an answer changes, and adds them
# to TARGET; given file.cpp, C++. A header is a file of the project or <folder/header.h>. TARGET's
# include folders and definitions hold.
function(haul_describe target)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "OUTPUT" "HEADERS;TYPES;ANSWERS;OPTIONS")
    if(arg_UNPARSED_ARGUMENTS OR NOT arg_OUTPUT OR NOT arg_HEADERS OR NOT arg_TYPES)
        message(FATAL_ERROR
                "haul_describe(TARGET OUTPUT file HEADERS header... TYPES type... "
                "[ANSWERS file...] "
                            "[OPTIONS option...])")
    endif()
    get_filename_component(extension ${arg_OUTPUT} LAST_EXT)
    if(NOT extension)
        set(extension .c)
    endif()
    get_filename_component(output ${arg_OUTPUT} NAME_WLE)
    set(output ${CMAKE_CURRENT_BINARY_DIR}/${output})
    set(arguments "")
    set(files "")
    foreach(header IN LISTS arg_HEADERS)
        if(NOT header MATCHES "^<")
            get_filename_component(header "${header}" ABSOLUTE)
            list(APPEND files "${header}")
        endif()
        list(APPEND arguments "${header}")
    endforeach()
    foreach(type IN LISTS arg_TYPES)
        list(APPEND arguments --type "${type}")
    endforeach()
    foreach(answers IN LISTS arg_ANSWERS)
        get_filename_component(answers "${answers}" ABSOLUTE)
        list(APPEND files "${answers}")
        list(APPEND arguments --answers "${answers}")
    endforeach()
    set(folders $<TARGET_PROPERTY:${target},INCLUDE_DIRECTORIES>)
    set(macros $<TARGET_PROPERTY:${target},COMPILE_DEFINITIONS>)
    add_custom_command(
        OUTPUT ${output}${extension} ${output}.h
        COMMAND ${haul_describe_command} ${arguments} -o ${output}${extension} --depfile ${output}.d
                "$<$<BOOL:${folders}>:-I$<JOIN:${folders},;-I>>"
                "$<$<BOOL:${macros}>:-D$<JOIN:${macros},;-D>>"
                -- ${arg_OPTIONS}
        DEPENDS ${files}
        DEPFILE ${output}.d
        COMMENT "Describing ${arg_TYPES}"
        VERBATIM COMMAND_EXPAND_LISTS)
    target_sources(${target} PRIVATE ${output}${extension})
    target_include_directories(${target} PRIVATE ${CMAKE_CURRENT_BINARY_DIR})
endfunction()

# haul_check_descriptions(TARGET): whenever TARGET is linked, its descriptions are held against its
# debug information; a pointer that no field describes, say, ends the build. TARGET is compiled with
# -g.
function(haul_check_descriptions target)
    target_compile_options(${target} PRIVATE -g)
    add_custom_command(TARGET ${target} POST_BUILD COMMAND ${haul_describe_command} --check
                       $<TARGET_FILE:${target}>
                       COMMENT "Checking the descriptions of ${target}" VERBATIM)
endfunction()
