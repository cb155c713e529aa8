// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* XRC domains that processes share through a file. */
#include <linux/fcntl.h>
#include <linux/fdtable.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/mount.h>
#include <linux/shmem_fs.h>
#include "user/call/commands.h"
#include "faults.h"
#include "user/uverbs_test.h"

struct opened {
	int fd;
	struct inode *inode;
};

/* A descriptor of a file in memory; the file has a reference on its inode. */
static struct opened a_file(struct kunit *test)
{
	struct file *file = shmem_file_setup("xrcd", PAGE_SIZE, 0);
	struct opened o;

	KUNIT_ASSERT_FALSE(test, IS_ERR(file));
	o.inode = file_inode(file);
	o.fd = get_unused_fd_flags(O_CLOEXEC);
	KUNIT_ASSERT_GE(test, o.fd, 0);
	fd_install(o.fd, file);
	return o;
}

static int open_xrcd(struct commands *c, int fd, u32 oflags, u32 *handle)
{
	struct ib_uverbs_open_xrcd cmd = { .fd = fd, .oflags = oflags };
	struct ib_uverbs_open_xrcd_resp resp;
	int ret;

	ret = commands_write(c, IB_USER_VERBS_CMD_OPEN_XRCD, &cmd, sizeof(cmd), &resp,
			     sizeof(resp));
	*handle = resp.xrcd_handle;
	return ret;
}

static int close_xrcd(struct commands *c, u32 handle)
{
	struct ib_uverbs_close_xrcd cmd = { .xrcd_handle = handle };

	return commands_write(c, IB_USER_VERBS_CMD_CLOSE_XRCD, &cmd, sizeof(cmd), NULL, 0);
}

static struct ib_xrcd *xrcd_of(struct commands *c, u32 handle)
{
	return commands_object(c, UVERBS_OBJECT_XRCD, handle);
}

static int domains(struct commands *c)
{
	return atomic_read(&c->hca->alive[FAKE_XRCD]);
}

static void openers_of_one_file_share(struct kunit *test)
{
	struct commands *c = test->priv;
	struct opened o = a_file(test), other = a_file(test);
	struct ib_uverbs_file *first = c->file;
	u32 a, b, d;

	KUNIT_ASSERT_EQ(test, open_xrcd(c, o.fd, O_CREAT, &a), 0);
	KUNIT_EXPECT_PTR_EQ(test, xrcd_of(c, a)->inode, o.inode);
	KUNIT_ASSERT_EQ(test, open_xrcd(c, other.fd, O_CREAT | O_EXCL, &d), 0);
	KUNIT_EXPECT_PTR_NE(test, xrcd_of(c, a), xrcd_of(c, d));
	KUNIT_EXPECT_EQ(test, domains(c), 2);

	/* Another process shares the domain through the inode. */
	c->file = commands_open(c);
	KUNIT_ASSERT_EQ(test, open_xrcd(c, o.fd, 0, &b), 0);
	KUNIT_EXPECT_EQ(test, domains(c), 2);
	KUNIT_EXPECT_PTR_EQ(test, xrcd_of(c, b)->inode, o.inode);
	/* The domain outlives its creator's handle and the file's descriptor. */
	swap(c->file, first);
	KUNIT_EXPECT_EQ(test, close_xrcd(c, a), 0);
	swap(c->file, first);
	close_fd(o.fd);
	flush_delayed_fput();
	KUNIT_EXPECT_EQ(test, domains(c), 2);
	KUNIT_EXPECT_EQ(test, close_xrcd(c, b), 0);
	KUNIT_EXPECT_EQ(test, domains(c), 1);
	commands_close(c);
	c->file = first;
	KUNIT_EXPECT_EQ(test, domains(c), 1);
	KUNIT_EXPECT_EQ(test, commands_destroy(c, UVERBS_OBJECT_XRCD,
					       UVERBS_METHOD_XRCD_DESTROY, d), 0);
	KUNIT_EXPECT_EQ(test, domains(c), 0);
	close_fd(other.fd);
}

