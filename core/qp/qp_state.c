// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The QP state machine as data: which transitions exist (IBA vol. 1, 10.3.1)
 * and which attributes each demands and allows (11.2.4.2).
 */
#include <linux/bits.h>

#include "core.h"

#define TO(state)	BIT(IB_QPS_##state)

/* Reset can be reached from any state, and Error from any state but Reset. */
static const u8 qp_next_states[] = {
	[IB_QPS_RESET] = TO(RESET) | TO(INIT),
	[IB_QPS_INIT]  = TO(RESET) | TO(ERR) | TO(INIT) | TO(RTR),
	[IB_QPS_RTR]   = TO(RESET) | TO(ERR) | TO(RTS),
	[IB_QPS_RTS]   = TO(RESET) | TO(ERR) | TO(RTS) | TO(SQD),
	[IB_QPS_SQD]   = TO(RESET) | TO(ERR) | TO(RTS) | TO(SQD),
	[IB_QPS_SQE]   = TO(RESET) | TO(ERR) | TO(RTS),
	[IB_QPS_ERR]   = TO(RESET) | TO(ERR),
};

struct qp_rule {
	u8 cur;
	u8 next;
	u16 types;	/* bits of enum ib_qp_type */
	u32 required;
	u32 optional;
};

#define RC		BIT(IB_QPT_RC)
#define UC		BIT(IB_QPT_UC)
#define UD		BIT(IB_QPT_UD)
#define RAW		BIT(IB_QPT_RAW_PACKET)
#define INI		BIT(IB_QPT_XRC_INI)
#define TGT		BIT(IB_QPT_XRC_TGT)
#define SPECIAL		(BIT(IB_QPT_SMI) | BIT(IB_QPT_GSI))
#define CONNECTED	(RC | UC | INI | TGT)
#define RESPONDER	(RC | TGT)	/* executes reads and atomics, sends RNR NAKs */

#define A(name)		IB_QP_##name
#define INIT_CONNECTED	(A(PKEY_INDEX) | A(PORT) | A(ACCESS_FLAGS))
#define INIT_UD		(A(PKEY_INDEX) | A(PORT) | A(QKEY))
#define KEYS		(A(PKEY_INDEX) | A(QKEY))
#define RTR_PATH	(A(AV) | A(PATH_MTU) | A(DEST_QPN) | A(RQ_PSN))
#define RTR_RESPONDER	(A(MAX_DEST_RD_ATOMIC) | A(MIN_RNR_TIMER))
#define RETRIES		(A(RETRY_CNT) | A(RNR_RETRY))
#define MIGRATION	(A(ALT_PATH) | A(ACCESS_FLAGS) | A(PATH_MIG_STATE))

#define RULE(from, to, qp_types, req, opt) {				\
	.cur = IB_QPS_##from, .next = IB_QPS_##to, .types = (qp_types),	\
	.required = (req), .optional = (opt),				\
}

