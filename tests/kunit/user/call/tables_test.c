// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The definitions of stock drivers in our table of methods: each method is called with
 * its mandatory attributes, then with all of them; each kind of object is created, used
 * by methods that take one, and destroyed, with and without the device.
 */
#include <linux/file.h>
#include "commands.h"
#include "methods.h"
#include "user/queues/process_queues.h"
#include "user/uverbs/race.h"
#include "tables.h"
#include "user/fixture.h"

#define MADE		64
#define NO_HANDLE	(-1)

/* What the handlers got; one case runs at a time. */
static struct {
	const struct driver_table *table;
	unsigned int calls[MADE];	/* of each method */
	int alive;			/* objects of the driver's own kinds */
	bool unsupported;
} seen;

/* A process with a device of such a driver. */
struct customer {
	struct commands *c;
	int handles[UVERBS_NR_TYPES];	/* of the last object of a type, or NO_HANDLE */
	struct {
		u16 type;
		bool is_fd;
		int handle;
	} made[MADE];
	unsigned int nr_made;
};

/* ---- the driver ---- */

static int make_flow(struct ib_uobject *uobj, struct ib_device *ibdev)
{
	struct ib_uflow_resources *resources = flow_resources_alloc(1);
	struct ib_flow *flow = kzalloc(sizeof(*flow), GFP_KERNEL);

	if (!resources || !flow || refuse(ibdev, FAKE_FLOW)) {
		ib_uverbs_flow_resources_free(resources);
		kfree(flow);
		return -ENOMEM;
	}
	ib_set_flow(uobj, flow, NULL, ibdev, resources);
	return 0;
}

static int make_flow_action(struct ib_uobject *uobj, struct ib_device *ibdev)
{
	struct ib_flow_action *action = kzalloc(sizeof(*action), GFP_KERNEL);

	if (!action || refuse(ibdev, FAKE_FLOW_ACTION)) {
		kfree(action);
		return -ENOMEM;
	}
	uverbs_flow_action_fill_action(action, uobj, ibdev, IB_FLOW_ACTION_UNSPECIFIED);
	return 0;
}

static int make_own(struct ib_uobject *uobj)
{
	/* The object of a descriptor is its file. */
	if (!uobj->object)
		uobj->object = &seen;
	seen.alive++;
	return 0;
}

int tables_call(const char *method, struct uverbs_attr_bundle *attrs, u16 made)
{
	struct ib_uobject *uobj;
	unsigned int i;
	int ret;

	for (i = 0; i < seen.table->nr_methods; i++)
		if (seen.table->methods[i] == method)
			seen.calls[i]++;
	if (made == TABLES_MADE_NONE)
		return 0;
	uobj = uverbs_attr_get_uobject(attrs, made);
	switch (uobj_get_object_id(uobj)) {
	case UVERBS_OBJECT_FLOW:
		ret = make_flow(uobj, attrs->context->device);
		break;
	case UVERBS_OBJECT_FLOW_ACTION:
		ret = make_flow_action(uobj, attrs->context->device);
		break;
	default:
		ret = make_own(uobj);
		break;
	}
	if (!ret)
		uverbs_finalize_uobj_create(attrs, made);
	return ret;
}

int tables_cleanup(struct ib_uobject *uobj, enum rdma_remove_reason why,
		   struct uverbs_attr_bundle *attrs)
{
	seen.alive--;
	return 0;
}

void tables_fd_cleanup(struct ib_uobject *uobj, enum rdma_remove_reason why)
{
	seen.alive--;
}

bool tables_supported(struct ib_device *ibdev)
{
	return !seen.unsupported;
}

const struct file_operations tables_fops = {
	.owner = THIS_MODULE,
	.release = uverbs_uobject_fd_release,
};

/* ---- IDs from indices of the table ---- */

static u16 method_id(unsigned int i)
{
	return i < UVERBS_API_METHOD_KEY_NUM_CORE ? i - 1 :
	       NS | (i - UVERBS_API_METHOD_KEY_NUM_CORE);
}

/* Slots in a bundle begin at key 1. */
static u16 attr_id(unsigned int bkey)
{
	unsigned int key = bkey + 1;

	return key & 1 ? key >> 1 : NS | ((key >> 1) - 1);
}

