// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * PortInfo (IBA vol. 1, 14.2.5.6).
 *
 * Its components are of two kinds.  Those of an end port (LIDs, M_Key, GID prefix, client
 * reregistration) apply to an adapter's ports and to port 0 of a switch.  Those of a link
 * (width, speed, states, MTU, VLs) apply to an adapter's ports and to the external ports of
 * a switch.  A Set ignores components that do not apply to the port, and changes nothing if
 * one that applies has an illegal value.  The present value is always legal: managers write
 * back what they have read.
 */
#include "mgmt/sma.h"

#define PORT_STATE(info)	((info)->linkspeed_portstate & 0xf)
#define PORT_PHYS(info)		((info)->portphysstate_linkdown >> 4)
#define LINK_DOWN_DEFAULT(info)	((info)->portphysstate_linkdown & 0xf)
#define SPEED_SUPPORTED(info)	((info)->linkspeed_portstate >> 4)
#define SPEED_ENABLED(info)	((info)->linkspeedactive_enabled & 0xf)
#define PORT_MTU(info)		((info)->neighbormtu_mastersmsl >> 4)
#define PORT_MTU_CAP(info)	((info)->inittypereply_mtucap & 0xf)
#define PORT_SM_SL(info)	((info)->neighbormtu_mastersmsl & 0xf)
#define PORT_VL_CAP(info)	((info)->vlcap_inittype >> 4)
#define PORT_OP_VLS(info)	((info)->operationalvl_pei_peo_fpi_fpo >> 4)
#define PORT_LMC(info)		((info)->mkeyprot_resv_lmc & 0x7)
#define MKEY_PROTECT(info)	((info)->mkeyprot_resv_lmc >> 6)

#define CLIENT_REREGISTER	BIT(7)
/* PartitionEnforcementInbound and -Outbound; raw packets do not exist here. */
#define PKEY_ENFORCEMENT	(BIT(3) | BIT(2))
/* Values of LinkWidthEnabled and LinkSpeedEnabled that stand for all supported ones. */
#define WIDTH_SUPPORTED		0xff
#define SPEED_ALL		0xf

/* What the SMA supports on every node. */
#define SMA_CAPS	(IB_PORT_TRAP_SUP | IB_PORT_SL_MAP_SUP | IB_PORT_LED_INFO_SUP |	\
			 IB_PORT_SYS_IMAGE_GUID_SUP | IB_PORT_DR_NOTICE_SUP |		\
			 IB_PORT_CAP_MASK_NOTICE_SUP | IB_PORT_OTHER_LOCAL_CHANGES_SUP)

/* Data VLs by OperationalVLs and VLCap. */
static const u8 vls_by_code[] = { 0, 1, 2, 4, 8, 15 };

static bool is_end_port(const struct vib_port *port)
{
	return !port->num || port->node->type != RDMA_NODE_IB_SWITCH;
}

static bool is_link_port(const struct vib_port *port)
{
	return port->num;
}

static bool is_external_port(const struct vib_port *port)
{
	return port->num && port->node->type == RDMA_NODE_IB_SWITCH;
}

u32 vib_port_cap_mask(const struct vib_port *port)
{
	u32 caps = be32_to_cpu(READ_ONCE(port->info.cap_mask)) | SMA_CAPS;

	if (port->node->type == RDMA_NODE_IB_SWITCH)
		return caps | IB_PORT_PKEY_SW_EXT_PORT_TRAP_SUP;
	return caps | IB_PORT_CLIENT_REG_SUP;
}

/* ---- Get ---- */

static u8 op_vls_code(u8 vls)
{
	unsigned int code;

	for (code = 1; code < ARRAY_SIZE(vls_by_code); code++) {
		if (vls_by_code[code] == vls)
			return code;
	}
	return 1;
}

