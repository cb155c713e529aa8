/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef IBEX_SEQ_TEXT_H
#define IBEX_SEQ_TEXT_H

#include <linux/fs.h>
#include <linux/minmax.h>
#include <linux/seq_file.h>
#include <linux/uio.h>

/*
 * Reads a file of debugfs to @text, in pieces of up to @piece bytes; 0 or an error.  Such a
 * file can be read to user memory only; its seq_file to kernel memory, too.
 */
static inline int seq_text(const char *path, char *text, size_t size, size_t piece)
{
	struct file *file = filp_open(path, O_RDONLY, 0);
	struct kiocb kiocb;
	struct iov_iter iter;
	struct kvec vec;
	size_t at = 0;
	ssize_t n;

	if (IS_ERR(file))
		return PTR_ERR(file);
	init_sync_kiocb(&kiocb, file);
	do {
		vec.iov_base = text + at;
		vec.iov_len = min(piece, size - 1 - at);
		iov_iter_kvec(&iter, ITER_DEST, &vec, 1, vec.iov_len);
		n = seq_read_iter(&kiocb, &iter);
		if (n > 0)
			at += n;
	} while (n > 0 && at < size - 1);
	filp_close(file, NULL);
	text[at] = 0;
	return n < 0 ? n : 0;
}

#endif
