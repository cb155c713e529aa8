/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef VIB_AH_H
#define VIB_AH_H

/* Address handles (IBA vol. 1, 10.2.2.2, 11.2.2). */
#include <rdma/ib_verbs.h>

/* An address vector: no pointer in it, for a work request has a copy. */
struct vib_av {
	u16 dlid;
	u8 port;
	u8 sl;
	u8 path_bits;		/* of the source LID, below the LMC */
	u8 static_rate;
	u8 grh;			/* whether there is one, of which: */
	u8 sgid_index;
	u8 hop_limit;
	u8 traffic_class;
	u32 flow_label;
	union ib_gid dgid;
};

struct vib_ah {
	struct ib_ah ib;
	struct vib_av av;
};

static inline struct vib_ah *to_vib_ah(struct ib_ah *ibah)
{
	return container_of(ibah, struct vib_ah, ib);
}

extern const struct ib_device_ops vib_ah_ops;

#endif