/* Components that the port has in fields of its own replace those of info. */
static void info_add_fields(const struct vib_port *port, struct ib_port_info *info)
{
	lockdep_assert_held(&port->lock);
	info->lid = cpu_to_be16(port->lid);
	info->sm_lid = cpu_to_be16(port->sm_lid);
	info->cap_mask = cpu_to_be32(vib_port_cap_mask(port));
	info->linkspeed_portstate = SPEED_SUPPORTED(info) << 4 | port->state;
	info->portphysstate_linkdown = port->phys_state << 4 | LINK_DOWN_DEFAULT(info);
	info->mkeyprot_resv_lmc = MKEY_PROTECT(info) << 6 | port->lmc;
	info->neighbormtu_mastersmsl = port->mtu << 4 | port->sm_sl;
	info->operationalvl_pei_peo_fpi_fpo &= 0xf;
	info->operationalvl_pei_peo_fpi_fpo |= op_vls_code(port->op_vls) << 4;
	info->clientrereg_resv_subnetto &= 0x1f;
}

/* An external port of a switch does not have these components. */
static void info_clear_end(struct ib_port_info *info)
{
	info->mkey = 0;
	info->gid_prefix = 0;
	info->cap_mask = 0;
	info->mkey_lease_period = 0;
	info->mkeyprot_resv_lmc = 0;
	info->mkey_violations = 0;
	info->guid_cap = 0;
	info->clientrereg_resv_subnetto = 0;
	info->resv_resptimevalue = 0;
}

u16 vib_sma_get_port_info(struct vib_sma_req *req)
{
	struct ib_port_info *info = (struct ib_port_info *)req->data;
	struct vib_port *port = vib_sma_port(req, req->mod & 0xff);

	BUILD_BUG_ON(sizeof(*info) > IB_SMP_DATA_SIZE);
	if (!port)
		return IB_MGMT_MAD_STATUS_INVALID_ATTRIB_VALUE;
	spin_lock_bh(&port->lock);
	*info = port->info;
	info_add_fields(port, info);
	spin_unlock_bh(&port->lock);
	info->local_port_num = req->in->num;
	if (is_external_port(port))
		info_clear_end(info);
	/*
	 * 14.2.4.1: M_KeyProtectBits 1 hide the M_Key from requesters that do not have
	 * it.  A Set has passed the check, with the M_Key that it may have changed.
	 */
	if (req->smp->method == IB_MGMT_METHOD_GET && MKEY_PROTECT(info) &&
	    info->mkey != req->smp->mkey)
		info->mkey = 0;
	/* o14-12.2.1: the response to a Set repeats the bit. */
	if (req->reregister)
		info->clientrereg_resv_subnetto |= CLIENT_REREGISTER;
	return 0;
}

/* ---- Set: legal values ---- */

static bool lid_ok(u16 present, __be16 value)
{
	u16 lid = be16_to_cpu(value);

	return lid == present || (lid && lid < VIB_LID_MCAST);
}

static bool end_ok(const struct vib_port *port, const struct ib_port_info *new)
{
	lockdep_assert_held(&port->lock);
	if (!lid_ok(port->lid, new->lid) || !lid_ok(port->sm_lid, new->sm_lid))
		return false;
	/* A base switch port 0 has a single LID (18.2.4.1). */
	return port->num || !PORT_LMC(new);
}

/* A set of bits: 0 is no change, @all stands for all supported ones. */
static bool bits_ok(u8 value, u8 supported, u8 all)
{
	return value == all || !(value & ~supported);
}

static bool mtu_ok(const struct vib_port *port, u8 mtu)
{
	return mtu == port->mtu || (mtu >= IB_MTU_256 && mtu <= PORT_MTU_CAP(&port->info));
}

/* 7.2.7: Armed follows Init, Active follows Armed; Down is legal in each state. */
static bool state_ok(const struct vib_port *port, u8 state)
{
	if (state == IB_PORT_NOP || state == IB_PORT_DOWN || state == port->state)
		return true;
	return (state == IB_PORT_ARMED && port->state == IB_PORT_INIT) ||
	       (state == IB_PORT_ACTIVE && port->state == IB_PORT_ARMED);
}

