// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Where the two processes sit: devices, files, memory, and what they write. */
#include <linux/anon_inodes.h>
#include <linux/file.h>
#include <linux/kthread.h>
#include <linux/mm.h>
#include <linux/poll.h>
#include <linux/sched/mm.h>
#include <linux/uaccess.h>
#include "umad_test.h"

struct umad_pair desk;
unsigned long desk_mem;
struct umad_mad *desk_mad;

/* ---- memory ---- */

unsigned long desk_mmap(struct kunit *test, struct file *file, unsigned long size,
			unsigned long prot)
{
	bool had_mm = current->mm;
	unsigned long addr;

	addr = kunit_vm_mmap(test, file, 0, size, prot,
			     file ? MAP_SHARED : MAP_ANONYMOUS | MAP_PRIVATE, 0);
	/* KUnit takes a reference on the mm it makes, which nobody would put. */
	if (!had_mm && current->mm)
		mmdrop(current->mm);
	KUNIT_ASSERT_NE(test, addr, 0ul);
	KUNIT_ASSERT_FALSE(test, IS_ERR_VALUE(addr));
	return addr;
}

static vm_fault_t desk_page_fault(struct vm_fault *vmf)
{
	struct desk_page *page = vmf->vma->vm_file->private_data;

	if (vmf->pgoff && !page->fn)
		return VM_FAULT_SIGBUS;
	if (vmf->pgoff && !page->touched) {
		page->touched = true;
		page->fn(page->arg);
	}
	if (vmf->pgoff && page->broken)
		return VM_FAULT_SIGBUS;
	vmf->page = page->page[vmf->pgoff];
	get_page(vmf->page);
	return 0;
}

static const struct vm_operations_struct desk_page_vm_ops = {
	.fault = desk_page_fault,
};

static int desk_page_mmap(struct file *file, struct vm_area_struct *vma)
{
	vma->vm_ops = &desk_page_vm_ops;
	return 0;
}

static const struct file_operations desk_page_fops = {
	.owner = THIS_MODULE,
	.mmap = desk_page_mmap,
};

/* Valid until the case ends: the process goes later than it, but touches no more. */
void desk_page_map(struct kunit *test, struct desk_page *page, unsigned long prot)
{
	struct file *file;
	int i;

	for (i = 0; i < 2; i++) {
		page->page[i] = alloc_page(GFP_KERNEL | __GFP_ZERO);
		KUNIT_ASSERT_NOT_NULL(test, page->page[i]);
	}
	page->data = page_address(page->page[0]);
	file = anon_inode_getfile("[desk_page]", &desk_page_fops, page, O_RDWR);
	KUNIT_ASSERT_FALSE(test, IS_ERR(file));
	page->addr = desk_mmap(test, file, 2 * PAGE_SIZE, prot);
	fput(file);
}

void desk_page_free(struct desk_page *page)
{
	put_page(page->page[0]);
	put_page(page->page[1]);
}

/* ---- other processes ---- */

static int desk_waiter_fn(void *arg)
{
	struct desk_waiter *waiter = arg;

	waiter->result = waiter->fn(waiter);
	WRITE_ONCE(waiter->done, true);
	while (!kthread_should_stop())
		msleep(1);
	return 0;
}

void desk_waiter_start(struct kunit *test, struct desk_waiter *waiter)
{
	waiter->test = test;
	waiter->done = false;
	waiter->task = kthread_run(desk_waiter_fn, waiter, "desk_waiter");
	KUNIT_ASSERT_FALSE(test, IS_ERR(waiter->task));
	msleep(20);
}

bool desk_waiter_join(struct desk_waiter *waiter)
{
	if (!wait_within(READ_ONCE(waiter->done), 60 * 1000))
		return false;
	kthread_stop(waiter->task);
	return true;
}

/* ---- files ---- */

struct file *desk_open_node(const char *name, int flags)
{
	char path[40];

	snprintf(path, sizeof(path), "/dev/infiniband/%s", name);
	return filp_open(path, O_RDWR | flags, 0);
}

