// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Work requests that the kernel posts for a process (IBA vol. 1, 11.4.1;
 * ibv_post_send(3), ibv_post_recv(3)).  Only drivers whose libraries post this way
 * enable these commands.  Some of them use POST_SEND without any work request as a
 * doorbell.
 *
 * A command holds wr_count work requests of wqe_size bytes each, of which the part that
 * this kernel knows is read, and then the scatter/gather entries of all of them.
 */
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <rdma/uverbs_std_types.h>

#include "call/call.h"

/* The driver gets scatter/gather entries as the user wrote them. */
static_assert(sizeof(struct ib_sge) == sizeof(struct ib_uverbs_sge));
static_assert(offsetof(struct ib_sge, lkey) == offsetof(struct ib_uverbs_sge, lkey));

/* All three commands have the same layout. */
static_assert(sizeof(struct ib_uverbs_post_send) == sizeof(struct ib_uverbs_post_recv));
static_assert(sizeof(struct ib_uverbs_post_send) ==
	      sizeof(struct ib_uverbs_post_srq_recv));
static_assert(offsetof(struct ib_uverbs_post_send, qp_handle) ==
	      offsetof(struct ib_uverbs_post_srq_recv, srq_handle));
static_assert(sizeof(struct ib_uverbs_post_send_resp) ==
	      sizeof(struct ib_uverbs_post_srq_recv_resp));

/* Bits from IB_SEND_RESERVED_START on are for internal use by drivers. */
#define POST_SEND_FLAGS							\
	(IB_SEND_FENCE | IB_SEND_SIGNALED | IB_SEND_SOLICITED |		\
	 IB_SEND_INLINE | IB_SEND_IP_CSUM)

struct post {
	struct ib_uverbs_post_send cmd;
	const void __user *wqes;
	struct ib_sge *sges, *next_sge;	/* all; the first that no request has yet */
	u32 sges_left;
};

/* Has room for a send work request of any kind. */
union post_send_wr {
	struct ib_send_wr wr;
	struct ib_rdma_wr rdma;
	struct ib_atomic_wr atomic;
	struct ib_ud_wr ud;
};

/* ---- common to all three ---- */

/* The caller must call post_end(), on failure, too. */
static int post_begin(struct post *post, struct uverbs_attr_bundle *attrs,
		      size_t min_wqe_size)
{
	const void __user *sges;
	struct uverbs_tail tail;
	int ret;

	ret = uverbs_request_begin(attrs, &tail, &post->cmd, sizeof(post->cmd));
	if (ret)
		return ret;
	if (post->cmd.wqe_size < min_wqe_size)
		return -EINVAL;
	post->wqes = uverbs_request_next_ptr(&tail, array_size(post->cmd.wr_count,
							       post->cmd.wqe_size));
	if (IS_ERR(post->wqes))
		return PTR_ERR(post->wqes);
	sges = uverbs_request_next_ptr(&tail, array_size(post->cmd.sge_count,
							 sizeof(*post->sges)));
	if (IS_ERR(sges))
		return PTR_ERR(sges);
	ret = uverbs_request_end(&tail);
	if (ret || !post->cmd.sge_count)
		return ret;
	post->sges_left = post->cmd.sge_count;
	post->sges = vmemdup_array_user(sges, post->sges_left, sizeof(*post->sges));
	if (IS_ERR(post->sges)) {
		ret = PTR_ERR(post->sges);
		post->sges = NULL;
	}
	post->next_sge = post->sges;
	return ret;
}

static void post_end(struct post *post)
{
	kvfree(post->sges);
}

static int post_read_wqe(const struct post *post, u32 i, void *wqe, size_t size)
{
	if (copy_from_user(wqe, post->wqes + (size_t)i * post->cmd.wqe_size, size))
		return -EFAULT;
	return 0;
}

static int post_take_sges(struct post *post, u32 num, struct ib_sge **list)
{
	if (num > post->sges_left)
		return -EINVAL;
	*list = num ? post->next_sge : NULL;
	post->next_sge += num;
	post->sges_left -= num;
	return 0;
}

