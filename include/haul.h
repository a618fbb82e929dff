/* Haul: deep copies of pointer-based data between memories. This header includes the others; their
 * comments are the reference. */
#ifndef HAUL_H
#define HAUL_H

#define HAUL_VERSION_MAJOR 0
#define HAUL_VERSION_MINOR 1
#define HAUL_VERSION_PATCH 0

#include "haul/status.h"
#include "haul/memory.h"
#include "haul/file.h"
#include "haul/context.h"
#include "haul/describe.h"
#include "haul/type.h"
#include "haul/type_mpi.h"
#include "haul/policy.h"
#include "haul/source.h"
#include "haul/plan.h"
#include "haul/audit.h"
#include "haul/image.h"
#include "haul/graph.h"
#include "haul/device.h"
#include "haul/host.h"
#include "haul/cuda.h"
#include "haul/ship.h"
#include "haul/uses.h"
#include "haul/arena.h"
#include "haul/chain.h"
#include "haul/environment.h"
#ifdef HAUL_EXPERIMENTAL
#include "haul/experimental.h"
#endif

#if HAUL_VERSION != 10000 * HAUL_VERSION_MAJOR + 100 * HAUL_VERSION_MINOR + HAUL_VERSION_PATCH
#error "HAUL_VERSION in haul/status.h is not the version of haul.h"
#endif

#endif
