// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Ports: which are in use, by which addresses, and by which listeners.
 *
 * Each network namespace has four port spaces.  Each is an xarray that maps a port to
 * its bucket; a free port has no bucket, and the xarray finds one by its free marks.
 * A bucket does not list the ids that use the port, but counts them by what they
 * exclude: the users of the wildcard, all users of a family, and the users of each
 * address.  The counts tell whether a new user conflicts, however many ids share the
 * port.
 *
 * A user is "hard" if it does not share its address: it did not set
 * RDMA_OPTION_ID_REUSEADDR, or it listens.  A new user that sets that option conflicts
 * with hard users only, any other new user with all users.
 *
 * If no port is free, an id that connects to a known destination gets a port that is
 * used only for other destinations.  To all other ids, the users of such a port are
 * like any others.
 */
#include <linux/capability.h>
#include <linux/jhash.h>
#include <linux/random.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <net/ip.h>
#include <net/net_namespace.h>

#include "bind/bind.h"
#include "id/id.h"

enum cma_fam { CMA_FAM_IP4, CMA_FAM_IP6, CMA_FAM_IB, CMA_NR_FAMS };

struct cma_count {
	unsigned int total;
	unsigned int hard;	/* of total */
};

/* The users of one address on one port. */
struct cma_claim {
	struct list_head node;
	struct cma_addr_key key;
	struct cma_count count;
};

#define CMA_PORT_STEP	4	/* at most, from one ephemeral port to the next */

struct cma_bucket {
	struct cma_port_space *space;
	u16 port;
	spinlock_t lock;		/* protects the fields that say so */
	bool dead;			/* removed from the space; protected by lock */
	unsigned int users;		/* protected by lock, like all below */
	struct cma_count any[CMA_NR_FAMS];	/* users of the wildcard */
	struct cma_count all[CMA_NR_FAMS];	/* all users of the family */
	struct list_head claims;	/* cma_claim.node: one per local address */
	struct cma_claim own;		/* for the first address; unlisted: unused */
	struct list_head dsts;		/* cma_id.dst_node: users with a claim_dst */
	unsigned int nr_dsts;		/* length of dsts */
	struct rcu_head rcu;
};

static enum cma_fam cma_key_fam(const struct cma_addr_key *key)
{
	switch (key->family) {
	case AF_INET:
		return CMA_FAM_IP4;
	case AF_INET6:
		return CMA_FAM_IP6;
	default:
		return CMA_FAM_IB;
	}
}

/* An IPv6 wildcard covers IPv4 as well, unless afonly is set. */
static bool cma_key_dual(const struct cma_addr_key *key, bool afonly)
{
	return key->family == AF_INET6 && !afonly && cma_key_any(key);
}

static struct cma_claim *cma_claim_find(struct cma_bucket *b,
					const struct cma_addr_key *key)
{
	struct cma_claim *claim;

	list_for_each_entry(claim, &b->claims, node)
		if (!memcmp(&claim->key, key, sizeof(*key)))
			return claim;
	return NULL;
}

static bool cma_count_blocks(const struct cma_count *count, bool reuse)
{
	return reuse ? count->hard : count->total;
}

/* Whether a new user of @key would conflict with the present users. */
static bool cma_bucket_blocks(struct cma_bucket *b,
			      const struct cma_addr_key *key, bool dual,
			      bool reuse)
{
	enum cma_fam fam = cma_key_fam(key);
	struct cma_claim *claim;

	lockdep_assert_held(&b->lock);
	if (cma_key_any(key))
		return cma_count_blocks(&b->all[fam], reuse) ||
		       (dual && cma_count_blocks(&b->all[CMA_FAM_IP4], reuse));

	claim = cma_claim_find(b, key);
	return cma_count_blocks(&b->any[fam], reuse) ||
	       (claim && cma_count_blocks(&claim->count, reuse));
}

static void cma_count_add(struct cma_count *count, bool hard, int delta)
{
	count->total += delta;
	if (hard)
		count->hard += delta;
}

/* Adds @idp, by its claim_* fields, to the counts (@delta 1) or removes it (-1). */
static void cma_bucket_count(struct cma_bucket *b, struct cma_id *idp,
			     int delta)
{
	const struct cma_addr_key *key = &idp->claim_key;
	enum cma_fam fam = cma_key_fam(key);
	bool hard = idp->claim_hard;

	lockdep_assert_held(&b->lock);
	cma_count_add(&b->all[fam], hard, delta);
	if (!cma_key_any(key)) {
		cma_count_add(&cma_claim_find(b, key)->count, hard, delta);
		return;
	}
	cma_count_add(&b->any[fam], hard, delta);
	if (idp->claim_dual) {
		cma_count_add(&b->all[CMA_FAM_IP4], hard, delta);
		cma_count_add(&b->any[CMA_FAM_IP4], hard, delta);
	}
}

