// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The objects of verbs that a sequence has made. */
#include "kapi.h"

const char * const type_names[] = { "pd", "cq", "srq", "qp", "mr", "ah", "xrcd" };

static struct object objects[OBJECTS];
static unsigned int made, made_of[TYPES];

void forget_objects(void)
{
	memset(objects, 0, sizeof(objects));
	memset(made_of, 0, sizeof(made_of));
	made = 0;
}

/* Callers ask alive() first, which leaves some room. */
struct object *new_object(enum type type, struct kdev *dev, void *ptr,
			  struct object *const *parents)
{
	struct object *o = &objects[made++];
	unsigned int i;

	o->type = type;
	o->n = made_of[type]++;
	o->alive = true;
	o->ptr = ptr;
	o->dev = dev;
	for (i = 0; parents && i < PARENTS; i++) {
		o->parents[i] = parents[i];
		if (parents[i])
			parents[i]->users++;
	}
	return o;
}

void object_gone(struct object *o)
{
	unsigned int i;

	o->alive = false;
	for (i = 0; i < PARENTS; i++)
		if (o->parents[i])
			o->parents[i]->users--;
}

unsigned int alive(enum type type)
{
	unsigned int i, n = 0;

	for (i = 0; i < made; i++)
		n += objects[i].alive && objects[i].type == type;
	/* as if there were too many */
	return made > OBJECTS - 8 ? OBJECTS : n;
}

unsigned int next_number(enum type type)
{
	return made_of[type];
}

static struct object *some(enum type type, struct kdev *dev, bool unused)
{
	struct object *found = NULL;
	unsigned int i, n = 0;

	for (i = 0; i < made; i++) {
		struct object *o = &objects[i];

		if (o->alive && o->type == type && (!dev || o->dev == dev) &&
		    !(unused && o->users) && one_in(++n))
			found = o;
	}
	return found;
}

struct object *some_object(enum type type, struct kdev *dev)
{
	return some(type, dev, false);
}

struct object *some_unused(enum type type)
{
	return some(type, NULL, true);
}

static void destroy_object(struct object *o)
{
	static void (* const destroy[TYPES])(struct object *o) = {
		[PD] = destroy_pd, [CQ] = destroy_cq, [SRQ] = destroy_srq, [QP] = destroy_qp,
		[MR] = destroy_mr, [AH] = destroy_ah, [XRCD] = destroy_xrcd,
	};

	destroy[o->type](o);
}

void destroy_objects(void)
{
	bool some;
	int i;

	do {
		some = false;
		for (i = made - 1; i >= 0; i--) {
			if (!objects[i].alive || objects[i].users)
				continue;
			destroy_object(&objects[i]);
			some = true;
		}
	} while (some);
}
