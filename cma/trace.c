// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Where the tracepoints of trace.h are.
 */
#define CREATE_TRACE_POINTS
#include "trace.h"
