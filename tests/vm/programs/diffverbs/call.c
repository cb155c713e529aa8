// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* One call: what is passed to the kernel, and what is printed of the answer. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include "diffverbs.h"

#define DRIVER_ANSWER	(ANSWER + 0x800)	/* of a command by ioctl */
#define ATTR_ANSWER	(ANSWER + 0x1000)	/* of attributes, each of this size: */
#define ATTR_SIZE	0x400

__u64 driver_answer[8];

/* ---- what is passed ---- */

static void append(struct call *c, const void *bytes, size_t size)
{
	memcpy(c->to.bytes + c->size, bytes, size);
	c->size += size;
}

static void build_write(struct call *c)
{
	__u64 response = ANSWER;

	if (c->cmd->out)
		memcpy(c->in, &response, sizeof(response));
	c->size = sizeof(c->to.hdr);
	append(c, c->in, c->in_size);
	append(c, c->driver, c->driver_in);
	c->to.hdr = (struct ib_uverbs_cmd_hdr) {
		.command = c->cmd->number,
		.in_words = c->size / 4,
		.out_words = (c->out_size + c->driver_out) / 4,
	};
}

static void build_write_ex(struct call *c)
{
	c->size = sizeof(c->to.hdr) + sizeof(c->to.ex);
	append(c, c->in, c->in_size);
	append(c, c->driver, c->driver_in);
	c->to.hdr = (struct ib_uverbs_cmd_hdr) {
		.command = c->cmd->number | IB_USER_VERBS_CMD_FLAG_EXTENDED,
		.in_words = c->in_size / 8,
		.out_words = c->out_size / 8,
	};
	c->to.ex = (struct ib_uverbs_ex_cmd_hdr) {
		.response = c->out_size + c->driver_out ? ANSWER : 0,
		.provider_in_words = c->driver_in / 8,
		.provider_out_words = c->driver_out / 8,
	};
}

static void begin_ioctl(struct call *c, __u16 object, __u16 method)
{
	c->size = sizeof(c->to.ioctl);
	c->to.ioctl = (struct ib_uverbs_ioctl_hdr) {
		.length = sizeof(c->to.ioctl),
		.object_id = object,
		.method_id = method,
		.driver_id = RDMA_DRIVER_RXE,
	};
}

static void add(struct call *c, const struct field *of, __u16 id, __u16 len, __u64 data)
{
	c->of[c->to.ioctl.num_attrs] = of;
	c->to.attrs[c->to.ioctl.num_attrs++] = (struct ib_uverbs_attr) {
		.attr_id = id,
		.len = len,
		.flags = UVERBS_ATTR_F_MANDATORY,
		.data = data,
	};
	c->to.ioctl.length += sizeof(struct ib_uverbs_attr);
	c->size += sizeof(struct ib_uverbs_attr);
}

static __u64 pointer_or_inline(const void *bytes, size_t size)
{
	__u64 data = 0;

	if (size > sizeof(data))
		return (uintptr_t)bytes;
	memcpy(&data, bytes, size);
	return data;
}

static void add_driver_parts(struct call *c)
{
	if (c->driver_in)
		add(c, NULL, UVERBS_ATTR_UHW_IN, c->driver_in,
		    pointer_or_inline(c->driver, c->driver_in));
	if (c->driver_out)
		add(c, NULL, UVERBS_ATTR_UHW_OUT, c->driver_out, DRIVER_ANSWER);
}

static void build_invoke(struct call *c)
{
	__u64 number = c->cmd->number;

	if (c->cmd->form == WRITE_EX)
		number |= IB_USER_VERBS_CMD_FLAG_EXTENDED;
	begin_ioctl(c, UVERBS_OBJECT_DEVICE, UVERBS_METHOD_INVOKE_WRITE);
	add(c, NULL, UVERBS_ATTR_CORE_IN, c->in_size, pointer_or_inline(c->in, c->in_size));
	if (c->out_size)
		add(c, NULL, UVERBS_ATTR_CORE_OUT, c->out_size, ANSWER);
	add(c, NULL, UVERBS_ATTR_WRITE_CMD, 8, number);
	add_driver_parts(c);
}

