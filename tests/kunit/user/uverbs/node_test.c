// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The character device: its operations, and what works without the RDMA device. */
#include <linux/anon_inodes.h>
#include <linux/cred.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/uaccess.h>
#include <rdma/rdma_user_ioctl_cmds.h>
#include "user/call/methods.h"
#include "user/fixture.h"
#include "user/uverbs_test.h"

static struct file *filp;
static u8 *memory;		/* what the driver maps */
static int closed;		/* how often it saw a mapping end */
static int mmap_kind;

enum { MAP_REFUSED, MAP_RAW, MAP_OWN, MAP_LATE };

/* A driver that checks whether its device may be mapped, and is slow to do so. */
static struct completion mmap_looked, mmap_goes_on;
static bool resetting;

static const struct file_operations no_fops = {};

/* Opens the node like a process. */
static int node_open(struct fixture *t)
{
	struct inode inode = { .i_cdev = &t->udev->cdev };
	int ret;

	filp = anon_inode_getfile("[node]", t->udev->cdev.ops, NULL, O_RDWR);
	if (IS_ERR(filp))
		return PTR_ERR(filp);
	ret = filp->f_op->open(&inode, filp);
	if (ret) {
		/* A file whose open failed must not be released. */
		fops_put(filp->f_op);
		filp->f_op = &no_fops;
	}
	return ret;
}

static void node_close(void)
{
	if (!IS_ERR_OR_NULL(filp)) {
		fput(filp);
		flush_delayed_fput();
	}
	filp = NULL;
}

static void own_close(struct vm_area_struct *vma)
{
	closed++;
}

static const struct vm_operations_struct own_vm_ops = { .close = own_close };

static int fixture_mmap(struct ib_ucontext *context, struct vm_area_struct *vma)
{
	switch (mmap_kind) {
	case MAP_RAW:
		return remap_pfn_range(vma, vma->vm_start,
				       virt_to_phys(memory) >> PAGE_SHIFT, PAGE_SIZE,
				       vma->vm_page_prot);
	case MAP_LATE:
		if (READ_ONCE(resetting))
			return -EAGAIN;
		complete(&mmap_looked);
		wait_for_completion_timeout(&mmap_goes_on, 60 * HZ);
		return rdma_user_mmap_io(context, vma, virt_to_phys(memory) >> PAGE_SHIFT,
					 PAGE_SIZE, vma->vm_page_prot, NULL);
	case MAP_OWN:
		vma->vm_ops = &own_vm_ops;
		return vm_insert_page(vma, vma->vm_start, virt_to_page(memory));
	default:
		return -ENXIO;
	}
}

static const struct ib_device_ops mmap_ops = { .mmap = fixture_mmap };

static int node_init(struct kunit *test)
{
	struct fixture *t;
	int ret;

	filp = NULL;
	closed = 0;
	mmap_kind = MAP_REFUSED;
	memset(&methods_seen, 0, sizeof(methods_seen));
	ret = fixture_init(test);
	if (ret)
		return ret;
	t = test->priv;
	/* Unlike the file of fixture_init(), this one has no context. */
	ret = node_open(t);
	if (ret)
		return ret;
	memory = (u8 *)get_zeroed_page(GFP_KERNEL);
	return memory ? 0 : -ENOMEM;
}

static void node_exit(struct kunit *test)
{
	node_close();
	fixture_exit(test);
	free_page((unsigned long)memory);
	memory = NULL;
}

static void unplug(struct fixture *t)
{
	fake_hca_destroy(t->hca);
	t->hca = NULL;
}

static void give_context(struct kunit *test, struct fixture *t)
{
	struct ib_uverbs_file *file = filp->private_data;
	int idx = uverbs_section_begin(file);

	KUNIT_ASSERT_GE(test, idx, 0);
	t->call = uverbs_call_init(t->buf, sizeof(t->buf), 0, file);
	KUNIT_ASSERT_EQ(test, uverbs_context_begin(&t->call->bundle), 0);
	uverbs_context_commit(&t->call->bundle);
	uverbs_section_end(file, idx);
}

static ssize_t write_node(struct kunit *test, unsigned long at, size_t count)
{
	return filp->f_op->write(filp, (const char __user *)at, count, NULL);
}

static ssize_t show(struct fixture *t, const char *name, char *page)
{
	struct attribute **attr = t->udev->dev.class->dev_groups[0]->attrs;
	struct device_attribute *dev_attr;

	while (strcmp((*attr)->name, name))
		attr++;
	dev_attr = container_of(*attr, struct device_attribute, attr);
	return dev_attr->show(&t->udev->dev, dev_attr, page);
}

