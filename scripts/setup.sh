#!/bin/sh
# Installs the missing packages for building lift2k on Debian and Ubuntu, as root or with sudo: with --tests those of
# scripts/test.sh as well, with --programs those that its --all needs besides, most of which read and write JPEG 2000, with
# --systems those of scripts/portability.sh, with --packages those of scripts/package.sh, with --wheels those of
# scripts/wheel.sh, with --web those of scripts/web.sh. Does nothing where everything is installed.
set -eu

need="gcc libc6-dev make cmake pkg-config libpng-dev libtiff-dev libjpeg-dev liblcms2-dev"
need="$need python3-dev python3-venv" # for the Python package
if [ "${1:-}" = --tests ]; then
    need="$need libcmocka-dev libopenjp2-tools libopenjp2-7-dev"
    need="$need libhdf5-dev" # for the HDF5 filter
    need="$need opencl-headers ocl-icd-libopencl1 pocl-opencl-icd" # OpenCL on the CPU
fi
if [ "${1:-}" = --programs ]; then
    need="$need gdal-bin libgdal-dev python3-gdal ffmpeg python3-pil poppler-utils mupdf-tools libvips-tools"
    need="$need imagemagick libmagickcore-6.q16-6-extra" # the latter has JPEG 2000
    need="$need g++ libavcodec-dev openjph-tools libimage-exiftool-perl"
    need="$need libgstreamer-plugins-base1.0-dev gstreamer1.0-tools gstreamer1.0-plugins-base gstreamer1.0-plugins-good gstreamer1.0-plugins-bad"
    need="$need libmagic1" # for the validator of the image server, among the tests of the Python package
fi
if [ "${1:-}" = --systems ]; then
    need="$need g++ clang musl-tools gcc-s390x-linux-gnu libc6-dev-s390x-cross qemu-user"
    [ "$(uname -m)" = aarch64 ] || need="$need gcc-aarch64-linux-gnu libc6-dev-arm64-cross"
    [ "$(uname -m)" != x86_64 ] || need="$need gcc-mingw-w64-x86-64-posix g++-mingw-w64-x86-64-posix wine"
fi
if [ "${1:-}" = --packages ]; then
    need="$need debhelper dh-python lintian mmdebstrap ninja-build python3-cffi xz-utils"
    need="$need libopenjp2-7-dev libopenjp2-tools opencl-headers libcmocka-dev libgdal-dev libgstreamer-plugins-base1.0-dev libhdf5-dev pkgconf"
fi
if [ "${1:-}" = --wheels ]; then
    need="$need mmdebstrap dpkg-dev gcc-12-source gcc-aarch64-linux-gnu libc6-dev-arm64-cross musl qemu-user"
fi
if [ "${1:-}" = --web ]; then
    need="$need emscripten node-acorn nodejs chromium firefox-esr"
fi

if ! command -v dpkg-query >/dev/null; then
    echo "setup: this script knows Debian and Ubuntu only; elsewhere install the equivalents of: $need" >&2
    exit 1
fi

missing=
for package in $need; do
    dpkg-query -W -f '${db:Status-Status}\n' "$package" 2>/dev/null | grep -qx installed || missing="$missing $package"
done
[ -n "$missing" ] || exit 0

echo "setup: installing$missing"
as_root=
if [ "$(id -u)" -ne 0 ]; then
    if ! command -v sudo >/dev/null; then
        echo "setup: neither root nor sudo; ask your administrator for:$missing" >&2
        exit 1
    fi
    as_root=sudo
fi
export DEBIAN_FRONTEND=noninteractive
$as_root apt-get -qq update
# shellcheck disable=SC2086 # a list of packages
$as_root apt-get -qq -y install --no-install-recommends $missing >/dev/null
