// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * One mistake in a call that is right otherwise.  So there is one error that it can be refused
 * with, and it does not matter in which order a core looks at the parts of a call.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include "diffverbs.h"

void mistake(struct call *c, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(c->mistake, sizeof(c->mistake), format, args);
	va_end(args);
}

/* ---- values ---- */

static void put(struct call *c, const struct field *f, __u64 value)
{
	memcpy(field_at(c, f), &value, f->size > 8 ? 8 : f->size);
}

static void instead(struct call *c, const struct field *f, __u64 value, const char *name)
{
	put(c, f, value);
	c->instead = name;
	mistake(c, "%s-%s", f->name, name);
}

static struct object *object_of_other_type(enum type not)
{
	unsigned int i, first = rnd(TYPES);
	enum type type;

	for (i = 0; i < TYPES; i++) {
		type = (first + i) % TYPES;
		if (type != not && !IS_FD(type) && alive(type))
			return some_object(type);
	}
	return NULL;
}

static void spoil_handle(struct call *c, const struct field *f)
{
	struct object *o = object_of_other_type(f->type);
	__u32 handle;

	if (one_in(3) && gone_handle(f->type, &handle))
		instead(c, f, handle, "gone");
	else if (one_in(2) && o)
		instead(c, f, o->handle, "other");
	else
		instead(c, f, one_in(2) ? ~0ull : 0x7ffffff0, "unknown");
}

static void spoil_fd(struct call *c, const struct field *f)
{
	struct object *o = some_object(f->type == CHANNEL ? ASYNC : CHANNEL);

	switch (rnd(5)) {
	case 0:
		instead(c, f, 900, "unknown");
		break;
	case 1:
		instead(c, f, no_device, "null");
		break;
	case 2:
		instead(c, f, device, "device");
		break;
	case 3:
		instead(c, f, o ? o->handle : 901, o ? "other" : "unknown");
		break;
	default:
		instead(c, f, -2ll, "minus-2");
	}
}

static __u64 top_bit(const struct field *f)
{
	return 1ull << (8 * (f->size > 8 ? 8 : f->size) - 1);
}

static void spoil_number(struct call *c, const struct field *f)
{
	static const char * const names[] = { "0", "more", "limit", "over", "top", "all", "less" };
	__u64 old = field_value(c, f);
	const __u64 values[] = { 0, old + 1, f->limit, f->limit + 1ull, top_bit(f), ~0ull,
				 old - 1 };
	unsigned int i = rnd(7);

	/* What needs much memory may fail for want of it. */
	if (i == 2 && f->limit > 4096)
		i = 3;
	if ((i == 2 || i == 3) && !f->limit)
		i = 5;
	put(c, f, values[i]);
	mistake(c, "%s-%s", f->name, names[i]);
}

static void spoil_name(struct call *c, const struct field *f)
{
	const __u64 values[] = { rnd(16), top_bit(f), ~0ull };

	put(c, f, values[rnd(4) ? 0 : 1 + rnd(2)]);
	mistake(c, "%s-value", f->name);
}

static void spoil_bits(struct call *c, const struct field *f)
{
	unsigned int bit = rnd(8 * (f->size > 8 ? 8 : f->size)), i;
	__u64 known = 0;

	for (i = 0; i < f->choices; i++)
		known |= f->good[i];
	put(c, f, field_value(c, f) ^ 1ull << bit);
	mistake(c, f->kind == 'm' && !(known & 1ull << bit) ? "%s-odd-bit" : "%s-bit", f->name);
}

static void spoil_address(struct call *c, const struct field *f)
{
	const __u64 values[] = { 0, NOWHERE, 0xffff800000000000, field_value(c, f) + 1, ~0ull };
	unsigned int i = rnd(5);

	put(c, f, values[i]);
	mistake(c, "%s-%u", f->name, i);
}

static void spoil_gid(struct call *c, const struct field *f)
{
	/* No unicast address, or the time until it is not found would count. */
	memset(field_at(c, f), one_in(2) ? 0 : 0xff, 16);
	mistake(c, "%s-value", f->name);
}

static bool may_spoil(const struct call *c, unsigned int i)
{
	return !(c->unused & 1ull << i) && strchr("hfvemragG", c->cmd->fields[i].kind);
}

void spoil_field(struct call *c)
{
	unsigned int i, n = nr_fields(c->cmd), tries = 20;
	const struct field *f;

	do {
		if (!n || !tries--)
			return;
		i = rnd(n);
	} while (!may_spoil(c, i));
	f = &c->cmd->fields[i];
	c->spoilt = i;
	if (f->kind == 'h')
		spoil_handle(c, f);
	else if (f->kind == 'f')
		spoil_fd(c, f);
	else if (f->kind == 'v')
		spoil_number(c, f);
	else if (f->kind == 'e')
		spoil_name(c, f);
	else if (f->kind == 'a')
		spoil_address(c, f);
	else if (f->kind == 'g' || f->kind == 'G')
		spoil_gid(c, f);
	else
		spoil_bits(c, f);
}