/* PortPhysicalState may be set alone or together with PortState Down. */
static bool phys_ok(const struct vib_port *port, u8 phys, u8 state)
{
	if (!phys || phys == port->phys_state)
		return true;
	if (state != IB_PORT_NOP && state != IB_PORT_DOWN)
		return false;
	return phys == IB_PORT_PHYS_STATE_SLEEP || phys == IB_PORT_PHYS_STATE_POLLING ||
	       phys == IB_PORT_PHYS_STATE_DISABLED;
}

static bool link_ok(const struct vib_port *port, const struct ib_port_info *new)
{
	const struct ib_port_info *info = &port->info;

	lockdep_assert_held(&port->lock);
	return bits_ok(new->link_width_enabled, info->link_width_supported, WIDTH_SUPPORTED) &&
	       bits_ok(SPEED_ENABLED(new), SPEED_SUPPORTED(info), SPEED_ALL) &&
	       LINK_DOWN_DEFAULT(new) <= IB_PORT_PHYS_STATE_POLLING &&
	       PORT_OP_VLS(new) <= PORT_VL_CAP(info) &&
	       mtu_ok(port, PORT_MTU(new)) &&
	       state_ok(port, PORT_STATE(new)) &&
	       phys_ok(port, PORT_PHYS(new), PORT_STATE(new));
}

/* ---- Set: effects, and the events that follow as bits of enum ib_event_type ---- */

static unsigned long set_lids(struct vib_port *port, const struct ib_port_info *new)
{
	u16 lid = be16_to_cpu(new->lid), sm_lid = be16_to_cpu(new->sm_lid);
	unsigned long events = 0;

	lockdep_assert_held(&port->lock);
	if (lid != port->lid || PORT_LMC(new) != port->lmc)
		events |= BIT(IB_EVENT_LID_CHANGE);
	if (sm_lid != port->sm_lid || PORT_SM_SL(new) != port->sm_sl)
		events |= BIT(IB_EVENT_SM_CHANGE);
	if (new->gid_prefix != port->info.gid_prefix)
		events |= BIT(IB_EVENT_GID_CHANGE);
	if (new->clientrereg_resv_subnetto & CLIENT_REREGISTER)
		events |= BIT(IB_EVENT_CLIENT_REREGISTER);
	WRITE_ONCE(port->lid, lid);
	WRITE_ONCE(port->lmc, PORT_LMC(new));
	WRITE_ONCE(port->sm_lid, sm_lid);
	WRITE_ONCE(port->sm_sl, PORT_SM_SL(new));
	WRITE_ONCE(port->info.gid_prefix, new->gid_prefix);
	return events;
}

/* Writing 0 resets a violation counter; other values have no meaning. */
static void set_mkey(struct vib_port *port, const struct ib_port_info *new)
{
	struct ib_port_info *info = &port->info;

	lockdep_assert_held(&port->lock);
	info->mkey = new->mkey;
	info->mkey_lease_period = new->mkey_lease_period;
	info->mkeyprot_resv_lmc = MKEY_PROTECT(new) << 6;
	if (!new->mkey_violations)
		info->mkey_violations = 0;
}

static unsigned long set_end(struct vib_port *port, const struct ib_port_info *new)
{
	struct ib_port_info *info = &port->info;

	lockdep_assert_held(&port->lock);
	set_mkey(port, new);
	info->inittypereply_mtucap = (new->inittypereply_mtucap & 0xf0) | PORT_MTU_CAP(info);
	WRITE_ONCE(info->clientrereg_resv_subnetto, new->clientrereg_resv_subnetto & 0x1f);
	if (!new->qkey_violations)
		info->qkey_violations = 0;
	return set_lids(port, new);
}

