// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * All methods of ib_uverbs: each file has those of one object, called by write() and
 * by ioctl alike.
 */
#include "uverbs.h"

const struct uapi_definition uverbs_core_definitions[] = {
	UAPI_DEF_CHAIN(uverbs_write_definitions),
	{}
};
