# Shared by tools/run and tools/test: what the machine needs. Sourced, not run.

# need WHAT PACKAGE...: installs Debian packages that are missing, or says what to install.
need() {
    local purpose=$1 missing=()
    shift
    command -v dpkg-query >/dev/null || return 0 # not Debian: the program itself says what it misses
    for package in "$@"; do
        dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null | grep -qx installed || missing+=("$package")
    done
    [ ${#missing[@]} -eq 0 ] && return 0
    if [ "$(id -u)" -ne 0 ]; then
        echo "sinew: $purpose needs: ${missing[*]}" >&2
        echo "sinew: not root, so please run: sudo apt-get install ${missing[*]}" >&2
        return 1
    fi
    echo "sinew: installing for $purpose: ${missing[*]}"
    apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" \
        >/dev/null
}

need_rust() {
    command -v cargo >/dev/null && return 0
    echo "sinew: Rust is missing; install it from https://rustup.rs (1.88 or newer)" >&2
    return 1
}

# A C compiler links; the loader and a software driver make pictures where there is no GPU.
need_to_build() { command -v cc >/dev/null && command -v c++ >/dev/null || need "building" gcc g++ libc6-dev; }
need_vulkan() {
    if ldconfig -p 2>/dev/null | grep -q 'libvulkan\.so\.1' && ls /usr/share/vulkan/icd.d/*.json /etc/vulkan/icd.d/*.json \
        >/dev/null 2>&1; then return 0; fi
    need "Vulkan" libvulkan1 mesa-vulkan-drivers libwayland-client0
}

# The shader compiler is C++ and takes minutes to build, so its library is kept for the next time.
shaderc_library() {
    local version
    version=$(sed -n '/^name = "shaderc"$/{n;s/version = "\(.*\)"/\1/p}' Cargo.lock)
    export SHADERC_LIB_DIR=${SHADERC_LIB_DIR:-${XDG_CACHE_HOME:-$HOME/.cache}/sinew/shaderc-$version}
    mkdir -p "$SHADERC_LIB_DIR"
    [ -e "$SHADERC_LIB_DIR/libshaderc_combined.a" ] && return 0
    for tool in cmake git python3; do
        command -v $tool >/dev/null || need "the shader compiler" cmake git python3
    done
    echo "sinew: building the shader compiler once (about 7 minutes on 2 cores) into $SHADERC_LIB_DIR"
}
keep_shaderc_library() {
    [ -e "$SHADERC_LIB_DIR/libshaderc_combined.a" ] ||
        find target -path '*shaderc-sys*' -name libshaderc_combined.a -exec cp {} "$SHADERC_LIB_DIR/" \; -quit
}
