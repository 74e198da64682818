#!/bin/sh
# Installs the build into an empty prefix and builds every program of examples/ against it, and a C++ program: through
# pkg-config and through CMake, shared and static; runs those that need no GPU. Arguments: the build folder, the root of the
# repository, cmake, the C compiler, nm, and for a build with CUDA the folder of cuda_runtime.h and the static runtime.
build=${1:?the build folder is needed}
root=${2:?the root of the repository is needed}
cmake=${3:?cmake is needed}
cc=${4:?the C compiler is needed}
nm=${5:?nm is needed}
cuda_include=$6
cudart=$7
for tool in pkg-config c++; do
    command -v $tool >/dev/null || { echo "SKIPPED: $tool was not found"; exit 77; }
done
# The environment must not add to the compiler's search paths.
unset LIBRARY_PATH CPATH C_INCLUDE_PATH LD_LIBRARY_PATH CFLAGS CXXFLAGS LDFLAGS
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 2
checks=0
failures=0

check() { # check NAME COMMAND...
    name=$1
    shift
    checks=$((checks + 1))
    "$@" >log 2>&1 || { failures=$((failures + 1)); echo "FAILED: $name: $*"; head -20 log; }
}

# ---- The installed copy, and one without the shared library, so that -llift2k is the archive ----

refuse_choice() { # refuse_choice OPTION: what is neither AUTO, ON nor OFF
    "$cmake" -S "$root" -B "$work/choice/$1" "-DCMAKE_C_COMPILER=$cc" -DL2K_CUDA=OFF "-D$1=MAYBE" >choice.log 2>&1 && return 1
    grep -q "$1 is MAYBE, not AUTO, ON or OFF" choice.log
}
check "L2K_OPENJP2" refuse_choice L2K_OPENJP2
check "L2K_GSTREAMER" refuse_choice L2K_GSTREAMER
check "L2K_HDF5" refuse_choice L2K_HDF5
check "L2K_GDAL" refuse_choice L2K_GDAL

check "install" "$cmake" --install "$build" --prefix "$work/both"
archive=$(find both -name liblift2k.a)
[ -n "$archive" ] || { echo "FAILED: no liblift2k.a was installed"; exit 1; }
libdir=${archive%/liblift2k.a}
cp -R both archive
rm -f "archive${libdir#both}"/liblift2k.so*
version=$(PKG_CONFIG_PATH=$libdir/pkgconfig pkg-config --modversion lift2k)
for file in include/lift2k/lift2k.h bin/lift2k "${libdir#both/}/liblift2k.so.$version" \
    "${libdir#both/}/cmake/lift2k/lift2k-config.cmake"; do
    check "file" test -s "both/$file"
done
for file in lift2k.1 lift2k.3 completions/lift2k site-functions/_lift2k; do
    check "file" test -n "$(find both -path "*/$file" -size +0)"
done
page=$(find both -name lift2k-run.1)
[ -z "$page" ] || check "the manual names the prefix" grep -qF "$work/both${libdir#both}/lift2k/openjp2 " "$page"
check "version" test "$(both/bin/lift2k --version | head -1)" = "lift2k $version"

# ---- The shared library exports exactly what the header declares ----

grep -o '^L2K_API [^(]*(' both/include/lift2k/lift2k.h | sed 's/.*[ *]\(.*\)(/\1/' | sort >declared
"$nm" -D --defined-only "$libdir/liblift2k.so" | awk '{ print $NF }' | sort >shown
check "declared functions" test "$(wc -l <declared)" -gt 20
check "symbols" diff declared shown
soname="liblift2k.so.${version%.*}"
readelf -d "$libdir/liblift2k.so" >dynamic
check "no C++ library" grep -q 'NEEDED.*libc\.' dynamic
check "no C++ library" test "$(grep -c 'NEEDED.*c++' dynamic)" -eq 0
check "soname" test -e "$libdir/$soname"

# ---- Programs ----

cat >version.cpp <<'END'
#include <lift2k/lift2k.h>

#include <cstdio>

int main()
{
    l2k_encoder *encoder = l2k_encoder_new(nullptr);
    l2k_status status = encoder ? l2k_encoder_set(encoder, L2K_ENCODER_LEVELS, 33) : L2K_OK;
    l2k_encoder_free(encoder);
    std::printf("%s\n", l2k_version());
    return status == L2K_ERROR_ARGUMENT ? 0 : 1;
}
END
check "encode" both/bin/lift2k encode "$root/tests/data/coffee.png" coffee.jp2 --quiet

