// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Multicast groups (IBA vol. 1, 10.5, 11.3): which queue pairs get what is sent to a LID.
 *
 * A group of the subnet is an MGID, and has an MLID, which others may have too.  Packets are
 * looked up by that LID, under RCU; those with a GRH go to the members of that MGID, those
 * without to all.
 */
#include <linux/rculist.h>
#include <linux/slab.h>
#include "device/qp.h"

struct vib_group {
	struct list_head members;	/* of vib_member; never empty; hca->lock, RCU */
	struct rcu_head rcu;
};

struct vib_member {
	struct list_head entry;
	struct vib_qp_ref *ref;
	union ib_gid mgid;
	u32 attached;			/* how often; hca->lock */
	struct rcu_head rcu;
};

/* ---- packets ---- */

/* Whether @pkt is one that @qp itself sent by @port, and does not want back. */
static bool is_own_echo(const struct vib_qp *qp, const struct vib_port *port,
			struct vib_packet *pkt)
{
	return qp->block_loopback && ib_get_sqpn(vib_packet_bth(pkt)) == qp->ib.qp_num &&
	       vib_port_has_lid(port, vib_packet_slid(pkt));
}

/* The member's QP, with a reference, if it gets @pkt; or NULL. */
static struct vib_qp *member_takes(const struct vib_member *member, struct vib_port *port,
				   struct vib_packet *pkt)
{
	struct vib_qp *qp;

	if (vib_packet_has_grh(pkt) &&
	    memcmp(&member->mgid, &pkt->hdr.u.l.grh.dgid, sizeof(member->mgid)))
		return NULL;
	qp = vib_qp_hold(member->ref);
	if (!qp)
		return NULL;
	/* A key that is wrong is no violation: the group may have members of another port. */
	if (!is_own_echo(qp, port, pkt) && vib_qp_check(qp, port, pkt) == VIB_DROPS)
		return qp;
	vib_qp_put(qp);
	return NULL;
}

static void give_copy(struct vib_qp *qp, struct vib_port *port, const struct vib_packet *pkt)
{
	struct vib_packet *copy = vib_packet_clone(pkt, GFP_ATOMIC | __GFP_NOWARN);

	if (copy)
		vib_qp_receive(qp, copy);
	else
		atomic64_inc(&vib_ca_port(port)->drops[VIB_DROP_NO_MEMORY]);
}

void vib_mcast_receive(struct vib_port *port, struct vib_packet *pkt)
{
	const struct vib_group *group;
	struct vib_qp *qp, *last = NULL;
	struct vib_member *member;

	group = xa_load(&vib_port_hca(port)->groups, vib_packet_dlid(pkt));
	if (!group) {
		vib_drop(port, pkt, VIB_DROP_MEMBER);
		return;
	}
	list_for_each_entry_rcu(member, &group->members, entry) {
		qp = member_takes(member, port, pkt);
		if (!qp)
			continue;
		if (last) {
			give_copy(last, port, pkt);
			vib_qp_put(last);
		}
		last = qp;
	}
	if (last) {
		vib_qp_receive(last, pkt);
		vib_qp_put(last);
	} else {
		vib_drop(port, pkt, VIB_DROP_MEMBER);
	}
}

bool vib_mcast_has_members(struct vib_hca *hca, u16 mlid)
{
	return xa_load(&hca->groups, mlid);
}

/* ---- members ---- */

static struct vib_member *member_find(struct vib_hca *hca, const struct vib_group *group,
				      const struct vib_qp *qp, const union ib_gid *mgid)
{
	struct vib_member *member;

	lockdep_assert_held(&hca->lock);
	list_for_each_entry(member, &group->members, entry) {
		if (member->ref == qp->ref && !memcmp(&member->mgid, mgid, sizeof(*mgid)))
			return member;
	}
	return NULL;
}

static struct vib_member *member_alloc(struct vib_qp *qp, const union ib_gid *mgid)
{
	struct vib_member *member = kzalloc(sizeof(*member), GFP_KERNEL);

	if (!member)
		return NULL;
	member->ref = qp->ref;
	member->mgid = *mgid;
	member->attached = 1;
	return member;
}

/* The first of @lid's members, with a group for it. */
static int group_create(struct vib_hca *hca, struct vib_member *member, u16 lid)
{
	struct vib_group *group = kzalloc(sizeof(*group), GFP_KERNEL);
	int ret;

	lockdep_assert_held(&hca->lock);
	if (!group)
		return -ENOMEM;
	INIT_LIST_HEAD(&group->members);
	list_add_rcu(&member->entry, &group->members);
	ret = xa_err(xa_store(&hca->groups, lid, group, GFP_KERNEL));
	if (ret)
		kfree(group);
	return ret;
}

static int group_add(struct vib_hca *hca, struct vib_qp *qp, const union ib_gid *mgid, u16 lid)
{
	struct vib_group *group = xa_load(&hca->groups, lid);
	struct vib_member *member;
	int ret = 0;

	lockdep_assert_held(&hca->lock);
	/* A QP that is attached twice gets each message once (11.3.1). */
	member = group ? member_find(hca, group, qp, mgid) : NULL;
	if (member) {
		member->attached++;
		return 0;
	}
	member = member_alloc(qp, mgid);
	if (!member)
		return -ENOMEM;
	if (group)
		list_add_tail_rcu(&member->entry, &group->members);
	else
		ret = group_create(hca, member, lid);
	if (ret)
		kfree(member);
	return ret;
}

static int vib_attach_mcast(struct ib_qp *ibqp, union ib_gid *mgid, u16 lid)
{
	struct vib_hca *hca = to_vib_hca(ibqp->device);
	int ret;

	if (ibqp->qp_type != IB_QPT_UD || mgid->raw[0] != 0xff || !vib_lid_is_mcast(lid))
		return -EINVAL;
	mutex_lock(&hca->lock);
	ret = group_add(hca, to_vib_qp(ibqp), mgid, lid);
	mutex_unlock(&hca->lock);
	return ret;
}

/*
 * Packets that found the member or the group before still see both, as they are freed under
 * RCU; the vib_qp_ref that the member leads to is freed after it.
 */
static int group_remove(struct vib_hca *hca, struct vib_qp *qp, const union ib_gid *mgid,
			u16 lid)
{
	struct vib_group *group = xa_load(&hca->groups, lid);
	struct vib_member *member;

	lockdep_assert_held(&hca->lock);
	member = group ? member_find(hca, group, qp, mgid) : NULL;
	if (!member)
		return -EINVAL;
	if (--member->attached)
		return 0;
	list_del_rcu(&member->entry);
	kfree_rcu(member, rcu);
	if (list_empty(&group->members)) {
		xa_erase(&hca->groups, lid);
		kfree_rcu(group, rcu);
	}
	return 0;
}

static int vib_detach_mcast(struct ib_qp *ibqp, union ib_gid *mgid, u16 lid)
{
	struct vib_hca *hca = to_vib_hca(ibqp->device);
	int ret;

	mutex_lock(&hca->lock);
	ret = group_remove(hca, to_vib_qp(ibqp), mgid, lid);
	mutex_unlock(&hca->lock);
	return ret;
}

const struct ib_device_ops vib_mcast_ops = {
	.attach_mcast	= vib_attach_mcast,
	.detach_mcast	= vib_detach_mcast,
};
