/**
 * Look-up by identity: every object of one job that the cluster knows, whichever attempt it belongs to. One squeue, compared by
 * name here, and one sacct by name where there is accounting; the clock is read in the same program.
 *
 * Invariant guarded (protocols §3.6): `absent` only when every source answered, completely; anything less is `unreachable`. What was
 * found stands, whatever other source failed.
 */
import { outcomeOf } from '../../job/cause.ts';
import type { LiveState } from '../../job/event.ts';
import { identityOf, parseIdentity } from '../../job/identity.ts';
import type { FindAnswer, FoundObject } from '../port.ts';
import { cut } from './cut.ts';
import { liveState, UNKNOWN } from './live.ts';
import type { Root } from './paths.ts';
import { controlOf } from './paths.ts';
import { ASK_CLOCK, type Asked, clockOf, shell } from './remote.ts';
import { type AccountingRow, parseSacct, SACCT_BY_NAME } from './sacct.ts';
import { type ControllerRow, parseSqueue, squeueArguments } from './squeue.ts';
import { quote } from './transport/quote.ts';
import { stateWord } from './words.ts';

/** Names beyond the last attempt that left a trace of being sent: one may be on its way. */
const NAMES_AHEAD = 2;
/** A longer list would come near the limit of one argument; whatever lies further back was settled long ago. */
const MOST_NAMES = 1000;

/**
 * Which names and how wide a window accounting is asked for is told by `sent/`, where every submission writes before it is sent:
 * sites refuse windows that are too wide, and a thousand names would be a slow query.
 */
export const findProgram = (at: Root, job: string, bornAt: number): string => `${ASK_CLOCK}ask squeue slurm 30 ${shell(squeueArguments())}
now=$(date +%s)
last=0 until=$((now + 86400)) since=${Math.floor(bornAt / 1000) - 3600}
for f in ${quote(controlOf(at, job))}/sent/*; do
  k=\${f##*/}
  case $k in '' | *[!0-9]*) continue ;; esac
  [ "$k" -le "$last" ] || last=$k
  read -r u < "$f" || continue
  case $u in '' | *[!0-9]*) continue ;; esac
  [ "$u" -le "$until" ] || until=$u
done
names= last=$((last + ${NAMES_AHEAD})) k=1
[ "$last" -le ${MOST_NAMES} ] || k=$((last - ${MOST_NAMES} + 1))
while [ "$k" -le "$last" ]; do
  names="$names,${identityOf(at.tag, job, 1).replace(/1$/, '')}$k"
  k=$((k + 1))
done
names=\${names#,}
ask sacct slurm 60 ${SACCT_BY_NAME}
`;

export interface FindFacts {
  readonly cluster: string;
  readonly login: string;
  readonly tag: string;
  readonly job: string;
  readonly observedAt: number;
}

export const readFind = (asked: Asked, facts: FindFacts): FindAnswer => {
  if (asked.kind === 'unreachable') return { kind: 'unreachable', says: asked.says };
  const { answers } = asked;
  const clusterNow = clockOf(answers);
  const queue = answers.get('squeue');
  if (clusterNow === undefined || !queue) return { kind: 'unreachable', says: 'the look-up ended early' };
  if (queue.exitCode !== 0) return { kind: 'unreachable', says: `squeue: ${queue.stderr.trim().slice(-512)}` };
  const look = parseSqueue(queue.stdout);
  if (look.truncated) return { kind: 'unreachable', says: 'squeue: the answer is cut' };
  const objects = look.rows.map((row) => ofController(row, facts, clusterNow)).filter((object) => object !== undefined);
  const accounting = parseSacct(answers.get('sacct') ?? { exitCode: 1, stdout: '', stderr: 'sacct was not asked' });
  if (accounting.kind === 'rows') objects.push(...ofAccounting(accounting.rows, objects, facts, clusterNow));
  // A row that cannot be read might be the one that is looked for, if its name is anywhere in it.
  const unread = look.odd.filter((line) => line.includes(facts.job));
  const odd = unread.length + (accounting.kind === 'rows' ? accounting.odd : 0);
  const complete = accounting.kind !== 'failed' && odd === 0;
  if (objects.length > 0) {
    objects.sort((a, b) => Number(a.receipt.schedulerId) - Number(b.receipt.schedulerId));
    return { kind: 'found', clusterNow, complete, objects };
  }
  if (complete) return { kind: 'absent', clusterNow };
  const says = accounting.kind === 'failed' ? accounting.says : `${odd} rows could not be read: ${unread[0] ?? ''}`;
  return { kind: 'unreachable', says: cut(says, 512) };
};

