// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * iWARP CM ids: allocation, destruction.
 *
 * References: one of the owner (the consumer, or the CM until the consumer is notified
 * of a request); those of the provider, by add_ref and rem_ref; one of a queued or
 * running work; one of each call into the provider.
 */
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/slab.h>

#include "iwcm.h"

static void iwcm_add_ref(struct iw_cm_id *cm_id)
{
	iwcm_id_get(to_iwcm(cm_id));
}

static void iwcm_rem_ref(struct iw_cm_id *cm_id)
{
	iwcm_id_put(to_iwcm(cm_id));
}

struct iwcm_id *iwcm_id_alloc(struct ib_device *device, iw_cm_handler handler,
			      void *context, gfp_t gfp)
{
	struct iwcm_id *id = kzalloc(sizeof(*id), gfp);

	if (!id)
		return NULL;
	id->id.device = device;
	id->id.cm_handler = handler;
	id->id.context = context;
	id->id.event_handler = iwcm_event;
	id->id.add_ref = iwcm_add_ref;
	id->id.rem_ref = iwcm_rem_ref;
	spin_lock_init(&id->lock);
	__module_get(THIS_MODULE);
	refcount_set(&id->ref, 1);
	INIT_WORK(&id->work, iwcm_work);
	return id;
}

/*
 * Runs in any context, as the provider may drop the last reference.  A provider need
 * not depend on this module, whose rem_ref and event_handler it calls, so each id holds
 * a reference on the module.
 */
void iwcm_id_release(struct iwcm_id *id)
{
	kfree(id->private_data);
	kfree(id);
	module_put(THIS_MODULE);
}

void iwcm_id_kick(struct iwcm_id *id)
{
	lockdep_assert_held(&id->lock);
	if (id->dying || id->calling || !id->pending)
		return;
	iwcm_id_get(id);
	if (!queue_work(iwcm_wq, &id->work))
		refcount_dec(&id->ref);
}

/*
 * Destroys @id: ends the connection or the listening, ends the delivery of
 * events, drops the owner's reference.
 *
 * Why nothing calls the consumer, and no reference of this module remains, afterwards:
 * (1) dying is set under the lock: no event is queued from then on, and the
 *     work delivers nothing more.
 * (2) The provider of a listener has stopped listening, and every request that it
 *     reported before was delivered to the consumer's handler or rejected.
 * (3) The step released the QP, so the destruction of the QP does not wait for this id.
 *     The mapped port is put after the provider has stopped using it; if a connect is
 *     still waiting for its mapping, iwcm_map_keep() puts it, as the id is dying.
 * (4) cancel_work_sync() waits for a running handler and tells whether a queued work
 *     was cancelled, whose reference is then dropped.  If that handler itself destroys
 *     the id, there is nothing to wait for: the work ends itself and holds a reference
 *     until then.
 * (5) The provider may keep its reference and report events later: the id is idle, so
 *     these events have no transition; the provider's rem_ref frees the memory.
 */
void iwcm_id_destroy(struct iwcm_id *id)
{
	const struct iwcm_step *step;
	struct ib_qp *qp;

	spin_lock_irq(&id->lock);
	id->dying = true;
	step = iwcm_step(id, IWCM_DO_DESTROY, &qp);
	spin_unlock_irq(&id->lock);

	if (step && step->flags & IWCM_F_UNLISTEN)
		iwcm_listen_stop(id);
	if (step && step->flags & IWCM_F_REJECT)
		id->id.device->ops.iw_reject(&id->id, NULL, 0);
	if (qp && step->flags & IWCM_F_ABORT)
		iwcm_qp_move(qp, IB_QPS_ERR);
	iwcm_qp_put(qp);
	iwcm_unmap(id);

	if (READ_ONCE(id->runner) != current && cancel_work_sync(&id->work))
		refcount_dec(&id->ref);
	iwcm_id_put(id);
}

/**
 * iw_create_cm_id - create an iWARP CM id
 * @device: Device that the id's connection goes through.
 * @cm_handler: Called with each event of the id, one at a time, in process
 *	context.  A non-zero return value destroys the id.
 * @context: The consumer's context, stored in cm_id->context.
 *
 * Context: May sleep.
 *
 * Return: The id, to be destroyed with iw_destroy_cm_id(); ERR_PTR(-ENODEV) if
 * @device is not an iWARP device, ERR_PTR(-ENOMEM).
 */
struct iw_cm_id *iw_create_cm_id(struct ib_device *device,
				 iw_cm_handler cm_handler, void *context)
{
	struct iwcm_id *id;

	if (!device->ops.iw_connect || !device->ops.iw_get_qp)
		return ERR_PTR(-ENODEV);
	id = iwcm_id_alloc(device, cm_handler, context, GFP_KERNEL);
	return id ? &id->id : ERR_PTR(-ENOMEM);
}
EXPORT_SYMBOL(iw_create_cm_id);

/**
 * iw_destroy_cm_id - destroy an iWARP CM id
 * @cm_id: The id.
 *
 * An unanswered request is rejected, a connection is reset, a listener is stopped.  When
 * this returns, no handler of the id runs or will run.  It waits for a running handler
 * and for the provider's verbs, but not for the outcome of a connect.  Called by the
 * id's own handler it does not wait for that handler, whose return value is ignored.
 *
 * Context: May sleep.
 */
void iw_destroy_cm_id(struct iw_cm_id *cm_id)
{
	iwcm_id_destroy(to_iwcm(cm_id));
}
EXPORT_SYMBOL(iw_destroy_cm_id);
