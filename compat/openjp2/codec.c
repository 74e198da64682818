/* Codecs: creation, handlers, threads, opj_version and the like. */
#include "compat/openjp2/encoder.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Programs compare the beginning with the version they were built for. */
const char *OPJ_CALLCONV opj_version(void)
{
    return "2.5.0 (lift2k)";
}

OPJ_BOOL OPJ_CALLCONV opj_has_thread_support(void)
{
    return OPJ_TRUE;
}

int OPJ_CALLCONV opj_get_num_cpus(void)
{
    long count = sysconf(_SC_NPROCESSORS_ONLN);
    return count > 0 ? (int)count : 1;
}

/* ---- Objects ------------------------------------------------------------------------------------------------- */

/* More threads are of no use, and OpenMP ends the process if it cannot start as many as requested. */
static int sensible_threads(int wanted)
{
    enum { MOST = 1024 }; /* of lift2k */
    int most = 2 * opj_get_num_cpus() < MOST ? 2 * opj_get_num_cpus() : MOST;
    return wanted < 1 ? 1 : wanted < most ? wanted : most;
}

/* As with OpenJPEG, the environment may set threads if the program does not. */
static int default_threads(void)
{
    const char *text = getenv("OPJ_NUM_THREADS");
    if (!text)
        return 1;
    if (strcmp(text, "ALL_CPUS") == 0)
        return sensible_threads(opj_get_num_cpus());
    return sensible_threads(atoi(text));
}

static codec *new_codec(OPJ_CODEC_FORMAT format, bool decodes)
{
    if (format != OPJ_CODEC_J2K && format != OPJ_CODEC_JP2)
        return NULL;
    codec *c = calloc(1, sizeof *c);
    if (!c || pthread_mutex_init(&c->one_message, NULL)) {
        free(c);
        return NULL;
    }
    c->decodes = decodes;
    c->format = format;
    c->threads = default_threads();
    c->d.strict = true;
    return c;
}

opj_codec_t *OPJ_CALLCONV opj_create_decompress(OPJ_CODEC_FORMAT format)
{
    return (opj_codec_t *)new_codec(format, true);
}

opj_codec_t *OPJ_CALLCONV opj_create_compress(OPJ_CODEC_FORMAT format)
{
    return (opj_codec_t *)new_codec(format, false);
}

void OPJ_CALLCONV opj_destroy_codec(opj_codec_t *p_codec)
{
    codec *c = (codec *)p_codec;
    if (!c)
        return;
    decode_codec_clear(&c->d);
    encode_codec_free(c->e);
    pthread_mutex_destroy(&c->one_message);
    free(c);
}

codec *codec_decoding(opj_codec_t *handle, const char *function)
{
    codec *c = (codec *)handle;
    if (c && !c->decodes && function)
        event_fail(&c->handlers, "Codec provided to the %s function is not a decompressor handler.\n", function);
    return c && c->decodes ? c : NULL;
}

codec *codec_encoding(opj_codec_t *handle)
{
    codec *c = (codec *)handle;
    return c && !c->decodes ? c : NULL;
}

OPJ_BOOL OPJ_CALLCONV opj_codec_set_threads(opj_codec_t *p_codec, int num_threads)
{
    codec *c = (codec *)p_codec;
    if (!c || num_threads < 0 || c->d.state != DECODE_NEW || (c->e && c->e->lift))
        return OPJ_FALSE;
    c->threads = sensible_threads(num_threads);
    return OPJ_TRUE;
}

/* ---- Handlers ------------------------------------------------------------------------------------------------ */

static OPJ_BOOL set_handler(opj_codec_t *handle, event_kind kind, opj_msg_callback call, void *user)
{
    codec *c = (codec *)handle;
    if (!c)
        return OPJ_FALSE;
    c->handlers.call[kind] = call;
    c->handlers.user[kind] = user;
    return OPJ_TRUE;
}

OPJ_BOOL OPJ_CALLCONV opj_set_info_handler(opj_codec_t *p_codec, opj_msg_callback p_callback, void *p_user_data)
{
    return set_handler(p_codec, EVENT_INFO, p_callback, p_user_data);
}

OPJ_BOOL OPJ_CALLCONV opj_set_warning_handler(opj_codec_t *p_codec, opj_msg_callback p_callback, void *p_user_data)
{
    return set_handler(p_codec, EVENT_WARNING, p_callback, p_user_data);
}

OPJ_BOOL OPJ_CALLCONV opj_set_error_handler(opj_codec_t *p_codec, opj_msg_callback p_callback, void *p_user_data)
{
    return set_handler(p_codec, EVENT_ERROR, p_callback, p_user_data);
}

static void pass_on(void *user, l2k_severity severity, const char *text)
{
    static const event_kind kinds[] = {EVENT_ERROR, EVENT_WARNING, EVENT_INFO};
    codec *c = user;
    pthread_mutex_lock(&c->one_message);
    event_send(&c->handlers, kinds[severity], "%s\n", text);
    pthread_mutex_unlock(&c->one_message);
}

l2k_hooks codec_hooks(codec *c)
{
    return (l2k_hooks){.message = pass_on, .user = c};
}
