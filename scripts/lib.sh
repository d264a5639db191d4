# Shared by the scripts: where we are, and Debian packages. Sourced, not run.
top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

packages_build="cmake ninja-build gcc pkg-config libuv1-dev libjansson-dev libconfuse-dev \
libsqlite3-dev libsmartcols-dev libelf-dev libhwloc-dev libgsl-dev libarchive-dev libzmq3-dev libxxhash-dev libexpat1-dev libgnutls28-dev gnuplot-nox libopenmpi-dev openmpi-bin scdoc"
packages_package="build-essential debhelper dh-python fakeroot libmpich-dev libslurm-dev libmunge-dev man-db"
packages_test="clang libclang-rt-14-dev lld libcmocka-dev mpich libmpich-dev python3 python3-pytest python3-numpy python3-mpi4py python3-pandas python3-matplotlib util-linux iproute2 strace procps man-db g++ make gfortran libfaketime \
librsvg2-bin munge slurm-client slurmctld slurmd slurm-wlm-basic-plugins slurmdbd slurm-wlm-mysql-plugin mariadb-server-core libslurm-dev libmunge-dev gridengine-master gridengine-exec gridengine-client lammps hpcc nwchem-mpich \
libscalapack-openmpi-dev libscalapack-mpich-dev libfftw3-dev libfftw3-mpi-dev"

# Installs the named Debian packages that are missing, and says which. Those with a system service (munge, slurmd, gridengine-exec) do
# not start it: while they are installed, /usr/sbin/policy-rc.d forbids that, unless the machine has one of its own.
need_packages() {
    local missing="" package failed=0 policy=/usr/sbin/policy-rc.d
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
    if [ -e $policy ]; then
        policy=""
    else
        printf '#!/bin/sh\n# of Pleat: scripts/lib.sh removes it again\nexit 101\n' | $sudo tee $policy >/dev/null
        $sudo chmod 755 $policy
        trap "$sudo rm -f $policy" EXIT
    fi
    # shellcheck disable=SC2086  # a list of words
    { $sudo apt-get -qq update &&
        DEBIAN_FRONTEND=noninteractive $sudo apt-get -qq -y install --no-install-recommends \
            $missing >/dev/null; } </dev/null || failed=1
    if [ -n "$policy" ]; then
        $sudo rm -f $policy
        trap - EXIT
    fi
    [ $failed = 0 ] && return 0
    echo "apt-get could not install:$missing" >&2
    return 1
}

# How many times as long as usual tests may take here, 1 to 4: starting a process takes about a millisecond, on some virtual machines
# several, and much of what tests do is that.
patience() {
    local begun=${EPOCHREALTIME/[.,]/} i ms
    for ((i = 0; i < 200; i++)); do /bin/true; done
    ms=$(((${EPOCHREALTIME/[.,]/} - begun) / 200000))
    echo $((ms < 2 ? 1 : ms > 4 ? 4 : ms))
}

preset_dir() {
    [ "$1" = default ] && echo build || echo "build-$1"
}

# Configures and builds a preset of CMakePresets.json; quiet unless it fails. With PLEAT_QUICK_BUILD=1 in the environment it takes less
# time: for where nothing is measured and nobody debugs. Without, a build that exists keeps what it had.
build_preset() {
    local preset=$1 log
    local -a quick=()
    shift
    [ "${PLEAT_QUICK_BUILD-}" != 1 ] || quick=(-DPLEAT_LTO=OFF "-DCMAKE_C_FLAGS_RELWITHDEBINFO=-O2 -g1 -DNDEBUG")
    log=$(mktemp)
    echo "building ($preset)"
    if ! { cmake -S "$top" --preset "$preset" "${quick[@]}" "$@" >"$log" 2>&1 &&
        cmake --build "$top/$(preset_dir "$preset")" >>"$log" 2>&1; }; then
        cat "$log" >&2
        rm -f "$log"
        echo "the build ($preset) failed" >&2
        return 1
    fi
    rm -f "$log"
}

# What the tests, or what they start, may leave in shared memory: names, sorted, a line each. Not what a
# living process maps or names: somebody else may be at work.
left_in_shared_memory() {
    local path
    find /dev/shm -mindepth 1 -maxdepth 1 -user "$(id -un)" \( -name 'pleat-*' -o -name 'vader_segment.*' \
        -o -name 'osc_rdma*' -o -name 'mpich*' -o -name '*faketime*' \) | sort | while read -r path; do
        # the pattern is not in grep's own arguments
        grep -aqFf <(printf '%s\n' "${path##*/}") < <(cat /proc/[0-9]*/{maps,cmdline,environ} 2>/dev/null) ||
            echo "${path##*/}"
    done
}

# Says what is left there that was not there `before` (what left_in_shared_memory printed then), and fails.
check_shared_memory() {
    local before=$1 left
    left=$(comm -13 <(echo "$before") <(left_in_shared_memory))
    [ -z "$left" ] && return 0
    echo "the tests left in /dev/shm:" >&2
    echo "$left" >&2
    return 1
}
