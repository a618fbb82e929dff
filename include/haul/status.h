/* Statuses, which calls answer, and the record of an error: where and why a call failed.
 *
 * Every function that can fail returns a haul_status and writes its results through its last
 * pointer arguments, on success only; on failure a result pointer is set to NULL (or 0). The
 * library never prints, aborts or exits. A haul_error describes the failure in words, with the path
 * from the root to the culprit, and names arguments that are refused. It belongs to the context of
 * the call, or to its arena. Four kinds of failures leave no record: those of
 * haul_context_create, those of a call with a NULL handle, HAUL_ERROR_BUSY, and those of calls that
 * only look something up.
 */
#ifndef HAUL_STATUS_H
#define HAUL_STATUS_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(HAUL_SHARED) && defined(__GNUC__)
#define HAUL_API __attribute__((visibility("default")))
#else
#define HAUL_API
#endif

/* The version of these headers, and of the library that runs: 10000 * major + 100 * minor + patch.
 * Any thread. */
#define HAUL_VERSION 100
HAUL_API unsigned haul_version(void);

/* One list makes the numbers, the names and the texts. Numbers never change, and leave room for
 * more. Errors from -1 down concern the call, from -20 the description, from -40 the user's data,
 * from -60 resources, and from -80 the device and files. */
#define HAUL_STATUS_LIST(X)                                                                        \
    X(HAUL_OK, 0, "success")                                                                       \
    X(HAUL_ERROR_ARGUMENT, -1, "an argument is not acceptable")                                    \
    X(HAUL_ERROR_STATE, -2, "the object is not in a state that allows this call")                  \
    X(HAUL_ERROR_BUSY, -3,                                                                         \
      "another call is under way on the context, in another thread or around this callback")       \
    X(HAUL_ERROR_UNSUPPORTED, -4, "not supported here")                                            \
    X(HAUL_ERROR_CANCELLED, -5, "a function of the program has ended the call")                    \
    X(HAUL_ERROR_TYPE, -20, "a type description is wrong")                                         \
    X(HAUL_ERROR_GRAPH, -40, "the data does not agree with its description")                       \
    X(HAUL_ERROR_STALE, -41, "a pointer or count has changed since the plan was made")             \
    X(HAUL_ERROR_LIMIT, -42, "a limit was reached")                                                \
    X(HAUL_ERROR_FORMAT, -43, "bytes from outside are not well formed")                            \
    X(HAUL_ERROR_VERSION, -44, "made by or for another version")                                   \
    X(HAUL_ERROR_MEMORY, -60, "out of host memory")                                                \
    X(HAUL_ERROR_DEVICE_MEMORY, -61, "out of device memory")                                       \
    X(HAUL_ERROR_DEVICE, -80, "a device operation failed")                                         \
    X(HAUL_ERROR_DEVICE_LOST, -81, "the device is lost")                                           \
    X(HAUL_ERROR_FILE, -82, "a file operation failed")                                             \
    X(HAUL_ERROR_PENDING, -83, "the device has not finished yet")

typedef enum haul_status {
#define HAUL_STATUS_ENUM(name, number, text) name = number,
    HAUL_STATUS_LIST(HAUL_STATUS_ENUM)
#undef HAUL_STATUS_ENUM
} haul_status;

/* The name of a status ("HAUL_ERROR_GRAPH"), and its sentence. Never NULL: a number that is no
 * status has the name "HAUL_ERROR_UNKNOWN". Any thread. */
HAUL_API const char *haul_status_name(haul_status status);
HAUL_API const char *haul_status_text(haul_status status);

#define HAUL_PATH_BYTES 512
#define HAUL_TEXT_BYTES 512

/* The record of the last failure. `path` leads from a root to the place ("root.atoms[3].next"), or
 * names a type and its field ("mesh.xyz"); it is empty if there is none. A step taken many times in
 * a row is written once: "root(.next)*999999.name". `other_path` is the second of two places that
 * disagree. `text` is one sentence with the values. All three are always terminated; a long path
 * loses its middle, not its end. */
typedef struct haul_error {
    haul_status status;
    char path[HAUL_PATH_BYTES];
    char other_path[HAUL_PATH_BYTES];
    char text[HAUL_TEXT_BYTES];
} haul_error;

#ifdef __cplusplus
}
#endif
#endif
