# The CUDA device: HAUL_HAS_CUDA, and haul_cuda_device(target), which puts it into a library.
#
# The library stays a C library: its kernels are compiled to one object by themselves, and that
# object is a source of it like any other. So neither a project that takes Haul in nor one that
# finds it installed needs the CUDA language, and the linker is the C compiler. 12.8 is the first
# toolkit in which a stream tells its GPU.
set(HAUL_HAS_CUDA FALSE)
set(haul_cuda_toolkit 12.8)

if(HAUL_CUDA STREQUAL "OFF")
    set(haul_cuda_reason "HAUL_CUDA=OFF")
elseif(NOT CMAKE_SIZEOF_VOID_P EQUAL 8)
    set(haul_cuda_reason "CUDA is for 64-bit hosts")
else()
    # Code for each generation, and for later ones what their drivers compile.
    if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES AND NOT DEFINED ENV{CUDAARCHS})
        if(CMAKE_VERSION VERSION_LESS 3.23)
            set(CMAKE_CUDA_ARCHITECTURES "75;80;90")
        else()
            set(CMAKE_CUDA_ARCHITECTURES all-major)
        endif()
    endif()
    include(CheckLanguage)
    check_language(CUDA)
    if(CMAKE_CUDA_COMPILER)
        enable_language(CUDA)
        find_package(CUDAToolkit ${haul_cuda_toolkit} QUIET)
    endif()
    if(NOT CMAKE_CUDA_COMPILER)
        set(haul_cuda_reason "no working nvcc was found")
    elseif(NOT CUDAToolkit_FOUND OR NOT TARGET CUDA::cudart_static)
        set(haul_cuda_reason
            "no CUDA toolkit ${haul_cuda_toolkit} or later, with its static runtime, was found")
    else()
        set(HAUL_HAS_CUDA TRUE)
    endif()
endif()

if(HAUL_HAS_CUDA)
    message(STATUS
            "The CUDA device is built: toolkit ${CUDAToolkit_VERSION}, for "
            "${CMAKE_CUDA_ARCHITECTURES}")
elseif(HAUL_CUDA STREQUAL "ON")
    message(FATAL_ERROR "HAUL_CUDA=ON: ${haul_cuda_reason}")
else()
    message(STATUS "The CUDA device is left out: ${haul_cuda_reason}")
endif()

if(NOT HAUL_HAS_CUDA)
    function(haul_cuda_device target)
        target_sources(${target} PRIVATE ${PROJECT_SOURCE_DIR}/devices/cuda/absent.c)
    endfunction()
    return()
endif()

set(haul_cudart cudart_static)
if(CMAKE_CUDA_RUNTIME_LIBRARY STREQUAL "Shared")
    set(haul_cudart cudart)
endif()
find_path(HAUL_NVTX_INCLUDE nvtx3/nvToolsExt.h HINTS ${CUDAToolkit_INCLUDE_DIRS})
mark_as_advanced(HAUL_NVTX_INCLUDE)

file(GLOB haul_cuda_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/devices/cuda/*.c)
list(FILTER haul_cuda_sources EXCLUDE REGEX "/absent\\.c$")

# Without these two, g++ leaves calls of the C++ run-time library in the object.
add_library(haul_cuda_kernels OBJECT ${PROJECT_SOURCE_DIR}/devices/cuda/kernels.cu)
set_target_properties(haul_cuda_kernels PROPERTIES CUDA_VISIBILITY_PRESET hidden
                      POSITION_INDEPENDENT_CODE ON)
target_include_directories(haul_cuda_kernels PRIVATE ${PROJECT_SOURCE_DIR}/include)
target_compile_options(haul_cuda_kernels PRIVATE -Xcompiler=-fno-threadsafe-statics,-fno-exceptions)
if(PROJECT_IS_TOP_LEVEL)
    target_compile_options(haul_cuda_kernels PRIVATE -Xcompiler=-Wall,-Wextra)
    if(HAUL_WERROR)
        target_compile_options(haul_cuda_kernels PRIVATE -Werror=all-warnings)
    endif()
endif()

set(haul_cuda_object ${PROJECT_BINARY_DIR}/haul_cuda_kernels${CMAKE_CUDA_OUTPUT_EXTENSION})
add_custom_command(OUTPUT ${haul_cuda_object}
                   COMMAND ${CMAKE_COMMAND} -E copy $<TARGET_OBJECTS:haul_cuda_kernels>
                   ${haul_cuda_object}
                   DEPENDS haul_cuda_kernels $<TARGET_OBJECTS:haul_cuda_kernels> VERBATIM)
add_custom_target(haul_cuda_object DEPENDS ${haul_cuda_object})

function(haul_cuda_device target)
    target_sources(${target} PRIVATE ${haul_cuda_sources} ${haul_cuda_object})
    set_source_files_properties(${haul_cuda_object} PROPERTIES EXTERNAL_OBJECT TRUE GENERATED TRUE)
    add_dependencies(${target} haul_cuda_object)
    target_link_libraries(${target} PRIVATE CUDA::${haul_cudart})
    if(HAUL_NVTX_INCLUDE)
        target_compile_definitions(${target} PRIVATE HAUL_CUDA_RANGES)
        target_include_directories(${target} SYSTEM PRIVATE ${HAUL_NVTX_INCLUDE})
    endif()
endfunction()
