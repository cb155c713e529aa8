// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Receiving: the packets that wait in a file to be read, and read().
 *
 * A file keeps at most umad_recv_bytes of MADs, or one MAD.  Further MADs are dropped
 * and counted, like packets that are lost on a wire.
 */
#include <linux/fs.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <rdma/ib_cache.h>

#include "umad/trace.h"

unsigned long umad_recv_bytes = 64 << 20;
EXPORT_SYMBOL_IF_KUNIT(umad_recv_bytes);
module_param_named(recv_bytes, umad_recv_bytes, ulong, 0644);
MODULE_PARM_DESC(recv_bytes, "Bytes of MADs that an open file keeps until they are read");

/* ---- packets to be read ---- */

static size_t umad_packet_bytes(const struct umad_packet *packet)
{
	return sizeof(*packet) + packet->length;
}

static void umad_packet_free(struct umad_packet *packet)
{
	if (packet->recv)
		ib_free_recv_mad(packet->recv);
	kfree(packet);
}

static void umad_drop(struct umad_port *port, const char *why)
{
	atomic_long_inc(&port->dropped);
	dev_warn_ratelimited(&port->umad.dev, "a MAD is dropped: %s\n", why);
}

void umad_recv_queue(struct ib_umad_file *file, struct umad_packet *packet)
{
	size_t bytes = umad_packet_bytes(packet);
	bool full, gone;

	spin_lock(&file->recv_lock);
	gone = file->gone;
	full = file->packet_bytes &&
	       file->packet_bytes + bytes > READ_ONCE(umad_recv_bytes);
	if (!gone && !full) {
		list_add_tail(&packet->entry, &file->packets);
		file->packet_bytes += bytes;
	}
	spin_unlock(&file->recv_lock);

	if (gone || full) {
		umad_packet_free(packet);
		if (!gone)
			umad_drop(file->port, "nobody reads");
		return;
	}
	wake_up_interruptible(&file->readers);
}

/* Takes the oldest packet, or returns NULL. */
static struct umad_packet *umad_recv_take(struct ib_umad_file *file)
{
	struct umad_packet *packet;

	spin_lock(&file->recv_lock);
	packet = list_first_entry_or_null(&file->packets, struct umad_packet, entry);
	if (packet) {
		list_del(&packet->entry);
		file->packet_bytes -= umad_packet_bytes(packet);
	}
	spin_unlock(&file->recv_lock);
	return packet;
}

/* Puts back a packet that could not be read, as the next to be read. */
static void umad_recv_put_back(struct ib_umad_file *file, struct umad_packet *packet)
{
	bool gone;

	spin_lock(&file->recv_lock);
	gone = file->gone;
	if (!gone) {
		list_add(&packet->entry, &file->packets);
		file->packet_bytes += umad_packet_bytes(packet);
	}
	spin_unlock(&file->recv_lock);
	if (gone)
		umad_packet_free(packet);
	else
		wake_up_interruptible(&file->readers);
}

/* The file is disconnected, so no more packets are queued. */
void umad_recv_purge(struct ib_umad_file *file)
{
	struct umad_packet *packet;

	while ((packet = umad_recv_take(file)))
		umad_packet_free(packet);
}

/* ---- from the MAD layer ---- */

/* The header's LIDs have 16 bits; Omni-Path LIDs may be longer if there is a GRH. */
static __be16 umad_lid(u32 lid)
{
	return lid > U16_MAX ? IB_LID_PERMISSIVE : cpu_to_be16(lid);
}

/*
 * Fills in what a response needs to reach the sender; units as in struct
 * ib_user_mad_hdr.
 */
static int umad_fill_source(struct umad_packet *packet, struct umad_port *port)
{
	const struct ib_wc *wc = packet->recv->wc;
	struct ib_user_mad_hdr *hdr = &packet->hdr;
	const struct ib_global_route *grh;
	struct rdma_ah_attr attr;
	int ret;

	hdr->qpn = cpu_to_be32(wc->src_qp);
	hdr->lid = umad_lid(wc->slid);
	hdr->sl = wc->sl;
	hdr->path_bits = wc->dlid_path_bits;
	hdr->pkey_index = wc->pkey_index;
	hdr->grh_present = !!(wc->wc_flags & IB_WC_GRH);
	if (!hdr->grh_present)
		return 0;

	ret = ib_init_ah_attr_from_wc(port->ib_dev, port->port_num, wc,
				      packet->recv->recv_buf.grh, &attr);
	if (ret)
		return ret;
	grh = rdma_ah_read_grh(&attr);
	hdr->gid_index = grh->sgid_index;
	hdr->hop_limit = grh->hop_limit;
	hdr->traffic_class = grh->traffic_class;
	hdr->flow_label = cpu_to_be32(grh->flow_label);
	memcpy(hdr->gid, grh->dgid.raw, sizeof(hdr->gid));
	rdma_destroy_ah_attr(&attr);
	return 0;
}

