// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * How a method's handler reads and writes the attributes of its call, beyond the inline
 * helpers of <rdma/uverbs_ioctl.h>.
 *
 * The dispatcher has checked the attributes against the method's definition: their
 * lengths are within its limits, values of up to 8 bytes are inline.
 */
#include <linux/uaccess.h>

#include "call/call.h"

int uverbs_attr_written(const struct uverbs_attr_bundle *bundle,
			const struct uverbs_attr *attr)
{
	const struct uverbs_call *call = uverbs_call_of(bundle);
	unsigned int i = attr->ptr_attr.uattr_idx;

	if (WARN_ON_ONCE(i >= call->nr_uattrs))
		return -EINVAL;
	return put_user((u16)(call->uattrs[i].flags | UVERBS_ATTR_F_VALID_OUTPUT),
			&call->user_attrs[i].flags);
}

/**
 * uverbs_copy_to() - write an output attribute
 * @bundle: attributes of the call
 * @idx: attribute id, of a PTR_OUT
 * @from: what to write
 * @size: bytes of it; only as many as the user has room for are written
 *
 * The attribute is flagged UVERBS_ATTR_F_VALID_OUTPUT in the user's array.
 *
 * Context: process context of the user; may fault.
 * Return: 0, -ENOENT if the user did not give the attribute, -EFAULT.
 */
int uverbs_copy_to(const struct uverbs_attr_bundle *bundle, size_t idx,
		   const void *from, size_t size)
{
	const struct uverbs_attr *attr = uverbs_attr_get(bundle, idx);

	if (IS_ERR(attr))
		return PTR_ERR(attr);
	/* The data of an output attribute is an address, even if the output is short. */
	if (copy_to_user(u64_to_user_ptr(attr->ptr_attr.data), from,
			 min_t(size_t, size, attr->ptr_attr.len)))
		return -EFAULT;
	return uverbs_attr_written(bundle, attr);
}
EXPORT_SYMBOL(uverbs_copy_to);

/**
 * uverbs_copy_to_struct_or_zero() - write an output attribute that may be longer
 * @bundle: attributes of the call
 * @idx: attribute id, of a PTR_OUT
 * @from: what to write
 * @size: bytes of it
 *
 * Like uverbs_copy_to(), for a struct that may be longer in newer userspace: the room
 * that the user has beyond @size is zeroed.
 *
 * Context: process context of the user; may fault.
 * Return: as uverbs_copy_to().
 */
int uverbs_copy_to_struct_or_zero(const struct uverbs_attr_bundle *bundle,
				  size_t idx, const void *from, size_t size)
{
	int len = uverbs_attr_get_len(bundle, idx);
	void __user *to;

	if (len > 0 && len > size) {
		to = u64_to_user_ptr(uverbs_attr_get(bundle, idx)->ptr_attr.data);
		if (clear_user(to + size, len - size))
			return -EFAULT;
	}
	return uverbs_copy_to(bundle, idx, from, size);
}
EXPORT_SYMBOL(uverbs_copy_to_struct_or_zero);

/*
 * Reads flags from an inline value of 4 or 8 bytes that begins at the first byte of
 * data.  The flags are 0 if the user did not give the attribute.
 */
static int attr_get_flags(u64 *flags, const struct uverbs_attr_bundle *bundle,
			  size_t idx, u64 allowed)
{
	const struct uverbs_attr *attr = uverbs_attr_get(bundle, idx);
	u64 value = 0;

	*flags = 0;
	if (IS_ERR(attr))
		return 0;
	if (attr->ptr_attr.len == sizeof(u64))
		value = attr->ptr_attr.data;
	else if (attr->ptr_attr.len == sizeof(u32))
		value = *(const u32 *)&attr->ptr_attr.data;
	else
		return -EINVAL;
	if (value & ~allowed)
		return -EINVAL;
	*flags = value;
	return 0;
}