/* Expects that @mnt cannot be unmounted while a domain of one of its files is open. */
static void check_mounted(struct kunit *test, struct vfsmount *mnt)
{
	struct commands *c = test->priv;
	struct file *file = file_open_root_mnt(mnt, "xrcd", O_CREAT | O_RDWR, 0600);
	u32 a, b;
	int fd;

	KUNIT_ASSERT_FALSE(test, IS_ERR(file));
	fd = get_unused_fd_flags(O_CLOEXEC);
	fd_install(fd, file);
	KUNIT_EXPECT_EQ(test, open_xrcd(c, fd, O_CREAT, &a), 0);
	KUNIT_EXPECT_EQ(test, open_xrcd(c, fd, 0, &b), 0);
	close_fd(fd);
	flush_delayed_fput();
	KUNIT_EXPECT_FALSE(test, may_umount(mnt));
	KUNIT_EXPECT_EQ(test, close_xrcd(c, a), 0);
	KUNIT_EXPECT_FALSE(test, may_umount(mnt));
	KUNIT_EXPECT_EQ(test, close_xrcd(c, b), 0);
	KUNIT_EXPECT_TRUE(test, may_umount(mnt));
}

/* A domain holds the mount and the inode: unmounting needs all inodes unused. */
static void a_domain_keeps_its_filesystem_mounted(struct kunit *test)
{
	struct file_system_type *type = get_fs_type("ramfs");
	struct vfsmount *mnt;

	KUNIT_ASSERT_NOT_NULL(test, type);
	mnt = kern_mount(type);
	KUNIT_ASSERT_FALSE(test, IS_ERR(mnt));
	/* A mount in use has two references. */
	mntget(mnt);
	KUNIT_EXPECT_TRUE(test, may_umount(mnt));
	check_mounted(test, mnt);
	mntput(mnt);
	kern_unmount(mnt);
}

static void flags_of_opening(struct kunit *test)
{
	struct commands *c = test->priv;
	struct opened o = a_file(test);
	u32 a, b;

	KUNIT_EXPECT_EQ(test, open_xrcd(c, o.fd, 0, &a), -EAGAIN);
	KUNIT_EXPECT_EQ(test, open_xrcd(c, o.fd + 1, O_CREAT, &a), -EBADF);
	KUNIT_EXPECT_EQ(test, open_xrcd(c, -2, O_CREAT, &a), -EBADF);
	KUNIT_EXPECT_EQ(test, commands_objects(c), 0);
	KUNIT_ASSERT_EQ(test, open_xrcd(c, o.fd, O_CREAT | O_EXCL, &a), 0);
	KUNIT_EXPECT_EQ(test, open_xrcd(c, o.fd, O_CREAT | O_EXCL, &b), -EINVAL);
	KUNIT_ASSERT_EQ(test, open_xrcd(c, o.fd, O_CREAT, &b), 0);
	KUNIT_EXPECT_PTR_EQ(test, xrcd_of(c, a), xrcd_of(c, b));
	KUNIT_EXPECT_EQ(test, close_xrcd(c, a), 0);
	KUNIT_EXPECT_EQ(test, close_xrcd(c, a), -ENOENT);
	KUNIT_EXPECT_EQ(test, close_xrcd(c, b), 0);
	/* The domain does not exist any more. */
	KUNIT_EXPECT_EQ(test, open_xrcd(c, o.fd, 0, &a), -EAGAIN);
	close_fd(o.fd);
}

static void one_without_a_file_is_its_opener_s(struct kunit *test)
{
	struct commands *c = test->priv;
	u32 a, b;

	KUNIT_ASSERT_EQ(test, open_xrcd(c, -1, O_CREAT, &a), 0);
	KUNIT_ASSERT_EQ(test, open_xrcd(c, -1, O_CREAT | O_EXCL, &b), 0);
	KUNIT_EXPECT_PTR_NE(test, xrcd_of(c, a), xrcd_of(c, b));
	KUNIT_EXPECT_NULL(test, xrcd_of(c, a)->inode);
	KUNIT_EXPECT_EQ(test, domains(c), 2);
	KUNIT_EXPECT_EQ(test, close_xrcd(c, a), 0);
	commands_close(c);
	KUNIT_EXPECT_EQ(test, domains(c), 0);
}

