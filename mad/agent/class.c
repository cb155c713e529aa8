// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * What the specification fixes for each management class (IBA 13.4.4, and the
 * chapter of each class): where its data starts, and whether its MADs carry an
 * RMPP header (13.6).
 */
#include <linux/export.h>
#include "agent/agent.h"

static const struct {
	u8 first;
	u8 last;
	u8 data_offset;
	bool rmpp;
} class_formats[] = {
	{ IB_MGMT_CLASS_SUBN_ADM, IB_MGMT_CLASS_SUBN_ADM,
	  IB_MGMT_SA_HDR, true },
	{ IB_MGMT_CLASS_DEVICE_MGMT, IB_MGMT_CLASS_DEVICE_MGMT,
	  IB_MGMT_DEVICE_HDR, true },
	{ IB_MGMT_CLASS_DEVICE_ADM, IB_MGMT_CLASS_DEVICE_ADM,
	  IB_MGMT_DEVICE_HDR, true },
	{ IB_MGMT_CLASS_BIS, IB_MGMT_CLASS_BIS,
	  IB_MGMT_DEVICE_HDR, true },
	{ IB_MGMT_CLASS_VENDOR_RANGE2_START, IB_MGMT_CLASS_VENDOR_RANGE2_END,
	  IB_MGMT_VENDOR_HDR, true },
};

bool ibmad_class_is_vendor2(u8 mgmt_class)
{
	return mgmt_class >= IB_MGMT_CLASS_VENDOR_RANGE2_START &&
	       mgmt_class <= IB_MGMT_CLASS_VENDOR_RANGE2_END;
}

bool ibmad_class_is_smp(u8 mgmt_class)
{
	return mgmt_class == IB_MGMT_CLASS_SUBN_LID_ROUTED ||
	       mgmt_class == IB_MGMT_CLASS_SUBN_DIRECTED_ROUTE;
}

/**
 * ib_is_mad_class_rmpp - whether MADs of a class carry an RMPP header
 * @mgmt_class: the management class
 *
 * IBA vol. 1, 13.6.  Subnet administration, device management and
 * administration, BIS and the second vendor range do.
 *
 * Context: any.
 * Return: 1 or 0.
 */
int ib_is_mad_class_rmpp(u8 mgmt_class)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(class_formats); i++)
		if (mgmt_class >= class_formats[i].first &&
		    mgmt_class <= class_formats[i].last)
			return class_formats[i].rmpp;
	return 0;
}
EXPORT_SYMBOL(ib_is_mad_class_rmpp);

size_t ibmad_class_hdr_len(u8 mgmt_class)
{
	if (mgmt_class == IB_MGMT_CLASS_SUBN_DIRECTED_ROUTE)
		return offsetof(struct opa_smp, route.dr.data);
	if (ibmad_class_is_smp(mgmt_class))
		return offsetof(struct opa_smp, route.lid.data);
	if (ibmad_class_is_vendor2(mgmt_class))
		return IB_MGMT_VENDOR_HDR;
	return ib_is_mad_class_rmpp(mgmt_class) ? IB_MGMT_RMPP_HDR : IB_MGMT_MAD_HDR;
}

/**
 * ib_get_mad_data_offset - where the data of a class's MADs starts
 * @mgmt_class: the management class
 *
 * Context: any.
 * Return: the bytes of the common, RMPP and class specific headers.
 */
int ib_get_mad_data_offset(u8 mgmt_class)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(class_formats); i++)
		if (mgmt_class >= class_formats[i].first &&
		    mgmt_class <= class_formats[i].last)
			return class_formats[i].data_offset;
	return IB_MGMT_MAD_HDR;
}
EXPORT_SYMBOL(ib_get_mad_data_offset);

/**
 * ib_response_mad - whether a MAD answers a request or represses a trap
 * @hdr: the MAD's common header
 *
 * IBA vol. 1, 13.4.5: the response bit of the method; TrapRepress, which has it
 * clear; and Baseboard Management (16.2), which answers Send with Send and puts
 * the bit into the attribute modifier.
 *
 * Context: any.
 * Return: non-zero if so.
 */
int ib_response_mad(const struct ib_mad_hdr *hdr)
{
	return (hdr->method & IB_MGMT_METHOD_RESP) ||
	       hdr->method == IB_MGMT_METHOD_TRAP_REPRESS ||
	       (hdr->mgmt_class == IB_MGMT_CLASS_BM &&
		(hdr->attr_mod & IB_BM_ATTR_MOD_RESP));
}
EXPORT_SYMBOL(ib_response_mad);

/**
 * ib_mad_kernel_rmpp_agent - whether RMPP is done for an agent here
 * @agent: the agent
 *
 * An agent registered with an RMPP version has its transfers segmented and
 * reassembled by this layer unless it requested to see each segment (IB_MAD_USER_RMPP).
 *
 * Context: any.
 * Return: non-zero if so.
 */
int ib_mad_kernel_rmpp_agent(const struct ib_mad_agent *agent)
{
	return agent->rmpp_version && !(agent->flags & IB_MAD_USER_RMPP);
}
EXPORT_SYMBOL(ib_mad_kernel_rmpp_agent);
