// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* An open umad device: open, close, poll, ioctl. */
#include <linux/bitmap.h>
#include <linux/fs.h>
#include <linux/poll.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "umad.h"

/* ---- open and close ---- */

static struct ib_umad_file *umad_file_alloc(struct umad_port *port)
{
	struct ib_umad_file *file = kzalloc(sizeof(*file), GFP_KERNEL_ACCOUNT);

	if (!file)
		return NULL;
	if (umad_sends_init(file)) {
		kfree(file);
		return NULL;
	}
	file->port = port;
	mutex_init(&file->lock);
	spin_lock_init(&file->recv_lock);
	INIT_LIST_HEAD(&file->packets);
	init_waitqueue_head(&file->readers);
	return file;
}

static void umad_file_free(struct ib_umad_file *file)
{
	umad_sends_exit(file);
	mutex_destroy(&file->lock);
	kfree(file);
}

static int umad_open(struct inode *inode, struct file *filp)
{
	struct umad_port *port = umad_inode_port(inode);
	struct ib_umad_file *file;
	int ret;

	file = umad_file_alloc(port);
	if (!file)
		return -ENOMEM;
	mutex_lock(&port->lock);
	ret = umad_port_access(port);
	if (!ret)
		list_add_tail(&file->on_port, &port->files);
	mutex_unlock(&port->lock);
	if (ret) {
		umad_file_free(file);
		return ret;
	}
	filp->private_data = file;
	return stream_open(inode, filp);
}

/* See the head of umad.h. */
void umad_file_disconnect(struct ib_umad_file *file)
{
	mutex_lock(&file->lock);
	spin_lock(&file->recv_lock);
	WRITE_ONCE(file->gone, true);
	spin_unlock(&file->recv_lock);
	umad_agents_unregister(file);
	umad_recv_purge(file);
	mutex_unlock(&file->lock);
	/* Readers and pollers then see that gone is set. */
	wake_up_all(&file->readers);
}

/*
 * The file leaves the port's list after it is disconnected, so that a removal of the
 * port in the meantime waits for the disconnect.
 */
static int umad_release(struct inode *inode, struct file *filp)
{
	struct ib_umad_file *file = filp->private_data;

	umad_file_disconnect(file);
	mutex_lock(&file->port->lock);
	list_del(&file->on_port);
	mutex_unlock(&file->port->lock);
	umad_file_free(file);
	return 0;
}

static __poll_t umad_poll(struct file *filp, struct poll_table_struct *wait)
{
	struct ib_umad_file *file = filp->private_data;
	__poll_t mask = EPOLLOUT | EPOLLWRNORM;

	poll_wait(filp, &file->readers, wait);
	if (READ_ONCE(file->gone))
		return EPOLLERR;
	if (!list_empty_careful(&file->packets))
		mask |= EPOLLIN | EPOLLRDNORM;
	return mask;
}

/* ---- ioctl ---- */

/* Registers an agent and copies its id to the process, for which no lock is held. */
static long umad_register(struct ib_umad_file *file, struct umad_registration *reg,
			  u32 __user *id_ptr)
{
	u64 serial;
	u32 id;
	int ret;

	if (reg->qpn > 1)
		return -EINVAL;
	ret = umad_agent_register(file, reg, &id, &serial);
	if (ret)
		return ret;
	if (put_user(id, id_ptr)) {
		umad_agent_unregister(file, id, serial);
		return -EFAULT;
	}
	return 0;
}

/*
 * The method mask is an array of the process's longs.  The layout differs if these are
 * 32 bits and big-endian.
 */
