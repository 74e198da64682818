/* Which backend AUTO takes: by size, and without a GPU the CPU, without a message. */
#include "api_support.h"

#include "transform/choice.h"

static void count_notes(void *user, l2k_severity severity, const char *text)
{
    unsigned *counts = user;
    counts[severity]++;
    assert_true(strlen(text) > 0);
}

static l2k_context context_of(unsigned counts[3], l2k_choice *choice)
{
    memset(counts, 0, 3 * sizeof *counts);
    return (l2k_context){.hooks = {.message = count_notes, .user = counts}, .threads = 1, .choice = choice};
}

static void test_samples(void **unused)
{
    (void)unused;
    l2k_plan_component components[2];
    memset(components, 0, sizeof components);
    components[0].rect = (l2k_rect){3, 5, 103, 25};
    components[0].levels = 2;
    components[0].discard = 1;
    components[1].rect = (l2k_rect){0, 0, 7, 1};
    l2k_plan_spec spec = {.direction = L2K_FORWARD, .num_components = 2, .components = components};
    assert_int_equal(l2k_plan_samples(&spec), 100 * 20 + 7);
    spec.direction = L2K_INVERSE; /* discarded resolutions do not count */
    assert_int_equal(l2k_plan_samples(&spec), 50 * 10 + 7);
    components[1].rect = (l2k_rect){0, 0, UINT32_MAX, UINT32_MAX};
    assert_true(l2k_plan_samples(&spec) == (uint64_t)UINT32_MAX * UINT32_MAX + 500);
}

static void test_threshold(void **unused)
{
    (void)unused;
    l2k_choice choice;
    l2k_choice_start(&choice, 0);
    assert_true(l2k_choice_is_gpu(&choice, 1000));
    l2k_choice_start(&choice, 1000);
    assert_true(l2k_choice_is_gpu(&choice, 1000));
    l2k_choice_start(&choice, 1001);
    assert_false(l2k_choice_is_gpu(&choice, 1000));
    l2k_choice_start(&choice, INT64_MAX);
    assert_false(l2k_choice_is_gpu(&choice, 1000));
    assert_int_equal(l2k_choice_is_gpu(NULL, 1000), L2K_GPU_MIN_SAMPLES <= 1000);
}

/* Negative options stand for what was measured, -1 once the images so far are worth opening a device. */
static void test_measured(void **unused)
{
    (void)unused;
    for (int decodes = 0; decodes < 2; decodes++)
        for (int ht = 0; ht < 2; ht++) {
            const int64_t least = l2k_gpu_min_samples(decodes, ht);
            const uint64_t opening = ht ? L2K_GPU_OPENING_HT : L2K_GPU_OPENING_MQ;
            l2k_choice choice = {0};
            assert_true(least > 0);
            l2k_choice_start_image(&choice, L2K_GPU_WHERE_FASTER, decodes, ht, 1);
            assert_int_equal(choice.gpu_min_samples, least);
            assert_int_equal(choice.opencl_min_samples, !ht ? INT64_MAX : decodes ? L2K_OPENCL_MIN_DECODE_HT : least);
            l2k_choice_start_image(&choice, 77, decodes, ht, 1);
            assert_int_equal(choice.gpu_min_samples, 77);
            assert_int_equal(choice.opencl_min_samples, 77);
            l2k_choice_start_image(&choice, L2K_GPU_WHERE_WORTH, decodes, ht, opening / 2);
            assert_int_equal(choice.gpu_min_samples, INT64_MAX);
            l2k_choice_start_image(&choice, L2K_GPU_WHERE_WORTH, decodes, ht, opening / 2 - 2);
            assert_int_equal(choice.gpu_min_samples, least);
            l2k_choice_start_image(&choice, L2K_GPU_WHERE_WORTH, decodes, ht, UINT64_MAX);
            l2k_choice_start_image(&choice, L2K_GPU_WHERE_WORTH, decodes, ht, UINT64_MAX);
            assert_int_equal(choice.gpu_min_samples, least);
        }
}

static l2k_plan_component small_component(void)
{
    l2k_plan_component component;
    memset(&component, 0, sizeof component);
    component.rect = (l2k_rect){0, 0, 100, 10};
    component.precision = 8;
    return component;
}

/* One note for an image, however many plans it takes, and no second attempt. */
static void test_fall_back(void **unused)
{
    (void)unused;
    unsigned counts[3];
    l2k_choice choice;
    l2k_context context = context_of(counts, &choice);
    for (unsigned run = 1; run <= 2; run++) {
        l2k_choice_start(&choice, 0);
        assert_true(l2k_choice_is_gpu(&choice, 1000));
        l2k_choice_fall_back(&context, L2K_ERROR_MEMORY);
        l2k_choice_fall_back(&context, L2K_ERROR_BACKEND);
        assert_false(l2k_choice_is_gpu(&choice, 1000));
        assert_int_equal(counts[L2K_SEVERITY_NOTE], run);
    }
    assert_int_equal(counts[L2K_SEVERITY_ERROR] + counts[L2K_SEVERITY_WARNING], 0);
}