static void build_method(struct call *c)
{
	const struct field *f;
	unsigned int i;

	begin_ioctl(c, c->cmd->object, c->cmd->number);
	for (i = 0; c->cmd->fields[i].name; i++) {
		f = &c->cmd->fields[i];
		if (c->unused & 1ull << i)
			continue;
		if (f->kind == '>')
			add(c, f, f->at, f->size, ATTR_ANSWER + i * ATTR_SIZE);
		else if (f->kind == 'p')
			add(c, f, f->at, f->size, (uintptr_t)field_at(c, f));
		else if (f->kind == 'n')
			add(c, f, f->at, 0, 0);
		else if (f->kind == 'f')
			add(c, f, f->at, 0, (__s64)(__s32)field_value(c, f));
		else
			add(c, f, f->at, f->kind == 'h' ? 0 : f->size, field_value(c, f));
	}
	if (c->cmd->uhw)
		add_driver_parts(c);
}

static void build(struct call *c)
{
	if (c->cmd->form == METHOD)
		build_method(c);
	else if (c->by_ioctl)
		build_invoke(c);
	else if (c->cmd->form == WRITE)
		build_write(c);
	else
		build_write_ex(c);
}

static void pass(struct call *c)
{
	ssize_t done;

	memset((void *)ANSWER, UNWRITTEN, ANSWER_SIZE);
	/* Where the bytes of a value are read that was made longer than it is. */
	memset((void *)(ANSWER + 0x8000), 0, 0x1000);
	if (c->cmd->form == METHOD || c->by_ioctl) {
		done = ioctl(device, RDMA_VERBS_IOCTL, &c->to.ioctl);
		c->result = done ? errno : 0;
	} else {
		done = write(device, c->to.bytes, c->size);
		c->result = done == (ssize_t)c->size ? 0 : done < 0 ? errno : EPROTO;
	}
}

/* ---- the answer ---- */

static __u32 word(const void *at, unsigned int i)
{
	__u32 value;

	memcpy(&value, at + 4 * i, sizeof(value));
	return value;
}

#define NO_WORD	0xa5a5a5a5

/*
 * Words of an answer: each as @shows says (h: not at all, k: whether it is 0), and after its end
 * as they are.
 */
static void show_words(const void *at, size_t size, const char *shows)
{
	unsigned int i, same;
	char how;

	for (i = 0; i < size / 4; i += same) {
		how = i < strlen(shows) ? shows[i] : '.';
		same = 1;
		if (word(at, i) == NO_WORD)
			printf(" -");
		else if (how == 'k')
			printf(" %s", word(at, i) ? "set" : "0");
		else if (how == '.')
			printf(" %x", word(at, i));
		while (how == '.' && i >= strlen(shows) && i + same < size / 4 &&
		       word(at, i + same) == word(at, i))
			same++;
		if (same > 1)
			printf("*%u", same);
	}
	for (i = size & ~3u; i < size; i++)
		printf(" %02x", ((const __u8 *)at)[i]);
}

/* A command's handle, the QP's number. */
static void take_answer(struct call *c)
{
	const char *shows = c->cmd->shows ?: "";
	unsigned int i;

	for (i = 0; i < strlen(shows); i++) {
		if (word((void *)ANSWER, i) == NO_WORD || c->out_size < 4 * i + 4)
			continue;
		if (shows[i] == 'h' && c->cmd->makes != NO_TYPE)
			c->made = new_object(c->cmd->makes, word((void *)ANSWER, i));
		else if (shows[i] == 'k' && c->made && !c->made->number)
			c->made->number = word((void *)ANSWER, i);
	}
	if (c->made)
		printf(" %s%u", type_names[c->made->type], ordinal(c->made));
	/* The driver's part follows. */
	show_words((void *)ANSWER, c->out_size < c->cmd->out || c->cmd->form == WRITE_EX ?
		   c->out_size : c->cmd->out, shows);
}