/*
 * @ret is the driver's result; @bad is the position in the list, from 1, of the work
 * request that the driver rejected, or 0.
 */
static int post_respond(struct uverbs_attr_bundle *attrs, int ret, u32 bad)
{
	struct ib_uverbs_post_send_resp resp = { .bad_wr = ret ? bad : 0 };

	return uverbs_response(attrs, &resp, sizeof(resp)) ?: ret;
}

/* ---- send ---- */

static void post_take_rdma(union post_send_wr *to,
			   const struct ib_uverbs_send_wr *wqe)
{
	to->rdma.remote_addr = wqe->wr.rdma.remote_addr;
	to->rdma.rkey = wqe->wr.rdma.rkey;
}

static void post_take_atomic(union post_send_wr *to,
			     const struct ib_uverbs_send_wr *wqe)
{
	to->atomic.remote_addr = wqe->wr.atomic.remote_addr;
	to->atomic.compare_add = wqe->wr.atomic.compare_add;
	to->atomic.swap = wqe->wr.atomic.swap;
	to->atomic.rkey = wqe->wr.atomic.rkey;
}

/*
 * Takes the operands of an operation.  struct ib_uverbs_send_wr has no room for those
 * of memory window operations, segmentation, masked atomics and flushes.  LOCAL_INV,
 * RDMA_READ_WITH_INV and ATOMIC_WRITE are refused as by the in-tree core, so no driver
 * has been given them by this command.
 */
static int post_take_operands(union post_send_wr *to,
			      const struct ib_uverbs_send_wr *wqe)
{
	switch (wqe->opcode) {
	case IB_UVERBS_WR_SEND:
		return 0;
	case IB_UVERBS_WR_SEND_WITH_IMM:
		to->wr.ex.imm_data = wqe->ex.imm_data;
		return 0;
	case IB_UVERBS_WR_SEND_WITH_INV:
		to->wr.ex.invalidate_rkey = wqe->ex.invalidate_rkey;
		return 0;
	case IB_UVERBS_WR_RDMA_WRITE_WITH_IMM:
		to->wr.ex.imm_data = wqe->ex.imm_data;
		fallthrough;
	case IB_UVERBS_WR_RDMA_WRITE:
	case IB_UVERBS_WR_RDMA_READ:
		post_take_rdma(to, wqe);
		return 0;
	case IB_UVERBS_WR_ATOMIC_CMP_AND_SWP:
	case IB_UVERBS_WR_ATOMIC_FETCH_AND_ADD:
		post_take_atomic(to, wqe);
		return 0;
	default:
		return -EINVAL;
	}
}

/* On success the address handle is locked for reading; post_put_ahs() unlocks it. */
static int post_take_datagram(union post_send_wr *to,
			      const struct ib_uverbs_send_wr *wqe,
			      struct uverbs_attr_bundle *attrs)
{
	struct uverbs_reads reads = { .attrs = attrs };

	if (wqe->opcode == IB_UVERBS_WR_SEND_WITH_IMM)
		to->wr.ex.imm_data = wqe->ex.imm_data;
	else if (wqe->opcode != IB_UVERBS_WR_SEND)
		return -EINVAL;
	to->ud.ah = uverbs_reads_object(&reads, UVERBS_OBJECT_AH, wqe->wr.ud.ah);
	if (IS_ERR(to->ud.ah))
		return PTR_ERR(to->ud.ah);
	to->ud.remote_qpn = wqe->wr.ud.remote_qpn;
	to->ud.remote_qkey = wqe->wr.ud.remote_qkey;
	return 0;
}

static void post_put_ahs(union post_send_wr *wrs, u32 num)
{
	while (num--)
		uobj_put_read(wrs[num].ud.ah->uobject);
}

static int post_take_send(struct post *post, u32 i, union post_send_wr *to,
			  struct ib_qp *qp, struct uverbs_attr_bundle *attrs)
{
	struct ib_uverbs_send_wr wqe;
	int ret;

