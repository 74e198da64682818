/* Several devices of which this process sees as many as it likes, on as many as there are: linked with --wrap for the
 * calls of the CUDA runtime that the library makes (L2K_VIRTUAL_CALLS in tests/CMakeLists.txt). A virtual device is the
 * real one of that ordinal, modulo how many there are. Every stream, event and graph belongs to the virtual device on
 * which it was made, and calls that name it while another one is current are counted. */
#ifndef L2K_TESTS_GPU_VIRTUAL_DEVICES_H
#define L2K_TESTS_GPU_VIRTUAL_DEVICES_H

enum { VIRTUAL_MOST = 8 };

/* How many devices there are from now on, at most VIRTUAL_MOST; 0: as many as are real. The environment can say that
 * too, and which fail when: L2K_VIRTUAL_DEVICES=3 L2K_VIRTUAL_LOST=1:200,2:0 (after 200 calls, and from the first on).
 */
void virtual_devices(int count);
int virtual_real(void);

/* Calls with an object of another device than the current one, and calls on each device, so far. */
unsigned virtual_mismatches(void);
unsigned virtual_calls(int device);

/* The device fails after `calls` more calls, and from then on in each call, as one does that a kernel has broken; a
 * negative number: it is healthy. */
void virtual_lose(int device, long calls);

#endif