/* ---- what is written ---- */

static void spoil_header(struct call *c)
{
	static const __u32 numbers[] = { 6, 7, 10, 12, 15, 22, 41, 49, 58, 63, 64, 0xff };
	struct ib_uverbs_cmd_hdr *hdr = &c->to.hdr;

	switch (rnd(6)) {
	case 0:
		hdr->in_words++;
		mistake(c, "in-words-more");
		break;
	case 1:
		hdr->in_words--;
		mistake(c, "in-words-less");
		break;
	case 2:
		hdr->command = (hdr->command & IB_USER_VERBS_CMD_FLAG_EXTENDED) |
			       numbers[rnd(sizeof(numbers) / sizeof(*numbers))];
		mistake(c, "number-%u", hdr->command & 0xff);
		break;
	case 3:
		hdr->command |= 1u << (8 + rnd(23));
		mistake(c, "number-bit");
		break;
	case 4:
		c->size = rnd(sizeof(*hdr));
		mistake(c, "header-short");
		break;
	default:
		c->size += one_in(2) ? 1 : -1;
		mistake(c, "size");
	}
}

static void spoil_write(struct call *c)
{
	struct ib_uverbs_cmd_hdr *hdr = &c->to.hdr;
	__u64 response = one_in(2) ? 0 : NOWHERE;

	switch (rnd(8)) {
	case 0:
		hdr->in_words--;
		c->size -= 4;
		mistake(c, "short");
		break;
	case 1:
		memset(c->to.bytes + c->size, one_in(2) ? 0 : 0xff, 8);
		mistake(c, "long-%u", c->to.bytes[c->size]);
		hdr->in_words += 2;
		c->size += 8;
		break;
	case 2:
		if (hdr->out_words) {
			hdr->out_words = one_in(2) ? hdr->out_words - 1 : 0;
			c->out_size = 4 * hdr->out_words < c->out_size ?
				      4 * hdr->out_words : c->out_size;
			mistake(c, hdr->out_words ? "out-less" : "out-0");
		} else {
			hdr->out_words = 1 + rnd(4);
			mistake(c, "out-needless");
		}
		break;
	case 3:
		hdr->out_words += 1 + rnd(4);
		mistake(c, "out-more");
		break;
	case 4:
		if (!hdr->out_words) {
			spoil_header(c);
			break;
		}
		memcpy(c->to.bytes + sizeof(*hdr), &response, sizeof(response));
		mistake(c, response ? "response-nowhere" : "response-null");
		break;
	default:
		spoil_header(c);
	}
}

static void spoil_ex_header(struct call *c)
{
	struct ib_uverbs_ex_cmd_hdr *ex = &c->to.ex;

	switch (rnd(6)) {
	case 0:
		ex->provider_in_words++;
		mistake(c, "driver-in-more");
		break;
	case 1:
		ex->provider_out_words += 4;
		mistake(c, "driver-out-more");
		break;
	case 2:
		ex->cmd_hdr_reserved = 1u << rnd(32);
		mistake(c, "reserved");
		break;
	case 3:
		ex->response = ex->response ? 0 : ANSWER;
		mistake(c, ex->response ? "response-needless" : "response-null");
		break;
	case 4:
		ex->response = NOWHERE;
		mistake(c, "response-nowhere");
		break;
	default:
		spoil_header(c);
	}
}

static void spoil_write_ex(struct call *c)
{
	struct ib_uverbs_cmd_hdr *hdr = &c->to.hdr;
	size_t driver = 8 * c->to.ex.provider_in_words;

	switch (rnd(6)) {
	case 0:
		hdr->in_words--;
		c->size -= 8;
		memmove(c->to.bytes + c->size - driver, c->to.bytes + c->size - driver + 8,
			driver);
		mistake(c, "short");
		break;
	case 1:
		memmove(c->to.bytes + c->size - driver + 8, c->to.bytes + c->size - driver,
			driver);
		memset(c->to.bytes + c->size - driver, one_in(2) ? 0 : 0xff, 8);
		mistake(c, "long-%u", c->to.bytes[c->size - driver]);
		hdr->in_words++;
		c->size += 8;
		break;
	case 2:
		if (hdr->out_words) {
			hdr->out_words -= one_in(2) ? 1 : 1 + rnd(hdr->out_words);
			c->out_size = 8 * hdr->out_words;
			mistake(c, "out-less");
		} else {
			hdr->out_words = 1;
			c->to.ex.response = ANSWER;
			mistake(c, "out-needless");
		}
		break;
	case 3:
		hdr->out_words++;
		mistake(c, "out-more");
		break;
	default:
		spoil_ex_header(c);
	}
}

/* ---- what is passed to ioctl ---- */

