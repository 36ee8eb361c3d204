/**
 * Read output: what a job's runs wrote, one run after the other while it is followed.
 * Guards: a run is read to its end before the next one, and each from its own beginning, so that a relaunch loses nothing of either.
 */
import { Said } from './client.ts';

type Body = Record<string, unknown>;

export interface OutputAsked {
  /** The last, unless told; followed, every one from there on. */
  readonly attempt?: number;
  readonly run?: number;
  readonly stream: string;
  readonly follow: boolean;
}

export interface OutputSource {
  /** How the job is. */
  readonly status: () => Promise<Body>;
  readonly piece: (attempt: number, query: { run: number | undefined; stream: string; offset: number; limit: number }) => Promise<Body>;
  readonly print: (piece: Body) => void;
  readonly sleep: (ms: number) => Promise<void>;
}

interface Place {
  readonly attempt: number;
  /** Undefined: the newest of its attempt, once there is one. */
  readonly run: number | undefined;
  readonly offset: number;
}
type Newest = { readonly n: number; readonly run: number } | undefined;

const FOLLOW_MS = 3_000;
const PIECE_BYTES = 256 * 1024;

export const readOutput = async ({ status, piece, print, sleep }: OutputSource, asked: OutputAsked): Promise<void> => {
  /** From a place to the end of what its run has written by now. */
  const drain = async (from: Place): Promise<Place> => {
    for (let at = from; ; ) {
      const query = { run: at.run, stream: asked.stream, offset: at.offset, limit: PIECE_BYTES };
      const body = await piece(at.attempt, query).catch((error: unknown) => {
        // A run may have written nothing, or not yet.
        if (asked.follow && error instanceof Said && error.code === 'output/none') return undefined;
        throw error;
      });
      if (!body) return at;
      print(body);
      const offset = Number(body['nextOffset']);
      const more = offset > at.offset && offset < Number(body['totalBytes']);
      at = { ...at, run: Number(body['run']), offset };
      if (!more) return at;
    }
  };
  let at: Place | undefined;
  for (;;) {
    const body = await status();
    const newest = body['attempt'] as Newest;
    at ??= { attempt: asked.attempt ?? newest?.n ?? 1, run: asked.run, offset: 0 };
    for (let next: Place | undefined = at; next; next = asked.follow ? after(at, asked, newest) : undefined) at = await drain(next);
    if (!asked.follow || body['outcome'] !== undefined) return;
    await sleep(FOLLOW_MS);
  }
};

/** Where what follows a run begins, if the record knows of anything. */
const after = ({ attempt, run }: Place, asked: OutputAsked, newest: Newest): Place | undefined => {
  if (newest && asked.attempt === undefined && attempt < newest.n) return { attempt: attempt + 1, run: asked.run, offset: 0 };
  const isLater = asked.run === undefined && run !== undefined && newest?.n === attempt && run < newest.run;
  return isLater ? { attempt, run: run + 1, offset: 0 } : undefined;
};
