// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The stock providers, as far as the fake adapter can behave like them. */
#include <linux/export.h>
#include <linux/module.h>
#include <linux/string.h>
#include "quirks.h"

static const struct fake_hca_quirks obliging;

static const struct fake_hca_quirks providers[] = {
	{
		.provider = "qedr",
		.recv_from_rtr = true,
		.byte_len_without_grh = true,
		.joint_poll = true,
	},
};

static char *provider = "";
module_param(provider, charp, 0444);
MODULE_PARM_DESC(provider, "stock provider to behave like");

const struct fake_hca_quirks *fake_hca_quirks_of(const char *name)
{
	int i;

	if (!name || !*name)
		return &obliging;
	for (i = 0; i < ARRAY_SIZE(providers); i++)
		if (!strcmp(providers[i].provider, name))
			return &providers[i];
	return NULL;
}
EXPORT_SYMBOL_GPL(fake_hca_quirks_of);

const struct fake_hca_quirks *fake_hca_quirks_default(void)
{
	const struct fake_hca_quirks *quirks = fake_hca_quirks_of(provider);

	return WARN_ONCE(!quirks, "no provider %s\n", provider) ? &obliging : quirks;
}
EXPORT_SYMBOL_GPL(fake_hca_quirks_default);
