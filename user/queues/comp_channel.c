// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Completion channels: a descriptor that reports the completion events of the CQs that
 * were made with it, whatever their completion vectors.
 *
 * A CQ counts its unread events, and is itself the entry in the channel's queue while
 * it has any, so events need no memory, however many there are.  CQs are served in the
 * order in which their events happened.  When one event of a CQ was read and the CQ has
 * more, it moves to the end of the queue, so that it does not keep the others waiting.
 */
#include <linux/export.h>
#include <linux/fs.h>
#include <kunit/visibility.h>
#define UVERBS_MODULE_NAME ib_uverbs
#include <rdma/uverbs_named_ioctl.h>
#include <rdma/uverbs_std_types.h>

#include "call/call.h"
#include "queues/queues.h"

static struct ib_ucq_object *ucq_of(struct uverbs_event *event)
{
	return container_of(event, struct ib_ucq_object, event);
}

void uverbs_ucq_channel_init(struct ib_ucq_object *ucq, struct ib_uobject *channel)
{
	INIT_LIST_HEAD(&ucq->event.ready);
	if (!channel)
		return;
	uverbs_uobject_get(channel);
	ucq->channel = container_of(channel, struct uverbs_event_queue, uobject);
}
EXPORT_SYMBOL_IF_KUNIT(uverbs_ucq_channel_init);

/*
 * No reference to the CQ remains at its channel: (1) its driver raises no more events;
 * (2) the CQ is off the queue; (3) a reader that is copying one of its events holds a
 * reference of its own, and sees that the CQ has no channel any more.
 */
void uverbs_ucq_channel_exit(struct ib_ucq_object *ucq)
{
	struct uverbs_event_queue *channel = ucq->channel;

	if (!channel)
		return;
	spin_lock_irq(&channel->lock);
	list_del_init(&ucq->event.ready);
	ucq->comp_events_pending = 0;
	ucq->channel = NULL;
	spin_unlock_irq(&channel->lock);
	uverbs_uobject_put(&channel->uobject);
}
EXPORT_SYMBOL_IF_KUNIT(uverbs_ucq_channel_exit);

void uverbs_ucq_channel_notify(struct ib_ucq_object *ucq)
{
	struct uverbs_event_queue *channel = ucq->channel;
	unsigned long flags;
	bool taken;

	if (!channel)
		return;
	spin_lock_irqsave(&channel->lock, flags);
	taken = !channel->closed && ucq->comp_events_pending < U32_MAX;
	if (taken && !ucq->comp_events_pending++)
		list_add_tail(&ucq->event.ready, &channel->ready);
	spin_unlock_irqrestore(&channel->lock, flags);
	if (taken)
		uverbs_event_queue_wake(channel);
}
EXPORT_SYMBOL_IF_KUNIT(uverbs_ucq_channel_notify);

/* ---- reading ---- */

static void comp_take(struct uverbs_event_queue *channel, struct uverbs_event *event,
		      void *desc)
{
	struct ib_ucq_object *ucq = ucq_of(event);
	struct ib_uverbs_comp_event_desc *comp = desc;

	comp->cq_handle = ucq->base.uobject.user_handle;
	ucq->comp_events_reported++;
	if (--ucq->comp_events_pending)
		list_move_tail(&event->ready, &channel->ready);
	else
		list_del_init(&event->ready);
	uverbs_uobject_get(&ucq->base.uobject);
}

static void comp_put_back(struct uverbs_event_queue *channel, struct uverbs_event *event)
{
	struct ib_ucq_object *ucq = ucq_of(event);

	if (ucq->channel) {
		ucq->comp_events_reported--;
		ucq->comp_events_pending++;
		list_move(&event->ready, &channel->ready);
	}
	uverbs_uobject_put(&ucq->base.uobject);
}

static void comp_read(struct uverbs_event_queue *channel, struct uverbs_event *event)
{
	uverbs_uobject_put(&ucq_of(event)->base.uobject);
}

static const struct uverbs_event_ops comp_ops = {
	.desc_size = sizeof(struct ib_uverbs_comp_event_desc),
	.take = comp_take,
	.put_back = comp_put_back,
	.read = comp_read,
};

/* ---- descriptors ---- */

static const struct file_operations comp_channel_fops = {
	.owner = THIS_MODULE,
	.read = uverbs_event_read,
	.poll = uverbs_event_poll,
	.fasync = uverbs_event_fasync,
	.release = uverbs_uobject_fd_release,
};

static void comp_channel_destroy(struct ib_uobject *uobj, enum rdma_remove_reason why)
{
	uverbs_event_queue_close(container_of(uobj, struct uverbs_event_queue, uobject));
}

static int comp_channel_create(struct uverbs_attr_bundle *attrs)
{
	struct ib_uverbs_create_comp_channel_resp resp = {};
	struct ib_uverbs_create_comp_channel cmd;
	struct ib_device *ibdev;
	struct ib_uobject *uobj;
	int ret;

	ret = uverbs_request(attrs, &cmd, sizeof(cmd));
	if (ret)
		return ret;
	uobj = uobj_alloc(UVERBS_OBJECT_COMP_CHANNEL, attrs, &ibdev);
	if (IS_ERR(uobj))
		return PTR_ERR(uobj);
	uverbs_event_queue_init(container_of(uobj, struct uverbs_event_queue, uobject),
				&comp_ops);
	uobj_finalize_uobj_create(uobj, attrs);
	resp.fd = uobj->id;
	return uverbs_response(attrs, &resp, sizeof(resp));
}

DECLARE_UVERBS_NAMED_OBJECT(UVERBS_OBJECT_COMP_CHANNEL,
			    UVERBS_TYPE_ALLOC_FD(sizeof(struct uverbs_event_queue),
						 comp_channel_destroy,
						 &comp_channel_fops,
						 "[infinibandevent]", O_RDONLY));

const struct uapi_definition uverbs_comp_channel_definitions[] = {
	UAPI_DEF_CHAIN_OBJ_TREE_NAMED(
		UVERBS_OBJECT_COMP_CHANNEL,
		DECLARE_UVERBS_WRITE(IB_USER_VERBS_CMD_CREATE_COMP_CHANNEL,
				     comp_channel_create,
				     UVERBS_REQ_RESP(ib_uverbs_create_comp_channel,
						     ib_uverbs_create_comp_channel_resp))),
	{}
};
