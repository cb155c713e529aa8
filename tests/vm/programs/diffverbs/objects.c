// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The objects that a sequence has made, by type and in their order. */
#include <string.h>
#include "diffverbs.h"

const char * const type_names[] = {
	"", "pd", "mr", "mw", "cq", "qp", "srq", "ah", "channel", "async", "xrcd", "wq", "table",
	"flow", "counters", "dm",
};

static struct object objects[TYPES][OBJECTS];
static unsigned int nr_objects[TYPES];
static struct object *preferred[TYPES];
static struct object *last_gone[TYPES];	/* until the next object is made */

void forget_objects(void)
{
	memset(objects, 0, sizeof(objects));
	memset(nr_objects, 0, sizeof(nr_objects));
	memset(preferred, 0, sizeof(preferred));
	memset(last_gone, 0, sizeof(last_gone));
}

unsigned int made(enum type type)
{
	return nr_objects[type];
}

unsigned int alive(enum type type)
{
	unsigned int i, n = 0;

	for (i = 0; i < nr_objects[type]; i++)
		n += objects[type][i].alive;
	return n;
}

struct object *some_object(enum type type)
{
	unsigned int i, n = alive(type);

	if (preferred[type])
		return preferred[type];
	if (!n)
		return NULL;
	n = rnd(n);
	for (i = 0; i < nr_objects[type]; i++)
		if (objects[type][i].alive && !n--)
			return &objects[type][i];
	return NULL;
}

struct object *first_object(enum type type)
{
	return nr_objects[type] ? &objects[type][0] : NULL;
}

struct object *last_object(enum type type)
{
	return nr_objects[type] ? &objects[type][nr_objects[type] - 1] : NULL;
}

void prefer(enum type type, struct object *object)
{
	preferred[type] = object;
}

struct object *object_of(enum type type, __u32 handle)
{
	unsigned int i;

	for (i = 0; i < nr_objects[type]; i++)
		if (objects[type][i].alive && objects[type][i].handle == handle)
			return &objects[type][i];
	return NULL;
}

/*
 * What had this handle is gone, though the call that destroyed it failed: its answer could not
 * be written.  There is room for a new object: see the weights of commands.
 */
struct object *new_object(enum type type, __u32 handle)
{
	struct object *o = &objects[type][nr_objects[type]];
	enum type other;

	for (other = 0; other < TYPES; other++)
		if (IS_FD(other) == IS_FD(type) && object_of(other, handle))
			object_of(other, handle)->alive = false;
	if (nr_objects[type] == OBJECTS)
		return NULL;
	nr_objects[type]++;
	memset(last_gone, 0, sizeof(last_gone));
	*o = (struct object){ .handle = handle, .type = type, .alive = true };
	return o;
}

void object_uses(struct object *object, struct object *parent)
{
	unsigned int i;

	for (i = 0; i < PARENTS; i++) {
		if (object->parents[i])
			continue;
		object->parents[i] = parent;
		parent->users++;
		return;
	}
}

void object_is_gone(struct object *object)
{
	unsigned int i;

	object->alive = false;
	last_gone[object->type] = object;
	for (i = 0; i < PARENTS && object->parents[i]; i++)
		object->parents[i]->users--;
}

bool gone_handle(enum type type, __u32 *handle)
{
	if (!last_gone[type])
		return false;
	*handle = last_gone[type]->handle;
	return true;
}

unsigned int ordinal(const struct object *object)
{
	return object - objects[object->type];
}
