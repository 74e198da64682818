"""Bytes at equal SSIMULACRA2 (PyPI): bench/visual.py LIFT2K OTHERS PICTURE... OTHERS is a folder with the others' commands;
pictures are PPM or PGM. Prints how many bytes lift2k takes more: than each, and than the best for each picture and rate."""
import collections, math, os, subprocess, sys, tempfile, numpy, ssimulacra2
lift2k, others, *pictures = sys.argv[1:]
rates, factors = (.2, .3, .45, .7, 1, 1.5, 2.2, 3.2), (1, 2, 5, 12, 25, 40, 55, 68, 78, 86, 92, 95, 97, 99)
curves = {"opj_compress -i {i} -o {o} -I -r {r}": rates, "grk_compress -i {i} -o {o} -I -r {r}": rates,
          "grk_compress -i {i} -o {o} -I --qfactor {x}": factors, "open_htj2k_enc -i {i} -o {o} Qfactor={x}": factors,
          "ojph_compress -i {i} -o {o} -reversible false -qfactor {x}": factors}

def point(command, i, x):  # the score, and the logarithm of the bytes
    with tempfile.TemporaryDirectory() as folder, open(i, "rb") as file:
        o, back, r = folder + "/a.j2c", folder + "/a.ppm", (24 if file.read(2) == b"P6" else 8) / x
        subprocess.run(command.format(i=i, o=o, x=x, r=r).split(), check=True, capture_output=True)
        subprocess.run([lift2k, "decode", o, back, "--quiet"], check=True)
        return ssimulacra2.compute_ssimulacra2(i, back), math.log(os.path.getsize(o))
found = collections.defaultdict(list)
for i in pictures:
    known = {name: sorted(point(f"{others}/{name}", i, x) for x in curves[name]) for name in curves}
    for options, rate in [(o, r) for o in ("", "--visual", "--ht", "--ht --visual") for r in (.25, .5, 1, 2)]:
        score, size = point(lift2k + " encode {i} {o} --quiet -I -r {r} " + options, i, rate)
        more = {n: size - numpy.interp(score, *zip(*c)) for n, c in known.items() if c[0][0] <= score <= c[-1][0]}
        for name in [*more, "best", f"best at {rate} bits"] if list(curves)[-1] in more else []:
            found[options, name].append(more.get(name, max(more.values())))
for (options, name), all in found.items():
    print(f"{options:14} {100 * math.expm1(sum(all) / len(all)):+6.1f} % against {name}")