static int *handle_of(struct customer *p, u16 type)
{
	return &p->handles[uapi_key_obj(type) >> UVERBS_API_OBJ_KEY_SHIFT];
}

/* ---- a call as its definition allows ---- */

static void add_enum(struct customer *p, u16 id, const struct uverbs_attr_spec *spec)
{
	static const u8 zeros[64];
	struct ib_uverbs_attr *attr;
	unsigned int i = 0;

	while (spec->u2.enum_def.ids[i].type != UVERBS_ATTR_TYPE_PTR_IN)
		i++;
	KUNIT_ASSERT_LT(p->c->test, i, spec->u.enum_def.num_elems);
	attr = commands_in(p->c, id, zeros, spec->u2.enum_def.ids[i].u.ptr.min_len);
	attr->attr_data.enum_data.elem_id = i;
}

/* Returns false if it needs an object of a type of which there is none yet. */
static bool add_object(struct customer *p, u16 id, const struct uverbs_attr_spec *spec)
{
	u16 type = spec->u.obj.obj_type;
	int handle = 0;

	if (spec->u.obj.access != UVERBS_ACCESS_NEW)
		handle = type == UVERBS_IDR_ANY_OBJECT ? queues.pd : *handle_of(p, type);
	if (handle == NO_HANDLE)
		return false;
	commands_fd(p->c, id, handle);
	return true;
}

static bool add_attr(struct customer *p, u16 id, const struct uverbs_attr_spec *spec)
{
	static const u8 zeros[PAGE_SIZE];
	u32 handle;

	switch (spec->type) {
	case UVERBS_ATTR_TYPE_PTR_IN:
		commands_in(p->c, id, zeros, spec->u.ptr.min_len);
		return true;
	case UVERBS_ATTR_TYPE_PTR_OUT:
		commands_out(p->c, id, spec->u.ptr.min_len);
		return true;
	case UVERBS_ATTR_TYPE_ENUM_IN:
		add_enum(p, id, spec);
		return true;
	case UVERBS_ATTR_TYPE_RAW_FD:
		commands_fd(p->c, id, 0);
		return true;
	case UVERBS_ATTR_TYPE_IDRS_ARRAY:
		handle = *handle_of(p, spec->u2.objs_arr.obj_type);
		if (handle == NO_HANDLE)
			return false;
		commands_in(p->c, id, &handle, sizeof(handle));
		return true;
	default:
		return add_object(p, id, spec);
	}
}

/*
 * Lays out the mandatory attributes, or with @all every one;
 * returns false if an object is missing.
 */
static bool lay_out(struct customer *p, const struct uverbs_api_type *type,
		    unsigned int i, bool all)
{
	const struct uverbs_method *method = type->methods[i];
	const struct uverbs_attr_spec *spec;
	unsigned int bkey;

	commands_begin(p->c, type->object.id, method_id(i));
	for (bkey = 0; bkey < method->nr_attrs; bkey++) {
		spec = method->attrs[bkey];
		if (spec && (all || spec->mandatory) && !spec->is_udata &&
		    !add_attr(p, attr_id(bkey), spec))
			return false;
	}
	return true;
}

static void remember(struct customer *p, const struct uverbs_method *method)
{
	const struct uverbs_attr_spec *spec;
	unsigned int bkey;
	int handle;

	for (bkey = 0; bkey < method->nr_attrs; bkey++) {
		spec = method->attrs[bkey];
		if (!spec || (spec->type != UVERBS_ATTR_TYPE_IDR &&
			      spec->type != UVERBS_ATTR_TYPE_FD) ||
		    spec->u.obj.access != UVERBS_ACCESS_NEW)
			continue;
		handle = commands_got_handle(p->c, attr_id(bkey));
		*handle_of(p, spec->u.obj.obj_type) = handle;
		KUNIT_ASSERT_LT(p->c->test, p->nr_made, MADE);
		p->made[p->nr_made].type = spec->u.obj.obj_type;
		p->made[p->nr_made].is_fd = spec->type == UVERBS_ATTR_TYPE_FD;
		p->made[p->nr_made++].handle = handle;
	}
}

