// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* See commands.h. */
#include <linux/uaccess.h>
#include "commands.h"
#include "user/uverbs_test.h"

#define AT_REQUEST	0
#define AT_RESPONSE	1
#define AT_ATTRS	2
#define AT_DATA		3
#define NOT_MAPPED	8ul		/* an address that is not mapped */
#define NO_HANDLE	0x7ffffff0
#define NO_ATTR		0x0ff0

static unsigned long page_at(const struct commands *c, unsigned int page)
{
	return c->mem + page * PAGE_SIZE;
}

static void to_user(struct commands *c, unsigned long at, const void *from, size_t len)
{
	KUNIT_ASSERT_EQ(c->test, copy_to_user((void __user *)at, from, len), 0ul);
}

static void from_user(struct commands *c, void *to, unsigned long at, size_t len)
{
	KUNIT_ASSERT_EQ(c->test, copy_from_user(to, (void __user *)at, len), 0ul);
}

/* ---- its file ---- */

static int begin_context(struct ib_uverbs_file *file)
{
	u64 buf[64];
	struct uverbs_call *call = uverbs_call_init(buf, sizeof(buf), 0, file);
	int ret = uverbs_context_begin(&call->bundle);

	if (!ret)
		uverbs_context_commit(&call->bundle);
	return ret;
}

static int init_bare(struct kunit *test, const struct fake_hca_params *params,
		     const struct uapi_definition *driver)
{
	struct commands *c = kunit_kzalloc(test, sizeof(*c), GFP_KERNEL);
	int ret;

	if (!c)
		return -ENOMEM;
	c->test = test;
	test->priv = c;
	c->hca = fake_hca_alloc(params);
	if (!c->hca)
		return -ENOMEM;
	c->hca->ibdev.driver_def = driver;
	ret = fake_hca_register(c->hca);
	if (ret) {
		fake_hca_free(c->hca);
		c->hca = NULL;
		return ret;
	}
	c->udev = uverbs_device_get(&c->hca->ibdev);
	if (!c->udev)
		return -ENODEV;
	c->file = uverbs_file_create(c->udev);
	if (IS_ERR(c->file)) {
		ret = PTR_ERR(c->file);
		c->file = NULL;
		return ret;
	}
	c->mem = user_pages(test, COMMANDS_PAGES, TEST_RW);
	/* Touched here, so that a case causes no page faults that allocate. */
	user_fill(test, c->mem, COMMANDS_PAGES, 0);
	return 0;
}

int commands_init_bare(struct kunit *test, const struct fake_hca_params *params)
{
	return init_bare(test, params, NULL);
}

int commands_init_driver(struct kunit *test, const struct fake_hca_params *params,
			 const struct uapi_definition *driver)
{
	struct commands *c;
	int ret = init_bare(test, params, driver);

	if (ret)
		return ret;
	c = test->priv;
	return begin_context(c->file);
}

int commands_init_hca(struct kunit *test, const struct fake_hca_params *params)
{
	return commands_init_driver(test, params, NULL);
}

int commands_init(struct kunit *test)
{
	static const struct fake_hca_params params = {
		.link_layer = IB_LINK_LAYER_INFINIBAND,
		.user = true,
	};

	return commands_init_hca(test, &params);
}

void commands_close(struct commands *c)
{
	if (c->file)
		uverbs_file_close(c->file);
	c->file = NULL;
}

void commands_exit(struct kunit *test)
{
	struct commands *c = test->priv;

	if (!c)
		return;
	commands_close(c);
	if (c->udev)
		uverbs_device_put(c->udev);
	if (!c->hca)
		return;
	KUNIT_EXPECT_EQ(test, fake_hca_objects(c->hca), 0);
	fake_hca_destroy(c->hca);
}

struct ib_uverbs_file *commands_open(struct commands *c)
{
	struct ib_uverbs_file *file = uverbs_file_create(c->udev);

	KUNIT_ASSERT_FALSE(c->test, IS_ERR(file));
	KUNIT_ASSERT_EQ(c->test, begin_context(file), 0);
	return file;
}

