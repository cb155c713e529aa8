// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The two processes: their devices, files, memory, and the MADs that they write. */
#include <linux/anon_inodes.h>
#include <linux/file.h>
#include <linux/kthread.h>
#include <linux/mm.h>
#include <linux/poll.h>
#include <linux/sched/mm.h>
#include <linux/uaccess.h>
#include "umad_test.h"

struct umad_pair ends;
unsigned long fixture_mem;
struct umad_mad *fixture_mad;

/* ---- memory ---- */

unsigned long fixture_mmap(struct kunit *test, struct file *file, unsigned long size,
			   unsigned long prot)
{
	bool had_mm = current->mm;
	unsigned long addr;

	addr = kunit_vm_mmap(test, file, 0, size, prot,
			     file ? MAP_SHARED : MAP_ANONYMOUS | MAP_PRIVATE, 0);
	/* KUnit takes a reference on the mm that it creates, and does not drop it. */
	if (!had_mm && current->mm)
		mmdrop(current->mm);
	KUNIT_ASSERT_NE(test, addr, 0ul);
	KUNIT_ASSERT_FALSE(test, IS_ERR_VALUE(addr));
	return addr;
}

static vm_fault_t fixture_page_fault(struct vm_fault *vmf)
{
	struct fixture_page *page = vmf->vma->vm_file->private_data;

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

static const struct vm_operations_struct fixture_page_vm_ops = {
	.fault = fixture_page_fault,
};

static int fixture_page_mmap(struct file *file, struct vm_area_struct *vma)
{
	vma->vm_ops = &fixture_page_vm_ops;
	return 0;
}

static const struct file_operations fixture_page_fops = {
	.owner = THIS_MODULE,
	.mmap = fixture_page_mmap,
};

/*
 * Valid until the case ends: the process exists for longer, but does not access it any
 * more.
 */
void fixture_page_map(struct kunit *test, struct fixture_page *page, unsigned long prot)
{
	struct file *file;
	int i;

	for (i = 0; i < 2; i++) {
		page->page[i] = alloc_page(GFP_KERNEL | __GFP_ZERO);
		KUNIT_ASSERT_NOT_NULL(test, page->page[i]);
	}
	page->data = page_address(page->page[0]);
	file = anon_inode_getfile("[fixture_page]", &fixture_page_fops, page, O_RDWR);
	KUNIT_ASSERT_FALSE(test, IS_ERR(file));
	page->addr = fixture_mmap(test, file, 2 * PAGE_SIZE, prot);
	fput(file);
}

void fixture_page_free(struct fixture_page *page)
{
	put_page(page->page[0]);
	put_page(page->page[1]);
}

/* ---- other processes ---- */

static int fixture_waiter_fn(void *arg)
{
	struct fixture_waiter *waiter = arg;

	waiter->result = waiter->fn(waiter);
	WRITE_ONCE(waiter->done, true);
	while (!kthread_should_stop())
		msleep(1);
	return 0;
}

void fixture_waiter_start(struct kunit *test, struct fixture_waiter *waiter)
{
	waiter->test = test;
	waiter->done = false;
	waiter->task = kthread_run(fixture_waiter_fn, waiter, "fixture_waiter");
	KUNIT_ASSERT_FALSE(test, IS_ERR(waiter->task));
	msleep(20);
}

bool fixture_waiter_join(struct fixture_waiter *waiter)
{
	if (!wait_within(READ_ONCE(waiter->done), 60 * 1000))
		return false;
	kthread_stop(waiter->task);
	return true;
}

/* ---- files ---- */

struct file *fixture_open_node(const char *name, int flags)
{
	char path[40];

	snprintf(path, sizeof(path), "/dev/infiniband/%s", name);
	return filp_open(path, O_RDWR | flags, 0);
}

int fixture_open(struct umad_end *end, int flags)
{
	struct file *filp = fixture_open_node(dev_name(&end->port->umad.dev), flags);

	if (IS_ERR(filp))
		return PTR_ERR(filp);
	end->filp = filp;
	end->file = filp->private_data;
	return 0;
}

void fixture_close_file(struct file *filp)
{
	filp_close(filp, NULL);
	flush_delayed_fput();
}

void fixture_close(struct umad_end *end)
{
	if (end->filp)
		fixture_close_file(end->filp);
	end->filp = NULL;
	end->file = NULL;
}

long fixture_ioctl(struct umad_end *end, unsigned int cmd, void *arg, size_t size)
{
	long ret;

	if (size && copy_to_user((void __user *)fixture_mem, arg, size))
		return -EFAULT;
	ret = end->filp->f_op->unlocked_ioctl(end->filp, cmd, fixture_mem);
	if (size && copy_from_user(arg, (void __user *)fixture_mem, size))
		return -EFAULT;
	return ret;
}

/* The OUI is that of OpenIB. */
int fixture_register(struct umad_end *end, u8 mgmt_class, u8 method, u8 rmpp, u32 flags)
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
	ret = fixture_ioctl(end, IB_USER_MAD_REGISTER_AGENT2, &req, sizeof(req));
	return ret ?: req.id;
}

