// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * issm devices: while one is open, its port's IsSM bit is set (IBA vol. 1, 14.2.5.6,
 * CapabilityMask).  Only one file can be open at a time; other openers wait, or get
 * -EAGAIN with O_NONBLOCK.
 */
#include <linux/fs.h>

#include "umad.h"

static int umad_issm_set(struct umad_port *port, bool on)
{
	struct ib_port_modify modify = {};

	lockdep_assert_held(&port->lock);
	if (on)
		modify.set_port_cap_mask = IB_PORT_SM;
	else
		modify.clr_port_cap_mask = IB_PORT_SM;
	return ib_modify_port(port->ib_dev, port->port_num, 0, &modify);
}

/* Returns 1 while another file has the device open. */
static int umad_issm_try(struct umad_port *port)
{
	int ret;

	mutex_lock(&port->lock);
	ret = umad_port_access(port);
	if (!ret && port->is_sm)
		ret = 1;
	if (!ret)
		ret = umad_issm_set(port, true);
	if (!ret)
		WRITE_ONCE(port->is_sm, true);
	mutex_unlock(&port->lock);
	return ret;
}

static int umad_issm_open(struct inode *inode, struct file *filp)
{
	struct umad_port *port = umad_inode_port(inode);
	int ret;

	while ((ret = umad_issm_try(port)) > 0) {
		if (filp->f_flags & O_NONBLOCK)
			return -EAGAIN;
		if (wait_event_interruptible(port->sm_free,
					     !READ_ONCE(port->is_sm) ||
					     READ_ONCE(port->gone)))
			return -ERESTARTSYS;
	}
	if (ret)
		return ret;
	filp->private_data = port;
	return nonseekable_open(inode, filp);
}

static int umad_issm_release(struct inode *inode, struct file *filp)
{
	struct umad_port *port = filp->private_data;

	mutex_lock(&port->lock);
	/* The bit of a removed port has been cleared by umad_port_disconnect(). */
	if (!port->gone) {
		umad_issm_set(port, false);
		WRITE_ONCE(port->is_sm, false);
	}
	mutex_unlock(&port->lock);
	wake_up(&port->sm_free);
	return 0;
}

const struct file_operations umad_issm_fops = {
	.owner = THIS_MODULE,
	.open = umad_issm_open,
	.release = umad_issm_release,
};
