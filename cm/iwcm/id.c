// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * iWARP CM ids: allocation, destruction.
 *
 * References: the owner's (the consumer's, or ours until the consumer is told
 * of a request); the provider's, by add_ref and rem_ref; a queued or running
 * work's; those of calls into the provider.
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
 * In whatever context the provider drops the last reference.  A provider need
 * not depend on this module, whose rem_ref and event_handler it calls: the id
 * keeps them there.
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
 * Why nothing calls the consumer, and no reference of ours remains, afterwards:
 * (1) dying is set under the lock: no event is queued from then on, and the
 *     work tells nothing more.
 * (2) A listener's provider has stopped listening, and every request that it
 *     reported before is the consumer's, by its handler, or was rejected.
 * (3) The step released the QP, so a QP being destroyed does not wait for us.
 *     The mapped port goes after whatever made the provider stop using it; one
 *     that a connect is waiting for is not kept, as the id is dying.
 * (4) cancel_work_sync() waits for a handler that runs and takes back the
 *     reference of a work that was queued.  In the handler itself there is
 *     nothing to wait for: the work ends itself and holds a reference till then.
 * (5) The provider may keep its reference and report later: the id is idle, so
 *     that its events have no transition; its rem_ref frees the memory.
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
 *	context.  A non-zero answer destroys the id.
 * @context: The consumer's, in cm_id->context.
 *
 * Context: May sleep.
 *
 * Return: The id, to be destroyed with iw_destroy_cm_id(); ERR_PTR(-ENODEV) if
 * @device is no iWARP provider, ERR_PTR(-ENOMEM).
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
 * A request that was not answered is rejected, a connection reset, a listener
 * stopped.  When this returns, no handler of the id runs or will run.  It waits
 * for a handler that is running, and for the provider's verbs, but not for the
 * outcome of a connect.  From within the id's own handler it returns at once
 * and the handler's answer is ignored.
 *
 * Context: May sleep.
 */
void iw_destroy_cm_id(struct iw_cm_id *cm_id)
{
	iwcm_id_destroy(to_iwcm(cm_id));
}
EXPORT_SYMBOL(iw_destroy_cm_id);