int fixture_register_old(struct umad_end *end, u8 mgmt_class, u8 method, u8 rmpp)
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
	ret = fixture_ioctl(end, IB_USER_MAD_REGISTER_AGENT, &req, sizeof(req));
	return ret ?: req.id;
}

int fixture_unregister(struct umad_end *end, u32 id)
{
	return fixture_ioctl(end, IB_USER_MAD_UNREGISTER_AGENT, &id, sizeof(id));
}

unsigned int fixture_agents(struct umad_end *end)
{
	unsigned int i, n = 0;

	for (i = 0; i < UMAD_MAX_AGENTS; i++)
		n += !!rcu_access_pointer(end->file->agents[i]);
	return n;
}

int fixture_sends(struct umad_end *end)
{
	return atomic_read(&end->hca->alive[FAKE_AH]) - end->other_ahs;
}

/* ---- MADs ---- */

struct umad_mad *fixture_request(int id, struct umad_end *to, u8 method, u64 tid,
				 u32 timeout_ms)
{
	struct umad_mad *mad = fixture_mad;

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

size_t fixture_transfer(int id, struct umad_end *to, u8 method, u64 tid, size_t len)
{
	struct umad_mad *mad = fixture_request(id, to, method, tid, 1000);
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

ssize_t fixture_write(struct umad_end *end, size_t len)
{
	size_t head = umad_hdr_size(end->file);
	void __user *at = (void __user *)fixture_mem;

	if (copy_to_user(at, &fixture_mad->hdr, head) ||
	    copy_to_user(at + head, fixture_mad->data, len))
		return -EFAULT;
	return end->filp->f_op->write(end->filp, at, head + len, &end->filp->f_pos);
}

ssize_t fixture_read(struct umad_end *end, size_t len)
{
	size_t head = umad_hdr_size(end->file);
	void __user *at = (void __user *)fixture_mem;
	ssize_t ret;

	if (clear_user(at, head + len))
		return -EFAULT;
	ret = end->filp->f_op->read(end->filp, at, head + len, &end->filp->f_pos);
	memset(fixture_mad, 0, sizeof(*fixture_mad));
	if (copy_from_user(&fixture_mad->hdr, at, head) ||
	    copy_from_user(fixture_mad->data, at + head, len))
		return -EFAULT;
	return ret;
}

bool fixture_readable(struct umad_end *end)
{
	return vfs_poll(end->filp, NULL) & EPOLLIN;
}

bool fixture_wait(struct umad_end *end)
{
	return wait_within(fixture_readable(end), 60 * 1000);
}

void fixture_quiesce(void)
{
	int i;

	for (i = 0; i < 5; i++) {
		fake_hca_flush(ends.a.hca);
		fake_hca_flush(ends.b.hca);
		msleep(20);
	}
}

/* ---- set up ---- */

int fixture_end_init(struct umad_end *end, const struct fake_hca_params *params)
{
	end->hca = fake_hca_create(params);
	if (!end->hca)
		return -ENOMEM;
	end->port = umad_find_port(&end->hca->ibdev, 1);
	return end->port ? fixture_open(end, O_NONBLOCK) : -ENODEV;
}

void fixture_end_exit(struct umad_end *end)
{
	fixture_close(end);
	if (end->hca)
		fake_hca_destroy(end->hca);
	memset(end, 0, sizeof(*end));
}

int fixture_init(struct kunit *test)
{
	static const struct fake_hca_params params = {
		.link_layer = IB_LINK_LAYER_INFINIBAND,
	};
	int ret;

	memset(&ends, 0, sizeof(ends));
	fixture_mad = kvzalloc(sizeof(*fixture_mad), GFP_KERNEL);
	fixture_mem = fixture_mmap(test, NULL, TEST_MEM, PROT_READ | PROT_WRITE);
	ret = fixture_end_init(&ends.a, &params);
	if (!ret)
		ret = fixture_end_init(&ends.b, &params);
	if (ret)
		return ret;
	ends.ida = fixture_register(&ends.a, TEST_CLASS, 0, 0, 0);
	ends.idb = fixture_register(&ends.b, TEST_CLASS, IB_MGMT_METHOD_GET, 0, 0);
	/* ib_sa creates its address handle to the SM by itself: wait for it. */
	msleep(100);
	ends.a.other_ahs = atomic_read(&ends.a.hca->alive[FAKE_AH]);
	ends.b.other_ahs = atomic_read(&ends.b.hca->alive[FAKE_AH]);
	return fixture_mad && !ends.ida && !ends.idb ? 0 : -EINVAL;
}

void fixture_exit(struct kunit *test)
{
	fixture_end_exit(&ends.a);
	fixture_end_exit(&ends.b);
	kvfree(fixture_mad);
	fixture_mad = NULL;
}
