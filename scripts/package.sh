#!/usr/bin/env bash
# package.sh [PART...]: what of lift2k can be handed on (docs/packages.md), into ./build-packages. PART is one of
#
#     source   lift2k-VERSION.tar.xz of the commit, with debian/ in place, made twice: the same bytes
#     debian   the Debian packages from that archive, tested, and lintian over them; PROFILES=pkg.lift2k.cuda: with CUDA
#     install  installs these in a bare Debian root, tries them, removes them and looks for what is left behind
#     wheels   Python wheels (wheel.sh) for this processor and others, glibc and musl, and with CUDA where there is nvcc
#     check    source and debian without the library's tests, for scripts/test.sh --all
#
# or source, debian and install by default. Installs what it needs (setup.sh --packages) where it may.
set -eu -o pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
folder=$root/build-packages
version=$(sed -nE 's/^project\(lift2k VERSION ([0-9.]+).*/\1/p' "$root/CMakeLists.txt")
archive=$folder/lift2k-$version.tar.xz
profiles=${PROFILES:-}

make_source() {
    archive_commit >"$archive"
    archive_commit | cmp - "$archive"
    sha256sum "$archive"
}

archive_commit() {
    local tree=$folder/source/lift2k-$version
    rm -rf "$folder/source"
    mkdir -p "$tree"
    git -C "$root" archive HEAD | tar -x -C "$tree"
    cp -r "$tree/install/debian" "$tree/debian"
    tar -C "$folder/source" -c --sort=name --format=gnu --mtime="@$(git -C "$root" log -1 --format=%ct)" --owner=0 --group=0 \
        --numeric-owner --mode=u=rwX,go=rX "lift2k-$version" | xz -T1
}

make_debian() {
    local tree=$folder/debian/lift2k-$version
    rm -rf "$folder/debian"
    mkdir -p "$folder/debian"
    tar -x -C "$folder/debian" -f "$archive"
    cp "$archive" "$folder/debian/lift2k_$version.orig.tar.xz"
    (cd "$tree" && env -u MAKEFLAGS DEB_BUILD_PROFILES="$profiles" dpkg-buildpackage -us -uc) >"$folder/debian.log" 2>&1 || {
        tail -40 "$folder/debian.log"
        echo "package: no Debian packages; the log is $folder/debian.log" >&2
        exit 1
    }
    lintian --allow-root --tag-display-limit 0 --fail-on error,warning "$folder"/debian/*.changes
    ls -l "$folder"/debian/*.deb
}

# The packages' own tests (debian/tests), in a root with nothing but what they depend on.
try_debian() {
    local needs sources
    needs=$(for package in "$folder"/debian/*.deb; do
        dpkg-deb -f "$package" Depends
        sed -n "/^Tests: $(dpkg-deb -f "$package" Package)$/,/^$/s/^Depends: //p" "$root/install/debian/tests/control"
    done |
        tr ',' '\n' | sed 's/[(|:].*//; s/ //g' | grep -v lift2k | sort -u | tr '\n' ' ')
    cat >"$folder/try.sh" <<TRY
set -eu
export DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8 HOME=/tmp
quietly() { "\$@" >/tmp/log 2>&1 || { cat /tmp/log; echo "FAILED: \$*"; exit 1; }; }
quietly apt-get -qq update
quietly apt-get -qq -y install --no-install-recommends $needs
list() { find / -xdev ! -path '/proc/*' ! -path '/sys/*' ! -path '/tmp/*' ! -path '/var/log/*' ! -path '/var/cache/man/*' | sort; }
list >/tmp/before
quietly apt-get -qq -y install --no-install-recommends /tmp/packages/*.deb
for package in /tmp/packages/*.deb; do
    name=\$(dpkg-deb -f \$package Package)
    [ -x /tmp/tests/\$name ] || continue
    quietly /tmp/tests/\$name
    echo "\$name: works"
done
quietly apt-get -qq -y purge '?narrow(?installed, ?source-package(^lift2k\$))'
list >/tmp/after
diff /tmp/before /tmp/after || { echo "FAILED: the packages leave files behind"; exit 1; }
echo "removed: nothing is left behind"
TRY
    sources=/etc/apt/sources.list.d/debian.sources
    [ -e $sources ] || sources=/etc/apt/sources.list
    mkdir -p "$folder/try"
    rm -f "$folder"/try/*
    cp "$folder"/debian/*.deb "$folder/try/"
    rm -f "$folder"/try/*-dbgsym_*
    mmdebstrap --quiet --variant=minbase --format=null \
        --customize-hook="mkdir \"\$1/tmp/packages\" && cp $folder/try/*.deb \"\$1/tmp/packages\"" \
        --customize-hook="cp -r $root/install/debian/tests $folder/try.sh \"\$1/tmp\"" \
        --customize-hook='chroot "$1" sh /tmp/try.sh' "$(. /etc/os-release && echo "$VERSION_CODENAME")" /dev/null $sources
}

mkdir -p "$folder"
[ $# -gt 0 ] || set -- source debian install
"$root/scripts/setup.sh" --packages
for part; do
    echo "== package: $part"
    case $part in
    source) make_source ;;
    debian) make_debian ;;
    install) try_debian ;;
    wheels)
        "$root/scripts/wheel.sh" gnu aarch64 musl-x86_64 musl-aarch64
        ! command -v nvcc >/dev/null || "$root/scripts/wheel.sh" cuda
        ;;
    check)
        make_source
        DEB_BUILD_OPTIONS="nocheck noautodbgsym" profiles="$profiles nocheck" make_debian
        ;;
    *)
        echo "package: $part is none of source, debian, install, wheels, check" >&2
        exit 2
        ;;
    esac
done
