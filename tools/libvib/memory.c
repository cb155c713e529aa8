// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Objects that the kernel has alone: domains, regions, windows, address handles. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "vib.h"

/* What functions that make an object return if a command has failed. */
static void *failed(void *object, int error)
{
	free(object);
	errno = error;
	return NULL;
}

static int destroyed(void *object, int error)
{
	error = destroy_error(error);
	if (!error)
		free(object);
	return error;
}

/* ---- domains ---- */

struct ibv_pd *vib_alloc_pd(struct ibv_context *context)
{
	struct ib_uverbs_alloc_pd_resp resp;
	struct ibv_pd *pd = calloc(1, sizeof(*pd));
	struct cmd_alloc_pd cmd;
	int ret;

	if (!pd)
		return NULL;
	ret = ibv_cmd_alloc_pd(context, pd, &cmd, sizeof(cmd), &resp, sizeof(resp));
	return ret ? failed(pd, ret) : pd;
}

int vib_dealloc_pd(struct ibv_pd *pd)
{
	return destroyed(pd, ibv_cmd_dealloc_pd(pd));
}

struct ibv_xrcd *vib_open_xrcd(struct ibv_context *context, struct ibv_xrcd_init_attr *attr)
{
	struct verbs_xrcd *xrcd = calloc(1, sizeof(*xrcd));
	struct ib_uverbs_open_xrcd_resp resp;
	struct cmd_open_xrcd cmd;
	int ret;

	if (!xrcd)
		return NULL;
	ret = ibv_cmd_open_xrcd(context, xrcd, sizeof(*xrcd), attr, &cmd, sizeof(cmd), &resp,
				sizeof(resp));
	return ret ? failed(xrcd, ret) : &xrcd->xrcd;
}

int vib_close_xrcd(struct ibv_xrcd *xrcd)
{
	return destroyed(xrcd, ibv_cmd_close_xrcd((struct verbs_xrcd *)xrcd));
}

/* ---- regions and windows ---- */

struct ibv_mr *vib_reg_mr(struct ibv_pd *pd, void *addr, size_t length, uint64_t hca_va,
			  int access)
{
	struct verbs_mr *mr = calloc(1, sizeof(*mr));
	struct ib_uverbs_reg_mr_resp resp;
	struct cmd_reg_mr cmd;
	int ret;

	if (!mr)
		return NULL;
	ret = ibv_cmd_reg_mr(pd, addr, length, hca_va, access, mr, &cmd, sizeof(cmd), &resp,
			     sizeof(resp));
	return ret ? failed(mr, ret) : &mr->ibv_mr;
}

int vib_rereg_mr(struct verbs_mr *mr, int flags, struct ibv_pd *pd, void *addr, size_t length,
		 int access)
{
	struct ib_uverbs_rereg_mr_resp resp;
	struct cmd_rereg_mr cmd;

	return ibv_cmd_rereg_mr(mr, flags, addr, length, (uintptr_t)addr, access, pd, &cmd,
				sizeof(cmd), &resp, sizeof(resp));
}

int vib_dereg_mr(struct verbs_mr *mr)
{
	return destroyed(mr, ibv_cmd_dereg_mr(mr));
}

struct ibv_mw *vib_alloc_mw(struct ibv_pd *pd, enum ibv_mw_type type)
{
	struct ib_uverbs_alloc_mw_resp resp;
	struct cmd_alloc_mw cmd;
	struct ibv_mw *mw;
	int ret;

	/* Windows of type 1 are bound by a verb, which vib has not. */
	if (type != IBV_MW_TYPE_2)
		return failed(NULL, EOPNOTSUPP);
	mw = calloc(1, sizeof(*mw));
	if (!mw)
		return NULL;
	ret = ibv_cmd_alloc_mw(pd, type, mw, &cmd, sizeof(cmd), &resp, sizeof(resp));
	return ret ? failed(mw, ret) : mw;
}

int vib_dealloc_mw(struct ibv_mw *mw)
{
	return destroyed(mw, ibv_cmd_dealloc_mw(mw));
}

/* ---- address handles: the kernel checks the address, send requests have copies of it ---- */

static void av_set(struct vib_abi_av *av, const struct ibv_ah_attr *attr)
{
	*av = (struct vib_abi_av){
		.dlid = attr->dlid,
		.port = attr->port_num,
		.sl = attr->sl,
		.path_bits = attr->src_path_bits,
		.static_rate = attr->static_rate,
	};
	if (!attr->is_global)
		return;
	av->grh = 1;
	av->sgid_index = attr->grh.sgid_index;
	av->hop_limit = attr->grh.hop_limit;
	av->traffic_class = attr->grh.traffic_class;
	av->flow_label = attr->grh.flow_label;
	memcpy(av->dgid, &attr->grh.dgid, sizeof(av->dgid));
}

struct ibv_ah *vib_create_ah(struct ibv_pd *pd, struct ibv_ah_attr *attr)
{
	struct vib_ah *ah = calloc(1, sizeof(*ah));
	struct ib_uverbs_create_ah_resp resp;
	int ret;

	if (!ah)
		return NULL;
	ret = ibv_cmd_create_ah(pd, &ah->ibv, attr, &resp, sizeof(resp));
	if (ret)
		return failed(ah, ret);
	av_set(&ah->av, attr);
	return &ah->ibv;
}

int vib_destroy_ah(struct ibv_ah *ah)
{
	return destroyed(to_vib_ah(ah), ibv_cmd_destroy_ah(ah));
}
