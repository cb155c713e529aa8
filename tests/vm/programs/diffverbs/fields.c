// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Fields of commands and attributes of methods: right values, and how they are printed. */
#include <stdio.h>
#include <string.h>
#include "diffverbs.h"

#define POINTED		256	/* where in call.in the structs of a method are */
#define POINTED_SIZE	64

static unsigned int index_of(const struct call *c, const struct field *f)
{
	return f - c->cmd->fields;
}

/* The values of a method's attributes follow one another, 8 bytes each. */
void *field_at(struct call *c, const struct field *f)
{
	if (c->cmd->form != METHOD)
		return c->in + f->at;
	if (f->kind == 'p')
		return c->in + POINTED + POINTED_SIZE * index_of(c, f);
	return c->in + 8 * index_of(c, f);
}

__u64 field_value(struct call *c, const struct field *f)
{
	__u64 value = 0;

	memcpy(&value, field_at(c, f), f->size > 8 ? 8 : f->size);
	return value;
}

static void put_field(struct call *c, const struct field *f, __u64 value)
{
	memcpy(field_at(c, f), &value, f->size > 8 ? 8 : f->size);
}

static const struct field *field_named(struct call *c, const char *name)
{
	const struct field *f;

	for (f = c->cmd->fields; f->name && strcmp(f->name, name); f++)
		;
	return f;
}

void set_field(struct call *c, const char *name, __u64 value)
{
	put_field(c, field_named(c, name), value);
	c->unused &= ~(1ull << index_of(c, field_named(c, name)));
}

void name_field(struct call *c, const char *name, __u64 value, const char *shown)
{
	set_field(c, name, value);
	c->spoilt = index_of(c, field_named(c, name));
	c->instead = shown;
}

__u64 get_field(struct call *c, const char *name)
{
	return field_value(c, field_named(c, name));
}

void field_is_unused(struct call *c, const char *name)
{
	c->unused |= 1ull << index_of(c, field_named(c, name));
}

unsigned int nr_fields(const struct command *cmd)
{
	unsigned int n = 0;

	while (cmd->fields[n].name)
		n++;
	return n;
}

/* ---- right values ---- */

static bool fill_handle(struct call *c, const struct field *f)
{
	struct object *o = some_object(f->type);

	if (f->optional && (!o || one_in(2))) {
		c->unused |= 1ull << index_of(c, f);
		if (f->kind == 'f')
			put_field(c, f, -1);
		return true;
	}
	if (o)
		put_field(c, f, o->handle);
	return o || c->cmd->refused;
}

static void fill_gid(struct call *c, const struct field *f)
{
	static const __u8 group[16] = { 0xff, 0x0e, [15] = 1 };

	memcpy(field_at(c, f), f->kind == 'g' ? own_gid : group, 16);
	if (f->kind == 'G')
		((__u8 *)field_at(c, f))[15] += rnd(3);
}

static bool fill_field(struct call *c, const struct field *f)
{
	switch (f->kind) {
	case 'h':
	case 'f':
		return fill_handle(c, f);
	case 'v':
	case 'e':
	case 'm':
		if (f->optional && one_in(2))
			c->unused |= 1ull << index_of(c, f);
		put_field(c, f, f->choices ? f->good[rnd(f->choices)] : 0);
		return true;
	case 'a':
		put_field(c, f, ARENA + 0x1000 * rnd(4));
		return true;
	case 'g':
	case 'G':
		fill_gid(c, f);
		return true;
	case '>':
		if (f->optional && one_in(2))
			c->unused |= 1ull << index_of(c, f);
		return true;
	default:
		return true;
	}
}

bool fill_fields(struct call *c)
{
	const struct field *f;

	for (f = c->cmd->fields; f->name; f++)
		if (!fill_field(c, f))
			return false;
	return !c->cmd->fill || c->cmd->fill(c);
}

/* ---- printing ---- */

static void show_object(const struct field *f, __u64 value)
{
	struct object *o = NULL;
	unsigned int type;

	for (type = 0; type < TYPES && !o; type++)
		if (IS_FD(type) == (f->kind == 'f'))
			o = object_of(type, value);
	if (o)
		printf(" %s%u", type_names[o->type], ordinal(o));
	else
		printf(" %s=%x", f->name, (__u32)value);
}

static void show_field(struct call *c, const struct field *f)
{
	__u64 value = field_value(c, f);

	switch (f->kind) {
	case 'h':
	case 'f':
		show_object(f, value);
		break;
	case 'v':
	case 'e':
	case 'm':
	case 'r':
		if (value)
			printf(" %s=%llx", f->name, value);
		break;
	case 'a':
		if (value >= ARENA && value < ARENA + ARENA_SIZE)
			printf(" %s=+%llx", f->name, value - ARENA);
		else
			printf(" %s=%llx", f->name, value);
		break;
	case 'g':
	case 'G':
		if (memcmp(field_at(c, f), own_gid, 16))
			printf(" %s=..%02x", f->name, ((__u8 *)field_at(c, f))[15]);
		break;
	}
}

void show_fields(struct call *c)
{
	const struct field *f;

	for (f = c->cmd->fields; f->name; f++) {
		if (c->unused & 1ull << index_of(c, f))
			continue;
		if (c->instead && c->spoilt == (int)index_of(c, f))
			printf(" %s=%s", f->name, c->instead);
		else
			show_field(c, f);
	}
}
