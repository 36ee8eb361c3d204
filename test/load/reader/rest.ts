/** Of the whole table when nothing happens any more: heads, births, labels, tokens, notices. */
import { count, type RawItem, type RawJob, type RawTable, text } from './items.ts';
import { ENDS } from './log.ts';
import { specOf } from './recovery.ts';
import { finder, type Wrong } from './wrong.ts';

/** What the reader was told of the outside. */
export interface Outside {
  /** Lines of the bus's log, as they lie there. */
  readonly notices: readonly string[];
  /** Rows of the table's indexes, as text. */
  readonly indexRows: readonly string[];
  /** Every secret that somebody was handed: none of them may show anywhere. */
  readonly secrets: readonly string[];
}

const ENDED = new Set(['succeeded', 'failed', 'cancelled']);

export const judgeHead = (raw: RawJob): Wrong[] => {
  const { found, say } = finder(raw.job);
  const { head, commits } = raw;
  const last = commits.at(-1);
  const end = commits.flatMap(({ events }) => events).find(({ type }) => type === 'job_ended');
  const [version, spec, first] = [last?.version ?? 0, specOf(raw), commits[0]?.events[0]];
  const wrong = (says: string): void => say('the head agrees with the log', version, says);
  const rest = (says: string): void => say('at rest nothing is owed', version, says);
  if (!head || !last) {
    say('a birth is whole', version, head ? 'a head without a log' : 'a log without a head');
    return found;
  }
  if (count(head, 'v') !== version) wrong(`the head is at ${count(head, 'v')}`);
  const said = { name: spec?.name, cluster: spec?.cluster, project: first?.project, principal: first?.principal };
  for (const [name, value] of Object.entries(said)) if (text(head, name) !== value) wrong(`${name} is ${text(head, name)}, not ${value}`);
  if (text(head, 'key') !== first?.idempotencyKey) wrong('it was born by another key');
  const state = text(head, 'state');
  if (end ? state !== end.outcome?.state : ENDED.has(state)) wrong(`the state is ${state}`);
  if (end && text(head, 'cause') !== end.outcome?.cause) wrong(`the cause is ${text(head, 'cause')}`);
  for (const index of ['unended', 'unendedIn'])
    if ((head[index] === undefined) !== (end !== undefined)) wrong(`it is in the index ${index}`);
  if (end && head['active']) wrong('it is polled for, and has ended');
  if (!end) rest('the job has not ended');
  if (count(head, 'notified') !== version || head['unsent'] || head['unsentKey'])
    rest(`notices after ${count(head, 'notified')} are unsent`);
  for (const item of [head, ...raw.others])
    if (text(item, 'wake') === 'owed' || item['owed'] || item['owedKey']) rest(`a wake is owed on ${text(item, 'sk')}`);
  return found;
};

/** A cluster's log is a log, too. */
export const judgeClusters = ({ clusters }: RawTable): Wrong[] =>
  clusters.flatMap(({ cluster, versions }) => {
    const { found, say } = finder(cluster);
    for (const [i, version] of versions.entries()) if (version !== i + 1) say('versions without a gap', version, `follows ${i}`);
    return found;
  });

/** Commit ids, keys, labels: what jobs share. */
export const judgeTable = ({ jobs, labels, keys }: RawTable): Wrong[] => {
  const ids = new Map<string, string>();
  const objects = new Map<string, string>();
  const there = new Set(labels.map(({ label, job }) => `${label} ${job}`));
  const keyed = new Map(keys.map((item) => [text(item, 'job'), item]));
  return jobs.flatMap((raw) => {
    const { found, say } = finder(raw.job);
    for (const { version, id, events } of raw.commits) {
      if (ids.has(id)) say('commit ids are unique', version, `${id} is also of ${ids.get(id)}`);
      ids.set(id, `${raw.job}:${version}`);
      for (const { type, receipt, n } of events) {
        if (type !== 'attempt_bound' || !receipt) continue;
        const object = `${receipt.cluster} ${receipt.schedulerId} ${receipt.identity}`;
        if (objects.has(object)) say('an attempt is bound once', version, `${object} is also of ${objects.get(object)}`);
        objects.set(object, `${raw.job}-${n}`);
      }
    }
    for (const [key, value] of Object.entries(specOf(raw)?.labels ?? {}))
      if (!there.delete(`${key}=${value} ${raw.job}`)) say('labels are there', 0, `${key}=${value} is missing`);
    const key = keyed.get(raw.job);
    if (!key) say('a birth is whole', 0, 'no key leads to it');
    else if (text(key, 'key') !== text(raw.head ?? {}, 'key')) say('a birth is whole', 0, 'another key leads to it');
    return found;
  });
};

/** A wake's token lies in `token` of a head or a question, an attempt's token nowhere: searched for everywhere else. */
export const judgeTokens = ({ items }: RawTable, { notices, indexRows, secrets }: Outside): Wrong[] => {
  const tokens = new Set([...secrets, ...items.map((item) => text(item, 'token'))].filter((one) => one !== ''));
  const searched = (item: RawItem): string => JSON.stringify({ ...item, token: undefined });
  const places: (readonly [string, string])[] = [
    ...items.map((item) => [`${text(item, 'pk')} ${text(item, 'sk')}`, searched(item)] as const),
    ...notices.map((line, i) => [`notice ${i + 1}`, line] as const),
    ...indexRows.map((row, i) => [`index row ${i + 1}`, row] as const),
  ];
  // Long texts by pieces between quotes and punctuation: a table of tokens is looked up instead of searched through.
  return places.flatMap(([where, said]) =>
    said
      .split(/[^A-Za-z0-9._-]+/)
      .filter((word) => tokens.has(word) || /^dispatch1\./.test(word))
      .map((): Wrong => ({ rule: 'no token outside its slot', where, says: 'a token stands there' })),
  );
};

const TOLD = new Map([
  ...[...ENDS].map((type) => [type, 'dispatch.attempt.ended'] as const),
  ['escalation_raised', 'dispatch.escalation.raised'],
  ['escalation_answered', 'dispatch.escalation.closed'],
  ['escalation_expired', 'dispatch.escalation.closed'],
  ['escalation_withdrawn', 'dispatch.escalation.closed'],
  ['checkpoint_published', 'dispatch.checkpoint.published'],
]);

export const judgeNotices = ({ jobs }: RawTable, { notices }: Outside): Wrong[] => {
  const told = new Set(
    notices.map((line) => {
      const { notice } = JSON.parse(line) as { readonly notice: { readonly id: string; readonly type: string; readonly to?: string } };
      return `${notice.id} ${notice.type} ${notice.to ?? ''}`.trim();
    }),
  );
  return jobs.flatMap(({ job, commits }) => {
    const { found, say } = finder(job);
    const need = (version: number, i: number, what: string): void => {
      if (!told.has(`${job}:${version}:${i} ${what}`)) say('everything is told', version, `${what} was not told`);
    };
    for (const { version, events } of commits) {
      if (version === 1) need(version, events.length, 'dispatch.job.state_changed pending');
      for (const [i, event] of events.entries()) {
        const type = TOLD.get(event.type);
        if (type) need(version, i, type);
        if (event.type === 'job_ended') need(version, events.length, `dispatch.job.state_changed ${event.outcome?.state}`);
      }
    }
    return found;
  });
};
