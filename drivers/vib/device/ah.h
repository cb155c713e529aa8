/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef VIB_AH_H
#define VIB_AH_H

/* Address handles (IBA vol. 1, 10.2.2.2, 11.2.2). */
#include "device/hca.h"

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

/* Whether @attr may be an address vector of @hca's (11.2.2.1), and what it is as one. */
bool vib_av_valid(const struct vib_hca *hca, const struct rdma_ah_attr *attr);
void vib_av_set(struct vib_av *av, const struct rdma_ah_attr *attr);
void vib_av_query(const struct vib_av *av, struct rdma_ah_attr *attr);
/* The source LID of packets that are sent by @av from @port, which is @av's, and their GRH. */
u16 vib_av_slid(const struct vib_av *av, const struct vib_port *port);
void vib_av_fill_grh(const struct vib_av *av, const struct vib_port *port, struct ib_grh *grh);

extern const struct ib_device_ops vib_ah_ops;

#endif