	ret = post_read_wqe(post, i, &wqe, sizeof(wqe));
	if (!ret && wqe.send_flags & ~(u32)POST_SEND_FLAGS)
		ret = -EINVAL;
	if (!ret)
		ret = post_take_sges(post, wqe.num_sge, &to->wr.sg_list);
	if (ret)
		return ret;
	to->wr.wr_id = wqe.wr_id;
	to->wr.num_sge = wqe.num_sge;
	to->wr.opcode = wqe.opcode;
	/* Drivers read inline data from kernel addresses; user data goes by its lkey. */
	to->wr.send_flags = wqe.send_flags & ~IB_SEND_INLINE;
	return qp->qp_type == IB_QPT_UD ? post_take_datagram(to, &wqe, attrs) :
					  post_take_operands(to, &wqe);
}

static int post_call_send(struct uverbs_attr_bundle *attrs, struct ib_qp *qp,
			  union post_send_wr *wrs)
{
	const struct ib_send_wr *bad = NULL;
	struct ib_qp *real = qp->real_qp;
	u32 place = 0;
	int ret;

	ret = real->device->ops.post_send(real, wrs ? &wrs->wr : NULL, &bad);
	if (ret && bad)
		place = container_of(bad, union post_send_wr, wr) - wrs + 1;
	return post_respond(attrs, ret, place);
}

/*
 * For rxe and siw, whose send queues processes write by themselves, an empty list is a
 * doorbell; so it may be for a driver that the kernel has no number for, such as vib.
 * Other drivers get no empty list from here: rdmavt reads its first request.
 */
static int post_no_send(struct uverbs_attr_bundle *attrs, struct ib_qp *qp)
{
	switch (qp->device->ops.driver_id) {
	case RDMA_DRIVER_RXE:
	case RDMA_DRIVER_SIW:
	case RDMA_DRIVER_UNKNOWN:
		return post_call_send(attrs, qp, NULL);
	default:
		return post_respond(attrs, 0, 0);
	}
}

/* Posts nothing unless all work requests are valid. */
static int post_send(struct post *post, struct uverbs_attr_bundle *attrs,
		     struct ib_qp *qp)
{
	u32 num = post->cmd.wr_count, i;
	union post_send_wr *wrs;
	int ret = 0;

	if (!num)
		return post_no_send(attrs, qp);
	wrs = kvcalloc(num, sizeof(*wrs), GFP_KERNEL_ACCOUNT);
	if (!wrs)
		return -ENOMEM;
	for (i = 0; i < num; i++) {
		ret = post_take_send(post, i, &wrs[i], qp, attrs);
		if (ret)
			break;
		if (i)
			wrs[i - 1].wr.next = &wrs[i].wr;
	}
	if (!ret)
		ret = post_call_send(attrs, qp, wrs);
	if (qp->qp_type == IB_QPT_UD)
		post_put_ahs(wrs, i);
	kvfree(wrs);
	return ret;
}

static int post_send_write(struct uverbs_attr_bundle *attrs)
{
	struct uverbs_reads reads = { .attrs = attrs };
	struct post post = {};
	struct ib_qp *qp;
	int ret;

	ret = post_begin(&post, attrs, sizeof(struct ib_uverbs_send_wr));
	if (ret)
		goto out;
	qp = uverbs_reads_object(&reads, UVERBS_OBJECT_QP, post.cmd.qp_handle);
	ret = IS_ERR(qp) ? PTR_ERR(qp) : post_send(&post, attrs, qp);
	uverbs_reads_put(&reads);
out:
	post_end(&post);
	return ret;
}

/* ---- receive ---- */

static int post_take_recv(struct post *post, u32 i, struct ib_recv_wr *to)
{
	struct ib_uverbs_recv_wr wqe;
	int ret;

	ret = post_read_wqe(post, i, &wqe, sizeof(wqe));
	if (!ret)
		ret = post_take_sges(post, wqe.num_sge, &to->sg_list);
	if (ret)
		return ret;
	to->wr_id = wqe.wr_id;
	to->num_sge = wqe.num_sge;
	return 0;
}

