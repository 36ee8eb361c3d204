/**
 * People: what others do to the jobs while these run, over HTTP and by task token: they answer (once, twice at the same time, with what
 * is no option), cancel at any moment, read, and programs report what they saved, in time and too late.
 */
import { SendTaskSuccessCommand, SFNClient } from '@aws-sdk/client-sfn';
import type { Wanted } from './jobs.ts';
import type { Local } from './system.ts';

export interface Said {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}

/** Real, for a machine that does other things as well: only what hangs gets here. */
const PATIENCE_MS = 100_000;

export interface People {
  /** All at once; each repeated under its key until somebody says yes or no. Gives the jobs' ids, in order. */
  submitAll(wanted: readonly Wanted[]): Promise<readonly string[]>;
  /** From now on, until `rest`. */
  begin(jobs: ReadonlyMap<string, Wanted>): void;
  rest(): Promise<void>;
  /** Every secret that anybody was handed. */
  readonly secrets: ReadonlySet<string>;
  /** How often each thing was done, and how it was answered. */
  readonly deeds: ReadonlyMap<string, number>;
  /** Answers that no request here deserves. */
  readonly unexpected: readonly string[];
}

interface Asked {
  readonly job: string;
  readonly id: string;
  readonly kind: string;
  readonly options: readonly string[];
}

export const peopleOf = (local: Local, draw: () => number): People => {
  const { clock, pace, url, tokenOf } = local;
  const client = new SFNClient({ endpoint: local.sfnUrl, region: 'us-east-1', credentials: { accessKeyId: 'a', secretAccessKey: 'b' } });
  const [secrets, deeds, unexpected] = [new Set<string>(), new Map<string, number>(), [] as string[]];
  const answered = new Set<string>();
  const under = new Set<Promise<void>>();
  let resting = false;

  const ask = async (method: string, path: string, body?: unknown, headers: Record<string, string> = {}): Promise<Said> => {
    const response = await fetch(`${url}${path}`, {
      method,
      headers: { ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(PATIENCE_MS),
    });
    const said = { status: response.status, body: (await response.json()) as Said['body'] };
    if (said.status >= 500 && said.status !== 503) unexpected.push(`${method} ${path}: ${JSON.stringify(said)}`);
    return said;
  };
  const asked = (method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Said> =>
    pace.request(ask(method, path, body, headers));
  const did = (what: string, { status }: { readonly status: number | string }): void => {
    deeds.set(`${what}: ${status}`, (deeds.get(`${what}: ${status}`) ?? 0) + 1);
  };

  const submit = async ({ spec, key }: Wanted): Promise<string> => {
    for (let i = 0; i < 10; i++) {
      const said = await asked('POST', '/jobs', spec, { 'idempotency-key': key });
      did('submit', said);
      if (said.status === 202) return String(said.body['id']);
      if (said.status !== 503) throw new Error(JSON.stringify(said));
    }
    throw new Error(`${key} was never accepted`);
  };

  const byToken = async ({ job, id }: Asked, answer: string): Promise<void> => {
    const said = await asked('GET', `/jobs/${job}/escalations/${id}/token`);
    did('read a token', said);
    const token = said.body['token'];
    if (typeof token !== 'string') return;
    secrets.add(token);
    const sent = client.send(new SendTaskSuccessCommand({ taskToken: token, output: JSON.stringify({ answer }) })).then(
      () => 'sent',
      (error: Error) => error.name,
    );
    did('answer by token', { status: await pace.request(sent) });
  };
  const byApi = async ({ job, id }: Asked, answer: string): Promise<void> =>
    did('answer', await asked('POST', `/jobs/${job}/escalations/${id}/answer`, { answer }));

  const answer = async (one: Asked, kind: string): Promise<void> => {
    if (kind === 'asks and expires') return;
    answered.add(one.id + one.job);
    const options = one.options.filter((option) => option !== 'wait');
    const chosen = ['vanishes', 'beyond the limit'].includes(kind) ? 'relaunch' : options[Math.floor(draw() * options.length)]!;
    const how = draw();
    if (how < 0.15) await Promise.all([byToken(one, 'no such thing'), byApi(one, 'no_such_thing')]);
    if (how < 0.3) await byToken(one, chosen);
    else if (how < 0.6) await Promise.all([byApi(one, chosen), byApi(one, 'stop'), byToken(one, chosen)]);
    else await byApi(one, chosen);
    // A question that is still open, since the token was not there yet, is met again in the next round.
    if (how < 0.3) answered.delete(one.id + one.job);
  };

  const answerAll = async (jobs: ReadonlyMap<string, Wanted>): Promise<void> => {
    for (let cursor: unknown = ''; typeof cursor === 'string'; ) {
      const said = await asked('GET', `/escalations${cursor && `?cursor=${encodeURIComponent(cursor)}`}`);
      did('list questions', said);
      const items = (said.body['items'] ?? []) as readonly Asked[];
      for (const one of items) if (!answered.has(one.id + one.job)) await answer(one, jobs.get(one.job)?.kind ?? '');
      cursor = said.body['nextCursor'];
    }
  };

  /** What a run of this attempt would report, had its program the token. */
  const report = async (job: string): Promise<void> => {
    const status = await asked('GET', `/jobs/${job}`);
    const attempt = status.body['attempt'] as { readonly n: number; readonly run: number } | undefined;
    if (!attempt) return;
    for (const n of new Set([attempt.n, Math.max(1, attempt.n - 1)])) {
      const token = tokenOf(job, n);
      secrets.add(token);
      const run = n === attempt.n ? attempt.run : 0;
      const step = 1000 + Math.floor(draw() * 3);
      const body = { epoch: n * 1_000_000 + run, step, path: `exec/${n}-${run}/step-${step}`, size: 4096 };
      did('report', await asked('POST', `/jobs/${job}/checkpoints`, body, { authorization: `Bearer ${token}` }));
    }
  };

  const every = (seconds: number, work: () => Promise<void>): void => {
    clock.after(seconds * 1000, () => {
      if (resting) return;
      const doing = work().catch((error: unknown) => void unexpected.push(String(error)));
      const done = doing.finally(() => under.delete(done));
      under.add(done);
      void done.then(() => every(seconds, work));
    });
  };
  const at = (seconds: number, work: () => Promise<void>): void => {
    clock.after(Math.round(seconds * 1000), () => {
      const done = work()
        .catch((error: unknown) => void unexpected.push(String(error)))
        .finally(() => under.delete(done));
      under.add(done);
    });
  };

  return {
    ...{ secrets, deeds, unexpected },
    submitAll: (wanted) => Promise.all(wanted.map(submit)),
    begin: (jobs) => {
      every(20, () => answerAll(jobs));
      for (const [job, { kind }] of jobs) {
        if (kind === 'cancelled') {
          const moment = draw() * 150;
          const cancel = async (): Promise<void> => did('cancel', await asked('POST', `/jobs/${job}/cancel`, { reason: 'enough' }));
          at(moment, cancel);
          at(moment + draw() * 10, cancel);
        }
        if (kind === 'preempted' || kind === 'survivor') for (let i = 0; i < 3; i++) at(20 + draw() * 120, () => report(job));
      }
    },
    rest: async () => {
      resting = true;
      await Promise.all(under);
      client.destroy();
    },
  };
};