int commands_objects(struct commands *c)
{
	size_t n;

	spin_lock(&c->file->objects_lock);
	n = list_count_nodes(&c->file->objects);
	spin_unlock(&c->file->objects_lock);
	return n;
}

/* ---- write() ---- */

unsigned long commands_resp_at(const struct commands *c)
{
	return page_at(c, AT_RESPONSE);
}

static int write_now(struct commands *c, size_t count)
{
	const char __user *at = (const char __user *)page_at(c, AT_REQUEST);
	int idx, ret;

	/* As the write() of the node does. */
	idx = uverbs_section_begin(c->file);
	ret = uverbs_call_write(c->file, at, count);
	if (idx >= 0)
		uverbs_section_end(c->file, idx);
	return ret;
}

int commands_write_raw(struct commands *c, const struct ib_uverbs_cmd_hdr *hdr,
		       const void *data, size_t count)
{
	unsigned long at = page_at(c, AT_REQUEST);

	to_user(c, at, hdr, sizeof(*hdr));
	to_user(c, at + sizeof(*hdr), data, count);
	return write_now(c, sizeof(*hdr) + count);
}

/* A request in the layout of the user: a header, and the data after it. */
struct laid_out {
	struct ib_uverbs_cmd_hdr hdr;
	u8 data[1024];
	size_t count;
};

static void lay_out(struct laid_out *out, u32 command, const void *req, size_t len,
		    size_t resp_len, u64 resp_at)
{
	struct ib_uverbs_ex_cmd_hdr ex = { .response = resp_len ? resp_at : 0 };

	memset(out, 0, sizeof(*out));
	out->hdr.command = command;
	if (command & IB_USER_VERBS_CMD_FLAG_EXTENDED) {
		memcpy(out->data, &ex, sizeof(ex));
		memcpy(out->data + sizeof(ex), req, len);
		out->hdr.in_words = DIV_ROUND_UP(len, 8);
		out->hdr.out_words = DIV_ROUND_UP(resp_len, 8);
		out->count = sizeof(ex) + out->hdr.in_words * 8;
	} else {
		memcpy(out->data, req, len);
		if (resp_len)
			memcpy(out->data, &resp_at, sizeof(resp_at));
		out->count = round_up(len, 4);
		out->hdr.in_words = (sizeof(out->hdr) + out->count) / 4;
		out->hdr.out_words = DIV_ROUND_UP(resp_len, 4);
	}
}

static int send_laid_out(struct commands *c, const struct laid_out *out)
{
	return commands_write_raw(c, &out->hdr, out->data, out->count);
}

static int send_invoke(struct commands *c, u32 command, const void *req, size_t len,
		       void *resp, size_t resp_len)
{
	int ret;

	commands_begin(c, UVERBS_OBJECT_DEVICE, UVERBS_METHOD_INVOKE_WRITE);
	commands_u64(c, UVERBS_ATTR_WRITE_CMD, command);
	commands_in(c, UVERBS_ATTR_CORE_IN, req, len - c->driver_in);
	if (c->driver_in)
		commands_in(c, UVERBS_ATTR_UHW_IN, req + len - c->driver_in,
			    c->driver_in);
	if (resp_len)
		commands_out(c, UVERBS_ATTR_CORE_OUT, resp_len);
	ret = commands_ioctl(c);
	if (resp_len)
		commands_got_data(c, UVERBS_ATTR_CORE_OUT, resp, resp_len);
	return ret;
}

int commands_write(struct commands *c, u32 command, const void *req, size_t len,
		   void *resp, size_t resp_len)
{
	struct laid_out out;
	int ret;

	if (c->invoke)
		return send_invoke(c, command, req, len, resp, resp_len);
	lay_out(&out, command, req, len, resp_len, commands_resp_at(c));
	ret = send_laid_out(c, &out);
	if (resp_len)
		from_user(c, resp, commands_resp_at(c), resp_len);
	return ret;
}

int commands_write_nowhere(struct commands *c, u32 command, const void *req, size_t len,
			   size_t resp_len)
{
	struct laid_out out;

	lay_out(&out, command, req, len, resp_len, NOT_MAPPED);
	return send_laid_out(c, &out);
}

/* ---- ioctl() ---- */