static void spoil_ioctl_header(struct call *c)
{
	struct ib_uverbs_ioctl_hdr *hdr = &c->to.ioctl;

	switch (rnd(8)) {
	case 0:
		hdr->object_id = one_in(2) ? 17 + rnd(20) : 0x1000 + rnd(3);
		mistake(c, "object");
		break;
	case 1:
		hdr->method_id = one_in(2) ? 7 + rnd(20) : 0x1000 + rnd(3);
		mistake(c, "method");
		break;
	case 2:
		hdr->driver_id = one_in(2) ? RDMA_DRIVER_MLX5 : 1000;
		mistake(c, "driver");
		break;
	case 3:
		hdr->reserved1 = 1ull << rnd(64);
		mistake(c, "reserved1");
		break;
	case 4:
		hdr->reserved2 = 1u << rnd(32);
		mistake(c, "reserved2");
		break;
	case 5:
		hdr->length += one_in(2) ? 1 : sizeof(struct ib_uverbs_attr);
		mistake(c, "length-more");
		break;
	case 6:
		hdr->length -= one_in(2) ? 1 : sizeof(struct ib_uverbs_attr);
		mistake(c, "length-less");
		break;
	default:
		hdr->num_attrs += one_in(2) ? 1 : -1;
		mistake(c, "num-attrs");
	}
}

static void add_attr(struct call *c, const struct ib_uverbs_attr *attr)
{
	c->of[c->to.ioctl.num_attrs] = NULL;
	c->to.attrs[c->to.ioctl.num_attrs++] = *attr;
	c->to.ioctl.length += sizeof(*attr);
	c->size += sizeof(*attr);
}

static void add_unknown(struct call *c)
{
	struct ib_uverbs_attr attr = {
		.attr_id = one_in(2) ? 30 + rnd(10) : one_in(2) ? 0x1005 : 0x7005,
		.flags = one_in(2) ? UVERBS_ATTR_F_MANDATORY : 0,
		.len = one_in(2) ? 0 : 8,
	};

	add_attr(c, &attr);
	mistake(c, attr.flags ? "unknown-mandatory" : "unknown-optional");
}

static void drop_attr(struct call *c, unsigned int i)
{
	struct ib_uverbs_ioctl_hdr *hdr = &c->to.ioctl;

	memmove(&c->to.attrs[i], &c->to.attrs[i + 1],
		(hdr->num_attrs - i - 1) * sizeof(*c->to.attrs));
	memmove(&c->of[i], &c->of[i + 1], (hdr->num_attrs - i - 1) * sizeof(*c->of));
	hdr->num_attrs--;
	hdr->length -= sizeof(*c->to.attrs);
	c->size -= sizeof(*c->to.attrs);
}

static void spoil_length(struct call *c, struct ib_uverbs_attr *attr, const char *name)
{
	__u16 old = attr->len;

	switch (rnd(4)) {
	case 0:
		attr->len++;
		break;
	case 1:
		attr->len--;
		break;
	case 2:
		attr->len = 0;
		break;
	default:
		attr->len = old + 8;
	}
	/* What was inline is not, and the other way round: then the value is another one, too. */
	if (old && old <= 8 && attr->len > 8)
		attr->data = ANSWER + 0x8000;
	mistake(c, "%s-len-%s", name,
		attr->len > old ? "more" : attr->len ? "less" : "0");
}

/* What is written, and what is too long to be inline. */
static bool is_pointer(const struct call *c, unsigned int i)
{
	const struct ib_uverbs_attr *attr = &c->to.attrs[i];

	return attr->data >= ARENA && attr->len &&
	       (attr->len > 8 || !c->of[i] || c->of[i]->kind == '>');
}

static void spoil_attr(struct call *c, unsigned int i)
{
	struct ib_uverbs_attr *attr = &c->to.attrs[i];
	char name[32];

	if (c->of[i])
		snprintf(name, sizeof(name), "%s", c->of[i]->name);
	else
		snprintf(name, sizeof(name), "attr-%x", attr->attr_id);
	switch (rnd(7)) {
	case 0:
		mistake(c, "%s-missing", name);
		drop_attr(c, i);
		break;
	case 1:
		mistake(c, "%s-twice", name);
		add_attr(c, attr);
		break;
	case 2:
		attr->flags ^= 1u << (one_in(3) ? 0 : rnd(16));
		mistake(c, "%s-flags-%x", name, attr->flags);
		break;
	case 3:
		attr->attr_data.reserved = 1u << rnd(16);
		mistake(c, "%s-reserved", name);
		break;
	case 4:
		if (!is_pointer(c, i)) {
			spoil_length(c, attr, name);
			break;
		}
		attr->data = one_in(2) ? 0 : NOWHERE;
		mistake(c, "%s-pointer", name);
		break;
	default:
		spoil_length(c, attr, name);
	}
}

static void spoil_ioctl(struct call *c)
{
	if (one_in(4))
		spoil_ioctl_header(c);
	else if (one_in(6) || !c->to.ioctl.num_attrs)
		add_unknown(c);
	else
		spoil_attr(c, rnd(c->to.ioctl.num_attrs));
}

void spoil_buffer(struct call *c)
{
	if (c->cmd->form == METHOD || c->by_ioctl)
		spoil_ioctl(c);
	else if (c->cmd->form == WRITE)
		spoil_write(c);
	else
		spoil_write_ex(c);
}
