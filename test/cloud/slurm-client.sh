#!/bin/bash
# A client of the small Slurm: its name, its words, then what the controller says.
exec 3<> "/dev/tcp/127.0.0.1/$SMALL_SLURM_PORT" || { echo 'Unable to contact slurm controller (connect failure)' >&2; exit 1; }
{
  printf '%s\n' "${0##*/}"
  for word in "$@"; do printf '%s' "$word" | base64 -w0; echo; done
  echo .
} >&3
read -r code <&3
read -r out <&3
read -r err <&3
printf '%s' "$out" | base64 -d
printf '%s' "$err" | base64 -d >&2
exit "${code:-1}"
