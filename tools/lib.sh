# Shared by tools/run, tools/test and tools/shaders: what the machine needs. Sourced, not run, in the repository.

# Commands of the system may be outside a user's PATH, and rustup's outside that of a shell that is no login shell.
PATH=$PATH:/usr/sbin:/sbin
[ -z "${HOME:-}" ] || PATH=$PATH:$HOME/.cargo/bin
target=$(realpath -m "${CARGO_TARGET_DIR:-target}")

# need WHAT PACKAGE...: installs Debian packages that are missing, or says what to install. Elsewhere it only says so:
# the libraries may lie where nothing here looks for them.
need() {
    local purpose=$1 missing=() package
    shift
    if ! command -v dpkg-query >/dev/null; then
        echo "sinew: if $purpose fails, install what Debian calls $*" >&2
        return 0
    fi
    for package in "$@"; do
        dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null | grep -x installed >/dev/null ||
            missing+=("$package")
    done
    [ ${#missing[@]} -gt 0 ] || return 0
    if [ "$(id -u)" -ne 0 ]; then
        echo "sinew: $purpose needs: ${missing[*]}" >&2
        echo "sinew: not root, so please run: sudo apt-get install ${missing[*]}" >&2
        return 1
    fi
    echo "sinew: installing for $purpose: ${missing[*]}"
    # Packages' scripts write to the terminal, which matters only where they fail.
    local log
    log=$(mktemp)
    # A foreign source that cannot be reached fails the update, not the installation.
    if ! { apt-get update -qq || true; DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
        "${missing[@]}"; } >"$log" 2>&1; then
        cat "$log" >&2
        echo "sinew: could not install: ${missing[*]}" >&2
        rm -f "$log"
        return 1
    fi
    rm -f "$log"
}

need_rust() {
    command -v cargo >/dev/null && return 0
    local version
    version=$(sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml)
    echo "sinew: Rust is missing; install it from https://rustup.rs ($version or newer)" >&2
    return 1
}
# Only the tests need these, and rustup's minimal profile leaves them out.
need_rust_checks() {
    cargo fmt --version >/dev/null 2>&1 && cargo clippy --version >/dev/null 2>&1 && return 0
    echo "sinew: adding rustfmt and clippy to Rust"
    rustup component add rustfmt clippy
}

# A C compiler links.
need_to_build() { command -v cc >/dev/null || need "building" gcc libc6-dev; }

# The loader, and a software driver where there is no GPU's driver.
need_vulkan() {
    local libraries
    libraries=$(ldconfig -p 2>/dev/null || true)
    case $libraries in
    *libvulkan.so.1*)
        if [ -n "${VK_DRIVER_FILES:-}${VK_ICD_FILENAMES:-}" ]; then return 0; fi
        local folder
        for folder in /usr/share /usr/local/share /etc; do
            if compgen -G "$folder/vulkan/icd.d/*.json" >/dev/null; then return 0; fi
        done
        ;;
    esac
    # The software driver needs Wayland's library but does not depend on it.
    need "Vulkan" libvulkan1 mesa-vulkan-drivers libwayland-client0
}

# What a window loads when it opens.
need_window() {
    need "a window" libx11-6 libx11-xcb1 libxcursor1 libxi6 libxkbcommon0 libxkbcommon-x11-0
}

need_validation() {
    compgen -G "/usr/share/vulkan/explicit_layer.d/*validation*.json" >/dev/null || need "tests" vulkan-validationlayers
}

# The shader compiler is C++ and takes minutes to build, so its library is kept for the next time.
shaderc_library() {
    local version tool
    version=$(sed -n '/^name = "shaderc"$/{n;s/version = "\(.*\)"/\1/p}' Cargo.lock)
    export SHADERC_LIB_DIR=${SHADERC_LIB_DIR:-${XDG_CACHE_HOME:-$HOME/.cache}/sinew/shaderc-$version}
    mkdir -p "$SHADERC_LIB_DIR"
    command -v c++ >/dev/null || need "the shader compiler" g++ || return 1
    [ -e "$SHADERC_LIB_DIR/libshaderc_combined.a" ] && return 0
    for tool in cmake git python3; do
        command -v $tool >/dev/null || { need "building the shader compiler" cmake git make python3 || return 1; }
    done
    echo "sinew: building the shader compiler once (about 7 minutes on 2 cores) into $SHADERC_LIB_DIR"
}
keep_shaderc_library() {
    [ -e "$SHADERC_LIB_DIR/libshaderc_combined.a" ] ||
        find "$target" -path '*shaderc-sys*' -name libshaderc_combined.a -exec cp {} "$SHADERC_LIB_DIR/" \; -quit
}