static void a_domain_in_use_stays(struct kunit *test)
{
	struct commands *c = test->priv;
	struct opened o = a_file(test);
	struct ib_uxrcd_object *uxrcd;
	u32 a, b;

	KUNIT_ASSERT_EQ(test, open_xrcd(c, o.fd, O_CREAT, &a), 0);
	uxrcd = container_of((struct ib_uobject *)xa_load(&c->file->handles, a),
			     struct ib_uxrcd_object, uobject);
	atomic_inc(&uxrcd->refcnt);
	KUNIT_EXPECT_EQ(test, close_xrcd(c, a), -EBUSY);
	/* A close fails even if another handle is open. */
	KUNIT_ASSERT_EQ(test, open_xrcd(c, o.fd, 0, &b), 0);
	KUNIT_EXPECT_EQ(test, close_xrcd(c, a), -EBUSY);
	KUNIT_EXPECT_EQ(test, close_xrcd(c, b), 0);
	atomic_dec(&uxrcd->refcnt);

	atomic_set(&c->hca->fail_destroy[FAKE_XRCD], 1);
	KUNIT_EXPECT_EQ(test, close_xrcd(c, a), -EIO);
	KUNIT_ASSERT_EQ(test, open_xrcd(c, o.fd, 0, &b), 0);
	KUNIT_EXPECT_PTR_EQ(test, xrcd_of(c, a), xrcd_of(c, b));
	close_fd(o.fd);
}

static void what_is_no_proper_call(struct kunit *test)
{
	struct ib_uverbs_open_xrcd cmd = { .fd = -1, .oflags = O_CREAT };
	struct ib_uverbs_close_xrcd close_cmd = {};
	struct commands *c = test->priv;

	commands_pd(c);
	KUNIT_ASSERT_EQ(test, open_xrcd(c, -1, O_CREAT, &close_cmd.xrcd_handle), 0);
	commands_check_lengths(c, IB_USER_VERBS_CMD_OPEN_XRCD, &cmd, sizeof(cmd),
			       sizeof(struct ib_uverbs_open_xrcd_resp), true);
	commands_check_lengths(c, IB_USER_VERBS_CMD_CLOSE_XRCD, &close_cmd,
			       sizeof(close_cmd), 0, false);
	KUNIT_EXPECT_EQ(test, domains(c), 1);
	KUNIT_ASSERT_EQ(test, commands_destroy(c, UVERBS_OBJECT_XRCD,
					       UVERBS_METHOD_XRCD_DESTROY,
					       close_cmd.xrcd_handle), 0);
	commands_check_attrs(c);
}

static int fault_fd;

static int open_and_close(struct kunit *test)
{
	struct commands *c = test->priv;
	u32 handle;
	int ret = open_xrcd(c, fault_fd, O_CREAT, &handle);

	return ret ?: close_xrcd(c, handle);
}

static void each_allocation_may_fail(struct kunit *test)
{
	struct commands *c = test->priv;
	struct opened o = a_file(test);

	fault_fd = o.fd;
	atomic_set(&c->hca->fail_create[FAKE_XRCD], 1);
	KUNIT_EXPECT_EQ(test, open_and_close(test), -ENOMEM);
	KUNIT_EXPECT_GE(test, ibex_each_allocation(test, open_and_close), 3);
	KUNIT_EXPECT_EQ(test, domains(c), 0);
	KUNIT_EXPECT_EQ(test, commands_objects(c), 0);
	close_fd(o.fd);
}

/* The domains are freed with their device, and put their inodes. */
static void the_device_goes_first(struct kunit *test)
{
	struct commands *c = test->priv;
	struct opened o = a_file(test);
	u32 a;

	KUNIT_ASSERT_EQ(test, open_xrcd(c, o.fd, O_CREAT, &a), 0);
	ib_unregister_device(&c->hca->ibdev);
	KUNIT_EXPECT_EQ(test, domains(c), 0);
	KUNIT_EXPECT_EQ(test, open_xrcd(c, o.fd, O_CREAT, &a), -EIO);
	close_fd(o.fd);
}

static struct kunit_case xrcd_cases[] = {
	KUNIT_CASE(openers_of_one_file_share),
	KUNIT_CASE(a_domain_keeps_its_filesystem_mounted),
	KUNIT_CASE(flags_of_opening),
	KUNIT_CASE(one_without_a_file_is_its_opener_s),
	KUNIT_CASE(a_domain_in_use_stays),
	KUNIT_CASE(what_is_no_proper_call),
	KUNIT_CASE(each_allocation_may_fail),
	KUNIT_CASE(the_device_goes_first),
	{}
};

static struct kunit_suite uverbs_xrcd_suite = {
	.name = "uverbs_xrcd",
	.init = commands_init,
	.exit = commands_exit,
	.test_cases = xrcd_cases,
};

kunit_test_suite(uverbs_xrcd_suite);
