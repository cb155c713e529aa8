// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * /dev/infiniband/uverbsN: the character device of each RDMA device, its attributes in
 * /sys/class/infiniband_verbs, and its file operations.
 *
 * A process may keep a node open after the device was removed.  Every operation that
 * uses the device runs within a section and fails with -EIO once the device was
 * removed.  Destroying an object does not use the device then, and still succeeds:
 * provider libraries free their own memory only if it does.
 */
#include <linux/fs.h>
#include <linux/idr.h>
#include <linux/module.h>
#include <linux/nsproxy.h>
#include <linux/uaccess.h>
#include <kunit/visibility.h>
#include <rdma/ib.h>
#include <rdma/rdma_user_ioctl_cmds.h>
#include <ibex/device.h>

#include "call/call.h"
#include "uverbs/uverbs.h"

/* The first nodes have fixed numbers: see Documentation/admin-guide/devices.txt. */
#define UVERBS_MAJOR		231
#define UVERBS_MINOR		192
#define UVERBS_NR_FIXED		32
/* An adapter with scalable functions may have some thousand devices. */
#define UVERBS_NR_NODES		8192

static DEFINE_IDA(node_ida);
static dev_t dynamic_base;

/* ---- file operations ---- */

static int node_open(struct inode *inode, struct file *filp)
{
	struct uverbs_device *udev = container_of(inode->i_cdev,
						  struct uverbs_device, cdev);
	struct ib_uverbs_file *file;
	int idx, ret = 0;

	idx = uverbs_device_section_begin(udev);
	if (idx < 0)
		return -ENXIO;
	if (!rdma_dev_access_netns(udev->ibdev, current->nsproxy->net_ns)) {
		ret = -EPERM;
		goto out;
	}
	file = uverbs_file_create(udev);
	if (IS_ERR(file)) {
		ret = PTR_ERR(file);
		goto out;
	}
	file->mapping = filp->f_mapping;
	filp->private_data = file;
	stream_open(inode, filp);
out:
	uverbs_device_section_end(udev, idx);
	return ret;
}

static int node_release(struct inode *inode, struct file *filp)
{
	uverbs_file_close(filp->private_data);
	return 0;
}

static ssize_t node_write(struct file *filp, const char __user *buf, size_t count,
			  loff_t *pos)
{
	struct ib_uverbs_file *file = filp->private_data;
	int idx, ret;

	if (!ib_safe_file_access(filp)) {
		pr_err_once("ib_uverbs: %s (%d) writes to a node opened with other credentials: refused\n",
			    current->comm, task_tgid_nr(current));
		return -EACCES;
	}
	idx = uverbs_section_begin(file);
	ret = uverbs_call_write(file, buf, count);
	if (idx >= 0)
		uverbs_section_end(file, idx);
	return ret ?: count;
}

static long node_ioctl(struct file *filp, unsigned int cmd, unsigned long arg)
{
	struct ib_uverbs_ioctl_hdr __user *user_hdr = (void __user *)arg;
	struct ib_uverbs_file *file = filp->private_data;
	struct ib_uverbs_ioctl_hdr hdr;
	int idx, ret;

	if (cmd != RDMA_VERBS_IOCTL)
		return -ENOIOCTLCMD;
	if (copy_from_user(&hdr, user_hdr, sizeof(hdr)))
		return -EFAULT;
	idx = uverbs_section_begin(file);
	ret = uverbs_call_ioctl(file, &hdr, user_hdr->attrs);
	if (idx >= 0)
		uverbs_section_end(file, idx);
	return ret;
}

static bool is_raw(const struct vm_area_struct *vma)
{
	return vma->vm_flags & VM_PFNMAP &&
	       (vma->vm_ops != &uverbs_umap_ops || !vma->vm_private_data);
}

/*
 * The driver may map device memory by rdma_user_mmap_io(), which core can revoke,
 * memory of its own, or device memory without core's help.  The last is recorded in
 * raw_maps for the teardown of the file.
 *
 * The driver's mmap method first checks whether the device may be mapped, then maps it.
 * mmap_lock makes this one step for rdma_user_mmap_disassociate().
 */
static int call_driver_mmap(struct ib_uverbs_file *file, struct ib_ucontext *context,
			    struct vm_area_struct *vma)
{
	int ret;

	mutex_lock(&file->mmap_lock);
	ret = context->device->ops.mmap(context, vma);
	if (!ret && is_raw(vma))
		WRITE_ONCE(file->raw_maps, true);
	mutex_unlock(&file->mmap_lock);
	return ret;
}

static int node_mmap(struct file *filp, struct vm_area_struct *vma)
{
	struct ib_uverbs_file *file = filp->private_data;
	struct ib_ucontext *context;
	int idx, ret;

	idx = uverbs_section_begin(file);
	if (idx < 0)
		return idx;
	context = ib_uverbs_get_ucontext_file(file);
	if (IS_ERR(context)) {
		ret = PTR_ERR(context);
		goto out;
	}
	if (!context->device->ops.mmap) {
		ret = -EOPNOTSUPP;
		goto out;
	}
	vma->vm_ops = &uverbs_umap_ops;
	ret = call_driver_mmap(file, context, vma);
out:
	uverbs_section_end(file, idx);
	return ret;
}

