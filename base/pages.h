/* Memory from the system: on huge pages, or as address space that gets memory page by page as it is written. */
#ifndef L2K_BASE_PAGES_H
#define L2K_BASE_PAGES_H

#include <stdbool.h>
#include <stddef.h>

/* Like malloc; release with free. Large blocks lie on huge pages if the system provides them on request: otherwise page
 * faults would take half of the time of an image coded once. */
void *l2k_pages_allocate(size_t bytes);

/* Reserves addresses for `bytes` bytes, more than 0. NULL if there are none. */
void *l2k_pages_reserve(size_t bytes);

/* Makes [from, from + bytes) of a reservation writable and keeps what was written before. False if out of memory. */
bool l2k_pages_use(void *from, size_t bytes);

/* Gives back the memory of [from, from + bytes), in whole pages: they stay readable and writable, but lose their
 * content. */
void l2k_pages_forget(void *from, size_t bytes);

void l2k_pages_release(void *reserved, size_t bytes);

/* The size of a page in bytes. */
size_t l2k_page_size(void);

#endif