static void cma_claim_add(struct cma_bucket *b, const struct cma_addr_key *key,
			  struct cma_claim **spare)
{
	struct cma_claim *claim = &b->own;

	if (!list_empty(&claim->node)) {
		claim = *spare;
		*spare = NULL;
	}
	claim->key = *key;
	list_add(&claim->node, &b->claims);
}

static void cma_claim_free(struct cma_bucket *b, struct cma_claim *claim)
{
	if (claim != &b->own)
		kfree(claim);
}

/*
 * Sets @idp's claim_* fields and counts it; uses @spare if the address is new to @b, which
 * has others.
 */
static void cma_bucket_add(struct cma_bucket *b, struct cma_id *idp,
			   const struct cma_addr_key *key,
			   struct cma_claim **spare)
{
	lockdep_assert_held(&b->lock);
	if (!cma_key_any(key) && !cma_claim_find(b, key))
		cma_claim_add(b, key, spare);
	idp->claim_key = *key;
	idp->claim_dual = cma_key_dual(key, idp->afonly);
	idp->claim_hard = !idp->reuseaddr || idp->listen_hashed;
	cma_bucket_count(b, idp, 1);
}

/* Returns a claim that nobody has any more, for cma_claim_free(), or NULL. */
static struct cma_claim *cma_bucket_remove(struct cma_bucket *b,
					   struct cma_id *idp)
{
	struct cma_claim *claim;

	cma_bucket_count(b, idp, -1);
	claim = cma_claim_find(b, &idp->claim_key);
	if (!claim || claim->count.total)
		return NULL;
	list_del_init(&claim->node);
	return claim;
}

static struct cma_bucket *cma_bucket_alloc(struct cma_port_space *space)
{
	struct cma_bucket *b;

	b = kzalloc(sizeof(*b), GFP_KERNEL);
	if (!b)
		return NULL;
	b->space = space;
	b->users = 1;
	spin_lock_init(&b->lock);
	INIT_LIST_HEAD(&b->claims);
	INIT_LIST_HEAD(&b->own.node);
	INIT_LIST_HEAD(&b->dsts);
	return b;
}

/*
 * A hash of a destination, never 0.  Two destinations whose hashes collide cannot
 * share a port, which does no harm.
 */
static u32 cma_dst_hash(const struct sockaddr *dst)
{
	struct cma_addr_key key;
	u32 port = (__force u16)cma_addr_port(dst);

	cma_addr_key_init(&key, dst);
	return jhash2((const u32 *)&key, sizeof(key) / sizeof(u32), port) ?: 1;
}

static void cma_bucket_set_dst(struct cma_bucket *b, struct cma_id *idp,
			       u32 dst)
{
	lockdep_assert_held(&b->lock);
	if (!idp->claim_dst && dst) {
		list_add(&idp->dst_node, &b->dsts);
		b->nr_dsts++;
	} else if (idp->claim_dst && !dst) {
		list_del(&idp->dst_node);
		b->nr_dsts--;
	}
	idp->claim_dst = dst;
}

/* Whether another id connects to @dst from this port. */
static bool cma_dst_taken(struct cma_bucket *b, u32 dst,
			  const struct cma_id *self)
{
	struct cma_id *idp;

	lockdep_assert_held(&b->lock);
	list_for_each_entry(idp, &b->dsts, dst_node)
		if (idp != self && idp->claim_dst == dst)
			return true;
	return false;
}

/* One attempt to claim a port, with the memory that it may need. */
struct cma_port_claim {
	struct cma_port_space *space;
	struct cma_id *idp;
	struct cma_addr_key key;
	u32 dst;			/* cma_dst_hash(); 0: not known */
	struct cma_bucket *fresh;	/* NULL once it is in the space */
	struct cma_claim *spare;	/* for a bucket of others; NULL once it is in one */
};

static bool cma_claim_blocked(struct cma_bucket *b,
			      const struct cma_port_claim *c)
{
	const struct cma_id *idp = c->idp;

	if (c->dst)
		return b->nr_dsts != b->users ||
		       cma_dst_taken(b, c->dst, idp);
	return cma_bucket_blocks(b, &c->key, cma_key_dual(&c->key, idp->afonly),
				 idp->reuseaddr);
}