static const struct file_operations node_fops = {
	.owner = THIS_MODULE,
	.open = node_open,
	.release = node_release,
	.write = node_write,
	.mmap = node_mmap,
	.unlocked_ioctl = node_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
};

/* ---- sysfs ---- */

static ssize_t ibdev_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	struct uverbs_device *udev = container_of(dev, struct uverbs_device, dev);
	int idx = uverbs_device_section_begin(udev);
	char name[IB_DEVICE_NAME_MAX];

	if (idx < 0)
		return -ENODEV;
	ibcore_device_name(udev->ibdev, name);
	uverbs_device_section_end(udev, idx);
	return sysfs_emit(buf, "%s\n", name);
}
static DEVICE_ATTR_RO(ibdev);

static ssize_t driver_abi_show(struct device *dev, struct device_attribute *attr,
			       char *buf)
{
	struct uverbs_device *udev = container_of(dev, struct uverbs_device, dev);
	int idx = uverbs_device_section_begin(udev);
	ssize_t len;

	if (idx < 0)
		return -ENODEV;
	len = sysfs_emit(buf, "%u\n", udev->ibdev->ops.uverbs_abi_ver);
	uverbs_device_section_end(udev, idx);
	return len;
}

static struct device_attribute dev_attr_abi_version =
	__ATTR(abi_version, 0444, driver_abi_show, NULL);

static struct attribute *node_attrs[] = {
	&dev_attr_ibdev.attr,
	&dev_attr_abi_version.attr,
	NULL,
};
ATTRIBUTE_GROUPS(node);

static char *node_devnode(IBEX_CONST struct device *dev, umode_t *mode)
{
	if (mode)
		*mode = 0666;
	return kasprintf(GFP_KERNEL, "infiniband/%s", dev_name(dev));
}

static struct class node_class = {
	.name = "infiniband_verbs",
	.devnode = node_devnode,
	.dev_groups = node_groups,
};

static CLASS_ATTR_STRING(abi_version, 0444, __stringify(IB_USER_VERBS_ABI_VERSION));

/* ---- nodes ---- */

static void node_release_dev(struct device *dev)
{
	uverbs_device_put(container_of(dev, struct uverbs_device, dev));
}

static dev_t node_number(int n)
{
	return n < UVERBS_NR_FIXED ? MKDEV(UVERBS_MAJOR, UVERBS_MINOR + n) :
				     dynamic_base + n - UVERBS_NR_FIXED;
}

/*
 * Creates the node of @udev.  The node's struct device holds a reference on @udev until
 * its own last reference is dropped, for example that of an open file.
 */
int uverbs_node_add(struct uverbs_device *udev)
{
	int n, ret;

	n = ida_alloc_max(&node_ida, UVERBS_NR_NODES - 1, GFP_KERNEL);
	if (n < 0)
		return n;
	device_initialize(&udev->dev);
	kref_get(&udev->ref);
	udev->dev.class = &node_class;
	udev->dev.parent = udev->ibdev->dev.parent;
	udev->dev.release = node_release_dev;
	udev->dev.devt = node_number(n);
	udev->dev.id = n;
	cdev_init(&udev->cdev, &node_fops);
	udev->cdev.owner = THIS_MODULE;
	ret = dev_set_name(&udev->dev, "uverbs%d", n) ?:
	      cdev_device_add(&udev->cdev, &udev->dev);
	if (!ret)
		return 0;
	ida_free(&node_ida, n);
	put_device(&udev->dev);
	return ret;
}
EXPORT_SYMBOL_IF_KUNIT(uverbs_node_add);

/* The node cannot be opened any more; files that are open keep its memory. */
void uverbs_node_del(struct uverbs_device *udev)
{
	cdev_device_del(&udev->cdev, &udev->dev);
	ida_free(&node_ida, udev->dev.id);
	put_device(&udev->dev);
}
EXPORT_SYMBOL_IF_KUNIT(uverbs_node_del);

int uverbs_nodes_init(void)
{
	int ret;

	ret = register_chrdev_region(MKDEV(UVERBS_MAJOR, UVERBS_MINOR),
				     UVERBS_NR_FIXED, "infiniband_verbs");
	if (ret)
		return ret;
	ret = alloc_chrdev_region(&dynamic_base, 0, UVERBS_NR_NODES - UVERBS_NR_FIXED,
				  "infiniband_verbs");
	if (ret)
		goto err_fixed;
	ret = class_register(&node_class);
	if (ret)
		goto err_dynamic;
	ret = class_create_file(&node_class, &class_attr_abi_version.attr);
	if (ret)
		goto err_class;
	return 0;

err_class:
	class_unregister(&node_class);
err_dynamic:
	unregister_chrdev_region(dynamic_base, UVERBS_NR_NODES - UVERBS_NR_FIXED);
err_fixed:
	unregister_chrdev_region(MKDEV(UVERBS_MAJOR, UVERBS_MINOR), UVERBS_NR_FIXED);
	return ret;
}

void uverbs_nodes_exit(void)
{
	class_unregister(&node_class);
	unregister_chrdev_region(dynamic_base, UVERBS_NR_NODES - UVERBS_NR_FIXED);
	unregister_chrdev_region(MKDEV(UVERBS_MAJOR, UVERBS_MINOR), UVERBS_NR_FIXED);
}
