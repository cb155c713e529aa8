// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* A MAD of these programs: vendor header, RMPP header, and words that can be verified. */
#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

#include <infiniband/umad.h>
#include <infiniband/umad_types.h>

#include "echo.h"

#define RMPP_DATA	1
#define RMPP_ACTIVE	1

static __u32 content_word(const struct content *content, __u32 place)
{
	switch (place) {
	case 0:
		return htonl(content->cookie);
	case 1:
		return htonl(content->length);
	case 2:
		return htonl(content->reply);
	default:
		return htonl(content->cookie * 0x9e3779b1 + place * 0x85ebca6b);
	}
}

struct message message_new(void)
{
	struct message msg = {
		.umad = umad_alloc(1, umad_size() + MAD_SIZE + MAX_DATA),
	};

	if (!msg.umad)
		die("umad_alloc", 0);
	msg.mad = umad_get_mad(msg.umad);
	return msg;
}

void message_address(struct message *msg, const __u8 gid[16], int gid_index)
{
	struct ib_mad_addr addr = {
		.grh_present = 1,
		.gid_index = gid_index,
		.hop_limit = 64,
	};

	memcpy(addr.gid, gid, sizeof(addr.gid));
	umad_set_addr(msg->umad, 0, 1, 0, UMAD_QKEY);
	umad_set_grh(msg->umad, &addr);
	umad_set_pkey(msg->umad, 0);
}

/* Data that do not fit in one MAD are sent as a transfer, and so is the answer. */
static void message_fill(struct message *msg, const struct content *content, bool rmpp)
{
	struct umad_rmpp_hdr *hdr = (void *)(msg->mad + sizeof(struct umad_hdr));
	__u8 *data = msg->mad + MAD_HEADER;
	__u32 i, word;

	memset(hdr, 0, sizeof(*hdr));
	msg->length = MAD_SIZE;
	memset(data, 0, MAD_DATA);
	if (rmpp) {
		hdr->rmpp_version = UMAD_RMPP_VERSION;
		hdr->rmpp_type = RMPP_DATA;
		hdr->rmpp_rtime_flags = RMPP_ACTIVE;
		msg->length = MAD_HEADER + content->length;
	}
	for (i = 0; i < content->length / sizeof(word); i++) {
		word = content_word(content, i);
		memcpy(data + i * sizeof(word), &word, sizeof(word));
	}
}

void message_request(struct message *msg, const struct content *content)
{
	struct umad_hdr hdr = {
		.base_version = UMAD_BASE_VERSION,
		.mgmt_class = ECHO_CLASS,
		.class_version = 1,
		.method = METHOD_SET,
		.tid = htobe64(content->cookie),
	};
	__u32 oui = htonl(ECHO_OUI);

	memcpy(msg->mad, &hdr, sizeof(hdr));
	memcpy(msg->mad + MAD_HEADER - sizeof(oui), &oui, sizeof(oui));
	message_fill(msg, content, content->length > MAD_DATA);
}

static bool is_transfer(const struct message *msg)
{
	const struct umad_rmpp_hdr *hdr = (void *)(msg->mad + sizeof(struct umad_hdr));

	return hdr->rmpp_rtime_flags & RMPP_ACTIVE;
}

/* Turns the request that @msg holds into its response. */
void message_answer(struct message *msg, const struct content *asked)
{
	struct content content = { ~asked->cookie, asked->reply, 0 };
	bool rmpp = is_transfer(msg) || asked->reply > MAD_DATA;

	((struct umad_hdr *)msg->mad)->method |= METHOD_RESP;
	message_fill(msg, asked->reply ? &content : asked, rmpp);
}

/* Returns the program's half of the TID. */
__u32 message_tid(const struct message *msg)
{
	return be64toh(((struct umad_hdr *)msg->mad)->tid);
}

/* Returns false if the message is not as long as it says. */
bool message_read(const struct message *msg, struct content *content)
{
	__u32 word[3];

	memcpy(word, msg->mad + MAD_HEADER, sizeof(word));
	content->cookie = ntohl(word[0]);
	content->length = ntohl(word[1]);
	content->reply = ntohl(word[2]);
	if (content->length > MAX_DATA || content->reply > MAX_DATA)
		return false;
	if (is_transfer(msg))
		return (__u32)msg->length == MAD_HEADER + content->length;
	return msg->length == MAD_SIZE && content->length <= MAD_DATA;
}

bool message_is(const struct message *msg, const struct content *content)
{
	struct content got;
	__u32 i, word;

	if (!message_read(msg, &got) || memcmp(&got, content, sizeof(got)))
		return false;
	for (i = 0; i < content->length / sizeof(word); i++) {
		word = content_word(content, i);
		if (memcmp(msg->mad + MAD_HEADER + i * sizeof(word), &word, sizeof(word)))
			return false;
	}
	return true;
}
