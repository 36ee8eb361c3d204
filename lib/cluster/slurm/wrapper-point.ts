/**
 * The part of the batch wrapper that tells what a run resumes from, and fixes it.
 *
 * Invariant guarded on the node (protocols §8.2): the point follows the points fixed before and what their runs published since, never the
 * greatest step alone; a listing that cannot be had is no empty one.
 */
export const WRAPPER_POINT = String.raw`# What awk needs to read a marker's path: base32, lower case, no padding.
d_decode='function decode(t,  i, j, k, v, b, d, c, out) {
  v = 0; b = 0; out = ""
  for (i = 1; i <= length(t); i++) {
    k = index("abcdefghijklmnopqrstuvwxyz234567", substr(t, i, 1)) - 1
    if (k < 0) return ""
    v = v * 32 + k; b += 5
    if (b >= 8) { b -= 8; d = 1; for (j = 0; j < b; j++) d = d * 2; c = int(v / d); v = v - c * d; if (c < 32 || c == 127) return ""; out = out sprintf("%c", c) }
  }
  return out
}'

# A bucket is listed as the program itself would do it: the credentials are its own.
d_list() {
  case $d_root in s3://*) ;; *) ls -1 "$d_root/pub"; return $? ;; esac
  (
    d_resume_path=
    d_environment
    d_user_environment "$d_cr" "$d_lf"
    [ -z "$d_secrets" ] || . "$d_secrets"
    exec /bin/sh "$d_control/bin/dispatch-publish" --list
  )
}

# The point this run resumes from: that of the plan for run 0; later the greatest among the last point fixed and what was
# published since by the runs it was fixed for, at or above its step. Prints "epoch step path32".
d_resolve() {
  d_point=$d_resume d_from=$((d_n * 1000000)) d_k=$((d_run - 1))
  while [ "$d_k" -ge 0 ]; do
    if [ -f "$d_control/bases/$d_n-$d_k" ]; then
      read -r d_point < "$d_control/bases/$d_n-$d_k"
      d_from=$((d_n * 1000000 + d_k))
      break
    fi
    d_k=$((d_k - 1))
  done
  if [ "$d_run" -eq 0 ]; then printf '%s\n' "$d_point"; return 0; fi
  d_names=$(d_list) || return 1
  printf '%s\n' "$d_names" | LC_ALL=C awk -v from="$(printf '%020d' "$d_from")" -v to="$(printf '%020d' "$d_epoch")" -v point="$d_point" "$d_decode"'
    BEGIN {
      split(point, p, " ")
      least = p[2] < 0 ? "" : sprintf("%20s", p[2]); gsub(/ /, "0", least)
      best = ""
    }
    /^[0-9]+-[0-9]+-[a-z2-7]+$/ && length($0) >= 43 && length($0) <= 250 && substr($0, 21, 1) == "-" && substr($0, 42, 1) == "-" {
      e = substr($0, 1, 20) ""; s = substr($0, 22, 20) ""; t = substr($0, 43); path = decode(t)
      if (path == "" || path ~ /(^|\/)\.?\.?(\/|$)/) next
      if (("" e) < ("" from) || ("" e) >= ("" to) || ("" s) < ("" least)) next
      if (best == "" || ("x" e s path) > ("x" best bpath)) { best = e s; bpath = path; be = e; bs = s; bt = t }
    }
    END {
      if (best == "") { print point; exit }
      sub(/^0+/, "", be); sub(/^0+/, "", bs)
      print (be == "" ? "0" : be), (bs == "" ? "0" : bs), bt
    }'
}

d_write_base() {
  d_point=$(d_resolve) || d_refuse 'checkpoint: the publications cannot be listed on this node'
  printf '%s\n' "$d_point" | LC_ALL=C grep -Eqx '[0-9]{1,15} (-1|[0-9]{1,15}) (-|[a-z2-7]+)' || d_refuse 'checkpoint: no resume point could be told'
  mkdir -p "$d_control/bases"
  printf '%s\n' "$d_point" > "$d_control/bases/.$d_n-$d_run" &&
    mv -f "$d_control/bases/.$d_n-$d_run" "$d_control/bases/$d_n-$d_run" ||
    d_refuse 'checkpoint: the base of this run cannot be written'
}
`;