/* Calls all methods not called before, if they can be; returns whether there was one. */
static bool call_some(struct customer *p, bool called[UVERBS_NR_TYPES][UVERBS_NR_METHODS],
		      bool all)
{
	const struct uverbs_api *api = p->c->udev->uapi;
	bool progress = false;
	unsigned int i, j;

	for (i = 0; i < UVERBS_NR_TYPES; i++) {
		for (j = 0; api->types[i] && j < UVERBS_NR_METHODS; j++) {
			const struct uverbs_method *method = api->types[i]->methods[j];

			if (called[i][j] || !method || !method->driver_handler ||
			    !lay_out(p, api->types[i], j, all))
				continue;
			KUNIT_EXPECT_EQ_MSG(p->c->test, commands_ioctl(p->c), 0,
					    "object %#x method %#x",
					    api->types[i]->object.id, method_id(j));
			remember(p, method);
			called[i][j] = true;
			progress = true;
		}
	}
	return progress;
}

static void call_each(struct customer *p, bool all)
{
	bool (*called)[UVERBS_NR_METHODS] =
		kunit_kcalloc(p->c->test, UVERBS_NR_TYPES, sizeof(*called), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(p->c->test, called);
	while (call_some(p, called, all))
		;
}

/* ---- the end of created objects ---- */

/* Calls the destroy method of its type, the driver's own if there is one. */
static int end_object(struct customer *p, u16 id, int handle)
{
	const struct uverbs_api_type *type =
		p->c->udev->uapi->types[uapi_key_obj(id) >> UVERBS_API_OBJ_KEY_SHIFT];
	unsigned int i = UVERBS_NR_METHODS;

	while (i-- && !(type->methods[i] && type->methods[i]->destroys))
		;
	KUNIT_ASSERT_LT(p->c->test, i, (unsigned int)UVERBS_NR_METHODS);
	*handle_of(p, id) = handle;
	lay_out(p, type, i, false);
	return commands_ioctl(p->c);
}

/* Destroys the newest object first, as some use older ones. */
static void end_all(struct customer *p)
{
	while (p->nr_made--) {
		if (p->made[p->nr_made].is_fd)
			fixture_close_fd(p->made[p->nr_made].handle);
		else
			KUNIT_EXPECT_EQ_MSG(p->c->test,
					    end_object(p, p->made[p->nr_made].type,
						       p->made[p->nr_made].handle), 0,
					    "object %#x", p->made[p->nr_made].type);
	}
	p->nr_made = 0;
}

/* By the core's method, for which a driver may have more mandatory attributes. */
static void make_dm(struct customer *p)
{
	const struct uverbs_api_type *type =
		p->c->udev->uapi->types[UVERBS_OBJECT_DM];
	unsigned int i;

	KUNIT_ASSERT_TRUE(p->c->test, lay_out(p, type, UVERBS_METHOD_DM_ALLOC + 1, false));
	for (i = 0; i < p->c->hdr.num_attrs; i++)
		if (p->c->attrs[i].attr_id == UVERBS_ATTR_ALLOC_DM_LENGTH)
			p->c->attrs[i].data = PAGE_SIZE;
	KUNIT_ASSERT_EQ(p->c->test, commands_ioctl(p->c), 0);
	*handle_of(p, UVERBS_OBJECT_DM) =
		commands_got_handle(p->c, UVERBS_ATTR_ALLOC_DM_HANDLE);
}

/* ---- cases ---- */

static const struct driver_table *const tables[] = {
	&tables_mlx5, &tables_efa, &tables_bnxt_re,
};

static void begin(struct kunit *test, struct customer *p, const struct driver_table *table)
{
	static const struct fake_hca_params params = {
		.link_layer = IB_LINK_LAYER_INFINIBAND, .user = true,
	};
	static const struct { u16 type; int kind; } own[] = {
		{ UVERBS_OBJECT_QP, KIND_QP }, { UVERBS_OBJECT_MR, KIND_MR },
	};
	unsigned int i;
	u32 handle;

	memset(p, 0, sizeof(*p));
	memset(p->handles, 0xff, sizeof(p->handles));
	memset(seen.calls, 0, sizeof(seen.calls));
	seen.table = table;
	KUNIT_ASSERT_LE(test, table->nr_methods, (unsigned int)MADE);
	KUNIT_ASSERT_EQ(test, commands_init_driver(test, &params, table->defs), 0);
	p->c = test->priv;
	queues.pd = commands_pd(p->c);
	queues.cq = queues_cq(p->c);
	*handle_of(p, UVERBS_OBJECT_PD) = queues.pd;
	*handle_of(p, UVERBS_OBJECT_CQ) = queues.cq;
	if (seen.unsupported)
		return;
	for (i = 0; i < ARRAY_SIZE(own); i++) {
		KUNIT_ASSERT_EQ(test, race_kinds[own[i].kind].make(p->c, queues.pd,
								   queues.cq, &handle), 0);
		*handle_of(p, own[i].type) = handle;
	}
	make_dm(p);
}

static void end(struct kunit *test)
{
	commands_exit(test);
	test->priv = NULL;
	KUNIT_EXPECT_EQ(test, seen.alive, 0);
}

static void expect_calls(struct kunit *test, unsigned int n)
{
	unsigned int i;

	for (i = 0; i < seen.table->nr_methods; i++)
		KUNIT_EXPECT_EQ_MSG(test, seen.calls[i], n, "%s", seen.table->methods[i]);
}

static struct customer *customer(struct kunit *test)
{
	struct customer *p = kunit_kzalloc(test, sizeof(*p), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, p);
	return p;
}

static void each_method_is_reached(struct kunit *test)
{
	struct customer *p = customer(test);
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(tables); i++) {
		begin(test, p, tables[i]);
		call_each(p, false);
		expect_calls(test, 1);
		/* Optional attributes may need objects that were created only now. */
		call_each(p, true);
		expect_calls(test, 2);
		end_all(p);
		KUNIT_EXPECT_EQ(test, seen.alive, 0);
		end(test);
	}
}

