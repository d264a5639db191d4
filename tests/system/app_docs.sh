#!/bin/sh
# app_docs.sh GUIDE INCLUDE LIBRARY: the guide's example compiles as it stands and computes its sum; its snippets compile.
set -eu
guide=$1 include=$2 library=$3
snippets=$(dirname "$0")/app_docs.h
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
awk '/^```c$/ { inside = 1; next } /^```$/ { inside = 0 } inside' "$guide" > "$dir/example.c"
mpicc.openmpi -std=c11 -Wall -Wextra -Werror "$dir/example.c" -o "$dir/example" \
    -I"$include" -L"$library" -lpleat-openmpi -Wl,-rpath,"$library"
# Pieces of programs: each compiles by itself where its variables are declared.
awk '/^```c snippet$/ { n++; inside = 1; next } /^```$/ { inside = 0 } inside { print > DIR "/snippet" n ".inc" }' \
    DIR="$dir" "$guide"
for snippet in "$dir"/snippet*.inc; do
    if grep -q '^static' "$snippet"; then # a function, not its inside
        { cat "$snippets"; cat "$snippet"; } > "$dir/snippet.c"
    else
        { echo '#define IN_FUNCTION'; cat "$snippets"; printf 'int snippet(void)\n{\n'; cat "$snippet"
          printf 'return 0;\n}\n'; } > "$dir/snippet.c"
    fi
    mpicc.openmpi -std=c11 -Wall -Wextra -Werror -Wno-unused -c "$dir/snippet.c" -o "$dir/snippet.o" -I"$include"
done
# 0 + .. + 999, and 100 steps of adding 1 to each
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 EVENT_NOEPOLL=1
unset PLEAT_MAILBOX PLEAT_DOORBELL
out=$(timeout 60 mpirun.openmpi --oversubscribe --bind-to none -n 3 "$dir/example")
[ "$out" = "total 599500 on 3 ranks" ] || { echo "unexpected: $out"; exit 1; }
# The header is C++, too (Open MPI's own old C++ classes would not pass).
printf '#include <pleat.h>\nint main() { return pleat_session_begin(nullptr, nullptr) != 0; }\n' \
    > "$dir/header.cc"
${CXX:-g++} -std=c++11 -Wall -Wextra -Werror -fsyntax-only -DOMPI_SKIP_MPICXX "$dir/header.cc" -I"$include" \
    $(pkg-config --cflags ompi-c)
# Pieces in C++, at file scope.
awk '/^```c\+\+$/ { inside = 1; next } /^```$/ { inside = 0 } inside' "$guide" > "$dir/snippet.inc"
[ -s "$dir/snippet.inc" ]
printf '#include <pleat.hpp>\n#include <vector>\n#include "snippet.inc"\nint main() { return ops.data == nullptr; }\n' \
    > "$dir/snippet.cc"
${CXX:-g++} -std=c++11 -Wall -Wextra -Werror -fsyntax-only -DOMPI_SKIP_MPICXX "$dir/snippet.cc" -I"$include" \
    $(pkg-config --cflags ompi-c)
