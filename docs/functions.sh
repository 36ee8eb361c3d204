# What the pages' commands use beside curl: `. docs/functions.sh`. It needs Node, which npm brings.

# field PATH: a part of the JSON that it reads, e.g. `field id`, `field "items[0].says"`.
field() {
  node -p "const read = JSON.parse(fs.readFileSync(0, 'utf8')).$1; typeof read === 'object' ? JSON.stringify(read) : read"
}

# wait_for JOB STATE…: waits until the job is in one of these states, and says why it is. Between two looks it waits by a long poll,
# which ends as soon as something was committed, at the latest after 20 s; after 30 looks it gives up.
wait_for() {
  local job=$1 look version state why
  shift
  for look in $(seq 30); do
    read -r version state why < <(curl -s "localhost:8080/jobs/$job" |
      node -p 'const { version, state, why } = JSON.parse(fs.readFileSync(0, "utf8")); `${version} ${state} ${why}`')
    case " $* " in *" $state "*) echo "$why" && return 0 ;; esac
    curl -s "localhost:8080/jobs/$job/events?after=$version&wait=20" > /dev/null
  done
  echo "still $state: $why" >&2
  return 1
}
