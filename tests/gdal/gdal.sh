#!/usr/bin/env bash
# GDAL's driver JP2Lift2k beside JP2OpenJPEG. Arguments: the folder of the plugin; the folder gdrivers of GDAL's autotest, of the
# same version, to run its tests of JP2OpenJPEG on the driver (needs pytest).
here=$(realpath "$(dirname "$0")")
GDAL_DRIVER_PATH=$(realpath "$1"):$(gdal-config --prefix 2>/dev/null || echo /usr)/lib/gdalplugins
export GDAL_DRIVER_PATH GDAL_PAM_PROXY_DIR= CPL_VSIL_CURL_USE_HEAD=YES
for python in python3 /usr/bin/python3; do
    "$python" -c 'import numpy; from osgeo import gdal, gdal_array' 2>/dev/null || continue
    work=$(mktemp -d) || exit 2
    trap 'rm -rf "$work"' EXIT
    cd "$work" || exit 2
    if [ -n "${2:-}" ]; then
        cd "$2" && "$python" "$here/autotest.py" -q jp2openjpeg.py
    else
        "$python" "$here/driver.py"
    fi
    exit
done
echo "SKIPPED: no Python with GDAL (Debian: python3-gdal)"
exit 77