/**
 * uverbs_get_flags64() - read an attribute of flags
 * @to: the flags; 0 if the user did not give the attribute, or on error
 * @attrs_bundle: attributes of the call
 * @idx: attribute id, of a FLAGS_IN: a u32 or a u64
 * @allowed_bits: flags that the method knows
 *
 * Context: any.
 * Return: 0, or -EINVAL for a flag that is not allowed or a value of neither size.
 */
int uverbs_get_flags64(u64 *to, const struct uverbs_attr_bundle *attrs_bundle,
		       size_t idx, u64 allowed_bits)
{
	return attr_get_flags(to, attrs_bundle, idx, allowed_bits);
}
EXPORT_SYMBOL(uverbs_get_flags64);

/**
 * uverbs_get_flags32() - read an attribute of flags into a u32
 * @to: the flags; 0 if the user did not give the attribute, or on error
 * @attrs_bundle: attributes of the call
 * @idx: attribute id, of a FLAGS_IN
 * @allowed_bits: flags that the method knows
 *
 * Context: any.
 * Return: 0, or -EINVAL for a flag that is not allowed or does not fit.
 */
int uverbs_get_flags32(u32 *to, const struct uverbs_attr_bundle *attrs_bundle,
		       size_t idx, u64 allowed_bits)
{
	u64 flags;
	int ret = attr_get_flags(&flags, attrs_bundle, idx,
				 lower_32_bits(allowed_bits));

	*to = flags;
	return ret;
}
EXPORT_SYMBOL(uverbs_get_flags32);

/*
 * Reads the raw value of a CONST_IN.  Returns 1 for the user's value, 0 for the
 * default, -ENOENT if there is neither.
 */
static int attr_get_const(u64 *value, const struct uverbs_attr_bundle *bundle,
			  size_t idx, const u64 *def_val)
{
	const struct uverbs_attr *attr = uverbs_attr_get(bundle, idx);

	if (!IS_ERR(attr)) {
		*value = attr->ptr_attr.data;
		return 1;
	}
	*value = def_val ? *def_val : 0;
	return def_val ? 0 : PTR_ERR(attr);
}

/**
 * _uverbs_get_const_signed() - read a constant into a signed type
 * @to: the value; 0 on error
 * @attrs_bundle: attributes of the call
 * @idx: attribute id, of a CONST_IN
 * @lower_bound: least value of the destination type
 * @upper_bound: greatest value of the destination type
 * @def_val: value if the user did not give the attribute; NULL if it is required
 *
 * Context: any.
 * Return: 0, -ENOENT if there is no value, -EINVAL if the value, given or default, is
 * out of bounds.
 */
int _uverbs_get_const_signed(s64 *to,
			     const struct uverbs_attr_bundle *attrs_bundle,
			     size_t idx, s64 lower_bound, u64 upper_bound,
			     s64 *def_val)
{
	int ret = attr_get_const((u64 *)to, attrs_bundle, idx,
				 (const u64 *)def_val);

	if (ret < 0)
		return ret;
	if (*to >= lower_bound && (*to < 0 || *to <= upper_bound))
		return 0;
	*to = 0;
	return -EINVAL;
}
EXPORT_SYMBOL(_uverbs_get_const_signed);

/**
 * _uverbs_get_const_unsigned() - read a constant into an unsigned type
 * @to: the value; 0 on error
 * @attrs_bundle: attributes of the call
 * @idx: attribute id, of a CONST_IN
 * @upper_bound: greatest value of the destination type
 * @def_val: value if the user did not give the attribute; NULL if it is required
 *
 * Context: any.
 * Return: as _uverbs_get_const_signed().
 */
int _uverbs_get_const_unsigned(u64 *to,
			       const struct uverbs_attr_bundle *attrs_bundle,
			       size_t idx, u64 upper_bound, u64 *def_val)
{
	int ret = attr_get_const(to, attrs_bundle, idx, def_val);

	if (ret < 0)
		return ret;
	if (*to <= upper_bound)
		return 0;
	*to = 0;
	return -EINVAL;
}
EXPORT_SYMBOL(_uverbs_get_const_unsigned);