/* Joins the bucket of @port.  -ENOENT: the port has no bucket. */
static int cma_bucket_join(struct cma_port_claim *c, u16 port)
{
	struct cma_id *idp = c->idp;
	struct cma_bucket *b;
	int err = -ENOENT;

	rcu_read_lock();
	b = xa_load(&c->space->buckets, port);
	if (!b)
		goto out;

	spin_lock(&b->lock);
	if (b->dead) {
		err = -ENOENT;
	} else if (cma_claim_blocked(b, c)) {
		err = -EADDRINUSE;
	} else {
		cma_bucket_add(b, idp, &c->key, &c->spare);
		cma_bucket_set_dst(b, idp, c->dst);
		b->users++;
		idp->bucket = b;
		err = 0;
	}
	spin_unlock(&b->lock);
out:
	rcu_read_unlock();
	return err;
}

/* Adds the id to the bucket before that is published; cma_fresh_drain() undoes it. */
static void cma_fresh_fill(struct cma_port_claim *c)
{
	spin_lock(&c->fresh->lock);
	cma_bucket_add(c->fresh, c->idp, &c->key, &c->spare);
	cma_bucket_set_dst(c->fresh, c->idp, c->dst);
	spin_unlock(&c->fresh->lock);
}

static void cma_fresh_drain(struct cma_port_claim *c)
{
	spin_lock(&c->fresh->lock);
	cma_bucket_set_dst(c->fresh, c->idp, 0);
	cma_bucket_remove(c->fresh, c->idp);
	spin_unlock(&c->fresh->lock);
}

static void cma_fresh_published(struct cma_port_claim *c)
{
	c->idp->bucket = c->fresh;
	c->fresh = NULL;
}

static int cma_port_get_fixed(struct cma_port_claim *c, u16 port)
{
	struct net *net = cma_net(c->idp);
	int err;

	if (inet_port_requires_bind_service(net, port) &&
	    !ns_capable(net->user_ns, CAP_NET_BIND_SERVICE))
		return -EACCES;

	/* Once, however many ports are tried. */
	if (!c->spare)
		c->spare = kzalloc(sizeof(*c->spare), GFP_KERNEL);
	if (!c->spare)
		return -ENOMEM;
	do {
		err = cma_bucket_join(c, port);
		if (err != -ENOENT)
			return err;
		c->fresh->port = port;
		cma_fresh_fill(c);
		err = xa_insert(&c->space->buckets, port, c->fresh, GFP_KERNEL);
		if (err)
			cma_fresh_drain(c);
		/* -EBUSY: another id was first; join its bucket. */
	} while (err == -EBUSY);

	if (!err)
		cma_fresh_published(c);
	return err;
}

/*
 * Claims a port that is used only for other destinations, or one that has become free
 * meanwhile.  Searches the whole range, beginning at @start.
 */
static int cma_port_get_shared(struct cma_port_claim *c, u16 *port, int low,
			       int high, int start)
{
	int i, n = high - low + 1;
	int err;

	for (i = 0; i < n; i++) {
		*port = low + (start - low + i) % n;
		err = cma_port_get_fixed(c, *port);
		if (!err || err == -ENOMEM)
			return err;
		cond_resched();
	}
	return -EADDRNOTAVAIL;
}

/*
 * Where to search from: by random increments (RFC 6056, 3.3.5), so that a port comes back
 * as late as possible.  TCP, and so an iWARP provider, refuses one whose last connection to
 * the same destination is in TIME-WAIT.
 */
static u32 cma_port_start(struct cma_port_space *space)
{
	return atomic_add_return(1 + get_random_u32_below(CMA_PORT_STEP), &space->next);
}

/* Claims a free port of the range. */
static int cma_port_get_free(struct cma_port_claim *c, u16 *port)
{
	int low, high, start, err;
	u32 index;

	inet_get_local_port_range(cma_net(c->idp), &low, &high);
	start = low + cma_port_start(c->space) % (high - low + 1);

	cma_fresh_fill(c);
	err = xa_alloc(&c->space->buckets, &index, c->fresh,
		       XA_LIMIT(start, high), GFP_KERNEL);
	if (err == -EBUSY && start > low)
		err = xa_alloc(&c->space->buckets, &index, c->fresh,
			       XA_LIMIT(low, start - 1), GFP_KERNEL);
	if (err) {
		cma_fresh_drain(c);
		if (err != -EBUSY)
			return err;
		return c->dst ? cma_port_get_shared(c, port, low, high, start) :
				-EADDRNOTAVAIL;
	}
	c->fresh->port = index;
	*port = index;
	cma_fresh_published(c);
	return 0;
}

