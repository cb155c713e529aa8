// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* /dev/infiniband/uverbs*: what a process writes to its file, and its ioctls. */
#include <linux/fs.h>
#include <linux/uaccess.h>
#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/rdma_user_ioctl_cmds.h>
#include <rdma/uverbs_ioctl.h>
#include "../user/uverbs_test.h"
#include "wait.h"
#include "uverbs.h"

static void __user *request_at(const struct fuzz *f)
{
	return (void __user *)f->mem + FUZZ_ARENA - FUZZ_MESSAGE;
}

static struct file *open_node(struct fuzz *f)
{
	struct uverbs_files *files = f->priv;
	struct uverbs_device *udev = uverbs_device_get(&files->hca->ibdev);
	struct file *filp = ERR_PTR(-ENODEV);
	char path[40];

	if (udev) {
		snprintf(path, sizeof(path), "/dev/infiniband/%s", dev_name(&udev->dev));
		filp = filp_open(path, O_RDWR | O_NONBLOCK, 0);
		uverbs_device_put(udev);
	}
	return filp;
}

int uverbs_begin(struct fuzz *f)
{
	struct uverbs_files *files = f->priv;

	files->filp = open_node(f);
	return PTR_ERR_OR_ZERO(files->filp);
}

void uverbs_end(struct fuzz *f)
{
	struct uverbs_files *files = f->priv;

	filp_close(files->filp, NULL);
	fuzz_close_fds();
}

static bool write_command(struct fuzz *f, const struct fuzz_op *op)
{
	struct uverbs_files *files = f->priv;
	struct ib_uverbs_cmd_hdr *hdr = (void *)f->msg;
	struct ib_uverbs_ex_cmd_hdr *ex = (void *)(hdr + 1);
	void *body = op->flags & EXTENDED ? (void *)(ex + 1) : (void *)(hdr + 1);

	fuzz_fill(f, op->fields, body, op->in / 4);
	uverbs_fill_rest(f, op, body);
	f->len = (u8 *)body - f->msg + op->in;
	hdr->command = op->number;
	if (op->flags & EXTENDED) {
		hdr->command |= IB_USER_VERBS_CMD_FLAG_EXTENDED;
		hdr->in_words = op->in / 8;
		hdr->out_words = op->out / 8;
		ex->response = op->out ? fuzz_resp_at(f) : 0;
	} else {
		hdr->in_words = f->len / 4;
		hdr->out_words = op->out / 4;
	}
	fuzz_spoil(f);
	if (copy_to_user(request_at(f), f->msg, f->len))
		return false;
	return files->filp->f_op->write(files->filp, request_at(f), f->len,
					&files->filp->f_pos) >= 0;
}

static bool send_ioctl(struct fuzz *f)
{
	struct uverbs_files *files = f->priv;

	fuzz_spoil(f);
	if (copy_to_user(request_at(f), f->msg, f->len))
		return false;
	return files->filp->f_op->unlocked_ioctl(files->filp, RDMA_VERBS_IOCTL,
						 (unsigned long)request_at(f)) >= 0;
}

static void finish_header(struct fuzz *f, unsigned int attrs, u16 object, u16 method)
{
	struct uverbs_files *files = f->priv;
	struct ib_uverbs_ioctl_hdr *hdr = (void *)f->msg;

	hdr->object_id = object;
	hdr->method_id = method;
	hdr->num_attrs = attrs;
	hdr->driver_id = files->hca->ibdev.ops.driver_id;
	hdr->length = sizeof(*hdr) + attrs * sizeof(*hdr->attrs);
}

