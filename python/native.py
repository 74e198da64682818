"""Writes the C source of the extension module lift2k._native: python native.py HEADER OUTPUT DIRAC.

cffi gets the declarations from the library's public header itself, so that nothing is declared twice: the C compiler checks
every structure, and each option exists in Python because it is in the header. native.c becomes part of the module.
"""

import json
import re
import sys
from pathlib import Path

import cffi

OTHERS = """
extern const char l2k_py_explanations[];
extern "Python" void l2k_py_message(void *user, l2k_severity severity, const char *text);
extern "Python" bool l2k_py_progress(void *user, double done);
extern "Python" int l2k_py_read_at(void *user, uint64_t offset, void *buffer, size_t bytes);
extern "Python" int l2k_py_write(void *user, const void *buffer, size_t bytes);
extern "Python" int l2k_py_rewrite(void *user, uint64_t offset, const void *buffer, size_t bytes);
extern "Python" l2k_status l2k_py_coefficients(void *user, const l2k_tile_coefficients *coefficients);
"""


def declarations(header: str) -> str:
    """The header for cffi's parser: no comments, no preprocessor, no function bodies, array sizes as numbers."""
    header = re.sub(r"/\*.*?\*/", " ", header, flags=re.S)
    macros = dict(re.findall(r"^#define (L2K_MAX_\w+)\s+(.*)$", header, flags=re.M))
    header = re.sub(r"^#(?:.*\\\n)*.*$", "", header, flags=re.M)
    header = re.sub(r"static inline [^{;]*\{.*?\n\}", "", header, flags=re.S)
    header = re.sub(r'extern "C" \{|^\}\s*$', "", header, flags=re.M)
    for _ in macros:  # a macro may name another one
        for name, value in macros.items():
            header = re.sub(rf"\b{name}\b", re.sub(r"(\d)u\b", r"\1", f"({value})"), header)
    return re.sub(r"\bL2K_API\b", "", header)


COMMENT = r"/\*((?:(?!\*/).)*)\*/"


def explanations(header: str) -> str:
    """The header's comment behind or above each option's name: a line for each, "ENCODER_LEVELS the comment"."""
    lines = []
    for body in re.findall(r"^typedef enum l2k_\w+_option \{(.*?)^\}", header, flags=re.S | re.M):
        for above, name, behind in re.findall(rf"(?:{COMMENT}\s*)?L2K_(\w+)(?: = 0)?,?(?:[ ]*{COMMENT})?", body, flags=re.S):
            lines.append(" ".join([name, *re.sub(r"\n +\*", "", above or behind).split()]))
    return "\n".join(lines)


def main(header: str, output: str, dirac: str) -> None:
    own = Path(__file__).with_name("native.c").read_text()
    text = Path(header).read_text()
    if dirac == "0":
        text = re.sub(r"^L2K_API [^;]*\bl2k_video_\w+\([^;]*;", "", text, flags=re.M)
    structures = "\n".join(re.findall(r"^typedef struct .*?^\} \w+;", own, flags=re.S | re.M))
    functions = "".join(f"{head};\n" for head in re.findall(r"^static ([^;={]*\bl2k_py_\w+\(.*\))\n\{", own, flags=re.M))
    ffi = cffi.FFI()
    ffi.cdef(declarations(text))
    ffi.cdef(structures + functions + OTHERS)
    ffi.set_source("lift2k._native", f"{own}\nstatic const char l2k_py_explanations[] = {json.dumps(explanations(text))};\n")
    ffi.emit_c_code(output)


if __name__ == "__main__":
    main(*sys.argv[1:])