int desk_open(struct umad_end *end, int flags)
{
	struct file *filp = desk_open_node(dev_name(&end->port->umad.dev), flags);

	if (IS_ERR(filp))
		return PTR_ERR(filp);
	end->filp = filp;
	end->file = filp->private_data;
	return 0;
}

void desk_close_file(struct file *filp)
{
	filp_close(filp, NULL);
	flush_delayed_fput();
}

void desk_close(struct umad_end *end)
{
	if (end->filp)
		desk_close_file(end->filp);
	end->filp = NULL;
	end->file = NULL;
}

long desk_ioctl(struct umad_end *end, unsigned int cmd, void *arg, size_t size)
{
	long ret;

	if (size && copy_to_user((void __user *)desk_mem, arg, size))
		return -EFAULT;
	ret = end->filp->f_op->unlocked_ioctl(end->filp, cmd, desk_mem);
	if (size && copy_from_user(arg, (void __user *)desk_mem, size))
		return -EFAULT;
	return ret;
}

/* The OUI is that of OpenIB. */
int desk_register(struct umad_end *end, u8 mgmt_class, u8 method, u8 rmpp, u32 flags)
{
	struct ib_user_mad_reg_req2 req = {
		.id = ~0,
		.qpn = mgmt_class != IB_MGMT_CLASS_SUBN_DIRECTED_ROUTE,
		.mgmt_class = mgmt_class,
		.mgmt_class_version = 1,
		.flags = flags,
		.oui = IB_OPENIB_OUI,
		.rmpp_version = rmpp,
	};
	int ret;

	if (method)
		req.method_mask[method / 64] = BIT_ULL(method % 64);
	ret = desk_ioctl(end, IB_USER_MAD_REGISTER_AGENT2, &req, sizeof(req));
	return ret ?: req.id;
}

int desk_register_old(struct umad_end *end, u8 mgmt_class, u8 method, u8 rmpp)
{
	struct ib_user_mad_reg_req req = {
		.id = ~0,
		.qpn = 1,
		.mgmt_class = mgmt_class,
		.mgmt_class_version = 1,
		.oui = { 0x00, 0x14, 0x05 },
		.rmpp_version = rmpp,
	};
	int ret;

	if (method)
		req.method_mask[method / BITS_PER_LONG] = BIT(method % BITS_PER_LONG);
	ret = desk_ioctl(end, IB_USER_MAD_REGISTER_AGENT, &req, sizeof(req));
	return ret ?: req.id;
}

int desk_unregister(struct umad_end *end, u32 id)
{
	return desk_ioctl(end, IB_USER_MAD_UNREGISTER_AGENT, &id, sizeof(id));
}

unsigned int desk_agents(struct umad_end *end)
{
	unsigned int i, n = 0;

	for (i = 0; i < UMAD_MAX_AGENTS; i++)
		n += !!rcu_access_pointer(end->file->agents[i]);
	return n;
}

int desk_sends(struct umad_end *end)
{
	return atomic_read(&end->hca->alive[FAKE_AH]) - end->other_ahs;
}

/* ---- MADs ---- */

struct umad_mad *desk_request(int id, struct umad_end *to, u8 method, u64 tid,
			      u32 timeout_ms)
{
	struct umad_mad *mad = desk_mad;

	memset(mad, 0, sizeof(mad->hdr) + IB_MGMT_MAD_SIZE);
	mad->hdr.id = id;
	mad->hdr.timeout_ms = timeout_ms;
	mad->hdr.qpn = cpu_to_be32(1);
	mad->hdr.lid = cpu_to_be16(to->hca->port[1].lid);
	mad->mad.base_version = IB_MGMT_BASE_VERSION;
	mad->mad.mgmt_class = TEST_CLASS;
	mad->mad.class_version = 1;
	mad->mad.method = method;
	mad->mad.tid = cpu_to_be64(tid);
	return mad;
}

