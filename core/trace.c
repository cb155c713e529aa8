// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The rdma_core trace events of <trace/events/rdma_core.h> live in this object. */
#define CREATE_TRACE_POINTS
#include <trace/events/rdma_core.h>