const attemptOf = (name: string, facts: FindFacts): number | undefined => {
  const identity = parseIdentity(name);
  return identity && identity.tag === facts.tag && identity.job === facts.job ? identity.n : undefined;
};

const objectOf = (id: string, name: string, submit: number, facts: FindFacts): Pick<FoundObject, 'receipt'> => ({
  receipt: { cluster: facts.cluster, login: facts.login, schedulerId: id, identity: name, submittedAt: submit * 1000 },
});

const ofController = (row: ControllerRow, facts: FindFacts, now: number): FoundObject | undefined => {
  const n = attemptOf(row.name, facts);
  if (n === undefined) return undefined;
  const object = { n, run: row.run, ...objectOf(row.id, row.name, row.submit, facts) };
  const refused = row.state === 'FAILED' && row.reason === 'BadConstraints';
  return { ...object, state: stateOf(row, now), ...(refused ? { refused: refusal(row.state, row.reason, facts) } : {}) };
};

/** The coarse state of a row that nothing is known about beforehand. A word we do not know is alive until it is gone. */
export const stateOf = (row: ControllerRow, now: number): LiveState | 'ended' => {
  const word = stateWord(row.state);
  if (word.kind === 'terminal') return 'ended';
  const phase = word.kind === 'live' ? word.phase : 'running';
  return liveState(phase, row.reason, row.run, row.eligible, now / 1000, UNKNOWN.seen).state;
};

/** After this much of absence from a controller that answered, a row that is not closed is the database's mistake, not a job. */
const UNCLOSED_SECONDS = 300;

const ofAccounting = (rows: readonly AccountingRow[], known: readonly FoundObject[], facts: FindFacts, now: number): FoundObject[] => {
  const byId = Map.groupBy(
    rows.filter((row) => !known.some((object) => object.receipt.schedulerId === row.id)),
    (row) => row.id,
  );
  return [...byId.values()].flatMap((runs) => {
    const sorted = [...runs].sort((a, b) => a.submit - b.submit || (a.index < b.index ? -1 : 1));
    const [first, last] = [sorted[0]!, sorted.at(-1)!];
    const n = attemptOf(last.name, facts);
    if (n === undefined) return [];
    const isOpen = stateWord(last.state).kind === 'live' && now / 1000 - last.submit < UNCLOSED_SECONDS;
    const wasRefused = last.state === 'FAILED' && last.nodes === '' && last.start === last.submit && last.end === last.submit;
    return [
      {
        n,
        run: sorted.length - 1,
        state: isOpen ? ('queued' as const) : ('ended' as const),
        ...objectOf(last.id, last.name, first.submit, facts),
        ...(wasRefused ? { refused: refusal(last.state, 'refused at submission', facts) } : {}),
      },
    ];
  });
};

const refusal = (state: string, reason: string, { observedAt }: FindFacts): NonNullable<FoundObject['refused']> =>
  outcomeOf('rejected', { observedAt, ran: 'no', detail: { by: 'slurm', reason }, evidence: [{ source: 'slurm', state, reason }] });

/** When a job was submitted to dispatch, as its id tells: nothing of it can be older. */
export const bornAt = (job: string): number => [...job.slice(0, 9)].reduce((ms, char) => ms * 32 + CROCKFORD.indexOf(char), 0);
const CROCKFORD = '0123456789abcdefghjkmnpqrstvwxyz';
