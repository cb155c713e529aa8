// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * A port that has MADs: its umad device, and its issm device if the link has a subnet
 * manager.  Both devices are removed together with the port.  Open files keep the
 * memory of the port, and find that gone is set.
 */
#include <linux/nsproxy.h>
#include <linux/slab.h>

#include "umad.h"

static void umad_port_free(struct kref *ref)
{
	struct umad_port *port = container_of(ref, struct umad_port, ref);

	WARN_ON(!list_empty(&port->files) || port->is_sm);
	umad_number_put(port->number);
	put_device(&port->ib_dev->dev);
	mutex_destroy(&port->lock);
	kfree(port);
}

static void umad_port_put(struct umad_port *port)
{
	kref_put(&port->ref, umad_port_free);
}

static void umad_chardev_release(struct device *dev)
{
	umad_port_put(container_of(dev, struct umad_chardev, dev)->port);
}

static void umad_chardev_init(struct umad_chardev *chardev, struct umad_port *port,
			      dev_t devt, const struct file_operations *fops)
{
	kref_get(&port->ref);
	chardev->port = port;
	device_initialize(&chardev->dev);
	chardev->dev.class = &umad_class;
	chardev->dev.parent = port->ib_dev->dev.parent;
	chardev->dev.devt = devt;
	chardev->dev.release = umad_chardev_release;
	cdev_init(&chardev->cdev, fops);
	chardev->cdev.owner = THIS_MODULE;
}

static int umad_chardev_add(struct umad_chardev *chardev, const char *kind)
{
	int ret;

	ret = dev_set_name(&chardev->dev, "%s%d", kind, chardev->port->number);
	return ret ?: cdev_device_add(&chardev->cdev, &chardev->dev);
}

static struct umad_port *umad_port_alloc(struct ib_device *ib_dev, u32 port_num)
{
	struct umad_port *port = kzalloc(sizeof(*port), GFP_KERNEL);

	if (!port)
		return ERR_PTR(-ENOMEM);
	port->number = umad_number_get();
	if (port->number < 0) {
		int ret = port->number;

		kfree(port);
		return ERR_PTR(ret);
	}
	kref_init(&port->ref);
	get_device(&ib_dev->dev);
	port->ib_dev = ib_dev;
	port->port_num = port_num;
	port->has_issm = rdma_cap_ib_smi(ib_dev, port_num);
	mutex_init(&port->lock);
	INIT_LIST_HEAD(&port->files);
	init_waitqueue_head(&port->sm_free);
	umad_chardev_init(&port->umad, port, umad_devt(port->number), &umad_fops);
	umad_chardev_init(&port->issm, port, umad_issm_devt(port->number),
			  &umad_issm_fops);
	return port;
}

/*
 * Disconnects the port from all files that have it open.  Afterwards
 * (1) no file can be opened: gone is set, under the lock that open takes;
 * (2) no file of the list uses the device (umad_file_disconnect), and each open file
 *     is on the list until it is disconnected;
 * (3) the port's IsSM bit is cleared, and a later release of an issm file finds gone
 *     set.
 */
static void umad_port_disconnect(struct umad_port *port)
{
	struct ib_umad_file *file;

	mutex_lock(&port->lock);
	WRITE_ONCE(port->gone, true);
	list_for_each_entry(file, &port->files, on_port)
		umad_file_disconnect(file);
	if (port->is_sm) {
		struct ib_port_modify modify = { .clr_port_cap_mask = IB_PORT_SM };

		ib_modify_port(port->ib_dev, port->port_num, 0, &modify);
		port->is_sm = false;
	}
	mutex_unlock(&port->lock);
	wake_up_all(&port->sm_free);
}

/* If this succeeds, the devices of the port can be opened from here on. */
struct umad_port *umad_port_create(struct ib_device *ib_dev, u32 port_num)
{
	struct umad_port *port = umad_port_alloc(ib_dev, port_num);
	int ret;

	if (IS_ERR(port))
		return port;
	ret = umad_chardev_add(&port->umad, "umad");
	if (ret)
		goto err;
	if (port->has_issm) {
		ret = umad_chardev_add(&port->issm, "issm");
		if (ret)
			goto err_umad;
	}
	return port;

err_umad:
	/* A process may have opened the umad device already. */
	cdev_device_del(&port->umad.cdev, &port->umad.dev);
	umad_port_disconnect(port);
err:
	put_device(&port->issm.dev);
	put_device(&port->umad.dev);
	umad_port_put(port);
	return ERR_PTR(ret);
}

void umad_port_remove(struct umad_port *port)
{
	if (port->has_issm)
		cdev_device_del(&port->issm.cdev, &port->issm.dev);
	cdev_device_del(&port->umad.cdev, &port->umad.dev);
	umad_port_disconnect(port);
	put_device(&port->issm.dev);
	put_device(&port->umad.dev);
	umad_port_put(port);
}

/* Whether the calling process may open the port's devices; under port->lock. */
int umad_port_access(const struct umad_port *port)
{
	lockdep_assert_held(&port->lock);
	if (port->gone)
		return -ENXIO;
	if (!rdma_dev_access_netns(port->ib_dev, current->nsproxy->net_ns))
		return -EPERM;
	return 0;
}