/* The port space of an AF_IB id follows from the service id that it was bound to. */
static enum rdma_ucm_port_space cma_port_ps(struct cma_id *idp)
{
	static const enum rdma_ucm_port_space ps[] = {
		RDMA_PS_IB, RDMA_PS_TCP, RDMA_PS_UDP
	};
	struct sockaddr_ib *ib = (struct sockaddr_ib *)cma_src(idp);
	u64 mask, sid;
	int i;

	if (cma_family(idp) != AF_IB)
		return idp->id.ps;

	mask = be64_to_cpu(ib->sib_sid_mask) & RDMA_IB_IP_PS_MASK;
	sid = be64_to_cpu(ib->sib_sid) & mask;
	for (i = 0; i < ARRAY_SIZE(ps); i++) {
		if (idp->id.ps != RDMA_PS_IB && idp->id.ps != ps[i])
			continue;
		if (sid == (((u64)ps[i] << 16) & mask))
			return ps[i];
	}
	return 0;
}

static void cma_port_set(struct cma_id *idp, enum rdma_ucm_port_space ps,
			 __be16 port)
{
	struct sockaddr_ib *ib = (struct sockaddr_ib *)cma_src(idp);

	switch (cma_family(idp)) {
	case AF_INET:
		((struct sockaddr_in *)cma_src(idp))->sin_port = port;
		break;
	case AF_INET6:
		((struct sockaddr_in6 *)cma_src(idp))->sin6_port = port;
		break;
	case AF_IB:
		ib->sib_sid = cpu_to_be64(((u64)ps << 16) + be16_to_cpu(port));
		/* From now on all bits are known, those of the port included. */
		ib->sib_sid_mask = cpu_to_be64(U64_MAX);
		break;
	}
}

/*
 * cma_port_get() - claim the port of an id's source address
 * @dst: the destination that the id will connect to, or NULL
 *
 * If the port is 0, claims a free port of the namespace's ephemeral range and stores
 * it in the source address.  If none is free and @dst is given, claims one that no
 * other id uses to connect to @dst.  From here on the claimed address, afonly and
 * reuseaddr of @idp change only by cma_port_rebind() and cma_port_set_sharing().
 *
 * Return: 0; -EADDRINUSE if a user conflicts; -EADDRNOTAVAIL if no port is free;
 * -EACCES for a privileged port; -EPROTONOSUPPORT for an unknown port space; -ENOMEM.
 */
int cma_port_get(struct cma_id *idp, const struct sockaddr *dst)
{
	u16 port = be16_to_cpu(cma_addr_port(cma_src(idp)));
	enum rdma_ucm_port_space ps = cma_port_ps(idp);
	struct cma_port_claim c = {
		.space = cma_port_space(cma_net(idp), ps),
		.idp = idp,
	};
	int err = -ENOMEM;

	if (!c.space)
		return -EPROTONOSUPPORT;

	cma_addr_key_init(&c.key, cma_src(idp));
	if (dst && !port)
		c.dst = cma_dst_hash(dst);
	c.fresh = cma_bucket_alloc(c.space);
	if (c.fresh)
		err = port ? cma_port_get_fixed(&c, port) :
			     cma_port_get_free(&c, &port);
	if (!err) {
		idp->port_ps = ps;
		cma_port_set(idp, ps, cpu_to_be16(port));
	}
	kfree(c.fresh);
	kfree(c.spare);
	return err;
}

/* Releases the id's port, if it has one. */
void cma_port_put(struct cma_id *idp)
{
	struct cma_bucket *b = idp->bucket;
	struct cma_claim *claim;
	bool last;

	if (!b)
		return;

	spin_lock(&b->lock);
	cma_bucket_set_dst(b, idp, 0);
	claim = cma_bucket_remove(b, idp);
	last = !--b->users;
	if (last) {
		/* Under the lock, so that a dead bucket is not found again. */
		b->dead = true;
		xa_erase(&b->space->buckets, b->port);
	}
	spin_unlock(&b->lock);

	idp->bucket = NULL;
	cma_claim_free(b, claim);
	if (last)
		kfree_rcu(b, rcu);
}

