// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The paths of a connected QP: what comes by another is not for it (IBA vol. 1, 9.6.1.5); and
 * automatic path migration (17.2.8):
 *
 *	MIGRATED	sends MigReq; the consumer may load an alternate path, and rearm
 *	REARM		until the peer is seen to have rearmed, too
 *	ARMED		migrates when the peer has (a packet with MigReq comes by the
 *			alternate path), when its own retries are used up, or when told to
 */
#include "transport/rc.h"

static bool grh_matches(const struct vib_av *av, const struct vib_packet *pkt)
{
	if (av->grh != vib_packet_has_grh(pkt))
		return false;
	return !av->grh || !memcmp(&pkt->hdr.u.l.grh.sgid, &av->dgid, sizeof(av->dgid));
}

/* Whether @pkt came from where @av leads to, to the LID that is sent from. */
static bool path_matches(const struct vib_av *av, const struct vib_port *port,
			 const struct vib_packet *pkt)
{
	return vib_packet_slid(pkt) == av->dlid &&
	       vib_packet_dlid(pkt) == vib_av_slid(av, port) && grh_matches(av, pkt);
}

static struct vib_port *alt_port(const struct vib_qp *qp)
{
	return &to_vib_hca(qp->ib.device)->node.ports[qp->rc->alt.port];
}

static void set_mig_state(struct vib_qp *qp, enum ib_mig_state state)
{
	spin_lock_bh(&qp->lock);
	WRITE_ONCE(qp->rc->mig_state, state);
	spin_unlock_bh(&qp->lock);
}

static void take_alternate(struct vib_qp *qp)
{
	struct vib_rc *rc = qp->rc;

	/* It waits for the transmitter of the port that it leaves no more. */
	vib_port_forget(qp->port, &qp->waiter);
	spin_lock_bh(&qp->lock);
	WRITE_ONCE(qp->port, alt_port(qp));
	WRITE_ONCE(qp->pkey_index, rc->alt_pkey_index);
	rc->path = rc->alt;
	rc->timeout = rc->alt_timeout;
	WRITE_ONCE(rc->mig_state, IB_MIG_MIGRATED);
	spin_unlock_bh(&qp->lock);
}

bool vib_path_migrate(struct vib_qp *qp)
{
	if (qp->rc->mig_state != IB_MIG_ARMED)
		return false;
	take_alternate(qp);
	vib_rc_count(qp, VIB_RC_MIGRATED);
	vib_qp_event(qp, IB_EVENT_PATH_MIG);
	return true;
}

bool vib_path_takes(struct vib_qp *qp, struct vib_packet *pkt)
{
	bool migrated = ib_bth_is_migration(vib_packet_bth(pkt));
	const struct vib_rc *rc = qp->rc;

	if (path_matches(&rc->path, qp->port, pkt)) {
		if (rc->mig_state == IB_MIG_REARM && !migrated)
			set_mig_state(qp, IB_MIG_ARMED);
		return true;
	}
	if (!migrated || rc->mig_state != IB_MIG_ARMED)
		return false;
	return path_matches(&rc->alt, alt_port(qp), pkt) && vib_path_migrate(qp);
}

u16 vib_path_alt_pkey(const struct vib_qp *qp, const struct vib_port *port)
{
	const struct vib_rc *rc = qp->rc;

	if (READ_ONCE(rc->mig_state) != IB_MIG_ARMED || READ_ONCE(rc->alt.port) != port->num)
		return 0;
	return vib_port_pkey(port, READ_ONCE(rc->alt_pkey_index));
}
