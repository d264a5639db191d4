# Shared by the scripts: where we are, and Debian packages. Sourced, not run.
top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

packages_build="cmake ninja-build gcc pkg-config libuv1-dev libjansson-dev libconfuse-dev \
libsqlite3-dev libsmartcols-dev libelf-dev libgsl-dev gnuplot-nox libopenmpi-dev openmpi-bin scdoc"
packages_package="build-essential debhelper fakeroot libmpich-dev man-db"
packages_test="clang libclang-rt-14-dev libcmocka-dev mpich libmpich-dev python3 python3-pytest util-linux procps man-db g++ make libfaketime"

# Installs the named Debian packages that are missing, and says which.
need_packages() {
    local missing="" package
    for package in "$@"; do
        dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'ok installed' ||
            missing="$missing $package"
    done
    [ -z "$missing" ] && return 0
    echo "installing Debian packages:$missing"
    local sudo=""
    if [ "$(id -u)" != 0 ]; then
        if ! command -v sudo >/dev/null; then
            echo "They need root, and there is no sudo. As root, run:" >&2
            echo "    apt-get install --no-install-recommends$missing" >&2
            return 1
        fi
        sudo=sudo
    fi
    # shellcheck disable=SC2086  # a list of words
    { $sudo apt-get -qq update &&
        DEBIAN_FRONTEND=noninteractive $sudo apt-get -qq -y install --no-install-recommends \
            $missing >/dev/null; } </dev/null || {
        echo "apt-get could not install:$missing" >&2
        return 1
    }
}

preset_dir() {
    [ "$1" = default ] && echo build || echo "build-$1"
}

# Configures and builds a preset of CMakePresets.json; quiet unless it fails.
build_preset() {
    local preset=$1 log
    shift
    log=$(mktemp)
    echo "building ($preset)"
    if ! { cmake -S "$top" --preset "$preset" "$@" >"$log" 2>&1 &&
        cmake --build "$top/$(preset_dir "$preset")" >>"$log" 2>&1; }; then
        cat "$log" >&2
        rm -f "$log"
        echo "the build ($preset) failed" >&2
        return 1
    fi
    rm -f "$log"
}