/*
 * Receives a MAD for an agent.  If it is a response, the MAD layer completes and frees
 * its request after this.
 */
void umad_received(struct ib_mad_agent *mad_agent, struct ib_mad_send_buf *send_buf,
		   struct ib_mad_recv_wc *recv)
{
	struct umad_agent *agent = mad_agent->context;
	struct umad_port *port = agent->file->port;
	struct umad_packet *packet;

	if (send_buf)
		umad_send_answered(send_buf);
	packet = kzalloc(sizeof(*packet), GFP_KERNEL);
	if (!packet) {
		ib_free_recv_mad(recv);
		umad_drop(port, "no memory");
		return;
	}
	packet->recv = recv;
	packet->length = recv->mad_len;
	packet->hdr.id = agent->id;
	if (umad_fill_source(packet, port)) {
		umad_packet_free(packet);
		umad_drop(port, "nobody to answer");
		return;
	}
	umad_recv_queue(agent->file, packet);
}

/* ---- read() ---- */

/* Copies the data of the segments after the first, @left bytes, without their headers. */
static int umad_copy_segments(const struct ib_mad_recv_wc *recv, char __user *buf,
			      size_t left)
{
	int offset = ib_get_mad_data_offset(recv->recv_buf.mad->mad_hdr.mgmt_class);
	const struct ib_mad_recv_buf *seg = &recv->recv_buf;

	list_for_each_entry_continue(seg, &recv->rmpp_list, list) {
		size_t n = min(left, recv->mad_seg_size - offset);

		if (copy_to_user(buf, (u8 *)seg->mad + offset, n))
			return -EFAULT;
		buf += n;
		left -= n;
		if (!left)
			break;
	}
	return 0;
}

/*
 * Returns -ENOSPC if an RMPP transfer does not fit.  Then the header, which contains
 * the length of the transfer, and the first segment were copied.
 */
static ssize_t umad_copy_packet(struct ib_umad_file *file, struct umad_packet *packet,
				char __user *buf, size_t count)
{
	const struct ib_mad_recv_wc *recv = packet->recv;
	const void *mad = recv ? (void *)recv->recv_buf.mad : (void *)&packet->mad_hdr;
	size_t first = recv ? min_t(size_t, packet->length, recv->mad_seg_size) :
			      packet->length;
	size_t head = umad_hdr_size(file);
	size_t size = head + packet->length;

	if (count < head + first)
		return -EINVAL;
	/* A send that is read back has the length that the process wrote. */
	if (recv)
		packet->hdr.length = size;
	if (copy_to_user(buf, &packet->hdr, head) ||
	    copy_to_user(buf + head, mad, first))
		return -EFAULT;
	if (count < size)
		return -ENOSPC;
	if (packet->length > first &&
	    umad_copy_segments(recv, buf + head + first, packet->length - first))
		return -EFAULT;
	if (recv)
		trace_ib_umad_read_recv(file, &packet->hdr, (struct ib_mad_hdr *)mad);
	else
		trace_ib_umad_read_send(file, &packet->hdr, (struct ib_mad_hdr *)mad);
	return size;
}

/* Takes the oldest packet, and waits for one unless @filp is nonblocking; or ERR_PTR. */
static struct umad_packet *umad_recv_wait(struct ib_umad_file *file, struct file *filp)
{
	struct umad_packet *packet;

	for (;;) {
		if (READ_ONCE(file->gone))
			return ERR_PTR(-EIO);
		packet = umad_recv_take(file);
		if (packet)
			return packet;
		if (filp->f_flags & O_NONBLOCK)
			return ERR_PTR(-EAGAIN);
		if (wait_event_interruptible_exclusive(file->readers,
						       READ_ONCE(file->gone) ||
						       !list_empty_careful(&file->packets)))
			return ERR_PTR(-ERESTARTSYS);
	}
}

ssize_t umad_read(struct file *filp, char __user *buf, size_t count, loff_t *pos)
{
	struct ib_umad_file *file = filp->private_data;
	struct umad_packet *packet;
	ssize_t ret;

	if (count < umad_hdr_size(file))
		return -EINVAL;
	packet = umad_recv_wait(file, filp);
	if (IS_ERR(packet))
		return PTR_ERR(packet);
	ret = umad_copy_packet(file, packet, buf, count);
	if (ret < 0)
		umad_recv_put_back(file, packet);
	else
		umad_packet_free(packet);
	return ret;
}
