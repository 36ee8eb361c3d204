/**
 * The head as an item, and back: a pure pair. One attribute per field, so that each update touches only what it means.
 * The token keeps lying in `token` after it is gone (`wake` says whether it is parked or owed): a repeated Park must find it (P2.2).
 */
import { headKey, type ItemKey, jobOfPk, PRESENT, slotOfSk } from '../keys.ts';
import { orderOf } from '../order.ts';
import type { Head, Summary, Wake } from '../port.ts';
import { count, type Item, optional, text, type Value } from './item.ts';

/** What an update removes when a token is gone; `token` and `order` stay. */
export const WAKE_ATTRIBUTES = ['wake', 'wv', 'until', 'owedSince', 'owed', 'owedKey'] as const;

/**
 * What an update sets and removes for a summary. The keys of the indexes are sparse (the text '' is no key), and hold what
 * the summary's fields hold, so an index can never disagree with its head.
 */
export const summaryChange = (summary: Summary): { set: Item; remove: readonly string[] } => {
  const keys: Readonly<Record<string, string>> = {
    active: summary.active,
    state: summary.state,
    project: summary.project,
    cluster: summary.cluster,
    unended: summary.ended ? '' : PRESENT,
    unendedIn: summary.ended ? '' : summary.project,
    asked: summary.asked ? PRESENT : '',
  };
  const { watchline: w, name, login, cause, updatedAt } = summary;
  const set: Record<string, Value> = { w, name, login, cause, updatedAt };
  for (const [name, value] of Object.entries(keys)) if (value !== '') set[name] = value;
  return { set, remove: Object.keys(keys).filter((name) => keys[name] === '') };
};

export const newHeadItem = (head: Head): ItemKey & Item => ({
  ...headKey(head.job),
  v: head.version,
  bornAt: head.bornAt,
  triedAt: head.triedAt,
  principal: head.principal,
  key: head.key,
  hash: head.payloadHash,
  gen: head.supervisor.generation,
  machine: head.supervisor.machine,
  failures: head.supervisor.failures,
  seenAt: head.supervisor.seenAt,
  takenAt: head.supervisor.takenAt,
  tries: 0,
  notified: head.notified,
  listed: PRESENT,
  ...summaryChange(head.summary).set,
});

/** The token in the item of a head or a question; undefined when none is parked or owed. */
export const wakeOf = (item: Item): Wake | undefined => {
  if (item['wake'] !== 'parked' && item['wake'] !== 'owed') return undefined;
  return {
    token: text(item, 'token'),
    state: item['wake'],
    order: orderOf(text(item, 'order')),
    version: count(item, 'wv'),
    until: count(item, 'until'),
    question: slotOfSk(text(item, 'sk')),
    ...(item['owedSince'] !== undefined && { owedSince: count(item, 'owedSince') }),
  };
};

export const summaryOf = (item: Item): Summary => ({
  active: optional(item, 'active'),
  state: optional(item, 'state'),
  watchline: text(item, 'w'),
  name: text(item, 'name'),
  project: optional(item, 'project'),
  ended: item['unended'] === undefined,
  cluster: optional(item, 'cluster'),
  login: text(item, 'login'),
  asked: item['asked'] !== undefined,
  cause: text(item, 'cause'),
  updatedAt: count(item, 'updatedAt'),
});

export const headOf = (item: Item): Head => {
  const wake = wakeOf(item);
  const version = count(item, 'v');
  return {
    job: jobOfPk(text(item, 'pk')),
    version,
    bornAt: count(item, 'bornAt'),
    triedAt: count(item, 'triedAt'),
    principal: text(item, 'principal'),
    key: text(item, 'key'),
    payloadHash: text(item, 'hash'),
    summary: summaryOf(item),
    supervisor: {
      generation: count(item, 'gen'),
      machine: count(item, 'machine'),
      failures: count(item, 'failures'),
      seenAt: count(item, 'seenAt'),
      takenAt: count(item, 'takenAt'),
    },
    ...(wake && { wake }),
    ...(item['order'] !== undefined && { lastOrder: orderOf(text(item, 'order')) }),
    // Every move sets the count to zero, so it is always of the version that is there.
    tries: { version, count: count(item, 'tries') },
    notified: count(item, 'notified'),
  };
};
