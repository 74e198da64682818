/* What the library asks of the system itself: memory on huge pages, and address space that gets memory page by page as
 * it is written. */
#ifndef L2K_BASE_PAGES_H
#define L2K_BASE_PAGES_H

#include <stdbool.h>
#include <stddef.h>

/* As malloc, for free to release. Large blocks lie on huge pages where the system gives them on request: half of the
 * time of an image coded once would go into page faults. */
void *l2k_pages_allocate(size_t bytes);

/* Reserves addresses for `bytes` bytes, more than 0. NULL where there are none. */
void *l2k_pages_reserve(size_t bytes);

/* Makes [from, from + bytes) of a reservation writable; what was written before stays. False if out of memory. */
bool l2k_pages_use(void *from, size_t bytes);

/* Gives the memory of [from, from + bytes) back, whole pages: they stay readable and writable, their
 * content is lost. */
void l2k_pages_forget(void *from, size_t bytes);

void l2k_pages_release(void *reserved, size_t bytes);

/* In bytes. */
size_t l2k_page_size(void);

#endif