/* Width and speed take effect when the link comes up the next time. */
static void set_link_enabled(struct ib_port_info *info, const struct ib_port_info *new)
{
	u8 width = new->link_width_enabled, speed = SPEED_ENABLED(new);

	if (width == WIDTH_SUPPORTED)
		width = info->link_width_supported;
	if (speed == SPEED_ALL)
		speed = SPEED_SUPPORTED(info);
	if (width)
		info->link_width_enabled = width;
	if (speed)
		info->linkspeedactive_enabled = (info->linkspeedactive_enabled & 0xf0) | speed;
	if (LINK_DOWN_DEFAULT(new))
		info->portphysstate_linkdown = LINK_DOWN_DEFAULT(new);
}

/* Only external ports of a switch enforce P_Keys and have a head-of-queue lifetime. */
static void set_external(struct ib_port_info *info, const struct ib_port_info *new)
{
	u8 flags = new->operationalvl_pei_peo_fpi_fpo & PKEY_ENFORCEMENT;

	flags |= info->operationalvl_pei_peo_fpi_fpo & 0xf0;
	WRITE_ONCE(info->operationalvl_pei_peo_fpi_fpo, flags);
	WRITE_ONCE(info->vlstallcnt_hoqlife, new->vlstallcnt_hoqlife);
}

static void set_link(struct vib_port *port, const struct ib_port_info *new)
{
	struct ib_port_info *info = &port->info;

	lockdep_assert_held(&port->lock);
	set_link_enabled(info, new);
	WRITE_ONCE(port->mtu, PORT_MTU(new));
	if (PORT_OP_VLS(new))
		WRITE_ONCE(port->op_vls, vls_by_code[PORT_OP_VLS(new)]);
	info->vl_high_limit = new->vl_high_limit;
	info->localphyerrors_overrunerrors = new->localphyerrors_overrunerrors;
	if (is_external_port(port))
		set_external(info, new);
}

/*
 * States are set last, so that the link starts with the other components.  PortState Down
 * without a physical state enters the one of LinkDownDefaultState; a disabled port stays
 * disabled.  The port is still up in the response, which it has to send.
 */
static int set_states(struct vib_port *port, const struct ib_port_info *new)
{
	u8 phys = PORT_PHYS(new), state = PORT_STATE(new), now = READ_ONCE(port->phys_state);

	if (state == IB_PORT_DOWN && !phys && now == IB_PORT_PHYS_STATE_LINK_UP)
		phys = LINK_DOWN_DEFAULT(&port->info);
	if (phys && phys != now)
		vib_port_leave(port, phys);
	else if (state > IB_PORT_DOWN)
		return vib_port_set_state(port, state);
	return 0;
}

/* Applies all components but the states, or returns false if one is illegal. */
static bool set_attributes(struct vib_port *port, const struct ib_port_info *new,
			   unsigned long *events)
{
	bool ok = true;

	spin_lock_bh(&port->lock);
	if (is_end_port(port))
		ok = end_ok(port, new);
	if (ok && is_link_port(port))
		ok = link_ok(port, new);
	if (ok && is_end_port(port))
		*events |= set_end(port, new);
	if (ok && is_link_port(port))
		set_link(port, new);
	if (ok && !new->pkey_violations)
		port->info.pkey_violations = 0;
	spin_unlock_bh(&port->lock);
	return ok;
}

u16 vib_sma_set_port_info(struct vib_sma_req *req)
{
	const struct ib_port_info *new = (const struct ib_port_info *)req->smp->data;
	struct vib_port *port = vib_sma_port(req, req->mod & 0xff);
	unsigned long events = 0;
	u16 status = 0;

	if (!port || !set_attributes(port, new, &events))
		return IB_MGMT_MAD_STATUS_INVALID_ATTRIB_VALUE;
	/* The link may have gone down since the states were checked. */
	if (is_link_port(port) && set_states(port, new))
		status = IB_MGMT_MAD_STATUS_INVALID_ATTRIB_VALUE;
	req->reregister = events & BIT(IB_EVENT_CLIENT_REREGISTER);
	vib_sma_events(port, events);
	return status;
}