/* Work that only the CPU can do gives one note for an image for which AUTO would take the GPU. Requesting CUDA without
 * a GPU stays an error. */
static void test_cpu_alone(void **unused)
{
    (void)unused;
    l2k_plan_component component = small_component();
    l2k_plan_spec spec = {.num_components = 1, .components = &component, .cpu_reason = "for a reason"};
    bool usable = l2k_backend_usable(L2K_BACKEND_CUDA, NULL, 0);
    static const l2k_backend backends[] = {L2K_BACKEND_CPU, L2K_BACKEND_AUTO, L2K_BACKEND_CUDA};
    for (size_t i = 0; i < 3; i++) {
        unsigned counts[3];
        l2k_choice choice;
        l2k_plan *plan;
        l2k_context context = context_of(counts, &choice);
        bool refused = backends[i] == L2K_BACKEND_CUDA && !usable;
        l2k_choice_start(&choice, 0);
        for (unsigned tile = 0; tile < 3; tile++) {
            l2k_status status = l2k_plan_create(&context, backends[i], &spec, &plan);
            assert_int_equal(status, refused ? L2K_ERROR_BACKEND : L2K_OK);
            l2k_plan_free(plan);
        }
        assert_int_equal(counts[L2K_SEVERITY_ERROR], refused ? 3 : 0);
        assert_int_equal(counts[L2K_SEVERITY_NOTE], usable && backends[i] != L2K_BACKEND_CPU);
        assert_true(l2k_choice_is_gpu(&choice, 1000)); /* for work that a GPU can do */
    }
}

/* The note itself, with or without a GPU. */
static void test_note(void **unused)
{
    (void)unused;
    unsigned counts[3];
    l2k_choice choice;
    l2k_context context = context_of(counts, &choice);
    for (unsigned run = 1; run <= 2; run++) {
        l2k_choice_start(&choice, 0);
        l2k_choice_note_cpu(&context, "for a reason");
        l2k_choice_note_cpu(&context, "for a reason");
        assert_int_equal(counts[L2K_SEVERITY_NOTE], run);
    }
    context.choice = NULL;
    l2k_choice_note_cpu(&context, "for a reason");
    assert_int_equal(counts[L2K_SEVERITY_NOTE], 3);
}

/* A plan that no backend can make is an error, even if the GPU is tried first. */
static void test_impossible_plan(void **unused)
{
    (void)unused;
    l2k_plan_component component = small_component();
    l2k_plan_spec spec = {.num_components = 1, .components = &component, .component_transform = true};
    unsigned counts[3];
    l2k_choice choice;
    l2k_plan *plan;
    l2k_context context = context_of(counts, &choice);
    l2k_choice_start(&choice, 0);
    assert_int_equal(l2k_plan_create(&context, L2K_BACKEND_AUTO, &spec, &plan), L2K_ERROR_ARGUMENT);
    assert_null(plan);
    assert_int_equal(counts[L2K_SEVERITY_ERROR], 1);
    assert_int_equal(counts[L2K_SEVERITY_NOTE], 0);
}

/* Without a GPU, AUTO is the CPU, without a message, even if the GPU is preferred for all sizes. */
static void test_no_gpu(void **unused)
{
    (void)unused;
    char text[200];
    unsigned counts[3];
    picture p, got;
    if (l2k_backend_usable(L2K_BACKEND_CUDA, text, sizeof text)) {
        print_message("found a GPU: %s\n", text);
        skip();
    }
    l2k_hooks hooks = context_of(counts, NULL).hooks;
    picture_make(&p, 90, 70, 3);
    memory_file file = memory_of(NULL, 0), plain = encode_with(&p, L2K_ENCODER_BACKEND, L2K_BACKEND_CPU);
    l2k_encoder *encoder = l2k_encoder_new(&hooks);
    l2k_encoder_set(encoder, L2K_ENCODER_GPU_MIN_SAMPLES, 0);
    assert_int_equal(run_encoder(encoder, &p, &file), L2K_OK);
    assert_int_equal(file.size, plain.size);
    assert_memory_equal(file.data, plain.data, file.size);
    l2k_decoder *decoder = l2k_decoder_new(&hooks);
    l2k_decoder_set(decoder, L2K_DECODER_GPU_MIN_SAMPLES, 0);
    assert_int_equal(run_decoder(decoder, file.data, file.size, &got), L2K_OK);
    assert_true(picture_equal(&p, &got));
    for (int i = 0; i < 3; i++)
        assert_int_equal(counts[i], 0);
    /* Requesting CUDA is an error. */
    l2k_encoder_set(encoder, L2K_ENCODER_BACKEND, L2K_BACKEND_CUDA);
    assert_int_equal(run_encoder(encoder, &p, &file), L2K_ERROR_BACKEND);
    l2k_decoder_set(decoder, L2K_DECODER_BACKEND, L2K_BACKEND_CUDA);
    assert_int_equal(l2k_decoder_decode(decoder, got.planes), L2K_ERROR_BACKEND);
    assert_true(counts[L2K_SEVERITY_ERROR] >= 2);
    l2k_encoder_free(encoder);
    l2k_decoder_free(decoder);
    free(file.data);
    free(plain.data);
    picture_free(&p);
    picture_free(&got);
}