static void a_node_is_named_and_open_to_all(struct kunit *test)
{
	struct fixture *t = test->priv;
	struct device *dev = &t->udev->dev;
	umode_t mode = 0;
	char *node = dev->class->devnode(dev, &mode);
	char *page = (char *)memory;
	const char *name;

	KUNIT_ASSERT_NOT_NULL(test, node);
	KUNIT_EXPECT_EQ(test, strncmp(node, "infiniband/uverbs", 17), 0);
	KUNIT_EXPECT_EQ(test, mode, 0666);
	kfree(node);
	KUNIT_EXPECT_EQ(test, MAJOR(dev->devt), 231u);
	KUNIT_EXPECT_GE(test, MINOR(dev->devt), 192u);
	/* As during a rename, which frees the string that dev_name() returned. */
	name = t->hca->ibdev.dev.kobj.name;
	t->hca->ibdev.dev.kobj.name = "freed";
	KUNIT_EXPECT_GT(test, show(t, "ibdev", page), 0);
	t->hca->ibdev.dev.kobj.name = name;
	KUNIT_EXPECT_EQ(test, strcmp(strim(page), name), 0);
	KUNIT_EXPECT_GT(test, show(t, "abi_version", page), 0);
	KUNIT_EXPECT_EQ(test, page[0], '0');
}

static void a_command_is_written_whole(struct kunit *test)
{
	struct ib_uverbs_cmd_hdr hdr = {
		.command = WRITE_PLAIN, .in_words = (sizeof(hdr) + 4) / 4,
	};
	unsigned long at = user_pages(test, 1, TEST_RW);

	KUNIT_ASSERT_EQ(test, copy_to_user((void __user *)at, &hdr, sizeof(hdr)), 0ul);
	KUNIT_EXPECT_EQ(test, write_node(test, at, sizeof(hdr) + 4), sizeof(hdr) + 4);
	KUNIT_EXPECT_EQ(test, write_node(test, at, sizeof(hdr)), -EINVAL);
}

static void another_user_does_not_write_for_the_opener(struct kunit *test)
{
	unsigned long at = user_pages(test, 1, TEST_RW);
	const struct cred *old = user_drop_ipc_lock(test);

	KUNIT_EXPECT_EQ(test, write_node(test, at, 12), -EACCES);
	user_restore(old);
}

static void an_ioctl_is_one_of_ours(struct kunit *test)
{
	struct ib_uverbs_ioctl_hdr hdr = {
		.length = sizeof(hdr), .object_id = THING_OBJECT, .method_id = THING_QUERY,
	};
	unsigned long at = user_pages(test, 1, TEST_RW);

	KUNIT_EXPECT_EQ(test, filp->f_op->unlocked_ioctl(filp, RDMA_VERBS_IOCTL + 1, at),
			-ENOIOCTLCMD);
	KUNIT_EXPECT_EQ(test, filp->f_op->unlocked_ioctl(filp, RDMA_VERBS_IOCTL, 8),
			-EFAULT);
	KUNIT_ASSERT_EQ(test, copy_to_user((void __user *)at, &hdr, sizeof(hdr)), 0ul);
	/* Without the driver's id its methods are not known. */
	KUNIT_EXPECT_EQ(test, filp->f_op->unlocked_ioctl(filp, RDMA_VERBS_IOCTL, at),
			-EINVAL);
}

static unsigned long try_map(struct kunit *test)
{
	return vm_mmap(filp, 0, PAGE_SIZE, TEST_RW, MAP_SHARED, 0);
}

static void a_mapping_needs_a_context_and_a_driver(struct kunit *test)
{
	struct fixture *t = test->priv;

	user_pages(test, 1, TEST_RW);
	KUNIT_EXPECT_EQ(test, (long)try_map(test), -EINVAL);
	give_context(test, t);
	KUNIT_EXPECT_EQ(test, (long)try_map(test), -EOPNOTSUPP);
	ib_set_device_ops(&t->hca->ibdev, &mmap_ops);
	KUNIT_EXPECT_EQ(test, (long)try_map(test), -ENXIO);
}

static void what_the_driver_mapped_of_the_device_is_zapped(struct kunit *test)
{
	struct fixture *t = test->priv;
	unsigned long at;

	give_context(test, t);
	ib_set_device_ops(&t->hca->ibdev, &mmap_ops);
	mmap_kind = MAP_RAW;
	at = user_mmap(test, filp, 1, TEST_RW, MAP_SHARED);
	user_write(test, at, 7);
	KUNIT_EXPECT_EQ(test, memory[0], 7);
	unplug(t);
	KUNIT_EXPECT_NE(test, copy_to_user((void __user *)at, "x", 1), 0ul);
	KUNIT_EXPECT_EQ(test, memory[0], 7);
	vm_munmap(at, PAGE_SIZE);
}