void commands_begin(struct commands *c, u16 object, u16 method)
{
	c->used = 0;
	memset(&c->hdr, 0, sizeof(c->hdr));
	memset(c->attrs, 0, sizeof(c->attrs));
	c->hdr.object_id = object;
	c->hdr.method_id = method;
	c->hdr.driver_id = c->hca->ibdev.ops.driver_id;
}

struct ib_uverbs_attr *commands_attr(struct commands *c, u16 id, u16 len, u64 data)
{
	struct ib_uverbs_attr *attr = &c->attrs[c->hdr.num_attrs];

	KUNIT_ASSERT_LT(c->test, c->hdr.num_attrs, COMMANDS_ATTRS - 1);
	c->hdr.num_attrs++;
	attr->attr_id = id;
	attr->flags = UVERBS_ATTR_F_MANDATORY;
	attr->len = len;
	attr->data = data;
	return attr;
}

static unsigned long take_memory(struct commands *c, size_t len)
{
	unsigned long at = page_at(c, AT_DATA) + c->used;

	c->used += round_up(len, 8) + 8;
	KUNIT_ASSERT_LE(c->test, c->used, (COMMANDS_PAGES - AT_DATA) * PAGE_SIZE);
	return at;
}

struct ib_uverbs_attr *commands_in(struct commands *c, u16 id, const void *data,
				   u16 len)
{
	unsigned long at;
	u64 value = 0;

	if (len <= sizeof(value)) {
		memcpy(&value, data, len);
		return commands_attr(c, id, len, value);
	}
	at = take_memory(c, len);
	to_user(c, at, data, len);
	return commands_attr(c, id, len, at);
}

void commands_u32(struct commands *c, u16 id, u32 value)
{
	commands_in(c, id, &value, sizeof(value));
}

void commands_u64(struct commands *c, u16 id, u64 value)
{
	commands_in(c, id, &value, sizeof(value));
}

void commands_obj(struct commands *c, u16 id, u32 handle)
{
	commands_attr(c, id, 0, handle);
}

void commands_fd(struct commands *c, u16 id, int fd)
{
	commands_attr(c, id, 0, 0)->data_s64 = fd;
}

void commands_new(struct commands *c, u16 id)
{
	commands_attr(c, id, 0, 0);
}

void commands_out(struct commands *c, u16 id, u16 len)
{
	unsigned long at = take_memory(c, len);

	KUNIT_ASSERT_EQ(c->test, clear_user((void __user *)at, len), 0ul);
	commands_attr(c, id, len, at);
}

/* Calls the ioctl with the attributes as they are now. */
static int ioctl_now(struct commands *c)
{
	unsigned long at = page_at(c, AT_ATTRS);
	int idx, ret;

	c->hdr.length = struct_size(&c->hdr, attrs, c->hdr.num_attrs);
	to_user(c, at, c->attrs, sizeof(c->attrs));
	idx = uverbs_section_begin(c->file);
	ret = uverbs_call_ioctl(c->file, &c->hdr, (void __user *)at);
	if (idx >= 0)
		uverbs_section_end(c->file, idx);
	from_user(c, c->got, at, sizeof(c->got));
	return ret;
}

int commands_ioctl(struct commands *c)
{
	return ioctl_now(c);
}

const struct ib_uverbs_attr *commands_got(struct commands *c, u16 id)
{
	unsigned int i;

	for (i = 0; i < c->hdr.num_attrs; i++)
		if (c->got[i].attr_id == id)
			return &c->got[i];
	KUNIT_FAIL_AND_ABORT(c->test, "no attribute %u was sent", id);
	return NULL;
}

u32 commands_got_handle(struct commands *c, u16 id)
{
	return commands_got(c, id)->data;
}

void commands_got_data(struct commands *c, u16 id, void *to, size_t len)
{
	from_user(c, to, commands_got(c, id)->data, len);
}

u32 commands_got_u32(struct commands *c, u16 id)
{
	u32 value;

	commands_got_data(c, id, &value, sizeof(value));
	return value;
}

u64 commands_got_u64(struct commands *c, u16 id)
{
	u64 value;

	commands_got_data(c, id, &value, sizeof(value));
	return value;
}

