/* The door to the processors. An engine takes a tile's samples to code-blocks, or to packets if it can, and back; it
 * composes its own plan (transform/plan.h), block coders, streams and memory. Encoder and decoder know an l2k_engine,
 * one for each worker group (codec/run/workers.h), and the functions of this header; which processor does the work is
 * decided behind them (choose.c). Each processor is a table in a folder beside cpu/.
 *
 * Planes, views and coded bytes may be off the host, in memory of a processor. Streams are of the processor's own kind,
 * or NULL if it has none. */
#ifndef L2K_CODEC_ENGINE_ENGINE_H
#define L2K_CODEC_ENGINE_ENGINE_H

#include <pthread.h>

#include "codec/blocks/block_coder.h"
#include "transform/choice.h"
#include "transform/device.h"

/* ---- Requests ------------------------------------------------------------------------------------------------ */

/* A tile to encode. The encoder fills it in for each call; what its pointers refer to stays until the tile is
 * finished. */
typedef struct l2k_encode_request {
    l2k_tile *tile;            /* has the list of its code-blocks; receives its views and the coded data */
    const l2k_plan_spec *spec; /* the transform: components, and integers as its type */
    l2k_plane *planes;         /* per component, starting at the tile's first sample; copies may replace them */
    bool off_host;             /* the planes are off the host: */
    void *stream;              /* the planes are ready after the work enqueued in it */
    bool interleaved;          /* the first three planes are interleaved pixels */
    bool follows;              /* code-blocks may be coded where the transform runs */
    bool truncates;            /* quantise as in E.2, in the plan or in the block coder */
    bool recodes;              /* code-blocks are coded more than once, on the host, or with `packets` where they are:
                                  coefficients stay unquantised */
    bool distortions, errors;  /* of code-blocks, as `task` and `distance` (codec/blocks/block_coder.h) */
    l2k_block_task task;
    uint32_t distance;
    uint64_t list;      /* not 0: requests with the same number have the same code-blocks and steps */
    uint64_t units;     /* units of progress that the code-blocks are worth */
    bool packets;       /* packets may be made as well: this is the only tile, of one layer and one tile-part */
    bool lengths;       /* return the lengths of packets */
    double ratio;       /* target of the layer (rate.h), with distortions; 0: the layer has everything */
    size_t fixed_bytes; /* bytes outside packets that count towards the ratio */
    bool in_strips;     /* planes come with strips, if l2k_engine_runs_in_strips; otherwise begin only plans */
} l2k_encode_request;

/* Host memory with all packets of a tile. It stays until the engine's next tile. */
typedef struct l2k_made_packets {
    uint8_t *bytes; /* NULL: packets are still to be made from code-blocks. Headers may use L2K_PACKETS_FRONT bytes
                       before it; L2K_PACKETS_BACK bytes behind the packets may be written, too */
    size_t count;
    const uint32_t *lengths; /* of each packet, if requested */
    uint32_t num_packets;
} l2k_made_packets;

enum { L2K_PACKETS_FRONT = 1 << 16, L2K_PACKETS_BACK = 64 };

struct l2k_slope_list; /* codec/packets/slopes.h */

/* Bytes of code-blocks with their cleanup pass on plane 1: as estimated, of all and of some; of these as coded. */
typedef struct l2k_block_sample {
    uint64_t all, estimated, coded;
} l2k_block_sample;

/* Bit-planes that have a sum of the cleanup passes on them. */
enum { L2K_PLANE_SUMS = 31 };

/* A tile to decode. */
typedef struct l2k_decode_request {
    const l2k_plan_spec *spec; /* the transform; `prepare` fills in the rest */
    unsigned style;            /* code-block style of the tile, L2K_STYLE_HT_MIXED if components differ in coder */
    bool off_host;             /* the planes are off the host: */
    void *stream;              /* the planes are written after the work enqueued in it */
    bool coefficients;         /* only coefficients are wanted, on the host */
    bool blocks_on_host;       /* decode code-blocks on the host, wherever the transform runs */
    /* The members below are read from `begin` on. */
    const l2k_block_place *places; /* the code-blocks to decode into the tile's views */
    size_t num_places;
    const l2k_tile *tile; /* with a plan by rows: its windows have the blocks of `places` */
    bool one_component;   /* the plan is for one of the tile's components */
    const uint8_t *bytes; /* memory with all contributions, or NULL */
    size_t num_bytes;
    atomic_bool *damaged; /* set if a block's bytes cannot be right */
    uint64_t units;
    const l2k_plane *planes; /* per component of the plan; NULL with `coefficients` */
} l2k_decode_request;

