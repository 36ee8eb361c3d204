/** Of one job's log: its questions. */
import type { RawEvent, RawJob } from './items.ts';
import { finder, type Wrong } from './wrong.ts';

const CLOSES = new Set(['escalation_answered', 'escalation_expired', 'escalation_withdrawn']);

export const judgeQuestions = ({ job, commits }: RawJob): Wrong[] => {
  const { found, say } = finder(job);
  const keys = new Set<string>();
  const ids = new Set<string>();
  const open = new Map<string, RawEvent>();
  for (const { version, at, events } of commits) {
    const once = (says: string): void => say('a question is asked once and closed once', version, says);
    for (const event of events) {
      const { type, id = '', options = [] } = event;
      if (type === 'escalation_raised') {
        const key = `${event.kind} ${event.n} ${event.episode}`;
        if (keys.has(key) || ids.has(id)) once(`asks ${key} again`);
        if (!options.includes(event.onExpiry ?? '')) once(`${id} expires into ${event.onExpiry}, which is no option`);
        const other = [...open.values()].find(({ blocks }) => blocks);
        if (event.blocks && other) say('one blocking question at a time', version, `${id} beside ${other.id}`);
        keys.add(key);
        ids.add(id);
        open.set(id, event);
      }
      if (CLOSES.has(type)) {
        const asked = open.get(id);
        if (!asked) once(`${type} of ${id}, which is not open`);
        if (type === 'escalation_answered' && asked && !asked.options?.includes(event.answer ?? ''))
          once(`${event.answer} is no answer to ${id}`);
        if (type === 'escalation_expired' && asked && (at < (asked.expiresAt ?? 0) || event.answer !== asked.onExpiry))
          once(`${id} expires at ${at} into ${event.answer}`);
        open.delete(id);
      }
      if (type === 'job_ended' && open.size > 0) once(`the job ends with ${[...open.keys()].join(', ')} open`);
    }
  }
  return found;
};
