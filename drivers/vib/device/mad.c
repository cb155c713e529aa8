// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The adapter's agents (IBA vol. 1, 13.3, 14, 16.1).  The MAD layer hands on what arrives
 * at QP0 and QP1, and SMPs of a subnet manager on this host for this node.
 */
#include "device/hca.h"
#include "mgmt/mgmt.h"

/* What the MAD layer makes of an agent's verdict. */
static int mad_result(enum vib_mad_result result)
{
	switch (result) {
	case VIB_MAD_REPLY:
		return IB_MAD_RESULT_SUCCESS | IB_MAD_RESULT_REPLY;
	case VIB_MAD_DROP:
		return IB_MAD_RESULT_SUCCESS | IB_MAD_RESULT_CONSUMED;
	case VIB_MAD_HOST:
		return IB_MAD_RESULT_SUCCESS;
	}
	return IB_MAD_RESULT_FAILURE;
}

/* The host's own subnet manager may come without a completion. */
static int process_smp(struct vib_port *port, const struct ib_wc *in_wc,
		       const struct ib_mad *in, struct ib_mad *out)
{
	u16 slid = in_wc ? in_wc->slid : READ_ONCE(port->lid);

	return mad_result(vib_sma_receive(port, slid, (const struct ib_smp *)in,
					  (struct ib_smp *)out));
}

static int vib_process_mad(struct ib_device *ibdev, int flags, u32 port_num,
			   const struct ib_wc *in_wc, const struct ib_grh *in_grh,
			   const struct ib_mad *in, struct ib_mad *out, size_t *out_size,
			   u16 *out_pkey_index)
{
	struct vib_port *port;

	if (!rdma_is_port_valid(ibdev, port_num))
		return IB_MAD_RESULT_FAILURE;
	port = &to_vib_hca(ibdev)->node.ports[port_num];
	switch (in->mad_hdr.mgmt_class) {
	case IB_MGMT_CLASS_SUBN_LID_ROUTED:
	case IB_MGMT_CLASS_SUBN_DIRECTED_ROUTE:
		return process_smp(port, in_wc, in, out);
	case IB_MGMT_CLASS_PERF_MGMT:
		return mad_result(vib_pma_handle(port, in, out));
	default:
		return IB_MAD_RESULT_SUCCESS;
	}
}

const struct ib_device_ops vib_mad_ops = {
	.process_mad	= vib_process_mad,
};
