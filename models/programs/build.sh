#!/bin/sh
# Compiles the programs of this folder: build.sh [FOLDER [NAME...]]
#
# FOLDER/NAME is the plain program. FOLDER/NAME.hooks is the same with memory made visible: its objects are compiled with
# -fsanitize=thread, but linked without it, because turnpike answers the calls that the flag puts in. It only runs under turnpike.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
out=${1:-$here/build}
[ $# -gt 0 ] && shift
include=${TURNPIKE_INCLUDE:-$here/../../crates/turnpike-preload/include}
mkdir -p "$out/robust"

compile() {
    case $1 in
    *.cpp) compiler="${CXX:-g++} -std=c++17" ;;
    *) compiler="${CC:-gcc} -std=gnu11" ;;
    esac
    name=${1#"$here"/}
    name=$out/${name%.c*}
    set -- -g -O1 -Wall -Wextra -I "$include" "$1"
    $compiler "$@" -pthread -o "$name"
    $compiler "$@" -fsanitize=thread -c -o "$name.o"
    $compiler "$name.o" -pthread -rdynamic -Wl,--unresolved-symbols=ignore-in-object-files -o "$name.hooks"
    rm "$name.o"
}

if [ $# -gt 0 ]; then
    for name; do
        for source in "$here/$name".c*; do compile "$source"; done
    done
else
    for source in "$here"/*.c "$here"/*.cpp "$here"/robust/*.c; do compile "$source"; done
fi