size_t desk_transfer(int id, struct umad_end *to, u8 method, u64 tid, size_t len)
{
	struct umad_mad *mad = desk_request(id, to, method, tid, 1000);
	size_t i;

	mad->mad.mgmt_class = TEST_RMPP_CLASS;
	mad->rmpp.rmpp_hdr.rmpp_version = IB_MGMT_RMPP_VERSION;
	mad->rmpp.rmpp_hdr.rmpp_type = IB_MGMT_RMPP_TYPE_DATA;
	mad->rmpp.rmpp_hdr.rmpp_rtime_flags = IB_MGMT_RMPP_FLAG_ACTIVE | 5 << 3;
	mad->vendor.oui[1] = 0x14;
	mad->vendor.oui[2] = 0x05;
	for (i = 0; i < len; i++)
		mad->vendor.data[i] = i * 7;
	return IB_MGMT_VENDOR_HDR + len;
}

ssize_t desk_write(struct umad_end *end, size_t len)
{
	size_t head = umad_hdr_size(end->file);
	void __user *at = (void __user *)desk_mem;

	if (copy_to_user(at, &desk_mad->hdr, head) ||
	    copy_to_user(at + head, desk_mad->data, len))
		return -EFAULT;
	return end->filp->f_op->write(end->filp, at, head + len, &end->filp->f_pos);
}

ssize_t desk_read(struct umad_end *end, size_t len)
{
	size_t head = umad_hdr_size(end->file);
	void __user *at = (void __user *)desk_mem;
	ssize_t ret;

	if (clear_user(at, head + len))
		return -EFAULT;
	ret = end->filp->f_op->read(end->filp, at, head + len, &end->filp->f_pos);
	memset(desk_mad, 0, sizeof(*desk_mad));
	if (copy_from_user(&desk_mad->hdr, at, head) ||
	    copy_from_user(desk_mad->data, at + head, len))
		return -EFAULT;
	return ret;
}

bool desk_readable(struct umad_end *end)
{
	return vfs_poll(end->filp, NULL) & EPOLLIN;
}

bool desk_wait(struct umad_end *end)
{
	return wait_within(desk_readable(end), 60 * 1000);
}

void desk_settle(void)
{
	int i;

	for (i = 0; i < 5; i++) {
		fake_hca_flush(desk.a.hca);
		fake_hca_flush(desk.b.hca);
		msleep(20);
	}
}

/* ---- set up ---- */

int desk_end_init(struct umad_end *end, const struct fake_hca_params *params)
{
	end->hca = fake_hca_create(params);
	if (!end->hca)
		return -ENOMEM;
	end->port = umad_find_port(&end->hca->ibdev, 1);
	return end->port ? desk_open(end, O_NONBLOCK) : -ENODEV;
}

void desk_end_exit(struct umad_end *end)
{
	desk_close(end);
	if (end->hca)
		fake_hca_destroy(end->hca);
	memset(end, 0, sizeof(*end));
}

int desk_init(struct kunit *test)
{
	static const struct fake_hca_params params = {
		.link_layer = IB_LINK_LAYER_INFINIBAND,
	};
	int ret;

	memset(&desk, 0, sizeof(desk));
	desk_mad = kvzalloc(sizeof(*desk_mad), GFP_KERNEL);
	desk_mem = desk_mmap(test, NULL, TEST_MEM, PROT_READ | PROT_WRITE);
	ret = desk_end_init(&desk.a, &params);
	if (!ret)
		ret = desk_end_init(&desk.b, &params);
	if (ret)
		return ret;
	desk.ida = desk_register(&desk.a, TEST_CLASS, 0, 0, 0);
	desk.idb = desk_register(&desk.b, TEST_CLASS, IB_MGMT_METHOD_GET, 0, 0);
	/* The SA client's, of the SM, come by themselves. */
	msleep(100);
	desk.a.other_ahs = atomic_read(&desk.a.hca->alive[FAKE_AH]);
	desk.b.other_ahs = atomic_read(&desk.b.hca->alive[FAKE_AH]);
	return desk_mad && !desk.ida && !desk.idb ? 0 : -EINVAL;
}

void desk_exit(struct kunit *test)
{
	desk_end_exit(&desk.a);
	desk_end_exit(&desk.b);
	kvfree(desk_mad);
	desk_mad = NULL;
}
