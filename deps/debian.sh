# shellcheck shell=bash disable=SC2034
# Debian's own mirror as this machine uses it, and sources of another suite from it.

# The first archive of Debian proper among the machine's sources.
debian_mirror() {
  local mirror
  # shellcheck disable=SC2016
  mirror=$(apt-get indextargets --format '$(REPO_URI) $(ORIGIN) $(SUITE) $(COMPONENT)' 2>/dev/null |
    awk '$2 == "Debian" && $NF == "main" && $0 !~ /security/ { print $1; exit }')
  if [ -z "$mirror" ]; then
    mirror=$(cat /etc/apt/sources.list /etc/apt/sources.list.d/* 2>/dev/null | grep -oE 'https?://[^ ]+/debian/?' | head -n1)
  fi
  [ -n "$mirror" ] || fail "no Debian archive among this machine's package sources; run apt-get update"
  printf '%s\n' "$mirror"
}

# debian_source SUITE PACKAGE FOLDER: downloads the files of a source package.
debian_source() {
  local suite=$1 package=$2 folder=$3 state
  state=$folder/state
  mkdir -p "$state/lists/partial" "$state/cache/archives/partial"
  printf 'deb-src [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] %s %s main\n' "$(debian_mirror)" "$suite" >"$state/sources.list"
  local options=(-o "Dir::Etc::sourcelist=$state/sources.list" -o Dir::Etc::sourceparts=- -o "Dir::State::lists=$state/lists"
    -o "Dir::Cache=$state/cache" -o APT::Sandbox::User=root)
  apt-get "${options[@]}" update
  # The packaging may be gone from the archive while the upstream source, which is all that is used, is there.
  (cd "$folder" && apt-get "${options[@]}" source --download-only "$package") || true
  ls "$folder/$package"_*.orig.tar.* >/dev/null || fail "the archive has no source of $package for $suite"
}
