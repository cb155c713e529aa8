// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The words of a call: right values, chosen by its seed, and then its edits. */
#include <linux/fdtable.h>
#include <linux/file.h>
#include <linux/inet.h>
#include <linux/uaccess.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/rdma_user_cm.h>
#include "fuzz.h"

const u32 fuzz_edges[] = {
	0, 1, 2, 3, 4, 7, 8, 15, 16, 31, 32, 63, 64, 127, 128, 255, 256, 1023, 4095, 4096,
	32767, 32768, 65535, 65536, 0x7fffffff, 0x80000000, 0x80010000, 0xfffffffe, 0xffffffff,
};

const unsigned int fuzz_nr_edges = ARRAY_SIZE(fuzz_edges);

u32 fuzz_rnd(struct fuzz *f, u32 below)
{
	f->rnd = f->rnd * 1664525 + 1013904223;
	return (f->rnd >> 8) % below;
}

/* ---- handles ---- */

u32 fuzz_handle(struct fuzz *f, char kind)
{
	unsigned int k = kind - 'a';

	f->used[k] = f->pooled[k] ? f->pool[k][fuzz_rnd(f, f->pooled[k])] : 0;
	return f->used[k];
}

void fuzz_keep(struct fuzz *f, char kind, u32 handle)
{
	unsigned int k = kind - 'a';

	if (f->pooled[k] < FUZZ_POOL)
		f->pool[k][f->pooled[k]++] = handle;
}

void fuzz_drop(struct fuzz *f, char kind, u32 handle)
{
	unsigned int k = kind - 'a', i;

	for (i = 0; i < f->pooled[k]; i++)
		if (f->pool[k][i] == handle) {
			f->pool[k][i] = f->pool[k][--f->pooled[k]];
			return;
		}
}

void fuzz_account(struct fuzz *f, const struct fuzz_op *op, const u32 *made)
{
	u32 taken = 0;
	const char *s;

	for (s = op->takes; s && *s; s++) {
		taken = f->used[*s - 'a'];
		fuzz_drop(f, *s, taken);
	}
	for (s = op->makes; s && *s; s++)
		fuzz_keep(f, *s, made ? *made++ : taken);
}

/* ---- fields ---- */

unsigned long fuzz_resp_at(const struct fuzz *f)
{
	return f->mem + FUZZ_ARENA;
}

u32 fuzz_resp_u32(struct fuzz *f, unsigned int word)
{
	u32 value;

	if (get_user(value, (u32 __user *)fuzz_resp_at(f) + word))
		return 0;
	return value;
}

static void put64(u32 *out, u64 value)
{
	memcpy(out, &value, sizeof(value));
}

/* Of the hosts of the RDMA CM's suites; @which: 0 the client's, 1 the server's. */
static void put_sockaddr(struct fuzz *f, u32 *out, unsigned int which)
{
	struct sockaddr_in sin = {
		.sin_family = AF_INET,
		.sin_port = which ? htons(4791 + !fuzz_rnd(f, 8)) : 0,
		.sin_addr.s_addr = htonl(0x0a010001 + which),
	};
	struct sockaddr_in6 sin6 = { .sin6_family = AF_INET6, .sin6_port = sin.sin_port };

	memset(out, 0, sizeof(sin6));
	/* All addresses of a call are of one family. */
	if (f->call->seed % 4 < 3) {
		memcpy(out, &sin, sizeof(sin));
		return;
	}
	sin6.sin6_addr.s6_addr[0] = 0xfd;
	sin6.sin6_addr.s6_addr[15] = 1 + which;
	memcpy(out, &sin6, sizeof(sin6));
}

static void put_param(struct fuzz *f, u32 *out)
{
	struct rdma_ucm_conn_param *param = (void *)out;

	memset(param, 0, sizeof(*param));
	param->qp_num = 0x123 + fuzz_rnd(f, 16);
	param->private_data_len = fuzz_rnd(f, 56);
	param->responder_resources = fuzz_rnd(f, 4);
	param->initiator_depth = fuzz_rnd(f, 4);
	param->retry_count = fuzz_rnd(f, 8);
	param->rnr_retry_count = fuzz_rnd(f, 8);
	param->valid = 1;
}

