/* Reads and writes kernels as text, as the public header describes them (l2k_transform_set_kernel). Numbers have
 * functions of their own, since the C library's depend on the locale. */
#include "dwt/wavelet.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* ---- Words and numbers --------------------------------------------------------------------------------------- */

typedef struct reader {
    const l2k_context *context;
    const char *at;
    unsigned line;
} reader;

static l2k_status refuse(const reader *r, const char *what)
{
    return l2k_fail(r->context, L2K_ERROR_ARGUMENT, "kernel, line %u: %s", r->line, what);
}

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

/* Moves to the next word of the line; false at its end. */
static bool find_word(reader *r)
{
    while (is_space(*r->at))
        r->at++;
    if (*r->at == '#')
        while (*r->at && *r->at != '\n')
            r->at++;
    return *r->at && *r->at != '\n';
}

/* Takes the next word if it is this one. */
static bool take(reader *r, const char *word)
{
    const size_t length = strlen(word);
    if (!find_word(r) || strncmp(r->at, word, length) != 0)
        return false;
    const char end = r->at[length];
    if (end && end != '\n' && end != '#' && !is_space(end))
        return false;
    r->at += length;
    return true;
}

/* Takes digits as a number and returns how many; those after the 18th only change the power of ten. */
static int take_digits(reader *r, uint64_t *number, int *dropped)
{
    int count = 0;
    for (; *r->at >= '0' && *r->at <= '9'; r->at++, count++) {
        if (*number < UINT64_C(100000000000000000))
            *number = *number * 10 + (unsigned)(*r->at - '0');
        else
            ++*dropped;
    }
    return count;
}

static bool take_sign(reader *r)
{
    const bool negative = *r->at == '-';
    if (*r->at == '-' || *r->at == '+')
        r->at++;
    return negative;
}

static int take_exponent(reader *r)
{
    uint64_t number = 0;
    int dropped = 0;
    if (*r->at != 'e' && *r->at != 'E')
        return 0;
    r->at++;
    const bool negative = take_sign(r);
    take_digits(r, &number, &dropped);
    const int exponent = number < 1000 ? (int)number : 1000;
    return negative ? -exponent : exponent;
}

/* Takes a decimal number with up to 18 digits, a point and an exponent, as double. */
static bool take_number(reader *r, double *out)
{
    uint64_t number = 0;
    int dropped = 0, behind = 0, ignored = 0;
    if (!find_word(r))
        return false;
    const bool negative = take_sign(r);
    int digits = take_digits(r, &number, &dropped);
    if (*r->at == '.') {
        r->at++;
        behind = take_digits(r, &number, &ignored);
        digits += behind;
    }
    if (digits == 0)
        return false;
    const int exponent = take_exponent(r) + dropped - (behind - ignored);
    *out = exponent < 0 ? (double)number / pow(10, -exponent) : (double)number * pow(10, exponent);
    *out = negative ? -*out : *out;
    return !*r->at || *r->at == '\n' || *r->at == '#' || is_space(*r->at);
}

static bool take_integer(reader *r, int least, int most, int *out)
{
    double value;
    if (!take_number(r, &value) || !(value >= least && value <= most) || value != rint(value))
        return false;
    *out = (int)value;
    return true;
}

/* ---- Lines --------------------------------------------------------------------------------------------------- */

static l2k_status parse_taps(reader *r, l2k_kernel_step *step)
{
    double tap;
    while (find_word(r)) {
        if (!take_number(r, &tap))
            return refuse(r, "a tap that is not a number");
        if (step->num_taps == L2K_KERNEL_TAPS)
            return refuse(r, "a lifting step of more than 32 taps");
        step->taps[step->num_taps++] = (float)tap;
    }
    return L2K_OK;
}

