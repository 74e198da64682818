/* The illuminants of CIELab (ISO/IEC 15444-2, M.11.7.4.1), and the matrix from each to sRGB, whose white is D65. */
#include <string.h>

#include "cli/decode/rgb8.h"

typedef double matrix3[3][3];

static const double white_d65[3] = {0.95047, 1, 1.08883};

/* The Bradford cone responses, and back. */
static const matrix3 to_cones = {{0.8951, 0.2664, -0.1614}, {-0.7502, 1.7135, 0.0367}, {0.0389, -0.0685, 1.0296}};
static const matrix3 from_cones = {
    {0.9869929, -0.1470543, 0.1599627}, {0.4323053, 0.5183603, 0.0492912}, {-0.0085287, 0.0400428, 0.9684867}};

/* IEC 61966-2-1: XYZ to linear sRGB. */
static const matrix3 to_srgb = {
    {3.2404542, -1.5371385, -0.4985314}, {-0.9692660, 1.8760108, 0.0415560}, {0.0556434, -0.2040259, 1.0572252}};

static void multiply(const matrix3 a, const matrix3 b, matrix3 result)
{
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++)
            result[i][k] = a[i][0] * b[0][k] + a[i][1] * b[1][k] + a[i][2] * b[2][k];
}

static void cones_of(const double xyz[3], double cones[3])
{
    for (int i = 0; i < 3; i++)
        cones[i] = to_cones[i][0] * xyz[0] + to_cones[i][1] * xyz[1] + to_cones[i][2] * xyz[2];
}

/* CIE daylight of a correlated colour temperature, 4000 to 25000 kelvin. */
static bool daylight_white(double kelvin, double white[3])
{
    if (kelvin < 4000 || kelvin > 25000)
        return false;
    double t = 1000 / kelvin;
    double x = kelvin <= 7000 ? ((-4.6070 * t + 2.9678) * t + 0.09911) * t + 0.244063
                              : ((-2.0064 * t + 1.9018) * t + 0.24748) * t + 0.237040;
    double y = -3 * x * x + 2.87 * x - 0.275;
    white[0] = x / y;
    white[1] = 1;
    white[2] = (1 - x - y) / y;
    return true;
}

/* D50 if it is unknown. */
static bool white_of(uint32_t illuminant, double white[3])
{
    static const struct {
        uint32_t code;
        double white[3];
    } known[] = {{0x00443530, {0.96422, 1, 0.82521}}, {0x00443635, {0.95047, 1, 1.08883}},
                 {0x00443735, {0.94972, 1, 1.22638}}, {0x00005341, {1.09850, 1, 0.35585}},
                 {0x00005343, {0.98074, 1, 1.18232}}, {0x00004632, {0.99186, 1, 0.67393}},
                 {0x00004637, {0.95041, 1, 1.08747}}, {0x00463131, {1.00962, 1, 0.64350}}};
    memcpy(white, known[0].white, sizeof known[0].white);
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (known[i].code == illuminant) {
            memcpy(white, known[i].white, sizeof known[i].white);
            return true;
        }
    return illuminant >> 16 == 0x4354 && daylight_white(illuminant & 0xFFFF, white);
}

bool cli_lab_matrix(uint32_t illuminant, double matrix[3][3])
{
    double white[3], from[3], to[3];
    matrix3 scaled, adapt, result;
    bool known = white_of(illuminant, white);
    cones_of(white, from);
    cones_of(white_d65, to);
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++)
            scaled[i][k] = to_cones[i][k] * to[i] / from[i];
    multiply(from_cones, scaled, adapt);
    multiply(to_srgb, adapt, result);
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++)
            matrix[i][k] = result[i][k] * white[k];
    return known;
}
