/**
 * Slot: the right to one connection to a cluster (protocols §5.8). A lease in the record, so that every process of every kind shares
 * it; a holder that dies loses it after 180 s. Guards C047: neither at once nor in an hour do connections grow with the number of jobs.
 */
import { RecordFailure } from '../../job/failure.ts';
import { TIMING } from '../../job/timing.ts';
import { SLOTS, type Slot } from '../../record/port.ts';
import { newCommitId } from '../commit.ts';
import type { Ports } from '../ports.ts';

/** What a connection is for. A poll's slot is its lease (lib/app/poll.ts). */
export type Purpose = 'poll' | 'work' | 'output' | 'preflight';

export interface Held {
  giveBack(): Promise<void>;
}
/** None was free: nothing was tried, and nothing is known of the cluster. */
export interface NoSlot {
  readonly says: string;
  /** Before this moment it is of no use to ask again. */
  readonly notBefore: number;
}

/** A connection lives for a second or two: whoever is awake may as well look again before it parks. */
const LOOKS = 3;
const BETWEEN_MS = 700;
const HOUR_MS = 3_600_000;
/** Of the lease's 180 s, so that what a connection needs is left. */
const LATE_MS = 60_000;

const NOTHING_HELD: Held = { giveBack: async () => undefined };

const slotsFor = (purpose: Purpose, alone: boolean): readonly Slot[] => {
  if (purpose === 'output') return SLOTS.output;
  // On a blocked cluster there is one connection in all, and it is a preflight's.
  return alone ? SLOTS.work.slice(0, 1) : SLOTS.work;
};

export const takeSlot = async (
  ports: Ports,
  at: { readonly cluster: string; readonly login: string },
  purpose: Purpose,
  alone: boolean,
): Promise<Held | NoSlot> => {
  if (purpose === 'poll') return NOTHING_HELD;
  const { cluster, login } = at;
  // A person's preflight is not refused because jobs have used up the hour.
  const spent = purpose !== 'preflight' && (await ports.store.readConnections(cluster, login, ports.now())) >= TIMING.connectionsPerHour;
  if (spent) {
    const says = `the ${TIMING.connectionsPerHour} connections of this hour to ${cluster} as ${login} are used up`;
    return { says, notBefore: (Math.floor(ports.now() / HOUR_MS) + 1) * HOUR_MS };
  }
  const owner = newCommitId(ports.random);
  for (let look = 1; ; look++) {
    const askedAt = ports.now();
    const taken = await ports.store.takeSlot(cluster, login, { slots: slotsFor(purpose, alone), owner, at: askedAt });
    if (taken.kind === 'taken') {
      const held: Held = { giveBack: () => giveBack(ports, at, taken.slot, owner) };
      // Answered so late that it may lapse while the connection lives: others count with it as free.
      if (ports.now() - askedAt < LATE_MS) return held;
      await held.giveBack();
    }
    if (look === LOOKS) return { says: `every connection slot of ${cluster} as ${login} is taken`, notBefore: 0 };
    await ports.sleep(Math.ceil(BETWEEN_MS * (0.5 + ports.random())));
  }
};

/** What was learnt over the connection counts, whether the slot could be given back or lapses by itself. */
const giveBack = async (
  ports: Ports,
  { cluster, login }: { readonly cluster: string; readonly login: string },
  slot: Slot,
  owner: string,
): Promise<void> => {
  try {
    const said = await ports.store.returnSlot(cluster, login, slot, owner);
    if (said === 'gone') ports.log('warn', 'a connection outlived its slot', { cluster, login, slot });
  } catch (error) {
    if (!(error instanceof RecordFailure)) throw error;
    ports.log('warn', 'a slot was not given back: it lapses', { cluster, login, slot });
  }
};