/* How many words a field takes. */
static size_t width(char field)
{
	switch (field) {
	case 'R':
	case 'P':
	case 'U':
	case 'L':
		return 2;
	case 'G':
		return 4;
	case 'H':
	case 'D':
		return 8;
	case 'S':
	case 'V':
		return 7;
	case 'T':
	case 'W':
		return 32;
	case 'K':
		return sizeof(struct rdma_ucm_conn_param) / 4;
	default:
		return 1;
	}
}

size_t fuzz_words_of(const char *fields)
{
	size_t n = 0;

	while (fields && *fields)
		n += width(*fields++);
	return n;
}

static void put_wide(struct fuzz *f, char field, u32 *out)
{
	switch (field) {
	case 'R':		/* where the response goes */
		put64(out, fuzz_resp_at(f));
		break;
	case 'P':		/* memory */
		put64(out, f->mem + fuzz_rnd(f, 4) * PAGE_SIZE);
		break;
	case 'U':		/* anything */
		put64(out, (u64)fuzz_rnd(f, 0xffff) << 32 | fuzz_rnd(f, 0xffff));
		break;
	case 'L':		/* a length of memory */
		put64(out, 1 + fuzz_rnd(f, 3 * PAGE_SIZE));
		break;
	case 'S':		/* addresses: of the client, of the server */
	case 'T':
		put_sockaddr(f, out, 0);
		break;
	case 'V':
	case 'W':
		put_sockaddr(f, out, 1);
		break;
	case 'K':
		put_param(f, out);
		break;
	}
}

static void put_field(struct fuzz *f, char field, u32 *out)
{
	if (width(field) > 1)
		put_wide(f, field, out);
	else if (field >= 'a' && field <= 'z')
		*out = fuzz_handle(f, field);
	else if (field >= '0' && field <= '9')
		*out = field - '0';
	else if (field == 'N')
		*out = 1 + fuzz_rnd(f, 16);
	else if (field == 'Y')
		*out = fuzz_rnd(f, 5);
	else if (field == 'B')
		*out = fuzz_rnd(f, 2);
	else if (field == 'M')
		*out = U32_MAX;
	else
		*out = fuzz_rnd(f, 0xffffff);
}

void fuzz_fill(struct fuzz *f, const char *fields, void *to, size_t words)
{
	u32 *out = to;
	size_t n;

	memset(out, 0, words * sizeof(*out));
	for (; fields && *fields && words >= width(*fields); fields++) {
		n = width(*fields);
		put_field(f, *fields, out);
		out += n;
		words -= n;
	}
}

/* ---- edits ---- */

static void spoil(struct fuzz *f, const struct fuzz_edit *edit)
{
	size_t offset = edit->at % max_t(size_t, f->len + f->more, 1);
	size_t room = FUZZ_MESSAGE - offset;
	u8 *at = f->msg + offset;
	s64 edge = (s32)fuzz_edges[edit->value % fuzz_nr_edges];
	u32 word;

	switch (edit->how) {
	case FUZZ_FLIP:
		*at ^= BIT(edit->value & 7);
		break;
	case FUZZ_BYTE:
		*at = edit->value;
		break;
	case FUZZ_SHORT:
		memcpy(at, &edit->value, min(room, sizeof(edit->value)));
		break;
	case FUZZ_WORD:
		memcpy(at, &edge, min(room, sizeof(u32)));
		break;
	case FUZZ_LONG:
		memcpy(at, &edge, min(room, sizeof(u64)));
		break;
	case FUZZ_ADD:
		if (room < sizeof(word))
			break;
		memcpy(&word, at, sizeof(word));
		word += (s16)edit->value;
		memcpy(at, &word, sizeof(word));
		break;
	case FUZZ_LENGTH:
		f->len = clamp_t(long, (long)f->len + (s16)edit->value, 0,
				 FUZZ_MESSAGE - f->more);
		break;
	}
}

void fuzz_spoil(struct fuzz *f)
{
	unsigned int i;

	for (i = 0; i < f->call->nr_edits; i++)
		spoil(f, &f->call->edit[i]);
}

/* ---- descriptors ---- */

/* Kernel threads share a table of descriptors, which is otherwise empty. */
void fuzz_close_fds(void)
{
	unsigned int fd;

	for (fd = 0; fd < FUZZ_FDS; fd++)
		close_fd(fd);
	flush_delayed_fput();
}