/* A device that is asked for by its ordinal and is not there: with AUTO the CPU does the work, which one note says, for
 * sizes at which the GPU would; with CUDA it is an error; the CPU alone needs none. */
static void check_missing(const int64_t device, const int64_t devices)
{
    unsigned counts[3];
    picture p;
    l2k_hooks hooks = context_of(counts, NULL).hooks;
    l2k_encoder *encoder = l2k_encoder_new(&hooks);
    picture_make(&p, 90, 70, 3);
    l2k_encoder_set(encoder, L2K_ENCODER_TILE_WIDTH, 40);
    assert_int_equal(l2k_encoder_set(encoder, L2K_ENCODER_DEVICE, device), L2K_OK);
    assert_int_equal(l2k_encoder_set(encoder, L2K_ENCODER_DEVICES, devices), L2K_OK);
    for (unsigned run = 0; run < 4; run++) {
        memory_file file = memory_of(NULL, 0);
        l2k_encoder_set(encoder, L2K_ENCODER_BACKEND, run == 3 ? L2K_BACKEND_CPU : L2K_BACKEND_AUTO);
        l2k_encoder_set(encoder, L2K_ENCODER_GPU_MIN_SAMPLES, run ? 0 : L2K_GPU_WHERE_WORTH);
        assert_int_equal(run_encoder(encoder, &p, &file), L2K_OK);
        assert_int_equal(counts[L2K_SEVERITY_NOTE], run < 3 ? run : 2);
        free(file.data);
    }
    memory_file file = memory_of(NULL, 0);
    assert_int_equal(counts[L2K_SEVERITY_ERROR] + counts[L2K_SEVERITY_WARNING], 0);
    l2k_encoder_set(encoder, L2K_ENCODER_BACKEND, L2K_BACKEND_CUDA);
    assert_int_equal(run_encoder(encoder, &p, &file), L2K_ERROR_BACKEND);
    assert_true(counts[L2K_SEVERITY_ERROR] > 0);
    l2k_encoder_free(encoder);
    free(file.data);
    picture_free(&p);
}

/* Planes in device memory cannot be divided among devices, nor can those of a batch, of which each image is on one. */
static void test_planes_on_several_devices(void **unused)
{
    (void)unused;
    picture p;
    l2k_encoder *encoder = l2k_encoder_new(NULL);
    l2k_decoder *decoder = l2k_decoder_new(NULL);
    memory_file file = memory_of(NULL, 0);
    const l2k_stream stream = stream_of(&file);
    picture_make(&p, 90, 70, 3);
    l2k_encode_item to_encode = {&p.image, p.planes, &stream, L2K_OK};
    l2k_decode_item to_decode = {"", 0, p.planes, L2K_OK};
    assert_int_equal(l2k_encoder_set(encoder, L2K_ENCODER_DEVICES, 3), L2K_OK);
    assert_int_equal(l2k_encoder_set(encoder, L2K_ENCODER_MEMORY, L2K_MEMORY_DEVICE), L2K_OK);
    assert_int_equal(l2k_decoder_set(decoder, L2K_DECODER_DEVICES, 3), L2K_OK);
    assert_int_equal(l2k_decoder_set(decoder, L2K_DECODER_MEMORY, L2K_MEMORY_DEVICE), L2K_OK);
    assert_int_equal(l2k_encoder_encode(encoder, &p.image, p.planes, &stream), L2K_ERROR_ARGUMENT);
    assert_int_equal(l2k_encoder_encode_batch(encoder, &to_encode, 1), L2K_ERROR_ARGUMENT);
    assert_int_equal(l2k_decoder_decode_batch(decoder, &to_decode, 1), L2K_ERROR_ARGUMENT);
    l2k_encoder_free(encoder);
    l2k_decoder_free(decoder);
    free(file.data);
    picture_free(&p);
}

static void test_missing_device(void **unused)
{
    (void)unused;
    l2k_device_info info;
    assert_false(l2k_device(60, &info));
    assert_false(l2k_device(UINT32_MAX, &info));
    check_missing(60, 0);
    check_missing(-1, (int64_t)1 << 61);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_samples),         cmocka_unit_test(test_threshold),
        cmocka_unit_test(test_measured),        cmocka_unit_test(test_fall_back),
        cmocka_unit_test(test_cpu_alone),       cmocka_unit_test(test_note),
        cmocka_unit_test(test_impossible_plan), cmocka_unit_test(test_no_gpu),
        cmocka_unit_test(test_missing_device),  cmocka_unit_test(test_planes_on_several_devices),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