/* ---- The plan cache (plan_cache.c) ---------------------------------------------------------------------------- */

/* Plans on devices that no tile uses at present: the last tiles of rows and columns differ in shape from the rest, and
 * making a plan there takes longer than a tile. All worker groups share one cache: whichever gets a tile of a shape
 * next, on that device, takes the plan. */
typedef struct l2k_cached_plan {
    l2k_plan *plan;
    uint64_t devices; /* of the context that it was made for */
    unsigned idle;    /* images that have begun since a tile needed it */
} l2k_cached_plan;

typedef struct l2k_plan_cache {
    pthread_mutex_t lock;
    l2k_cached_plan *plans; /* those used last are at the end */
    unsigned count, room;
} l2k_plan_cache;

/* Errors: L2K_ERROR_MEMORY; release also then. Only one thread may call release, clear and age at a time. */
l2k_status l2k_plan_cache_create(const l2k_context *context, unsigned room, l2k_plan_cache *cache);
void l2k_plan_cache_release(const l2k_context *context, l2k_plan_cache *cache);

/* Frees all plans; or, when an image begins, those that no tile of the last images needed. */
void l2k_plan_cache_clear(const l2k_context *context, l2k_plan_cache *cache);
void l2k_plan_cache_age(const l2k_context *context, l2k_plan_cache *cache);

/* The next four are about plans on the context's device. */

/* Takes a plan that fits `spec` out of the cache; NULL if there is none. */
l2k_plan *l2k_plan_cache_take(const l2k_context *context, l2k_plan_cache *cache, const l2k_plan_spec *spec);

/* Keeps a plan; a full cache frees its oldest one for it. Frees a plan on the CPU, and any plan if the cache has no
 * room at all. NULL is allowed. */
void l2k_plan_cache_put(const l2k_context *context, l2k_plan_cache *cache, l2k_plan *plan);

bool l2k_plan_cache_has_any(const l2k_context *context, l2k_plan_cache *cache);
void l2k_plan_cache_drop(const l2k_context *context, l2k_plan_cache *cache);

/* ---- The table of a processor -------------------------------------------------------------------------------- */

typedef struct l2k_engine l2k_engine;

/* A plan and a number, for a tile under way. */
typedef struct l2k_engine_slot {
    l2k_plan *plan;
    unsigned number; /* unique among the slots of all worker groups */
} l2k_engine_slot;

/* When these are called, the slot has its plan and views. Between begin and finish, work may run asynchronously; an
 * engine with one slot begins no other tile meanwhile. Errors: L2K_ERROR_MEMORY, L2K_ERROR_CANCELLED,
 * L2K_ERROR_BACKEND; when encoding, L2K_ERROR_ARGUMENT for a coefficient with too many bit-planes; when decoding,
 * L2K_ERROR_CORRUPT. */
typedef struct l2k_engine_table {
    /* Whether code-blocks of that style are coded where the coefficients are; otherwise views are on the host. NULL:
     * to decode. */
    bool (*codes)(unsigned style, const l2k_encode_request *request);
    l2k_status (*begin_encode)(l2k_engine *engine, l2k_engine_slot *slot, const l2k_encode_request *request);
    l2k_status (*finish_encode)(l2k_engine *engine, l2k_engine_slot *slot, const l2k_encode_request *request,
                                l2k_made_packets *made);
    /* Does the request's task with the code-blocks of complete views on the host; needs no slot. The CPU's alone. */
    l2k_status (*recode)(l2k_engine *engine, const l2k_encode_request *request);
    l2k_status (*begin_decode)(l2k_engine *engine, l2k_engine_slot *slot, const l2k_decode_request *request);
    /* Truncate HT code-blocks where their coefficients are, before finish_encode, with a request of `recodes` and
     * `packets`. estimate: from one in `distance` of the samples, the bytes of the cleanup passes on each plane (added
     * to `planes`), or a list of all points by slope, which the engine keeps. sample: one in `distance` of the blocks.
     * cut: codes blocks up to the end of a prefix of the list, and returns the bytes of packets, with `lengths` also
     * those of PLT. L2K_ERROR_UNSUPPORTED, without a message: only the host can do it. NULL: see `codes`. */
    l2k_status (*estimate)(l2k_engine *engine, l2k_engine_slot *slot, const l2k_encode_request *request,
                           uint64_t *planes, struct l2k_slope_list **list);
    l2k_status (*sample)(l2k_engine *engine, l2k_engine_slot *slot, const l2k_encode_request *request,
                         l2k_block_sample *sample);
    l2k_status (*cut)(l2k_engine *engine, l2k_engine_slot *slot, const l2k_encode_request *request, size_t prefix,
                      uint64_t *bytes);
    /* A strip of a plan by rows: forward its samples, then the code-blocks that it completes; inverse the code-blocks
     * that it reads, then its samples. NULL: no plan runs by rows. */
    l2k_status (*encode_strip)(l2k_engine *engine, l2k_plan *plan, const l2k_encode_request *request);
    l2k_status (*decode_strip)(l2k_engine *engine, l2k_plan *plan, const l2k_decode_request *request);
    /* Releases the code that coded blocks point to. */
    void (*forget)(l2k_engine *engine);
    /* Sends ahead what will be `bytes` of the next tile to decode. The memory must stay until that tile is done, or
     * until a call with NULL, which waits. */
    void (*send)(l2k_engine *engine, const uint8_t *bytes, size_t num_bytes);
    /* Releases engine->state. */
    void (*release)(l2k_engine *engine);
} l2k_engine_table;

