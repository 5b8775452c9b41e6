#!/bin/sh
# Write the libraries of the page into src/pgrag/web/vendor, from the package index of npm.
# Their imports of each other become relative, because a page cannot resolve bare names without an
# import map, which the content security policy would have to allow. Run it to take other versions.
set -eu
folder=$PWD/src/pgrag/web/vendor
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

take() { # package@version, its file, our file
    package=${1%@*}
    [ -d "$work/$package" ] || {
        mkdir -p "$work/$package"
        (cd "$work" && tar -xzf "$(npm pack --silent "$1")" -C "$package")
    }
    sed -e 's/from *"\(preact\|d3-[a-z]*\)"/from".\/\1.mjs"/g' -e '/^\/\/# sourceMappingURL/d' \
        "$work/$package/package/$2" >"$folder/$3"
    cp "$work/$package/package/LICENSE" "$folder/$package.LICENSE"
}

take preact@11.2.0 dist/preact.mjs preact.mjs
take preact@11.2.0 hooks/dist/hooks.mjs hooks.mjs
take htm@3.1.1 dist/htm.module.js htm.mjs
take d3-force@3.0.1 dist/d3-force.min.mjs d3-force.mjs
take d3-quadtree@3.0.2 dist/d3-quadtree.min.mjs d3-quadtree.mjs
take d3-dispatch@3.0.2 dist/d3-dispatch.min.mjs d3-dispatch.mjs
take d3-timer@3.0.2 dist/d3-timer.min.mjs d3-timer.mjs
take uplot@1.6.32 dist/uPlot.iife.min.js uplot.mjs
echo 'export default uPlot;' >>"$folder/uplot.mjs"
take uplot@1.6.32 dist/uPlot.min.css uplot.css
(cd "$folder" && sha256sum -- *.mjs *.css >SHA256SUMS)
