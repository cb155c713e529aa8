// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Fabrics as an administrator makes them in configfs: each allocation fails once, the call
 * says so, and nothing is left.
 */
#include <linux/fs.h>
#include <linux/namei.h>
#include <linux/rcupdate.h>
#include "faults.h"
#include "fabric/fabric.h"

#define ROOT	"/sys/kernel/config/vib/"
/* Longer than what configfs has room for without an allocation. */
#define LONG	"a_name_of_more_than_twenty_characters"

static const char *path;	/* of the folder that make_and_remove() makes */

static int dir_make(const char *name)
{
	struct dentry *dentry;
	struct path at;
	int ret;

	dentry = kern_path_create(AT_FDCWD, name, &at, LOOKUP_DIRECTORY);
	if (IS_ERR(dentry))
		return PTR_ERR(dentry);
	ret = vfs_mkdir(mnt_idmap(at.mnt), d_inode(at.dentry), dentry, 0755);
	done_path_create(&at, dentry);
	return ret;
}

static int dir_remove(const char *name)
{
	struct dentry *parent;
	struct path at;
	int ret;

	ret = kern_path(name, LOOKUP_DIRECTORY, &at);
	if (ret)
		return ret;
	parent = dget_parent(at.dentry);
	inode_lock_nested(d_inode(parent), I_MUTEX_PARENT);
	ret = vfs_rmdir(mnt_idmap(at.mnt), d_inode(parent), at.dentry);
	inode_unlock(d_inode(parent));
	dput(parent);
	path_put(&at);
	return ret;
}

static int attr_write(const char *name, const char *value)
{
	struct file *file = filp_open(name, O_WRONLY, 0);
	loff_t pos = 0;
	ssize_t ret;

	if (IS_ERR(file))
		return PTR_ERR(file);
	ret = kernel_write(file, value, strlen(value), &pos);
	filp_close(file, NULL);
	return ret < 0 ? ret : 0;
}

/* Undoes what was made; none of its allocations fails, later ones may again. */
static int calmly_remove(const char *name)
{
	unsigned int nth = current->fail_nth;
	int ret;

	current->fail_nth = 0;
	ret = dir_remove(name);
	current->fail_nth = nth;
	return ret;
}

static int config_alloc_init(struct kunit *test)
{
	return dir_make(ROOT "f") ?: dir_make(ROOT "f/nodes/sw") ?:
	       dir_make(ROOT "f/nodes/other") ?: dir_make(ROOT "f/links/l") ?:
	       attr_write(ROOT "f/nodes/sw/type", "switch") ?:
	       attr_write(ROOT "f/nodes/other/type", "switch");
}

static void config_alloc_exit(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, dir_remove(ROOT "f/links/l"), 0);
	KUNIT_EXPECT_EQ(test, dir_remove(ROOT "f/nodes/sw"), 0);
	KUNIT_EXPECT_EQ(test, dir_remove(ROOT "f/nodes/other"), 0);
	KUNIT_EXPECT_EQ(test, dir_remove(ROOT "f"), 0);
	rcu_barrier();
	flush_workqueue(vib_free_wq);
}

static int make_and_remove(struct kunit *test)
{
	int ret = dir_make(path);

	KUNIT_EXPECT_TRUE_MSG(test, !ret || ret == -ENOMEM, "%d", ret);
	if (ret)
		return ret;
	return calmly_remove(path);
}

static void folders(struct kunit *test)
{
	static const char * const paths[] = {
		ROOT "g", ROOT LONG, ROOT "f/nodes/ca", ROOT "f/nodes/" LONG,
		ROOT "f/links/m", ROOT "f/links/" LONG,
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(paths); i++) {
		path = paths[i];
		KUNIT_EXPECT_GT_MSG(test, ibex_each_allocation(test, make_and_remove), 3, "%s",
				    path);
	}
}

/* A long name takes an allocation of its own, and the GUIDs of nodes are made from it. */
static int make_and_use_long(struct kunit *test)
{
	int ret = dir_make(ROOT LONG);
	unsigned int nth = current->fail_nth;

	if (ret)
		return ret;
	current->fail_nth = 0;
	ret = dir_make(ROOT LONG "/nodes/sw") ?:
	      attr_write(ROOT LONG "/nodes/sw/type", "switch") ?:
	      attr_write(ROOT LONG "/nodes/sw/live", "1") ?:
	      dir_remove(ROOT LONG "/nodes/sw") ?: dir_remove(ROOT LONG);
	KUNIT_EXPECT_EQ(test, ret, 0);
	current->fail_nth = nth;
	return ret;
}

static void a_fabric_that_was_made_has_its_name(struct kunit *test)
{
	KUNIT_EXPECT_GT(test, ibex_each_allocation(test, make_and_use_long), 3);
}

static int switch_lives(struct kunit *test)
{
	unsigned int nth;
	int ret;

	ret = attr_write(ROOT "f/nodes/sw/live", "1");
	KUNIT_EXPECT_TRUE_MSG(test, !ret || ret == -ENOMEM, "%d", ret);
	nth = current->fail_nth;
	current->fail_nth = 0;
	ret = ret ?: attr_write(ROOT "f/nodes/sw/live", "0");
	current->fail_nth = nth;
	return ret;
}

static void a_node_that_cannot_live(struct kunit *test)
{
	KUNIT_EXPECT_GT(test, ibex_each_allocation(test, switch_lives), 10);
}

static int link_lives(struct kunit *test)
{
	unsigned int nth;
	int ret;

	ret = attr_write(ROOT "f/links/l/a", "sw:1") ?: attr_write(ROOT "f/links/l/b", "other:1");
	ret = ret ?: attr_write(ROOT "f/links/l/live", "1");
	nth = current->fail_nth;
	current->fail_nth = 0;
	if (!ret)
		ret = attr_write(ROOT "f/links/l/live", "0");
	current->fail_nth = nth;
	KUNIT_EXPECT_TRUE_MSG(test, !ret || ret == -ENOMEM, "%d", ret);
	return ret;
}

static void a_link_that_cannot_live(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, attr_write(ROOT "f/nodes/sw/live", "1"), 0);
	KUNIT_ASSERT_EQ(test, attr_write(ROOT "f/nodes/other/live", "1"), 0);
	KUNIT_EXPECT_GT(test, ibex_each_allocation(test, link_lives), 6);
}

static struct kunit_case config_alloc_cases[] = {
	KUNIT_CASE(folders),
	KUNIT_CASE(a_fabric_that_was_made_has_its_name),
	KUNIT_CASE(a_node_that_cannot_live),
	KUNIT_CASE(a_link_that_cannot_live),
	{}
};

static struct kunit_suite vib_alloc_config_suite = {
	.name = "vib_alloc_config",
	.init = config_alloc_init,
	.exit = config_alloc_exit,
	.test_cases = config_alloc_cases,
};

kunit_test_suite(vib_alloc_config_suite);