/* A QP type without a row for a transition takes no attributes in it. */
static const struct qp_rule qp_rules[] = {
	RULE(RESET, INIT, CONNECTED, INIT_CONNECTED, 0),
	RULE(RESET, INIT, UD, INIT_UD, 0),
	RULE(RESET, INIT, SPECIAL, KEYS, 0),
	RULE(RESET, INIT, RAW, A(PORT), 0),

	RULE(INIT, INIT, CONNECTED, 0, INIT_CONNECTED),
	RULE(INIT, INIT, UD, 0, INIT_UD),
	RULE(INIT, INIT, SPECIAL, 0, KEYS),

	RULE(INIT, RTR, RESPONDER, RTR_PATH | RTR_RESPONDER,
	     A(ALT_PATH) | A(ACCESS_FLAGS) | A(PKEY_INDEX)),
	RULE(INIT, RTR, UC | INI, RTR_PATH,
	     A(ALT_PATH) | A(ACCESS_FLAGS) | A(PKEY_INDEX)),
	RULE(INIT, RTR, UD | SPECIAL, 0, KEYS),

	RULE(RTR, RTS, RC,
	     A(SQ_PSN) | A(TIMEOUT) | RETRIES | A(MAX_QP_RD_ATOMIC),
	     A(CUR_STATE) | MIGRATION | A(MIN_RNR_TIMER)),
	RULE(RTR, RTS, INI,
	     A(SQ_PSN) | A(TIMEOUT) | RETRIES | A(MAX_QP_RD_ATOMIC),
	     A(CUR_STATE) | MIGRATION),
	RULE(RTR, RTS, TGT, A(SQ_PSN) | A(TIMEOUT),
	     A(CUR_STATE) | MIGRATION | A(MIN_RNR_TIMER)),
	RULE(RTR, RTS, UC, A(SQ_PSN), A(CUR_STATE) | MIGRATION),
	RULE(RTR, RTS, UD | SPECIAL, A(SQ_PSN), A(CUR_STATE) | A(QKEY)),
	RULE(RTR, RTS, RAW, 0, A(RATE_LIMIT)),

	RULE(RTS, RTS, RESPONDER, 0,
	     A(CUR_STATE) | MIGRATION | A(MIN_RNR_TIMER)),
	RULE(RTS, RTS, UC | INI, 0, A(CUR_STATE) | MIGRATION),
	RULE(RTS, RTS, UD | SPECIAL, 0, A(CUR_STATE) | A(QKEY)),
	RULE(RTS, RTS, RAW, 0, A(RATE_LIMIT)),

	RULE(RTS, SQD, CONNECTED | UD | SPECIAL, 0, A(EN_SQD_ASYNC_NOTIFY)),

	RULE(SQD, RTS, RESPONDER, 0,
	     A(CUR_STATE) | MIGRATION | A(MIN_RNR_TIMER)),
	RULE(SQD, RTS, UC | INI, 0, A(CUR_STATE) | MIGRATION),
	RULE(SQD, RTS, UD | SPECIAL, 0, A(CUR_STATE) | A(QKEY)),

	RULE(SQD, SQD, RC, 0,
	     A(PORT) | A(AV) | A(TIMEOUT) | RETRIES | A(MAX_QP_RD_ATOMIC) |
	     RTR_RESPONDER | MIGRATION | A(PKEY_INDEX)),
	RULE(SQD, SQD, INI, 0,
	     A(PORT) | A(AV) | A(TIMEOUT) | RETRIES | A(MAX_QP_RD_ATOMIC) |
	     MIGRATION | A(PKEY_INDEX)),
	RULE(SQD, SQD, TGT, 0,
	     A(PORT) | A(AV) | A(TIMEOUT) | RTR_RESPONDER | MIGRATION |
	     A(PKEY_INDEX)),
	RULE(SQD, SQD, UC, 0, A(AV) | MIGRATION | A(PKEY_INDEX)),
	RULE(SQD, SQD, UD | SPECIAL, 0, KEYS),

	RULE(SQE, RTS, UC, 0, A(CUR_STATE) | A(ACCESS_FLAGS)),
	RULE(SQE, RTS, UD | SPECIAL, 0, A(CUR_STATE) | A(QKEY)),
};

static const struct qp_rule *qp_find_rule(enum ib_qp_state cur,
					  enum ib_qp_state next,
					  enum ib_qp_type type)
{
	const struct qp_rule *rule;

	if ((unsigned int)type >= IB_QPT_MAX)
		return NULL;
	for (rule = qp_rules; rule < qp_rules + ARRAY_SIZE(qp_rules); rule++)
		if (rule->cur == cur && rule->next == next &&
		    rule->types & BIT(type))
			return rule;
	return NULL;
}

/* The states that a consumer may give as the QP's current state (11.2.4.2). */
static bool qp_may_be_current(enum ib_qp_state state)
{
	return BIT(state) & (TO(RTR) | TO(RTS) | TO(SQD) | TO(SQE));
}

/**
 * ib_modify_qp_is_ok() - check a modify QP request
 * @cur_state: current state
 * @next_state: requested state
 * @type: type of the QP
 * @mask: attributes in the request
 *
 * IBA vol. 1, 10.3.1 and 11.2.4.2.
 *
 * Context: any.
 * Return: true if the transition exists, and @mask has every attribute that it
 * requires and none that it does not allow.
 */
bool ib_modify_qp_is_ok(enum ib_qp_state cur_state, enum ib_qp_state next_state,
			enum ib_qp_type type, enum ib_qp_attr_mask mask)
{
	const struct qp_rule *rule;
	u32 required, allowed;

	if ((unsigned int)cur_state > IB_QPS_ERR ||
	    (unsigned int)next_state > IB_QPS_ERR ||
	    !(qp_next_states[cur_state] & BIT(next_state)))
		return false;
	if (mask & IB_QP_CUR_STATE && !qp_may_be_current(cur_state))
		return false;

	rule = qp_find_rule(cur_state, next_state, type);
	required = rule ? rule->required : 0;
	allowed = required | (rule ? rule->optional : 0) | IB_QP_STATE;
	return (mask & required) == required && !(mask & ~allowed);
}
EXPORT_SYMBOL(ib_modify_qp_is_ok);