extern const l2k_engine_table l2k_engine_cpu;

/* What the engines of an encoder or decoder have in common. */
typedef struct l2k_engine_kind {
    const l2k_context *context;
    l2k_backend backend;
    const l2k_block_coder_table *coders; /* block coders on the host */
    bool spread;                         /* spread the engines over the context's processors, if there are several */
    /* Copies of the context's settings when the kind was made. */
    unsigned threads;
    uint64_t set; /* set of processors */
    l2k_cpu cpu;
    int64_t min_samples; /* number of samples from which AUTO leaves the CPU */
} l2k_engine_kind;

struct l2k_engine {
    l2k_context context; /* with the threads of its worker group and its processor */
    l2k_choice choice;   /* replaces the context's if there are several processors, which do not all fail together */
    l2k_context quiet;   /* the same context without messages, for work that is repeated if it fails */
    l2k_backend backend;
    l2k_block_coder *coder;  /* on the host */
    l2k_block_place *places; /* of a strip of a plan by rows, reallocated only to grow */
    size_t num_places;
    const l2k_engine_table *table; /* of the processor with memory of its own that the last tile was on; NULL: none */
    void *state;                   /* this table's; NULL until it needs some */
    l2k_plan_cache *cache;
};

/* The context for work that AUTO may do again elsewhere. */
const l2k_context *l2k_engine_context(const l2k_engine *engine);

/* ---- The door (choose.c) ------------------------------------------------------------------------------------- */

l2k_engine_kind l2k_engine_kind_of(const l2k_context *context, l2k_backend backend, const l2k_block_coder_table *coders,
                                   bool spread);
bool l2k_engine_same_kind(const l2k_engine_kind *a, const l2k_engine_kind *b);

/* Creates engine `number` of `count`; zero-initialise it before. Call release also after an error; it waits for the
 * engine's work. Call it before releasing the plans of its slots, whose streams it uses. */
l2k_status l2k_engine_create(const l2k_engine_kind *kind, unsigned number, unsigned count, l2k_plan_cache *cache,
                             l2k_engine *engine);
void l2k_engine_release(l2k_engine *engine);

/* Whether work that returned `status` has failed on a processor that AUTO has chosen. falls_back then drops the slot's
 * plan, and the caller does the work again, on the CPU, from the tile's samples or bytes. A note says so the first
 * time. */
bool l2k_engine_may_try_again(const l2k_engine *engine, l2k_status status);
bool l2k_engine_falls_back(const l2k_engine *engine, l2k_engine_slot *slot, l2k_status status);

/* Waits for the transform. */
static inline l2k_status l2k_engine_finish(l2k_engine_slot *slot)
{
    return l2k_plan_finish(slot->plan);
}

/* Encoding. `begin` starts from samples and returns once work runs asynchronously; finish_encode yields code-blocks or
 * packets. In its place, l2k_engine_finish leaves coefficients in the views, for recode. */
l2k_status l2k_engine_begin_encode(l2k_engine *engine, l2k_engine_slot *slot, l2k_encode_request *request);
l2k_status l2k_engine_finish_encode(l2k_engine *engine, l2k_engine_slot *slot, const l2k_encode_request *request,
                                    l2k_made_packets *made);
l2k_status l2k_engine_encode_strip(l2k_engine *engine, l2k_engine_slot *slot, const l2k_encode_request *request,
                                   const l2k_plane *planes);
l2k_status l2k_engine_recode(l2k_engine *engine, const l2k_encode_request *request);
/* The table of the slot's plan, which becomes the engine's, for `estimate`, `sample` and `cut` off the host. */
const l2k_engine_table *l2k_engine_table_of(l2k_engine *engine, const l2k_engine_slot *slot);