runs() { # runs FOLDER KIND: the programs built there work, and use the right library
    checked=$1
    for program in "$checked"/*; do
        case $program in
        */psnr) check "$program" test "$("./$program" coffee.jp2 coffee.jp2)" = identical ;;
        */cuda_*) check "$program" test -x "$program" ;;
        */metadata) check "$program" "./$program" metadata.jp2 ;;
        */version*) check "$program" test "$("./$program")" = "$version" ;;
        *) check "$program" "./$program" ;;
        esac
        needed=$(readelf -d "$program" 2>/dev/null | grep -c "NEEDED.*\[$soname\]")
        case $2 in
        shared) check "$program uses the shared library" test "$needed" -eq 1 ;;
        static) check "$program does without the shared library" test "$needed" -eq 0 ;;
        esac
    done
}

# ---- Through pkg-config ----

with_pkg_config() { # with_pkg_config KIND PREFIX FLAGS-OF-PKG-CONFIG...
    kind=$1
    prefix=$2
    shift 2
    flags=$(PKG_CONFIG_PATH=$work/$prefix${libdir#both}/pkgconfig pkg-config "$@" --cflags --libs lift2k)
    mkdir "pc_$kind"
    for source in "$root"/examples/*.c; do
        name=$(basename "$source" .c)
        case $name in
        cuda_*)
            [ -n "$cudart" ] || continue
            check "pkg-config $kind $name" "$cc" "$source" -o "pc_$kind/$name" "-I$cuda_include" $flags "$cudart" \
                -lpthread -ldl -lrt -lm
            ;;
        *) check "pkg-config $kind $name" "$cc" "$source" -o "pc_$kind/$name" $flags -lm ;;
        esac
    done
    check "pkg-config $kind C++" c++ version.cpp -o "pc_$kind/version" $flags
    LD_LIBRARY_PATH=$work/$libdir
    export LD_LIBRARY_PATH
    runs "pc_$kind" "$kind"
    unset LD_LIBRARY_PATH
}

with_pkg_config shared both
with_pkg_config static archive --static

# ---- Through CMake: a project in C, and one in C++ only ----

mkdir c cxx
cat >c/CMakeLists.txt <<'END'
cmake_minimum_required(VERSION 3.16)
project(c LANGUAGES C)
find_package(lift2k 99 QUIET)
if(lift2k_FOUND)
  message(FATAL_ERROR "lift2k of another version was taken")
endif()
find_package(lift2k ${WANTED} REQUIRED COMPONENTS ${KIND})
if(CUDA)
  find_package(CUDAToolkit REQUIRED)
endif()
file(GLOB sources ${EXAMPLES}/*.c)
foreach(source ${sources})
  get_filename_component(name ${source} NAME_WE)
  if(name MATCHES "^cuda_" AND NOT CUDA)
    continue()
  endif()
  add_executable(${name} ${source})
  target_link_libraries(${name} PRIVATE lift2k::${KIND} m)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY programs)
  if(name MATCHES "^cuda_")
    target_link_libraries(${name} PRIVATE CUDA::cudart_static)
  endif()
endforeach()
END
cat >cxx/CMakeLists.txt <<'END'
cmake_minimum_required(VERSION 3.16)
project(cxx LANGUAGES CXX)
find_package(lift2k ${WANTED} REQUIRED)
add_executable(version ${PROJECT_SOURCE_DIR}/../version.cpp)
target_link_libraries(version PRIVATE lift2k::lift2k)
set_target_properties(version PROPERTIES RUNTIME_OUTPUT_DIRECTORY programs)
END

with_cmake() { # with_cmake PROJECT KIND OPTIONS...
    project=$1
    kind=$2
    shift 2
    check "cmake $project $kind" "$cmake" -S "$project" -B "${project}_$kind" "-DCMAKE_PREFIX_PATH=$work/both" \
        -DCMAKE_BUILD_TYPE=Release "-DWANTED=$version" "$@"
    check "cmake $project $kind" "$cmake" --build "${project}_$kind"
    runs "${project}_$kind/programs" "$kind"
}

for kind in shared static; do
    with_cmake c $kind "-DKIND=$kind" "-DEXAMPLES=$root/examples" "-DCUDA=$cudart" "-DCMAKE_C_COMPILER=$cc"
done
with_cmake cxx shared
with_cmake cxx static -DBUILD_SHARED_LIBS=OFF

echo "$checks checks, $failures failures"
[ $failures -eq 0 ]