static l2k_status parse_step(reader *r, bool high, l2k_kernel *kernel)
{
    int offset, rounding = 0, shift = 0;
    if (kernel->num_steps == L2K_KERNEL_STEPS)
        return refuse(r, "more than 8 lifting steps");
    if (!take_integer(r, -L2K_KERNEL_OFFSET, L2K_KERNEL_OFFSET, &offset))
        return refuse(r, "an offset that is not an integer from -31 to 31");
    if (take(r, "round") && !take_integer(r, INT16_MIN, INT16_MAX, &rounding))
        return refuse(r, "a rounding that is not an integer of 16 bits");
    if (take(r, "shift") && !take_integer(r, 0, 15, &shift))
        return refuse(r, "a shift that is not an integer from 0 to 15");
    if (!take(r, ":"))
        return refuse(r, "no ':' before the taps");
    l2k_kernel_step *step = &kernel->steps[kernel->num_steps++];
    *step = (l2k_kernel_step){
        .high = high, .offset = (int8_t)offset, .shift = (uint8_t)shift, .rounding = (int16_t)rounding};
    return parse_taps(r, step);
}

/* Directives seen so far, except steps. */
typedef struct parsed {
    bool kind, border;
} parsed;

static l2k_status parse_line(reader *r, l2k_kernel *kernel, parsed *seen)
{
    double scale = 1;
    if (take(r, "high"))
        return parse_step(r, true, kernel);
    if (take(r, "low"))
        return parse_step(r, false, kernel);
    if (!seen->kind && take(r, "reversible")) {
        seen->kind = kernel->reversible = true;
    } else if (!seen->kind && take(r, "irreversible")) {
        seen->kind = true;
        if (!take_number(r, &scale))
            return refuse(r, "no scaling factor");
    } else if (!seen->border && take(r, "border")) {
        seen->border = true;
        kernel->mirrors = take(r, "mirror");
        if (!kernel->mirrors && !take(r, "clamp"))
            return refuse(r, "a border that is neither clamp nor mirror");
        return L2K_OK;
    } else {
        return refuse(r, "something other than reversible, irreversible, border, high or low, or one of them again");
    }
    kernel->scale = (float)scale;
    return L2K_OK;
}

l2k_status l2k_kernel_parse(const l2k_context *context, const char *text, l2k_kernel *kernel)
{
    reader r = {context, text, 1};
    parsed seen = {false, false};
    *kernel = (l2k_kernel){.scale = 1};
    if (!text)
        return l2k_fail(context, L2K_ERROR_ARGUMENT, "kernel: no text");
    for (; *r.at; r.at += *r.at == '\n', r.line++) {
        if (find_word(&r))
            L2K_TRY(parse_line(&r, kernel, &seen));
        if (find_word(&r))
            return refuse(&r, "something after the end");
    }
    if (!seen.kind)
        return l2k_fail(context, L2K_ERROR_ARGUMENT, "kernel: neither reversible nor irreversible");
    const char *wrong = l2k_kernel_wrong(kernel);
    return wrong ? l2k_fail(context, L2K_ERROR_ARGUMENT, "kernel: %s", wrong) : L2K_OK;
}

/* ---- Writing ------------------------------------------------------------------------------------------------- */

typedef struct writer {
    char *text;
    size_t bytes, length;
} writer;

static L2K_PRINTF(2, 3) void put(writer *w, const char *format, ...)
{
    const size_t left = w->length < w->bytes ? w->bytes - w->length : 0;
    va_list arguments;
    va_start(arguments, format);
    w->length += (size_t)vsnprintf(left ? w->text + w->length : NULL, left, format, arguments);
    va_end(arguments);
}

static void put_step(writer *w, const l2k_kernel *kernel, const l2k_kernel_step *step)
{
    put(w, "%s %d", step->high ? "high" : "low", step->offset);
    if (kernel->reversible)
        put(w, " round %d shift %d", step->rounding, step->shift);
    put(w, " :");
    for (unsigned k = 0; k < step->num_taps; k++)
        put(w, " %.9g", (double)step->taps[k]);
    put(w, "\n");
}

size_t l2k_kernel_print(const l2k_kernel *kernel, char *text, size_t bytes)
{
    writer w = {text, bytes, 0};
    if (kernel->reversible)
        put(&w, "reversible\n");
    else
        put(&w, "irreversible %.9g\n", (double)kernel->scale);
    put(&w, "border %s\n", kernel->mirrors ? "mirror" : "clamp");
    for (unsigned s = 0; s < kernel->num_steps; s++)
        put_step(&w, kernel, &kernel->steps[s]);
    for (char *c = text; bytes && *c; c++) /* a locale's decimal point */
        *c = *c == ',' ? '.' : *c;
    return w.length;
}
