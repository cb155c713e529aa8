/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef VIB_CAPTURE_H
#define VIB_CAPTURE_H

/*
 * Monitors: network devices, vibmon0 and so on, which show the packets of a link or of a fabric
 * as they are on the wire, from LRH to VCRC (IBA vol. 1, 5.2), to packet sockets.
 *
 * A packet is shown when it arrives at the end of a link: what a fault of the link loses is
 * not, and what a fault damages has a wrong VCRC.  Nothing is shown, and packets cost nothing
 * more, unless a monitor is up.
 */
#include <linux/jump_label.h>
#include <linux/rcupdate.h>
#include <linux/types.h>

struct net_device;
struct vib_packet;
struct vib_port;

/* What may have a monitor. */
struct vib_captured {
	struct net_device __rcu *monitor;	/* NULL: none; written under capture_lock */
};

#define VIB_ICRC_LEN	4
#define VIB_VCRC_LEN	2

/* ---- capture.c ---- */

/* -EBUSY: there is a monitor; else what register_netdev() says.  May sleep, as the others. */
int vib_capture_start(struct vib_captured *what);
/* On return nothing uses the monitor any more.  Without one: nothing. */
void vib_capture_stop(struct vib_captured *what);
/* The monitor's name and a newline, or a newline, into @page. */
ssize_t vib_capture_show(struct vib_captured *what, char *page);

DECLARE_STATIC_KEY_FALSE(vib_capture_key);
void vib_capture_packet(const struct vib_port *port, const struct vib_packet *pkt);

/* @pkt has come to @port by its link.  Under RCU, with bottom halves off. */
static inline void vib_capture(const struct vib_port *port, const struct vib_packet *pkt)
{
	if (static_branch_unlikely(&vib_capture_key))
		vib_capture_packet(port, pkt);
}

/* ---- crc.c: of packets that are at least as long as an LRH (7.8) ---- */

/* The ICRC of the @len bytes before it, from the LRH on; put_unaligned_le32() places it. */
u32 vib_icrc(const u8 *packet, u32 len);
/* The VCRC of the @len bytes before it, from the LRH on; put_unaligned_le16() places it. */
u16 vib_vcrc(const u8 *packet, u32 len);

#endif