static void a_driver_may_end_its_mapping_after_its_device(struct kunit *test)
{
	struct fixture *t = test->priv;
	struct ib_uverbs_file *file = filp->private_data;
	unsigned long at;

	give_context(test, t);
	ib_set_device_ops(&t->hca->ibdev, &mmap_ops);
	mmap_kind = MAP_OWN;
	at = user_mmap(test, filp, 1, TEST_RW, MAP_SHARED);
	unplug(t);
	/* The process can still access its memory. */
	user_write(test, at, 8);
	KUNIT_EXPECT_EQ(test, memory[0], 8);
	KUNIT_EXPECT_NOT_NULL(test, file->retired_context);
	KUNIT_EXPECT_PTR_EQ(test, &file->pinned->dev, file->retired_context->device ?
			    &file->retired_context->device->dev : NULL);
	KUNIT_EXPECT_EQ(test, closed, 0);
	vm_munmap(at, PAGE_SIZE);
	KUNIT_EXPECT_EQ(test, closed, 1);
}

static void map_in_thread(struct kunit *test, void *arg)
{
	unsigned long *at = arg;

	user_pages(test, 1, TEST_RW);
	*at = try_map(test);
}

static int live;

static void reset_in_thread(struct kunit *test, void *arg)
{
	struct fixture *t = test->priv;
	struct ib_uverbs_file *file = filp->private_data;

	WRITE_ONCE(resetting, true);
	rdma_user_mmap_disassociate(&t->hca->ibdev);
	live = list_count_nodes(&file->umaps.list);
}

static void a_mapping_in_the_making_is_revoked_too(struct kunit *test)
{
	struct fixture *t = test->priv;
	unsigned long at = 0;
	struct user_thread maps = { .fn = map_in_thread, .test = test, .arg = &at };
	struct user_thread resets = { .fn = reset_in_thread, .test = test };

	init_completion(&mmap_looked);
	init_completion(&mmap_goes_on);
	resetting = false;
	live = -1;
	give_context(test, t);
	ib_set_device_ops(&t->hca->ibdev, &mmap_ops);
	mmap_kind = MAP_LATE;
	KUNIT_ASSERT_EQ(test, user_thread_start(&maps), 0);
	KUNIT_EXPECT_GT(test, wait_for_completion_timeout(&mmap_looked, 60 * HZ), 0ul);
	KUNIT_ASSERT_EQ(test, user_thread_start(&resets), 0);
	/* The reset waits for the driver's mmap(), however long that takes. */
	msleep(5000);
	KUNIT_EXPECT_FALSE(test, READ_ONCE(resets.done));
	complete(&mmap_goes_on);
	user_thread_join(&resets);
	user_thread_join(&maps);
	KUNIT_EXPECT_FALSE(test, IS_ERR_VALUE(at));
	KUNIT_EXPECT_EQ(test, live, 0);
	/* The driver refuses mappings from now on. */
	user_pages(test, 1, TEST_RW);
	KUNIT_EXPECT_EQ(test, (long)try_map(test), -EAGAIN);
}

static void nothing_is_asked_of_a_device_that_is_gone(struct kunit *test)
{
	struct fixture *t = test->priv;
	unsigned long at = user_pages(test, 1, TEST_RW);

	give_context(test, t);
	unplug(t);
	KUNIT_EXPECT_EQ(test, write_node(test, at, 12), -EIO);
	KUNIT_EXPECT_EQ(test, filp->f_op->unlocked_ioctl(filp, RDMA_VERBS_IOCTL, at), -EIO);
	KUNIT_EXPECT_EQ(test, (long)try_map(test), -EIO);
	KUNIT_EXPECT_EQ(test, show(t, "ibdev", (char *)memory), -ENODEV);
	KUNIT_EXPECT_EQ(test, show(t, "abi_version", (char *)memory), -ENODEV);
	node_close();
	KUNIT_EXPECT_EQ(test, node_open(t), -ENXIO);
}

static struct kunit_case node_cases[] = {
	KUNIT_CASE(a_node_is_named_and_open_to_all),
	KUNIT_CASE(a_command_is_written_whole),
	KUNIT_CASE(another_user_does_not_write_for_the_opener),
	KUNIT_CASE(an_ioctl_is_one_of_ours),
	KUNIT_CASE(a_mapping_needs_a_context_and_a_driver),
	KUNIT_CASE(what_the_driver_mapped_of_the_device_is_zapped),
	KUNIT_CASE(a_driver_may_end_its_mapping_after_its_device),
	KUNIT_CASE(a_mapping_in_the_making_is_revoked_too),
	KUNIT_CASE(nothing_is_asked_of_a_device_that_is_gone),
	{}
};

static struct kunit_suite uverbs_node_suite = {
	.name = "ib_uverbs_node",
	.init = node_init,
	.exit = node_exit,
	.test_cases = node_cases,
};

kunit_test_suite(uverbs_node_suite);