bool commands_is_written(struct commands *c, u16 id)
{
	return commands_got(c, id)->flags & UVERBS_ATTR_F_VALID_OUTPUT;
}

/* ---- objects ---- */

int commands_destroy(struct commands *c, u16 object, u16 method, u32 handle)
{
	int ret;

	commands_begin(c, object, method);
	commands_obj(c, 0, handle);
	ret = commands_ioctl(c);
	/*
	 * The call itself allocates; only one allocation fails, so the second call works.
	 */
	return ret == -ENOMEM ? commands_ioctl(c) : ret;
}

u32 commands_pd(struct commands *c)
{
	struct ib_uverbs_alloc_pd_resp resp;
	struct ib_uverbs_alloc_pd cmd = {};

	KUNIT_ASSERT_EQ(c->test,
			commands_write(c, IB_USER_VERBS_CMD_ALLOC_PD, &cmd, sizeof(cmd),
				       &resp, sizeof(resp)), 0);
	return resp.pd_handle;
}

void *commands_object(struct commands *c, u16 object, u32 handle)
{
	struct ib_uobject *uobj;
	void *found = NULL;

	rcu_read_lock();
	uobj = xa_load(&c->file->handles, handle);
	if (uobj && uobj->uapi_object->id == object)
		found = uobj->object;
	rcu_read_unlock();
	return found;
}

/* ---- invalid calls ---- */

static void expect(struct commands *c, const char *what, int ret, int want)
{
	KUNIT_EXPECT_EQ_MSG(c->test, ret, want, "%s", what);
}

static void check_parts(struct commands *c, u32 command, const void *req, size_t len,
			size_t resp_len, bool ex)
{
	unsigned int word = ex ? 8 : 4;
	struct laid_out out;

	lay_out(&out, command, req, len - word, resp_len, commands_resp_at(c));
	expect(c, "short request", send_laid_out(c, &out), -ENOSPC);
	lay_out(&out, command, req, len, resp_len, commands_resp_at(c));
	out.count++;
	expect(c, "misaligned", send_laid_out(c, &out), -EINVAL);
	out.count--;
	out.hdr.in_words++;
	expect(c, "count is not the header's", send_laid_out(c, &out), -EINVAL);
	if (!resp_len)
		return;
	lay_out(&out, command, req, len, resp_len - word, commands_resp_at(c));
	expect(c, "short response", send_laid_out(c, &out), -ENOSPC);
	lay_out(&out, command, req, len, resp_len, NOT_MAPPED);
	expect(c, "no memory for the response", send_laid_out(c, &out), -EFAULT);
}

static void check_tail(struct commands *c, u32 command, const void *req, size_t len,
		       size_t resp_len)
{
	struct laid_out out;
	u8 longer[512];

	memcpy(longer, req, len);
	memset(longer + len, 0, 8);
	longer[len + 7] = 1;
	lay_out(&out, command, longer, len + 8, resp_len, commands_resp_at(c));
	expect(c, "a newer program's request", send_laid_out(c, &out), -EOPNOTSUPP);
}

void commands_check_lengths(struct commands *c, u32 command, const void *req,
			    size_t len, size_t resp_len, bool udata)
{
	bool ex = command & IB_USER_VERBS_CMD_FLAG_EXTENDED;
	int before = commands_objects(c);
	u8 resp[512];

	check_parts(c, command, req, len, resp_len, ex);
	if (!udata)
		check_tail(c, command, req, len, resp_len);
	/* A request has at least one word. */
	expect(c, "short by ioctl",
	       send_invoke(c, command, req, len - 1, resp, resp_len),
	       len > sizeof(u32) ? -ENOSPC : -EINVAL);
	if (resp_len)
		expect(c, "short response by ioctl",
		       send_invoke(c, command, req, len, resp, resp_len - 1), -ENOSPC);
	KUNIT_EXPECT_EQ(c->test, commands_objects(c), before);
}

static const struct uverbs_attr_spec *spec_of(struct commands *c,
					      const struct ib_uverbs_attr *attr)
{
	const struct uverbs_method *method =
		uverbs_api_method(c->udev->uapi, c->hdr.object_id, c->hdr.method_id);
	u32 bkey = uapi_bkey_attr(uapi_key_attr(attr->attr_id));

	KUNIT_ASSERT_NOT_NULL(c->test, method);
	return bkey < method->nr_attrs ? method->attrs[bkey] : NULL;
}