/* Reads the receive work requests; NULL if the command has none. */
static struct ib_recv_wr *post_take_recvs(struct post *post)
{
	u32 num = post->cmd.wr_count, i;
	struct ib_recv_wr *wrs;
	int ret;

	if (!num)
		return NULL;
	wrs = kvcalloc(num, sizeof(*wrs), GFP_KERNEL_ACCOUNT);
	if (!wrs)
		return ERR_PTR(-ENOMEM);
	for (i = 0; i < num; i++) {
		ret = post_take_recv(post, i, &wrs[i]);
		if (ret) {
			kvfree(wrs);
			return ERR_PTR(ret);
		}
		if (i)
			wrs[i - 1].next = &wrs[i];
	}
	return wrs;
}

static int post_call_recv(void *object, const struct ib_recv_wr *wrs,
			  const struct ib_recv_wr **bad)
{
	struct ib_qp *qp = object, *real = qp->real_qp;

	return real->device->ops.post_recv(real, wrs, bad);
}

static int post_call_srq_recv(void *object, const struct ib_recv_wr *wrs,
			      const struct ib_recv_wr **bad)
{
	struct ib_srq *srq = object;

	return srq->device->ops.post_srq_recv(srq, wrs, bad);
}

/* @call posts to an object of @type. */
static int post_recv_command(struct uverbs_attr_bundle *attrs, u16 type,
			     int (*call)(void *object, const struct ib_recv_wr *wrs,
					 const struct ib_recv_wr **bad))
{
	struct uverbs_reads reads = { .attrs = attrs };
	const struct ib_recv_wr *bad = NULL;
	struct ib_recv_wr *wrs = NULL;
	struct post post = {};
	void *object;
	int ret;

	ret = post_begin(&post, attrs, sizeof(struct ib_uverbs_recv_wr));
	if (ret)
		goto out;
	object = uverbs_reads_object(&reads, type, post.cmd.qp_handle);
	ret = PTR_ERR_OR_ZERO(object);
	if (ret)
		goto out;
	wrs = post_take_recvs(&post);
	ret = PTR_ERR_OR_ZERO(wrs);
	if (ret) {
		wrs = NULL;
		goto out;
	}
	ret = call(object, wrs, &bad);
	ret = post_respond(attrs, ret, bad ? bad - wrs + 1 : 0);
out:
	uverbs_reads_put(&reads);
	kvfree(wrs);
	post_end(&post);
	return ret;
}

static int post_recv_write(struct uverbs_attr_bundle *attrs)
{
	return post_recv_command(attrs, UVERBS_OBJECT_QP, post_call_recv);
}

static int post_srq_recv_write(struct uverbs_attr_bundle *attrs)
{
	return post_recv_command(attrs, UVERBS_OBJECT_SRQ, post_call_srq_recv);
}

const struct uapi_definition uverbs_post_definitions[] = {
	DECLARE_UVERBS_OBJECT(
		UVERBS_OBJECT_QP,
		DECLARE_UVERBS_WRITE(IB_USER_VERBS_CMD_POST_SEND, post_send_write,
				     UVERBS_REQ_RESP(ib_uverbs_post_send,
						     ib_uverbs_post_send_resp),
				     UAPI_DEF_METHOD_NEEDS_FN(post_send)),
		DECLARE_UVERBS_WRITE(IB_USER_VERBS_CMD_POST_RECV, post_recv_write,
				     UVERBS_REQ_RESP(ib_uverbs_post_recv,
						     ib_uverbs_post_recv_resp),
				     UAPI_DEF_METHOD_NEEDS_FN(post_recv))),
	DECLARE_UVERBS_OBJECT(
		UVERBS_OBJECT_SRQ,
		DECLARE_UVERBS_WRITE(IB_USER_VERBS_CMD_POST_SRQ_RECV,
				     post_srq_recv_write,
				     UVERBS_REQ_RESP(ib_uverbs_post_srq_recv,
						     ib_uverbs_post_srq_recv_resp),
				     UAPI_DEF_METHOD_NEEDS_FN(post_srq_recv))),
	{}
};
