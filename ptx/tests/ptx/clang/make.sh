#!/bin/sh
# Makes the modules beside this file anew; Debian clang 14.0.6 made those that are here.
# Usage: sh make.sh, in this folder. With -O2 there are line tables alone: that clang fails at
# the call sites of optimized code that -g describes.
set -e
for source in stencil.cl structures.c cached.c; do
    name=${source%.*}
    case $source in
    *.cl) dialect="-Xclang -finclude-default-header" ;;
    *) dialect=-ffreestanding ;;
    esac
    for options in -O0 "-O0 -g" -O2 "-O2 -gline-tables-only"; do
        clang --target=nvptx64-nvidia-cuda $options -S $dialect \
            -Xclang -target-cpu -Xclang sm_70 -Xclang -target-feature -Xclang +ptx63 \
            -fdebug-compilation-dir=. -fno-ident -Wno-everything \
            -o "$name$(echo "$options" | tr -d ' ').ptx" "$source"
    done
done
