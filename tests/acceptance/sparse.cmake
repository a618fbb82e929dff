# SuiteSparse: CHOLMOD and CXSparse, each an own program. The sources of the cases are compiled once
# for each of the library's integers and numbers.
include(CheckSymbolExists)
find_path(SUITESPARSE_INCLUDE cs.h PATH_SUFFIXES suitesparse)
find_library(CHOLMOD_LIBRARY cholmod)
find_library(CXSPARSE_LIBRARY cxsparse)
find_library(SUITESPARSE_CONFIG_LIBRARY suitesparseconfig)

# Found is not yet of the compiler's word size.
function(haul_sparse_links symbol header library result)
    set(CMAKE_REQUIRED_INCLUDES ${SUITESPARSE_INCLUDE})
    set(CMAKE_REQUIRED_LIBRARIES ${library} ${SUITESPARSE_CONFIG_LIBRARY} m)
    if(SUITESPARSE_INCLUDE AND library AND SUITESPARSE_CONFIG_LIBRARY)
        check_symbol_exists(${symbol} ${header} ${result})
    endif()
endfunction()
haul_sparse_links(cholmod_l_start cholmod.h "${CHOLMOD_LIBRARY}" HAUL_CHOLMOD_LINKS)
haul_sparse_links(cs_di_malloc cs.h "${CXSPARSE_LIBRARY}" HAUL_CXSPARSE_LINKS)

function(haul_sparse_program name library)
    add_executable(${name} ${ARGN} sparse.c sparse_matrices.c)
    haul_strict(${name})
    target_include_directories(${name} SYSTEM PRIVATE ${SUITESPARSE_INCLUDE})
    target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/tests)
    target_link_libraries(${name} PRIVATE haul_inside ${library} ${SUITESPARSE_CONFIG_LIBRARY} m)
    add_test(NAME ${name} COMMAND ${name})
    set_tests_properties(${name} PROPERTIES TIMEOUT 900)
endfunction()

# haul_sparse_variant(program name source definitions...): `source` once more, as an object of the
# program.
function(haul_sparse_variant program name source)
    add_library(${program}_${name} OBJECT ${source})
    haul_strict(${program}_${name})
    target_compile_definitions(${program}_${name} PRIVATE ${ARGN})
    target_include_directories(${program}_${name} SYSTEM PRIVATE ${SUITESPARSE_INCLUDE})
    target_include_directories(${program}_${name} PRIVATE ${PROJECT_SOURCE_DIR}/include
                                                          ${PROJECT_SOURCE_DIR}/tests)
    target_sources(${program} PRIVATE $<TARGET_OBJECTS:${program}_${name}>)
endfunction()

if(HAUL_CHOLMOD_LINKS)
    haul_sparse_program(haul_accept_cholmod ${CHOLMOD_LIBRARY} cholmod.c cholmod_types.c)
    haul_sparse_variant(haul_accept_cholmod int cholmod_cases.c)
    haul_sparse_variant(haul_accept_cholmod long cholmod_cases.c CASES_LONG)
else()
    message(STATUS
            "CHOLMOD was not found: haul_accept_cholmod is left out (Debian: libsuitesparse-dev)")
endif()

if(HAUL_CXSPARSE_LINKS)
    haul_sparse_program(haul_accept_csparse ${CXSPARSE_LIBRARY} csparse.c)
    haul_sparse_variant(haul_accept_csparse di csparse_cases.c)
    haul_sparse_variant(haul_accept_csparse dl csparse_cases.c CS_LONG)
    haul_sparse_variant(haul_accept_csparse ci csparse_cases.c CS_COMPLEX)
    haul_sparse_variant(haul_accept_csparse cl csparse_cases.c CS_LONG CS_COMPLEX)
else()
    message(STATUS
            "CXSparse was not found: haul_accept_csparse is left out (Debian: libsuitesparse-dev)")
endif()
