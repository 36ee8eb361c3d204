/**
 * Verbs: what each command of the command line does: calls of the API, and their answers as people read them. Everything that a server, a
 * cluster or a program said is made printable; with `json` the answer itself is printed, for other programs.
 */
import { type Commit, type Event, SCHEMA } from '../job/event.ts';
import { JOB_ID } from '../job/identity.ts';
import type { Plan } from '../job/plan-schema.ts';
import { planText } from '../job/plan-text.ts';
import { fold, type View } from '../job/view.ts';
import { restartSentence, why } from '../job/why.ts';
import { type Client, type Request, Said } from './client.ts';
import { persevere } from './persevere.ts';
import { printable, printableJson, printableLines } from './printable.ts';
import { type OutputAsked, readOutput } from './read-output.ts';
import { tell } from './tell.ts';

export interface VerbsOptions {
  readonly client: Client;
  readonly json: boolean;
  readonly out: (text: string) => void;
  readonly warn: (text: string) => void;
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
/** A page may be short, or empty, with more behind it: so many are asked for until there are enough rows. */
const MOST_PAGES = 50;
const CHECKPOINTS = 1000;
/** A submission without a key of its own gets one, so that it can be repeated when its answer is lost. */
const newKey = (random: () => number): string =>
  `cli-${Array.from({ length: 4 }, () => Math.floor(random() * 2 ** 24).toString(36)).join('')}`;
const of = (job: string): string => `/jobs/${encodeURIComponent(job)}`;
const text = (value: unknown): string => (value === undefined || value === null ? '' : printable(String(value)));
const items = (body: Body): readonly Body[] => (Array.isArray(body['items']) ? (body['items'] as Body[]) : []);

export const createVerbs = ({ client, json, out, warn, dim, readSpec, sleep, random }: VerbsOptions) => {
  const line = (words: string): void => out(`${words}\n`);
  const show = (body: Body, lines: (body: Body) => readonly string[]): void => {
    if (json) line(printableJson(body, 2));
    else for (const one of lines(body)) line(one);
  };
  /** A list up to so many rows; with a cursor where there are more. `limit`: of the route, if it takes one. */
  const list = async (path: string, query: Request['query'], limit?: number): Promise<Body> => {
    const rows: Body[] = [];
    let body: Body = {};
    for (let page = 0; page < MOST_PAGES && (page === 0 || body['nextCursor'] !== undefined); page++) {
      const left = limit === undefined ? {} : { limit: limit - rows.length };
      const cursor = body['nextCursor'] as string | undefined;
      body = await client.call('GET', path, { query: { ...query, ...left, cursor } });
      rows.push(...items(body));
      if (limit !== undefined && rows.length >= limit) break;
    }
    return { ...body, items: rows };
  };
  const rowsOf = (page: Body, cells: (row: Body) => readonly unknown[], more: string): string[] => [
    ...table(items(page).map(cells)),
    ...(page['nextCursor'] === undefined ? [] : [`there are more: ${more}`]),
  ];
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
    const again = persevere({ sleep, warn: (words) => warn(printableLines(words)) });
    let [after, view, first]: [number, View | undefined, number] = [0, undefined, 0];
    for (;;) {
      const query = { after, wait: WATCH_SECONDS };
      const body = await again(() => client.call('GET', `${of(job)}/events`, { query }));
      if (json) for (const item of items(body)) line(printableJson(item));
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
    if (view.ended?.outcome.state !== 'succeeded') throw new Said('job/not_succeeded', '', 200);
  };

  return {
    plan: async (file: string): Promise<void> => {
      const body = await client.call('POST', '/plans', { body: await readSpec(file) });
      show(body, (plan) => planText(plan as unknown as Plan).map(printable));
      if ((body['refusals'] as readonly unknown[]).length > 0) throw new Said('plan/refused', '', 200);
    },
    submit: async (
      file: string,
      { key = newKey(random), plan, watch: also }: { key?: string; plan?: string; watch: boolean },
    ): Promise<void> => {
      const more = { body: await readSpec(file), query: { plan }, headers: { 'idempotency-key': key } };
      const body = await client.call('POST', '/jobs', more).catch((error: unknown) => {
        if (error instanceof Said && error.isUntold)
          throw new Said(
            error.code,
            `${error.message}\nit may have been accepted all the same: repeat it with --key ${key}, and it is submitted once`,
            error.status,
          );
        throw error;
      });
      if (!also || !json) show(body, (job) => [text(job['id'])]);
      if (also) await watch(String(body['id']));
    },
    jobs: async ({ limit, ...query }: { state?: string; cluster?: string; limit: number }): Promise<void> => {
      const cells = (job: Body) => [job['id'], job['state'], job['cause'], job['cluster'], job['createdAt'], job['name']];
      show(await list('/jobs', query, limit), (page) => rowsOf(page, cells, 'give a larger --limit'));
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
    /** Those that jobs wait for first. */
    questions: async (): Promise<void> => {
      const [waited, aside] = [await list('/escalations', {}), await list('/escalations', { blocking: false })];
      const cells = (one: Body) => [
        one['job'] ?? one['cluster'],
        one['id'],
        (one['options'] as readonly string[]).join(','),
        one['expiresAt'],
        one['says'],
      ];
      show({ ...waited, ...aside, items: [...items(waited), ...items(aside)] }, (page) => rowsOf(page, cells, 'answer some first'));
    },
    /** Of a job, or of a cluster: as the list of questions names them. */
    answer: async (about: string, question: string, answer: string): Promise<void> => {
      const path = JOB_ID.test(about) ? of(about) : `/clusters/${encodeURIComponent(about)}`;
      const body = await client.call('POST', `${path}/escalations/${encodeURIComponent(question)}/answer`, { body: { answer } });
      show(body, (status) => [text(status['why'] ?? status['blocked'] ?? `${question} of ${about} was answered '${answer}'`)]);
    },
    output: async (job: string, asked: OutputAsked): Promise<void> => {
      const again = persevere({ sleep, warn: (words) => warn(printableLines(words)) });
      const ask = (path: string, query?: Request['query']): Promise<Body> => again(() => client.call('GET', path, query ? { query } : {}));
      await readOutput(
        {
          status: () => ask(of(job)),
          piece: (attempt, query) => ask(`${of(job)}/attempts/${attempt}/output`, query),
          print: (body) => (json ? line(printableJson(body)) : out(printableLines(String(body['text'])))),
          sleep,
        },
        asked,
      );
    },
    checkpoints: async (job: string, query: { refresh: boolean }): Promise<void> => {
      const cells = (one: Body) => [
        `step ${one['trainingStep']}`,
        `${one['attempt']}-${one['run']}`,
        one['standing'],
        one['latest'] === true ? 'latest' : '',
        one['path'],
      ];
      // One page: the next would be one of another listing.
      const page = await client.call('GET', `${of(job)}/checkpoints`, { query: { ...query, limit: CHECKPOINTS } });
      show(page, () => rowsOf(page, cells, `these are the ${CHECKPOINTS} greatest`));
    },
    collect: async (job: string, { keep, remove }: { keep: number; remove: boolean }): Promise<void> => {
      const body = await client.call('POST', `${of(job)}/checkpoints/collect`, { body: { keep, dry: !remove } });
      const stayed = items(body).filter((one) => one['failed'] !== undefined).length;
      show(body, (said) => [
        ...table(
          items(said).map((one) => [
            `step ${one['trainingStep']}`,
            `${one['attempt']}-${one['run']}`,
            one['path'],
            one['failed'] ?? (one['files'] === true ? '' : 'its announcement alone'),
          ]),
        ),
        `${items(said).length - stayed} ${remove ? 'removed' : 'would go'}, ${text(said['kept'])} stay${stayed > 0 ? `, ${stayed} could not be removed` : ''}${Number(said['left']) > 0 ? `, ${text(said['left'])} more: repeat it` : ''}${remove ? '' : '; --remove does it'}`,
      ]);
      if (stayed > 0) throw new Said('checkpoint/stayed', '', 200);
    },
  };
};

/** The commits that these events came from: those of one version were written at once. */
const commitsOf = (job: string, stored: readonly Body[]): readonly Commit[] =>
  [...Map.groupBy(stored, ({ version }) => Number(version))].map(([version, of]) => ({
    ...{ job, version, commitId: '', at: Date.parse(String(of[0]!['at'])), actor: String(of[0]!['actor']), schema: SCHEMA },
    events: of.map(({ event }) => event as Event),
  }));
