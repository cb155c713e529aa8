// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * nodes/NAME/ports_state in configfs: a table of a node's ports, a line each.
 *
 * It is a binary attribute, as 254 ports do not fit in the one page of another.  configfs
 * asks for the size first, and hands out as many bytes as that was, so all lines have the same
 * length.
 */
#include "config/config.h"

#define LINE_LEN	34

static const char *state_name(u8 state)
{
	static const char * const names[] = {
		[IB_PORT_DOWN] = "Down",
		[IB_PORT_INIT] = "Init",
		[IB_PORT_ARMED] = "Armed",
		[IB_PORT_ACTIVE] = "Active",
	};

	return state < ARRAY_SIZE(names) && names[state] ? names[state] : "-";
}

static const char *phys_name(u8 phys)
{
	static const char * const names[] = {
		[IB_PORT_PHYS_STATE_SLEEP] = "Sleep",
		[IB_PORT_PHYS_STATE_POLLING] = "Polling",
		[IB_PORT_PHYS_STATE_DISABLED] = "Disabled",
		[IB_PORT_PHYS_STATE_LINK_UP] = "LinkUp",
	};

	return phys < ARRAY_SIZE(names) && names[phys] ? names[phys] : "-";
}

/* PortInfo's LinkWidthActive and LinkSpeedActive (IBA vol. 1, 14.2.5.6), such as 4xQDR. */
static const char *rate_name(u8 width, u8 speed)
{
	bool wide = width == IB_WIDTH_4X;

	switch (speed) {
	case IB_SPEED_SDR:
		return wide ? "4xSDR" : "1xSDR";
	case IB_SPEED_DDR:
		return wide ? "4xDDR" : "1xDDR";
	case IB_SPEED_QDR:
		return wide ? "4xQDR" : "1xQDR";
	default:
		return "-";
	}
}

static void port_line(struct vib_port *port, char line[LINE_LEN + 1])
{
	u8 state, phys, width, speed, lmc;
	bool linked;
	u16 lid;

	spin_lock_bh(&port->lock);
	state = port->state;
	phys = port->phys_state;
	lid = port->lid;
	lmc = port->lmc;
	width = port->info.link_width_active;
	speed = port->info.linkspeedactive_enabled >> 4;
	spin_unlock_bh(&port->lock);
	/* Port 0 of a switch has no link. */
	linked = port->num && phys == IB_PORT_PHYS_STATE_LINK_UP;
	scnprintf(line, LINE_LEN + 1, "%3u %-6.6s %-8.8s %5u %u %5.5s\n", port->num,
		  state_name(state), phys_name(phys), lid, lmc & 7,
		  linked ? rate_name(width, speed) : "-");
}

ssize_t vib_config_ports_read(struct vib_node *node, char *buf, size_t size)
{
	unsigned int first = node->type == RDMA_NODE_IB_SWITCH ? 0 : 1, num;
	size_t len = (node->num_ports + 1 - first) * LINE_LEN;
	char line[LINE_LEN + 1];

	if (!buf)
		return len;
	/* Another node has taken the name since configfs asked for the size. */
	if (size != len)
		return -EAGAIN;
	for (num = first; num <= node->num_ports; num++) {
		port_line(&node->ports[num], line);
		memcpy(buf, line, LINE_LEN);
		buf += LINE_LEN;
	}
	return len;
}
