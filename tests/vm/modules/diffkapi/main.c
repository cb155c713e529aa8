// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * debugfs/ibex_kapi: "SEED NUMBER" written to run makes that sequence of calls, and what is read
 * from log is what was printed. The devices are rxe_a and rxe_b, vib0 and vib1.
 */
#include <linux/debugfs.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/uaccess.h>
#include "kapi.h"

struct kdev kdevs[DEVICES] = {
	{ .name = "rxe_a" }, { .name = "rxe_b" }, { .name = "vib0" }, { .name = "vib1" },
};

static DEFINE_MUTEX(run_lock);
static struct dentry *dir;

static void (* const themes[])(u64 number) = {
	verbs_objects, verbs_objects, transitions, transition_table, rw_contexts,
	wires, ports, gids, pure_functions, headers,
	clients, resolving, mads, sa_queries, ib_connections, ib_connections,
	cm_connections, cm_connections, cm_connections, cm_connections,
};

struct kdev *some_device(void)
{
	return &kdevs[rnd(DEVICES)];
}

/* ---- a sequence ---- */

static const u8 addresses[2][4] = { { 10, 0, 0, 1 }, { 10, 0, 0, 2 } };

/* Once for each sequence, since ports get LIDs and GIDs from others. */
static int look_at(struct kdev *d)
{
	const struct ib_gid_attr *attr;
	struct ib_port_attr port;

	if (!d->device || ib_query_port(d->device, 1, &port))
		return -ENODEV;
	d->lid = port.lid;
	d->attrs = &d->device->attrs;
	d->gid_index = 0;
	d->gid_type = IB_GID_TYPE_IB;
	if (is_vib(d))
		return rdma_query_gid(d->device, 1, 0, &d->gid);
	d->gid_type = IB_GID_TYPE_ROCE_UDP_ENCAP;
	memset(&d->gid, 0, sizeof(d->gid));
	d->gid.raw[10] = 0xff;
	d->gid.raw[11] = 0xff;
	memcpy(d->gid.raw + 12, addresses[d - kdevs], 4);
	attr = rdma_find_gid_by_port(d->device, &d->gid, d->gid_type, 1, NULL);
	if (IS_ERR(attr))
		return PTR_ERR(attr);
	d->gid_index = attr->index;
	rdma_put_gid_attr(attr);
	return 0;
}

static int run(u64 seed, u64 number)
{
	unsigned int i;
	int ret;

	for (i = 0; i < DEVICES; i++) {
		ret = look_at(&kdevs[i]);
		if (ret)
			return ret;
	}
	log_used = 0;
	forget_objects();
	seed_sequence(seed, number);
	say("#%llu\n", number);
	themes[number % ARRAY_SIZE(themes)](number / ARRAY_SIZE(themes));
	destroy_objects();
	return 0;
}

static ssize_t run_write(struct file *file, const char __user *from, size_t len, loff_t *pos)
{
	u64 seed, number;
	char line[64];
	int ret;

	if (len >= sizeof(line))
		return -EINVAL;
	if (copy_from_user(line, from, len))
		return -EFAULT;
	line[len] = 0;
	if (sscanf(line, "%llu %llu", &seed, &number) != 2)
		return -EINVAL;
	mutex_lock(&run_lock);
	ret = run(seed, number);
	mutex_unlock(&run_lock);
	return ret ?: len;
}

/* Without the lock, so that it can be read what was printed before a call that does not return. */
static ssize_t run_read(struct file *file, char __user *to, size_t len, loff_t *pos)
{
	return simple_read_from_buffer(to, len, pos, log_text, log_used);
}

static const struct file_operations run_ops = {
	.owner = THIS_MODULE,
	.open = simple_open,
	.write = run_write,
	.read = run_read,
	.llseek = default_llseek,
};

/* ---- the devices ---- */

static int add_device(struct ib_device *device)
{
	unsigned int i;

	for (i = 0; i < DEVICES; i++)
		if (!strcmp(dev_name(&device->dev), kdevs[i].name))
			kdevs[i].device = device;
	return 0;
}

/* The scenario removes no device while it makes calls. */
static void remove_device(struct ib_device *device, void *data)
{
	unsigned int i;

	for (i = 0; i < DEVICES; i++)
		if (kdevs[i].device == device)
			kdevs[i].device = NULL;
}

static struct ib_client client = {
	.name = "ibex_kapi",
	.add = add_device,
	.remove = remove_device,
};

static int __init kapi_init(void)
{
	int ret = log_start();

	if (ret)
		return ret;
	arena = (void *)__get_free_pages(GFP_KERNEL, ARENA_ORDER);
	if (!arena) {
		ret = -ENOMEM;
		goto no_arena;
	}
	ret = ib_register_client(&client);
	if (ret)
		goto no_client;
	dir = debugfs_create_dir("ibex_kapi", NULL);
	debugfs_create_file("run", 0600, dir, NULL, &run_ops);
	return 0;

no_client:
	free_pages((unsigned long)arena, ARENA_ORDER);
no_arena:
	log_end();
	return ret;
}

/* Each sequence has destroyed what it made, and none runs any more. */
static void __exit kapi_exit(void)
{
	debugfs_remove(dir);
	ib_unregister_client(&client);
	free_pages((unsigned long)arena, ARENA_ORDER);
	log_end();
}

module_init(kapi_init);
module_exit(kapi_exit);
MODULE_DESCRIPTION("Calls of the kernel's RDMA interface, for comparing two cores");
MODULE_LICENSE("Dual BSD/GPL");