/* A command, as its ioctl: first the attributes, after them what is written otherwise. */
static bool invoke_command(struct fuzz *f, const struct fuzz_op *op)
{
	struct ib_uverbs_ioctl_hdr *hdr = (void *)f->msg;
	struct ib_uverbs_attr *attr = hdr->attrs;
	void *body = attr + 3;
	u32 number = op->number;

	if (op->flags & EXTENDED)
		number |= IB_USER_VERBS_CMD_FLAG_EXTENDED;
	fuzz_fill(f, op->fields, body, op->in / 4);
	uverbs_fill_rest(f, op, body);
	*attr++ = (struct ib_uverbs_attr) {
		UVERBS_ATTR_CORE_IN, op->in, UVERBS_ATTR_F_MANDATORY, {},
		{ (unsigned long)request_at(f) + ((u8 *)body - f->msg) }
	};
	*attr++ = (struct ib_uverbs_attr) {
		UVERBS_ATTR_WRITE_CMD, 8, UVERBS_ATTR_F_MANDATORY, {}, { number }
	};
	/* Without output there is no attribute for it. */
	*attr++ = (struct ib_uverbs_attr) {
		UVERBS_ATTR_CORE_OUT, op->out, UVERBS_ATTR_F_MANDATORY, {},
		{ fuzz_resp_at(f) }
	};
	finish_header(f, op->out ? 3 : 2, UVERBS_OBJECT_DEVICE, UVERBS_METHOD_INVOKE_WRITE);
	f->len = (u8 *)body - f->msg + op->in;
	return send_ioctl(f);
}

static bool call_method(struct fuzz *f, const struct fuzz_op *op)
{
	struct ib_uverbs_ioctl_hdr *hdr = (void *)f->msg;
	unsigned int n = uverbs_attrs(f, op, hdr->attrs);

	finish_header(f, n, op->number >> 16, op->number);
	f->len = hdr->length;
	return send_ioctl(f);
}

static bool read_fd(struct fuzz *f, const struct fuzz_op *op)
{
	struct file *filp = fget(fuzz_handle(f, *op->needs));
	ssize_t ret = -EBADF;
	loff_t pos = 0;

	if (!filp)
		return false;
	filp->f_flags |= O_NONBLOCK;
	if (filp->f_op->read)
		ret = filp->f_op->read(filp, (char __user *)fuzz_resp_at(f), 8, &pos);
	fput(filp);
	/* Nothing to read is an answer, too. */
	return ret >= 0 || ret == -EAGAIN;
}

/* What an accepted call has made. */
static u32 made(struct fuzz *f, const struct fuzz_op *op)
{
	struct ib_uverbs_attr attr;

	if (*op->takes && *op->takes != 'k')
		return f->used[*op->takes - 'a'];
	if (op->flags & EXTENDED && *op->makes == 'l')
		return fuzz_resp_u32(f, 1);
	if (op->flags & EXTENDED && (*op->makes == 'v' || *op->makes == 't'))
		return fuzz_resp_u32(f, 2);
	if (!(op->flags & METHOD))
		return fuzz_resp_u32(f, 0);
	if (copy_from_user(&attr, request_at(f) + sizeof(struct ib_uverbs_ioctl_hdr),
			   sizeof(attr)))
		return 0;
	return attr.data;
}

bool uverbs_call(struct fuzz *f, const struct fuzz_op *op)
{
	bool ok;

	if (op->flags & READ_FD)
		ok = read_fd(f, op);
	else if (op->flags & METHOD)
		ok = call_method(f, op);
	else if (f->call->seed % 3 == 2)
		ok = invoke_command(f, op);
	else
		ok = write_command(f, op);
	if (ok)
		fuzz_account(f, op, (u32[]) { made(f, op), f->used['k' - 'a'] });
	return ok;
}

int uverbs_left(struct fuzz *f)
{
	struct uverbs_files *files = f->priv;

	return fake_hca_objects(files->hca) - files->others;
}

int uverbs_init(struct fuzz *f)
{
	static const struct fake_hca_params params = {
		.link_layer = IB_LINK_LAYER_INFINIBAND,
		.user = true,
	};
	struct uverbs_files *files = kunit_kzalloc(f->test, sizeof(*files), GFP_KERNEL);

	f->priv = files;
	if (!files)
		return -ENOMEM;
	files->hca = fake_hca_create(&params);
	if (!files->hca)
		return -ENOMEM;
	/* ib_sa makes its address handle to the SM by itself. */
	wait_within(atomic_read(&files->hca->alive[FAKE_AH]), 1000);
	files->others = fake_hca_objects(files->hca);
	return 0;
}

void uverbs_exit(struct fuzz *f)
{
	struct uverbs_files *files = f->priv;

	if (files && files->hca)
		fake_hca_destroy(files->hca);
}
