/* Creates and releases the library's objects, and sets their options. */
#include "base/object.h"

#include "base/memory.h"
#include "base/pool.h"

/* The member at an offset; NULL for offset 0. */
static void *member(void *object, size_t offset)
{
    return offset ? (char *)object + offset : NULL;
}

void *l2k_object_create(const l2k_object_kind *kind, const l2k_hooks *hooks)
{
    l2k_context context = {.threads = 1};
    if (hooks)
        context.hooks = *hooks;
    void *object = l2k_allocate_zeroed(&context, 1, kind->bytes);
    if (!object)
        return NULL;
    context.choice = member(object, kind->choice);
    context.pool = member(object, kind->pool);
    context.run = member(object, kind->run);
    if (context.pool)
        l2k_pool_init(context.pool, UINT64_MAX);
    *(l2k_context *)object = context;
    int64_t *options = member(object, kind->options);
    for (size_t i = 0; i < kind->num_options; i++)
        options[i] = kind->rules[i].initial;
    return object;
}

/* The object's own memory was allocated before its pool existed, so it goes back to the hook. */
void l2k_object_free(const l2k_object_kind *kind, void *object)
{
    l2k_context context = {.hooks = ((l2k_context *)object)->hooks};
    l2k_pool *pool = member(object, kind->pool);
    if (pool)
        l2k_pool_end(pool, &context.hooks);
    l2k_release(&context, object);
}

l2k_status l2k_object_check_memory(const l2k_context *context, int64_t memory)
{
    if (memory != L2K_MEMORY_DEVICE || l2k_device_count(context) == 1)
        return L2K_OK;
    return l2k_fail(context, L2K_ERROR_ARGUMENT, "planes in device memory are on one device");
}

l2k_status l2k_object_set(const l2k_object_kind *kind, void *object, unsigned option, int64_t value)
{
    const l2k_context *context = object;
    int64_t *options = member(object, kind->options);
    if (option >= kind->num_options)
        return l2k_fail(context, L2K_ERROR_ARGUMENT, "there is no option %u", option);
    const l2k_option_rule *rule = &kind->rules[option];
    if (value < rule->least || value > rule->most)
        return l2k_fail(context, L2K_ERROR_ARGUMENT, "%s %lld is outside %lld to %lld", rule->name, (long long)value,
                        (long long)rule->least, (long long)rule->most);
    options[option] = value;
    return L2K_OK;
}
