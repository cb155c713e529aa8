// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Established on first data (IBA vol. 1, 12.9.7.2): while an id that accepted
 * waits for its RTU, its QP is watched.  What the peer sends proves that it has
 * the REP, so the IB CM is told to go on as if the RTU had come; the consumer
 * hears ESTABLISHED from the CM's event, as ever, and need do nothing itself.
 *
 * The QP is the id's own or the one that rdma_accept() names by its number: of
 * the same process for an id of a process, of the kernel for the kernel's.
 *
 * The watch is there from before the REP leaves, since data may come as soon as
 * the peer has it, until the consumer was told of an outcome or the id goes.
 * That is before the CM's id goes, which the watch calls.
 */
#include <ibex/cm.h>

#include "cma.h"
#include "trace.h"

/* Any context, hard interrupt included. */
static bool cma_data_arrived(void *context, enum ibcore_qp_proof proof)
{
	int ret = ib_cm_establish(context, proof);

	/* Else the REP has not left yet, or the attempt has failed. */
	return !ret || ret == -EISCONN;
}

/*
 * cma_watch_begin() - listen for data on the QP of an id about to accept
 *
 * A QP that cannot be found, or that another id waits on, is not watched: the
 * RTU alone establishes the connection.
 *
 * Return: 0; -ENOMEM.
 */
int cma_watch_begin(struct cma_id *idp)
{
	bool user = !rdma_is_kernel_res(&idp->track.res);
	struct ibcore_qp_watch *watch;

	lockdep_assert_held(&idp->handler_mutex);
	cma_watch_end(idp);

	mutex_lock(&idp->qp_mutex);
	if (idp->id.qp)
		watch = ibcore_qp_watch(idp->id.qp, cma_data_arrived,
					idp->cm.ib);
	else
		watch = ibcore_qp_watch_num(idp->id.device, idp->qp_num, user,
					    cma_data_arrived, idp->cm.ib);
	mutex_unlock(&idp->qp_mutex);

	if (!IS_ERR(watch))
		idp->watch = watch;
	return watch == ERR_PTR(-ENOMEM) ? -ENOMEM : 0;
}

void cma_watch_end(struct cma_id *idp)
{
	struct ibcore_qp_watch *watch = idp->watch;

	lockdep_assert_held(&idp->handler_mutex);
	idp->watch = NULL;
	if (watch)
		ibcore_qp_unwatch(watch);
}