static void expect_call(struct commands *c, unsigned int i, const char *what, int want)
{
	int ret = ioctl_now(c);

	KUNIT_EXPECT_EQ_MSG(c->test, ret, want, "attribute %u: %s",
			    c->attrs[i].attr_id, what);
}

static void check_sizes(struct commands *c, unsigned int i,
			const struct uverbs_attr_spec *spec)
{
	struct ib_uverbs_attr *attr = &c->attrs[i], sent = *attr;

	if (spec->u.ptr.min_len) {
		attr->len = spec->u.ptr.min_len - 1;
		expect_call(c, i, "short", -EINVAL);
	}
	if (!spec->zero_trailing && spec->u.ptr.len < USHRT_MAX) {
		attr->len = spec->u.ptr.len + 1;
		expect_call(c, i, "long", -EINVAL);
	}
	*attr = sent;
	if (spec->type == UVERBS_ATTR_TYPE_PTR_OUT || attr->len > sizeof(u64)) {
		attr->data = NOT_MAPPED;
		expect_call(c, i, "not mapped", -EFAULT);
	}
	*attr = sent;
}

static u32 handle_of_other_type(struct commands *c, u16 type)
{
	struct ib_uobject *uobj;
	u32 found = NO_HANDLE;
	unsigned long id;

	xa_for_each(&c->file->handles, id, uobj)
		if (uobj->uapi_object->id != type)
			found = id;
	return found;
}

static void check_handle(struct commands *c, unsigned int i,
			 const struct uverbs_attr_spec *spec)
{
	struct ib_uverbs_attr *attr = &c->attrs[i], sent = *attr;

	attr->len = 4;
	expect_call(c, i, "a handle with a length", -EINVAL);
	*attr = sent;
	if (spec->u.obj.access == UVERBS_ACCESS_NEW)
		return;
	attr->data = NO_HANDLE;
	expect_call(c, i, "no handle", -ENOENT);
	attr->data = handle_of_other_type(c, spec->u.obj.obj_type);
	if (attr->data != NO_HANDLE)
		expect_call(c, i, "a handle of another type", -EINVAL);
	*attr = sent;
}

static void check_presence(struct commands *c, unsigned int i,
			   const struct uverbs_attr_spec *spec)
{
	struct ib_uverbs_attr *attr = &c->attrs[i], sent = *attr;

	attr->attr_data.reserved = 1;
	expect_call(c, i, "reserved bytes", -EINVAL);
	*attr = sent;
	c->attrs[c->hdr.num_attrs++] = sent;
	expect_call(c, i, "twice", -EINVAL);
	c->hdr.num_attrs--;
	if (spec->mandatory) {
		attr->attr_id = NO_ATTR;
		attr->flags = 0;
		expect_call(c, i, "missing", -EINVAL);
	}
	*attr = sent;
}

void commands_check_attrs(struct commands *c)
{
	int before = commands_objects(c);
	unsigned int i;

	c->attrs[c->hdr.num_attrs] = (struct ib_uverbs_attr) {
		.attr_id = NO_ATTR, .flags = UVERBS_ATTR_F_MANDATORY,
	};
	c->hdr.num_attrs++;
	expect(c, "unknown attribute", ioctl_now(c), -EPROTONOSUPPORT);
	c->hdr.num_attrs--;
	for (i = 0; i < c->hdr.num_attrs; i++) {
		const struct uverbs_attr_spec *spec = spec_of(c, &c->attrs[i]);

		KUNIT_ASSERT_NOT_NULL(c->test, spec);
		check_presence(c, i, spec);
		if (spec->type == UVERBS_ATTR_TYPE_IDR)
			check_handle(c, i, spec);
		else if (spec->type == UVERBS_ATTR_TYPE_PTR_IN ||
			 spec->type == UVERBS_ATTR_TYPE_PTR_OUT)
			check_sizes(c, i, spec);
	}
	KUNIT_EXPECT_EQ(c->test, commands_objects(c), before);
}