/* Decoding. `prepare` makes the slot's plan and views; `begin` decodes the code-blocks into them and starts the inverse
 * transform. After `prepare`, *on_host says whether samples will be on the host although the planes are not. */
l2k_status l2k_engine_prepare_decode(l2k_engine *engine, l2k_engine_slot *slot, const l2k_decode_request *request,
                                     bool *on_host);
l2k_status l2k_engine_begin_decode(l2k_engine *engine, l2k_engine_slot *slot, const l2k_decode_request *request);
/* In strips, where the slot's plan runs by rows (transform/plan.h): after begin_encode with in_strips, or begin_strips,
 * next_strip, which sets *end as l2k_plan_strip_end does, and encode_strip or decode_strip in turn until next_strip
 * returns false; then l2k_engine_finish. `planes` are those of the strip; NULL if it passes on no rows. */
static inline bool l2k_engine_runs_in_strips(const l2k_engine_slot *slot)
{
    return l2k_plan_is_by_rows(slot->plan);
}
static inline l2k_status l2k_engine_begin_strips(l2k_engine_slot *slot)
{
    return l2k_plan_begin(slot->plan, NULL);
}
bool l2k_engine_next_strip(l2k_engine_slot *slot, uint64_t *end);
/* The rows of a subband of the plan's component c whose code-blocks the present strip completes or reads; all above y1
 * are then coded, or have been decoded. */
l2k_plan_rows l2k_engine_strip_rows(const l2k_engine_slot *slot, uint32_t c, const l2k_subband *band);
l2k_status l2k_engine_decode_strip(l2k_engine *engine, l2k_engine_slot *slot, const l2k_decode_request *request,
                                   const l2k_plane *planes);
void l2k_engine_send(l2k_engine *engine, const uint8_t *bytes, size_t num_bytes);

void l2k_engine_forget(l2k_engine *engine);

/* Gives a tile-component the view of the plan's component c. */
static inline void l2k_engine_set_view(const l2k_engine_slot *slot, uint32_t c, l2k_tile_component *component)
{
    component->view = l2k_plan_coefficients(slot->plan, c);
    component->first_rows = l2k_plan_first_rows(slot->plan, c);
}

/* Whether the view's coefficients are off the host. */
static inline bool l2k_is_off_host(const l2k_coefficients *view)
{
    return view->on_device;
}

/* ---- What transform/device.h does, for encoder and decoder ---------------------------------------------------- */

/* Memory of a processor, and planes off the host. */
typedef l2k_device_memory l2k_engine_memory;
#define l2k_engine_release_memory l2k_device_release
#define l2k_engine_fill           l2k_device_fill
#define l2k_engine_wait           l2k_device_wait

/* enter and leave, or left: around each call of the library that may reach a processor, and around work that other
 * threads do for it. count: how many processors work is divided among. */
#define l2k_engine_enter l2k_device_enter
#define l2k_engine_leave l2k_device_leave
#define l2k_engine_left  l2k_device_left
#define l2k_engine_count l2k_device_count

/* ---- Planes off the host (planes.c) --------------------------------------------------------------------------- */

/* Copies the planes to the host: request->planes become copies in the tile's memory, with the same strides. */
l2k_status l2k_engine_fetch_planes(const l2k_context *context, l2k_encode_request *request);

/* Moves packed samples from host memory to a plane off the host, through `memory`. Enqueued in `stream`. */
l2k_status l2k_engine_deliver(const l2k_context *context, const l2k_plane *from, const l2k_plane *to, uint32_t width,
                              uint32_t height, void *stream, l2k_engine_memory *memory);

/* ---- Several processors -------------------------------------------------------------------------------------- */

/* The backend for planes that are off the host: AUTO leaves the CPU; L2K_ERROR_ARGUMENT if the CPU is requested. */
l2k_status l2k_engine_of_planes(const l2k_context *context, l2k_backend *backend);

/* Numbers of processors of a context are below this. */
enum { L2K_MOST_PROCESSORS = L2K_MOST_DEVICES };

/* Call at the beginning and end of a run over tiles, with each of `count` engines. Each of several processors can fail
 * on its own; end tells the object that any has failed. */
void l2k_engine_start(const l2k_engine_kind *kind, unsigned count, l2k_engine *engine);
void l2k_engine_end(const l2k_engine_kind *kind, unsigned count, const l2k_engine *engine);

/* Whether the engine's processor has failed. */
bool l2k_engine_has_failed(const l2k_engine *engine);

#endif