/*
 * cma_port_set_dst() - change the destination that an id's port is used for
 *
 * Return: 0, or -EADDRINUSE if the id shares its port with one that connects to @dst.
 */
int cma_port_set_dst(struct cma_id *idp, const struct sockaddr *dst)
{
	u32 hash = cma_dst_hash(dst);
	struct cma_bucket *b = idp->bucket;
	int err = 0;

	if (!b)
		return 0;
	spin_lock(&b->lock);
	if (idp->claim_dst) {
		if (cma_dst_taken(b, hash, idp))
			err = -EADDRINUSE;
		else
			cma_bucket_set_dst(b, idp, hash);
	}
	spin_unlock(&b->lock);
	return err;
}

/*
 * cma_port_rebind() - narrow a wildcard claim to the resolved address
 *
 * This never conflicts: all ids that share the port are compatible with the wildcard.
 * If there is no memory, the wider claim stays, which is safe.
 */
void cma_port_rebind(struct cma_id *idp, const struct cma_addr_key *key)
{
	struct cma_bucket *b = idp->bucket;
	struct cma_claim *spare, *old;

	/* Nobody else writes the claimed address. */
	if (!b || !memcmp(&idp->claim_key, key, sizeof(*key)))
		return;
	spare = kzalloc(sizeof(*spare), GFP_KERNEL);
	if (!spare)
		return;

	spin_lock(&b->lock);
	old = cma_bucket_remove(b, idp);
	cma_bucket_add(b, idp, key, &spare);
	spin_unlock(&b->lock);
	cma_claim_free(b, old);
	kfree(spare);
}

/* Recomputes the claim_* flags after a change of the fields that they depend on. */
static void cma_claim_refresh(struct cma_id *idp)
{
	idp->claim_dual = cma_key_dual(&idp->claim_key, idp->afonly);
	idp->claim_hard = !idp->reuseaddr || idp->listen_hashed;
}

/*
 * cma_port_set_sharing() - change afonly or reuseaddr of an id
 * @field: which of the two
 *
 * Return: 0, or -EADDRINUSE if the id has a port, and other users of the port would
 * then conflict with it.
 */
int cma_port_set_sharing(struct cma_id *idp, bool *field, bool value)
{
	struct cma_bucket *b = idp->bucket;
	bool old = *field;
	int err = 0;

	if (!b) {
		*field = value;
		return 0;
	}

	spin_lock(&b->lock);
	cma_bucket_count(b, idp, -1);
	*field = value;
	cma_claim_refresh(idp);
	if (cma_bucket_blocks(b, &idp->claim_key, idp->claim_dual,
			      idp->reuseaddr)) {
		*field = old;
		cma_claim_refresh(idp);
		err = -EADDRINUSE;
	}
	cma_bucket_count(b, idp, 1);
	spin_unlock(&b->lock);
	return err;
}

/*
 * Counts the id as a listener, which shares its address with no other id, or, if
 * @listen is false, no longer as one.  Returns -EADDRINUSE if it conflicts with
 * another user.
 */
static int cma_claim_listen(struct cma_id *idp, bool listen)
{
	struct cma_bucket *b = idp->bucket;
	int err = 0;

	spin_lock(&b->lock);
	cma_bucket_count(b, idp, -1);
	if (listen && cma_bucket_blocks(b, &idp->claim_key, idp->claim_dual,
					false))
		err = -EADDRINUSE;
	else
		idp->listen_hashed = listen;
	/* A listener does not connect: ids that connect must not share its port. */
	if (idp->listen_hashed)
		cma_bucket_set_dst(b, idp, 0);
	cma_claim_refresh(idp);
	cma_bucket_count(b, idp, 1);
	spin_unlock(&b->lock);
	return err;
}

/*
 * cma_port_listen() - let requests find an id by its port and address
 *
 * Return: 0; -EADDRINUSE if other ids use the address and port, even shared; -EINVAL
 * if the id has no port; an error of the hash table.
 */
int cma_port_listen(struct cma_id *idp)
{
	int err;

	if (!idp->bucket)
		return -EINVAL;
	err = cma_claim_listen(idp, true);
	if (err)
		return err;
	err = cma_listeners_add(idp);
	if (err)
		cma_claim_listen(idp, false);
	return err;
}

/* After this, no request finds the id; one that found it before has a reference. */
void cma_port_unlisten(struct cma_id *idp)
{
	if (!idp->listen_hashed)
		return;
	cma_listeners_del(idp);
	cma_claim_listen(idp, false);
}