/* Processes destroy the objects of a removed device, and close its descriptors. */
static void what_was_made_outlives_the_device(struct kunit *test)
{
	struct customer *p = customer(test);
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(tables); i++) {
		begin(test, p, tables[i]);
		call_each(p, false);
		ib_unregister_device(&p->c->hca->ibdev);
		KUNIT_EXPECT_EQ(test, seen.alive, 0);
		end_all(p);
		end(test);
	}
}

/* Likewise what is left until the file is closed. */
static void what_is_not_destroyed_ends_with_the_file(struct kunit *test)
{
	struct customer *p = customer(test);
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(tables); i++) {
		begin(test, p, tables[i]);
		call_each(p, false);
		commands_close(p->c);
		KUNIT_EXPECT_EQ(test, seen.alive, 0);
		while (p->nr_made--)
			if (p->made[p->nr_made].is_fd)
				fixture_close_fd(p->made[p->nr_made].handle);
		end(test);
	}
}

/* Firmware without such objects: mlx5's general objects, and those that need them. */
static void objects_that_a_device_has_not(struct kunit *test)
{
	struct customer *p = customer(test);
	const struct uverbs_api_type *type;
	unsigned int i, nr_disabled = 0;

	seen.unsupported = true;
	begin(test, p, &tables_mlx5);
	for (i = 0; i < UVERBS_NR_TYPES; i++) {
		type = p->c->udev->uapi->types[i];
		if (!type || !type->object.disabled)
			continue;
		nr_disabled++;
		commands_begin(p->c, type->object.id, NS);
		KUNIT_EXPECT_EQ(test, commands_ioctl(p->c), -EPROTONOSUPPORT);
	}
	KUNIT_EXPECT_GE(test, nr_disabled, 5u);
	end(test);
	seen.unsupported = false;
}

static int tables_init(struct kunit *test)
{
	memset(&seen, 0, sizeof(seen));
	return 0;
}

/* Ends a case that was aborted. */
static void tables_exit(struct kunit *test)
{
	seen.unsupported = false;
	if (test->priv)
		commands_exit(test);
}

static struct kunit_case tables_cases[] = {
	KUNIT_CASE(each_method_is_reached),
	KUNIT_CASE(what_was_made_outlives_the_device),
	KUNIT_CASE(what_is_not_destroyed_ends_with_the_file),
	KUNIT_CASE(objects_that_a_device_has_not),
	{}
};

static struct kunit_suite uverbs_tables_suite = {
	.name = "uverbs_tables",
	.init = tables_init,
	.exit = tables_exit,
	.test_cases = tables_cases,
};

kunit_test_suite(uverbs_tables_suite);