static void take_attr(struct call *c, const struct ib_uverbs_attr *attr, const struct field *f)
{
	void *at = (void *)(ATTR_ANSWER + (f - c->cmd->fields) * ATTR_SIZE);

	if (f->kind == 'n' && c->cmd->makes != NO_TYPE) {
		c->made = new_object(c->cmd->makes, attr->data);
		if (c->made)
			printf(" %s%u", type_names[c->made->type], ordinal(c->made));
		return;
	}
	if (f->kind != '>')
		return;
	printf(" %s%s", f->name, attr->flags & UVERBS_ATTR_F_VALID_OUTPUT ? "+" : "");
	show_words(at, attr->len < ATTR_SIZE ? attr->len : ATTR_SIZE, f->shows ?: "");
	if (c->made && c->made->type == QP && !strcmp(f->name, "resp_qp_num"))
		c->made->number = word(at, 0);
}

static void take_attrs(struct call *c)
{
	unsigned int i;

	for (i = 0; i < c->to.ioctl.num_attrs && i < MAX_ATTRS; i++)
		if (c->of[i])
			take_attr(c, &c->to.attrs[i], c->of[i]);
}

static void take_objects(struct call *c)
{
	const struct field *f;
	struct object *o;
	unsigned int i;

	for (i = 0; c->cmd->fields[i].name; i++) {
		f = &c->cmd->fields[i];
		if (!strchr("hf", f->kind) || c->unused & 1ull << i)
			continue;
		o = object_of(f->type, field_value(c, f));
		if (!o || o == c->made)
			continue;
		if (c->made)
			object_uses(c->made, o);
		else if (f->type == c->cmd->ends)
			c->ended = o;
	}
	if (c->ended)
		object_is_gone(c->ended);
}

/* It may be gone though its answer could not be written: it is not used any more. */
static void forget_destroyed(struct call *c)
{
	struct object *o;

	if (c->cmd->ends == NO_TYPE)
		return;
	o = object_of(c->cmd->ends, field_value(c, c->cmd->fields));
	if (o)
		o->alive = false;
}

static void show_call(struct call *c)
{
	printf("%s%s%s%s", c->cmd->name, c->by_ioctl ? "/ioctl" : "", c->mistake[0] ? ":" : "",
	       c->mistake);
	show_fields(c);
	if (c->result) {
		printf(" = %s", strerrorname_np(c->result));
		if (c->cmd->answers_error)
			show_words((void *)ANSWER, c->out_size, "");
		printf("\n");
		if (strstr(c->mistake, "response") || strstr(c->mistake, "pointer"))
			forget_destroyed(c);
		return;
	}
	printf(" = ok");
	if (c->cmd->form == METHOD)
		take_attrs(c);
	else
		take_answer(c);
	printf("\n");
	memcpy(driver_answer, c->cmd->form == METHOD || c->by_ioctl ? (void *)DRIVER_ANSWER :
	       (void *)ANSWER + c->out_size, sizeof(driver_answer));
	take_objects(c);
	if (c->cmd->worked)
		c->cmd->worked(c);
}

bool do_call(const struct command *cmd, bool wrong, void (*change)(struct call *c))
{
	static struct call c;

	c = (struct call) {
		.cmd = cmd,
		.by_ioctl = cmd->form != METHOD && one_in(3),
		.in_size = cmd->in,
		.out_size = cmd->out,
		.driver_in = cmd->driver_in,
		.driver_out = cmd->driver_out,
		.spoilt = -1,
	};
	if (!fill_fields(&c))
		return false;
	if (change)
		change(&c);
	if (wrong && !one_in(3))
		spoil_field(&c);
	build(&c);
	if (wrong && !c.mistake[0])
		spoil_buffer(&c);
	pass(&c);
	show_call(&c);
	return !c.result;
}

bool do_right(const char *name)
{
	return do_call(command(name), false, NULL);
}
