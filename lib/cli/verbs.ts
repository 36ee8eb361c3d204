/**
 * Verbs: what each command of the command line does: calls of the API, and their answers as people read them. Everything that a server, a
 * cluster or a program said is made printable; with `json` the answer itself is printed, for other programs.
 */
import { type Commit, type Event, SCHEMA } from '../job/event.ts';
import type { Plan } from '../job/plan-schema.ts';
import { planText } from '../job/plan-text.ts';
import { fold, type View } from '../job/view.ts';
import { restartSentence, why } from '../job/why.ts';
import { type Client, Said } from './client.ts';
import { printable, printableLines } from './printable.ts';
import { tell } from './tell.ts';

export interface VerbsOptions {
  readonly client: Client;
  readonly json: boolean;
  readonly out: (text: string) => void;
  readonly dim: (text: string) => string;
  /** The JSON of a spec: a file, or `-`. Throws Said. */
  readonly readSpec: (file: string) => Promise<unknown>;
  readonly sleep: (ms: number) => Promise<void>;
  /** [0, 1). */
  readonly random: () => number;
}

type Body = Record<string, unknown>;
export type Verbs = ReturnType<typeof createVerbs>;

const WATCH_SECONDS = 20;
const FOLLOW_MS = 3_000;
const PIECE_BYTES = 256 * 1024;
/** A submission without a key of its own gets one, so that it can be repeated when its answer is lost. */
const newKey = (random: () => number): string =>
  `cli-${Array.from({ length: 4 }, () => Math.floor(random() * 2 ** 24).toString(36)).join('')}`;
const of = (job: string): string => `/jobs/${encodeURIComponent(job)}`;
const text = (value: unknown): string => (value === undefined || value === null ? '' : printable(String(value)));
const items = (body: Body): readonly Body[] => (Array.isArray(body['items']) ? (body['items'] as Body[]) : []);

