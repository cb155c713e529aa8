/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef IBEX_UMAD_TRACE_H
#define IBEX_UMAD_TRACE_H

/* The trace events access struct ib_umad_file. */
#include "umad.h"
#include <trace/events/ib_umad.h>

#endif
