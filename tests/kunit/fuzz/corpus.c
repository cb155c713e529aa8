// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The inputs that are kept, in files of the host: one for each target, one line an input. */
#include <linux/fs.h>
#include <linux/kernel_read_file.h>
#include <linux/module.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>
#include "fuzz.h"

#define MOST_BYTES	SZ_1M
#define MOST_LINE	2048

static char *corpus = "";
module_param(corpus, charp, 0444);
MODULE_PARM_DESC(corpus, "Folder with a file of inputs for each target");

static char *found = "";
module_param(found, charp, 0444);
MODULE_PARM_DESC(found, "Folder where a search writes its inputs");

int fuzz_add(struct fuzz_corpus *c, const struct fuzz_input *input)
{
	unsigned int room = c->room ? 2 * c->room : 256;
	struct fuzz_input *more;

	if (c->nr == c->room) {
		more = kvcalloc(room, sizeof(*more), GFP_KERNEL);
		if (!more)
			return -ENOMEM;
		if (c->nr)
			memcpy(more, c->input, c->nr * sizeof(*more));
		kvfree(c->input);
		c->input = more;
		c->room = room;
	}
	c->input[c->nr++] = *input;
	return 0;
}

void fuzz_free(struct fuzz_corpus *c)
{
	kvfree(c->input);
	memset(c, 0, sizeof(*c));
}

static int take_line(struct fuzz *f, struct fuzz_corpus *c, char *line)
{
	struct fuzz_input input;
	int ret;

	if (!*line || *line == '#')
		return 0;
	ret = fuzz_parse(f->target, line, &input);
	if (ret)
		kunit_err(f->test, "no input: %s", line);
	return ret ?: fuzz_add(c, &input);
}

int fuzz_load(struct fuzz *f, struct fuzz_corpus *c)
{
	char path[256], *text, *rest, *line;
	void *buf = NULL;
	ssize_t len;
	int ret = 0;

	snprintf(path, sizeof(path), "%s/%s", corpus, f->target->name);
	len = kernel_read_file_from_path(path, 0, &buf, MOST_BYTES, NULL, READING_UNKNOWN);
	if (len < 0)
		return len;
	text = kvmalloc(len + 1, GFP_KERNEL);
	if (text) {
		memcpy(text, buf, len);
		text[len] = 0;
	}
	vfree(buf);
	if (!text)
		return -ENOMEM;
	for (rest = text; !ret && (line = strsep(&rest, "\n"));)
		ret = take_line(f, c, line);
	kvfree(text);
	return ret;
}

static int save_input(struct fuzz *f, struct file *file, const struct fuzz_input *input,
		      char *line)
{
	size_t n = 0;
	unsigned int i;
	ssize_t ret;

	for (i = 0; i < input->nr; i++) {
		if (i)
			line[n++] = ' ';
		n += fuzz_print(f->target, &input->call[i], line + n, MOST_LINE - 2 - n);
	}
	line[n++] = '\n';
	ret = kernel_write(file, line, n, &file->f_pos);
	return ret < 0 ? ret : 0;
}

int fuzz_save(struct fuzz *f, const struct fuzz_corpus *c)
{
	char path[256], *line;
	struct file *file;
	unsigned int i;
	int ret = 0;

	snprintf(path, sizeof(path), "%s/%s", found, f->target->name);
	file = filp_open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
	if (IS_ERR(file))
		return PTR_ERR(file);
	line = kmalloc(MOST_LINE, GFP_KERNEL);
	if (!line)
		ret = -ENOMEM;
	for (i = 0; i < c->nr && !ret; i++)
		ret = save_input(f, file, &c->input[i], line);
	kfree(line);
	filp_close(file, NULL);
	flush_delayed_fput();
	return ret;
}