export const createVerbs = ({ client, json, out, dim, readSpec, sleep, random }: VerbsOptions) => {
  const line = (words: string): void => out(`${words}\n`);
  const show = (body: Body, lines: (body: Body) => readonly string[]): void => {
    if (json) line(JSON.stringify(body, null, 2));
    else for (const one of lines(body)) line(one);
  };
  const table = (rows: readonly (readonly unknown[])[]): string[] => {
    const plain = rows.map((row) => row.map(text));
    const widths = (plain[0] ?? []).map((_, i) => Math.max(...plain.map((row) => row[i]?.length ?? 0)));
    return plain.map((row) =>
      row
        .map((cell, i) => (i < row.length - 1 ? cell.padEnd(widths[i] ?? 0) : cell))
        .join('  ')
        .trimEnd(),
    );
  };

  const watch = async (job: string): Promise<void> => {
    let [after, view, first]: [number, View | undefined, number] = [0, undefined, 0];
    for (;;) {
      const body = await client.call('GET', `${of(job)}/events`, { query: { after, wait: WATCH_SECONDS } });
      if (json) for (const item of items(body)) line(JSON.stringify(item));
      for (const commit of commitsOf(job, items(body))) {
        view = fold([commit], view);
        first ||= commit.at;
        for (const event of view && !json ? commit.events : []) {
          const said = tell(event, view as View);
          if (said !== undefined) line(`${dim(`+${((commit.at - first) / 1000).toFixed(1).padStart(8)} s`)}  ${said}`);
        }
      }
      after = Number(body['next']);
      if (body['ended'] === true) break;
    }
    if (!view) return;
    if (!json) for (const words of ['', why(view), restartSentence(view)].filter((one, i) => i === 0 || one !== '')) line(printable(words));
    if (view.ended?.outcome.state !== 'succeeded') throw new Said('job/not_succeeded', '');
  };

  return {
    plan: async (file: string): Promise<void> => {
      const body = await client.call('POST', '/plans', { body: await readSpec(file) });
      show(body, (plan) => planText(plan as unknown as Plan));
      if ((body['refusals'] as readonly unknown[]).length > 0) throw new Said('plan/refused', '');
    },
    submit: async (
      file: string,
      { key = newKey(random), plan, watch: also }: { key?: string; plan?: string; watch: boolean },
    ): Promise<void> => {
      const more = { body: await readSpec(file), query: { plan }, headers: { 'idempotency-key': key } };
      const body = await client.call('POST', '/jobs', more).catch((error: unknown) => {
        if (error instanceof Said && error.code.startsWith('cli/'))
          throw new Said(
            error.code,
            `${error.message}\nit may have been accepted all the same: repeat it with --key ${key}, and it is submitted once`,
          );
        throw error;
      });
      if (!also || !json) show(body, (job) => [text(job['id'])]);
      if (also) await watch(String(body['id']));
    },
    jobs: async (query: { state?: string; cluster?: string; limit: number }): Promise<void> => {
      const body = await client.call('GET', '/jobs', { query });
      show(body, (page) =>
        table(items(page).map((job) => [job['id'], job['state'], job['cause'], job['cluster'], job['createdAt'], job['name']])),
      );
    },
    show: async (job: string): Promise<void> =>
      show(await client.call('GET', of(job)), (status) => {
        const question = status['question'] as Body | undefined;
        const options = question ? (question['options'] as readonly string[]).join(', ') : '';
        return [
          `${text(status['id'])}  ${text(status['name'])} on ${text(status['cluster'])}: ${text(status['state'])}`,
          text(status['why']),
          ...(status['attempts'] as readonly Body[]).map(
            (one) =>
              `attempt ${text(one['n'])}: ${text(one['outcome'] ?? 'goes on')}${one['decision'] === undefined ? '' : `; ${text(one['decision'])}`}`,
          ),
          ...(question ? [`question ${text(question['id'])}: ${text(question['says'])} (${text(options)})`] : []),
        ];
      }),
    watch,
    cancel: async (job: string, body: { reason?: string }): Promise<void> =>
      show(await client.call('POST', `${of(job)}/cancel`, { body }), (status) => [text(status['why'])]),
    questions: async (): Promise<void> => {
      const body = await client.call('GET', '/escalations');
      show(body, (page) =>
        table(
          items(page).map((one) => [
            one['job'] ?? one['cluster'],
            one['id'],
            (one['options'] as readonly string[]).join(','),
            one['expiresAt'],
            one['says'],
          ]),
        ),
      );
    },
    answer: async (job: string, question: string, answer: string): Promise<void> =>
      show(await client.call('POST', `${of(job)}/escalations/${encodeURIComponent(question)}/answer`, { body: { answer } }), (status) => [
        text(status['why']),
      ]),
    output: async (job: string, asked: { attempt?: number; run?: number; stream: string; follow: boolean }): Promise<void> => {
      let offset = 0;
      for (;;) {
        const status = await client.call('GET', of(job));
        const attempt = asked.attempt ?? Number((status['attempt'] as Body | undefined)?.['n'] ?? 1);
        const over = !asked.follow || status['outcome'] !== undefined;
        offset = await pieces(
          `${of(job)}/attempts/${attempt}/output`,
          { run: asked.run, stream: asked.stream },
          offset,
          asked.follow && !over,
        );
        if (over) return;
        await sleep(FOLLOW_MS);
      }
    },
    checkpoints: async (job: string, query: { refresh: boolean }): Promise<void> =>
      show(await client.call('GET', `${of(job)}/checkpoints`, { query }), (page) =>
        table(
          items(page).map((one) => [
            `step ${one['trainingStep']}`,
            `${one['attempt']}-${one['run']}`,
            one['standing'],
            one['latest'] === true ? 'latest' : '',
            one['path'],
          ]),
        ),
      ),
    collect: async (job: string, { keep, remove }: { keep: number; remove: boolean }): Promise<void> => {
      const body = await client.call('POST', `${of(job)}/checkpoints/collect`, { body: { keep, dry: !remove } });
      show(body, (said) => [
        ...table(
          items(said).map((one) => [
            `step ${one['trainingStep']}`,
            `${one['attempt']}-${one['run']}`,
            one['path'],
            one['failed'] ?? (one['files'] === true ? '' : 'its announcement alone'),
          ]),
        ),
        `${items(said).length} ${remove ? 'removed' : 'would go'}, ${text(said['kept'])} stay${Number(said['left']) > 0 ? `, ${text(said['left'])} more: repeat it` : ''}${remove ? '' : '; --remove does it'}`,
      ]);
      if (items(body).some((one) => one['failed'] !== undefined)) throw new Said('checkpoint/stayed', '');
    },
  };

  /** From an offset to the end of what there is; where it ended. `waits`: there may be nothing yet. */
  async function pieces(path: string, asked: { run: number | undefined; stream: string }, from: number, waits: boolean): Promise<number> {
    let offset = from;
    for (;;) {
      const query = { ...asked, offset, limit: PIECE_BYTES };
      const body = await client.call('GET', path, { query }).catch((error: unknown) => {
        if (waits && error instanceof Said && (error.code === 'output/none' || error.code === 'cluster/unreachable')) return undefined;
        throw error;
      });
      if (!body) return offset;
      if (json) line(JSON.stringify(body));
      else out(printableLines(String(body['text'])));
      const next = Number(body['nextOffset']);
      if (next <= offset || next >= Number(body['totalBytes'])) return next;
      offset = next;
    }
  }
};

/** The commits that these events came from: those of one version were written at once. */
const commitsOf = (job: string, stored: readonly Body[]): readonly Commit[] =>
  [...Map.groupBy(stored, ({ version }) => Number(version))].map(([version, of]) => ({
    ...{ job, version, commitId: '', at: Date.parse(String(of[0]!['at'])), actor: String(of[0]!['actor']), schema: SCHEMA },
    events: of.map(({ event }) => event as Event),
  }));
