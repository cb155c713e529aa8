// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The fake adapter as an iWARP provider: it counts its iw_* verbs and leaves their work
 * to the test, which also reports events through cm_id->event_handler.
 */
#include "fake_hca.h"

static int fake_iw_call(struct iw_cm_id *cm_id, enum fake_iw_verb verb,
			const struct iw_cm_conn_param *param)
{
	struct fake_hca *hca = to_fake_hca(cm_id->device);

	atomic_inc(&hca->iw_calls[verb]);
	return hca->iw_verb ? hca->iw_verb(hca, verb, cm_id, param, hca->iw_arg) : 0;
}

static int fake_iw_connect(struct iw_cm_id *cm_id, struct iw_cm_conn_param *param)
{
	return fake_iw_call(cm_id, FAKE_IW_CONNECT, param);
}

static int fake_iw_accept(struct iw_cm_id *cm_id, struct iw_cm_conn_param *param)
{
	return fake_iw_call(cm_id, FAKE_IW_ACCEPT, param);
}

static int fake_iw_reject(struct iw_cm_id *cm_id, const void *data, u8 len)
{
	struct iw_cm_conn_param param = {
		.private_data = data,
		.private_data_len = len,
	};

	return fake_iw_call(cm_id, FAKE_IW_REJECT, &param);
}

static int fake_iw_create_listen(struct iw_cm_id *cm_id, int backlog)
{
	return fake_iw_call(cm_id, FAKE_IW_LISTEN, NULL);
}

static int fake_iw_destroy_listen(struct iw_cm_id *cm_id)
{
	return fake_iw_call(cm_id, FAKE_IW_UNLISTEN, NULL);
}

struct iw_cm_event fake_iw_event(enum iw_cm_event_type type, int status,
				 const char *data, void *provider_data)
{
	return (struct iw_cm_event){
		.event = type,
		.status = status,
		.private_data = (void *)data,
		.private_data_len = data ? strlen(data) + 1 : 0,
		.ord = 7,
		.ird = 9,
		.provider_data = provider_data,
	};
}
EXPORT_SYMBOL_GPL(fake_iw_event);

static struct ib_qp *fake_iw_get_qp(struct ib_device *ibdev, int qpn)
{
	return xa_load(&to_fake_hca(ibdev)->qps, qpn);
}

static void fake_iw_add_ref(struct ib_qp *qp)
{
	atomic_inc(&to_fake_hca(qp->device)->iw_qp_refs);
}

static void fake_iw_rem_ref(struct ib_qp *qp)
{
	WARN_ON(atomic_dec_return(&to_fake_hca(qp->device)->iw_qp_refs) < 0);
}

const struct ib_device_ops fake_hca_iwarp_ops = {
	.iw_connect		= fake_iw_connect,
	.iw_accept		= fake_iw_accept,
	.iw_reject		= fake_iw_reject,
	.iw_create_listen	= fake_iw_create_listen,
	.iw_destroy_listen	= fake_iw_destroy_listen,
	.iw_get_qp		= fake_iw_get_qp,
	.iw_add_ref		= fake_iw_add_ref,
	.iw_rem_ref		= fake_iw_rem_ref,
};
