// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* See fixture.h. */
#include <linux/fdtable.h>
#include <linux/file.h>
#include <linux/fs.h>
#include "user/call/methods.h"
#include "fixture.h"

/* Drivers get only the object, so the fixture of the current test is kept here. */
static struct fixture *now;

static char letter_of(const struct ib_uobject *uobj)
{
	return container_of(uobj, struct fixture_object, uobj)->letter;
}

static bool is_there(char letter)
{
	struct ib_uobject *uobj;

	list_for_each_entry(uobj, &now->file->objects, list)
		if (letter_of(uobj) == letter)
			return true;
	return false;
}

int fixture_note(struct ib_uobject *uobj, enum rdma_remove_reason why)
{
	char letter = letter_of(uobj);

	if (why != RDMA_REMOVE_DRIVER_FAILURE || now->refuse_last) {
		if (letter == now->refuse && now->refusals) {
			now->refusals--;
			return -EBUSY;
		}
		if (letter == 'a' && now->uses && is_there(now->uses))
			return -EBUSY;
	}
	if (now->nr_destroyed < (int)sizeof(now->destroyed) - 1) {
		now->why[now->nr_destroyed] = '0' + why;
		now->destroyed[now->nr_destroyed++] = letter;
	}
	return 0;
}

static int thing_destroy(struct ib_uobject *uobj, enum rdma_remove_reason why,
			 struct uverbs_attr_bundle *attrs)
{
	return fixture_note(uobj, why);
}

static void thing_fd_destroy(struct ib_uobject *uobj, enum rdma_remove_reason why)
{
	fixture_note(uobj, why);
}

static const struct file_operations thing_fops = {
	.owner = THIS_MODULE,
	.release = uverbs_uobject_fd_release,
};

static const struct uverbs_obj_idr_type thing_idr = {
	.type = { .type_class = &uverbs_idr_class, .obj_size = sizeof(struct fixture_object) },
	.destroy_object = thing_destroy,
};

static const struct uverbs_obj_fd_type thing_fd = {
	.type = { .type_class = &uverbs_fd_class, .obj_size = sizeof(struct fixture_object) },
	.destroy_object = thing_fd_destroy,
	.fops = &thing_fops,
	.name = "[fixture]",
	.flags = O_RDONLY,
};

const struct uverbs_api_object fixture_type = {
	.type_attrs = &thing_idr.type, .type_class = &uverbs_idr_class, .id = 1,
};

const struct uverbs_api_object fixture_other = {
	.type_attrs = &thing_idr.type, .type_class = &uverbs_idr_class, .id = 2,
};

const struct uverbs_api_object fixture_fd = {
	.type_attrs = &thing_fd.type, .type_class = &uverbs_fd_class, .id = 3,
};

static int thing_alloc_ucontext(struct ib_ucontext *context,
				struct ib_udata *udata)
{
	if (now->refuse_context)
		return now->refuse_context;
	now->contexts++;
	return 0;
}

static void thing_dealloc_ucontext(struct ib_ucontext *context)
{
	now->contexts--;
}

static const struct ib_device_ops thing_ops = {
	.alloc_ucontext = thing_alloc_ucontext,
	.dealloc_ucontext = thing_dealloc_ucontext,
	.size_ib_ucontext = sizeof(struct ib_ucontext),
};

void fixture_call(struct fixture *t)
{
	t->call = uverbs_call_init(t->buf, sizeof(t->buf), 0, t->file);
	t->attrs = &t->call->bundle;
}

int fixture_open(struct fixture *t)
{
	static const struct fake_hca_params params = {
		.link_layer = IB_LINK_LAYER_INFINIBAND,
	};
	int ret = -ENOMEM;

	t->hca = fake_hca_alloc(&params);
	if (!t->hca)
		return ret;
	ib_set_device_ops(&t->hca->ibdev, &thing_ops);
	t->hca->ibdev.driver_def = methods_defs;
	t->hca->ibdev.uverbs_cmd_mask |= GENMASK_ULL(63, WRITE_PLAIN);
	ret = fake_hca_register(t->hca);
	if (ret) {
		fake_hca_free(t->hca);
		return ret;
	}
	t->udev = uverbs_device_get(&t->hca->ibdev);
	if (!t->udev)
		return -ENODEV;
	t->file = uverbs_file_create(t->udev);
	if (IS_ERR(t->file))
		return PTR_ERR(t->file);
	fixture_call(t);
	return 0;
}

void fixture_close(struct fixture *t)
{
	if (t->file)
		uverbs_file_close(t->file);
	t->file = NULL;
}

int fixture_init(struct kunit *test)
{
	struct fixture *t = kunit_kzalloc(test, sizeof(*t), GFP_KERNEL);
	int ret;

	if (!t)
		return -ENOMEM;
	t->test = test;
	test->priv = t;
	now = t;
	ret = fixture_open(t);
	if (ret)
		return ret;
	ret = uverbs_context_begin(t->attrs);
	if (ret)
		return ret;
	uverbs_context_commit(t->attrs);
	fixture_call(t);
	return 0;
}

void fixture_exit(struct kunit *test)
{
	struct fixture *t = test->priv;

	if (!t)
		return;
	fixture_close(t);
	if (t->udev)
		uverbs_device_put(t->udev);
	if (t->hca)
		fake_hca_destroy(t->hca);
	KUNIT_EXPECT_EQ(test, t->contexts, 0);
}

int fixture_make(struct fixture *t, const struct uverbs_api_object *type,
		 char letter)
{
	struct ib_uobject *uobj = rdma_alloc_begin_uobject(type, t->attrs);
	int id;

	if (IS_ERR(uobj))
		return PTR_ERR(uobj);
	container_of(uobj, struct fixture_object, uobj)->letter = letter;
	if (type != &fixture_fd)
		uobj->object = t;
	id = uobj->id;
	rdma_alloc_commit_uobject(uobj, t->attrs);
	return id;
}

int fixture_lookup(struct fixture *t, const struct uverbs_api_object *type, int id,
		   enum rdma_lookup_mode mode, struct ib_uobject **uobj)
{
	*uobj = rdma_lookup_get_uobject(type, t->file, id, mode, t->attrs);
	return PTR_ERR_OR_ZERO(*uobj);
}

void fixture_close_fd(int fd)
{
	close_fd(fd);
	/* The last fput() of a kernel thread is deferred to a work item. */
	flush_delayed_fput();
}
