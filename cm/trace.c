// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "cm.h"

#define CREATE_TRACE_POINTS
#include "trace.h"