static long umad_ioctl_register(struct ib_umad_file *file, void __user *arg,
				bool compat)
{
	struct ib_user_mad_reg_req __user *ureq = arg;
	struct umad_registration reg = {};
	struct ib_user_mad_reg_req ureg;
	u32 words[IB_MGMT_MAX_METHODS / 32];

	BUILD_BUG_ON(sizeof(ureg.method_mask) != sizeof(words));
	if (copy_from_user(&ureg, ureq, sizeof(ureg)))
		return -EFAULT;
	reg.qpn = ureg.qpn;
	reg.rmpp_version = ureg.rmpp_version;
	reg.req.mgmt_class = ureg.mgmt_class;
	reg.req.mgmt_class_version = ureg.mgmt_class_version;
	memcpy(reg.req.oui, ureg.oui, sizeof(reg.req.oui));
	if (compat) {
		memcpy(words, ureg.method_mask, sizeof(words));
		bitmap_from_arr32(reg.req.method_mask, words, IB_MGMT_MAX_METHODS);
	} else {
		memcpy(reg.req.method_mask, ureg.method_mask, sizeof(words));
	}
	return umad_register(file, &reg, &ureq->id);
}

static long umad_ioctl_register2(struct ib_umad_file *file, void __user *arg)
{
	struct ib_user_mad_reg_req2 __user *ureq = arg;
	struct umad_registration reg = { .pkey = true };
	struct ib_user_mad_reg_req2 ureg;
	int i;

	if (copy_from_user(&ureg, ureq, sizeof(ureg)))
		return -EFAULT;
	if (ureg.qpn > 1)
		return -EINVAL;
	if (ureg.flags & ~(u32)IB_USER_MAD_REG_FLAGS_CAP) {
		/* Report the supported flags to the process. */
		if (put_user((u32)IB_USER_MAD_REG_FLAGS_CAP, &ureq->flags))
			return -EFAULT;
		return -EINVAL;
	}
	/* An agent without a class has no OUI. */
	if (ureg.mgmt_class && ureg.oui >> 24)
		return -EINVAL;
	reg.qpn = ureg.qpn;
	reg.flags = ureg.flags;
	reg.rmpp_version = ureg.rmpp_version;
	reg.req.mgmt_class = ureg.mgmt_class;
	reg.req.mgmt_class_version = ureg.mgmt_class_version;
	for (i = 0; i < 3; i++)
		reg.req.oui[i] = ureg.oui >> (16 - 8 * i);
	bitmap_from_arr64(reg.req.method_mask, ureg.method_mask, IB_MGMT_MAX_METHODS);
	return umad_register(file, &reg, &ureq->id);
}

static long umad_ioctl_unregister(struct ib_umad_file *file, void __user *arg)
{
	u32 id;

	if (get_user(id, (u32 __user *)arg))
		return -EFAULT;
	return umad_agent_unregister(file, id, 0);
}

static long umad_ioctl_enable_pkey(struct ib_umad_file *file)
{
	long ret = 0;

	mutex_lock(&file->lock);
	if (file->used)
		ret = -EINVAL;
	else
		WRITE_ONCE(file->pkey, true);
	mutex_unlock(&file->lock);
	return ret;
}

static long umad_do_ioctl(struct ib_umad_file *file, unsigned int cmd,
			  void __user *arg, bool compat)
{
	switch (cmd) {
	case IB_USER_MAD_REGISTER_AGENT:
		return umad_ioctl_register(file, arg, compat);
	case IB_USER_MAD_UNREGISTER_AGENT:
		return umad_ioctl_unregister(file, arg);
	case IB_USER_MAD_ENABLE_PKEY:
		return umad_ioctl_enable_pkey(file);
	case IB_USER_MAD_REGISTER_AGENT2:
		return umad_ioctl_register2(file, arg);
	default:
		return -ENOIOCTLCMD;
	}
}

static long umad_ioctl(struct file *filp, unsigned int cmd, unsigned long arg)
{
	return umad_do_ioctl(filp->private_data, cmd, (void __user *)arg, false);
}

#ifdef CONFIG_COMPAT
static long umad_compat_ioctl(struct file *filp, unsigned int cmd, unsigned long arg)
{
	return umad_do_ioctl(filp->private_data, cmd, compat_ptr(arg), true);
}
#endif

const struct file_operations umad_fops = {
	.owner = THIS_MODULE,
	.read = umad_read,
	.write = umad_write,
	.poll = umad_poll,
	.unlocked_ioctl = umad_ioctl,
#ifdef CONFIG_COMPAT
	.compat_ioctl = umad_compat_ioctl,
#endif
	.open = umad_open,
	.release = umad_release,
};
