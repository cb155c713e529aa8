// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Static rates: the encoding of the IBA's PathRecord Rate component
 * (vol. 1, 15.2.5.16) as multiples of 2.5 Gb/s and in Mb/s.
 */
#include <rdma/ib_verbs.h>

/*
 * From FDR on lanes use 64b/66b or PAM4 coding, so the signalling rate in Mb/s
 * is not the nominal one and the multiple is the nearest that the 8-bit
 * inter-packet delay fields of the hardware can count.
 */
static const struct {
	short mult;
	int mbps;
} rates[] = {
	[IB_RATE_2_5_GBPS] = {   1,   2500 },
	[IB_RATE_5_GBPS]   = {   2,   5000 },
	[IB_RATE_10_GBPS]  = {   4,  10000 },
	[IB_RATE_14_GBPS]  = {   6,  14062 },
	[IB_RATE_20_GBPS]  = {   8,  20000 },
	[IB_RATE_25_GBPS]  = {  10,  25781 },
	[IB_RATE_28_GBPS]  = {  11,  28125 },
	[IB_RATE_30_GBPS]  = {  12,  30000 },
	[IB_RATE_40_GBPS]  = {  16,  40000 },
	[IB_RATE_50_GBPS]  = {  20,  53125 },
	[IB_RATE_56_GBPS]  = {  22,  56250 },
	[IB_RATE_60_GBPS]  = {  24,  60000 },
	[IB_RATE_80_GBPS]  = {  32,  80000 },
	[IB_RATE_100_GBPS] = {  40, 103125 },
	[IB_RATE_112_GBPS] = {  45, 112500 },
	[IB_RATE_120_GBPS] = {  48, 120000 },
	[IB_RATE_168_GBPS] = {  67, 168750 },
	[IB_RATE_200_GBPS] = {  80, 206250 },
	[IB_RATE_300_GBPS] = { 120, 309375 },
	[IB_RATE_400_GBPS] = { 160, 425000 },
	[IB_RATE_600_GBPS] = { 240, 637500 },
	[IB_RATE_800_GBPS] = { 320, 850000 },
};

static bool rate_known(enum ib_rate rate)
{
	return (unsigned int)rate < ARRAY_SIZE(rates) && rates[rate].mult;
}

/**
 * ib_rate_to_mult() - a rate as a multiple of 2.5 Gb/s
 * @rate: encoded rate
 *
 * Context: any.
 * Return: the multiple, or -1 for IB_RATE_PORT_CURRENT and unknown rates.
 */
__attribute_const__ int ib_rate_to_mult(enum ib_rate rate)
{
	return rate_known(rate) ? rates[rate].mult : -1;
}
EXPORT_SYMBOL(ib_rate_to_mult);

/**
 * mult_to_ib_rate() - the rate that is a multiple of 2.5 Gb/s
 * @mult: the multiple
 *
 * Context: any.
 * Return: the encoded rate, or IB_RATE_PORT_CURRENT if none is that fast.
 */
__attribute_const__ enum ib_rate mult_to_ib_rate(int mult)
{
	unsigned int rate;

	for (rate = 0; rate < ARRAY_SIZE(rates); rate++)
		if (mult && rates[rate].mult == mult)
			return rate;
	return IB_RATE_PORT_CURRENT;
}
EXPORT_SYMBOL(mult_to_ib_rate);

/**
 * ib_rate_to_mbps() - a rate in megabits a second
 * @rate: encoded rate
 *
 * Context: any.
 * Return: the signalling rate in Mb/s, or -1 for IB_RATE_PORT_CURRENT and
 * unknown rates.
 */
__attribute_const__ int ib_rate_to_mbps(enum ib_rate rate)
{
	return rate_known(rate) ? rates[rate].mbps : -1;
}
EXPORT_SYMBOL(ib_rate_to_mbps);
