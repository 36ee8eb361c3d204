/**
 * Of one job's log: what was published, and where each attempt resumed. An epoch is attempt × 1,000,000 + run; publications are ordered
 * by (epoch, step). `from: scratch` begins a new branch, from which on earlier publications do not count.
 */
import type { Point, RawJob } from './items.ts';
import { finder, type Wrong } from './wrong.ts';

const EPOCHS = 1_000_000;
const attemptOf = ({ epoch }: { readonly epoch: number }): number => Math.floor(epoch / EPOCHS);
const isSame = (a: Point, b: Point): boolean => a.epoch === b.epoch && a.step === b.step && a.path === b.path;

export const judgePoints = ({ job, commits }: RawJob): Wrong[] => {
  const { found, say } = finder(job);
  const published = new Map<string, number>();
  const lateRuns = new Set<string>();
  const counted = new Map<number, number>();
  let planned = 0;
  /** The last point fixed by a plan, and what ended attempts published at or above it since. */
  let fixed: Point | undefined;
  let scratch = false;
  let listed: Point[] = [];
  for (const { version, actor, events } of commits) {
    const append = (says: string): void => say('publications are append-only', version, says);
    const below = (says: string): void => say('a resume point is never below', version, says);
    for (const event of events) {
      if (event.type === 'recovery_decided') scratch = event.action?.from === 'scratch';
      if (event.type === 'attempt_planned' && event.resume) {
        const { resume, n = 0 } = event;
        const again = n === planned;
        planned = n;
        if (again && fixed && !isSame(resume, fixed)) below(`attempt ${n} is planned again with another point`);
        if (again) continue;
        if (n === 1 && resume.step !== -1) below('attempt 1 resumes from something');
        if (scratch && (resume.step !== -1 || resume.path !== '')) below(`attempt ${n} is to start from scratch and resumes`);
        const best = Math.max(fixed?.step ?? -1, ...listed.map(({ step }) => step));
        if (!scratch && resume.step < best) below(`attempt ${n} resumes from step ${resume.step}, and ${best} was published`);
        if (resume.step >= 0 && (attemptOf(resume) < 1 || attemptOf(resume) >= n)) below(`attempt ${n} resumes from epoch ${resume.epoch}`);
        if (!scratch && fixed && resume.epoch < fixed.epoch && resume.step >= 0) below(`attempt ${n} resumes from an older epoch`);
        [fixed, scratch, listed] = [resume, false, []];
      }
      if (event.type === 'attempt_ended') {
        for (const { run, base, latest, publications } of event.runs ?? []) {
          const epoch = (event.n ?? 0) * EPOCHS + run;
          if (latest && latest.epoch !== epoch) append(`run ${event.n}-${run} lists a publication of epoch ${latest.epoch}`);
          if ((latest === undefined) !== (publications === 0)) append(`run ${event.n}-${run} lists ${publications} publications`);
          if (publications < (counted.get(epoch) ?? 0)) append(`run ${event.n}-${run} had ${counted.get(epoch)} publications before`);
          counted.set(epoch, publications);
          if (fixed && run === 0 && !isSame(base, fixed)) below(`run ${event.n}-0 began from step ${base.step}, not from ${fixed.step}`);
          if (latest && latest.step >= (fixed?.step ?? -1)) listed.push(latest);
        }
      }
      if (event.type === 'checkpoint_published') {
        const { epoch = 0, step = -1, path = '', late = false } = event;
        const key = `${epoch} ${step} ${path}`;
        if (!late && published.has(key)) append(`${key} is reported again`);
        if (late && lateRuns.has(String(epoch))) append(`epoch ${epoch} is noted as late again`);
        if (late) lateRuns.add(String(epoch));
        published.set(key, version);
        if (`attempt:${attemptOf({ epoch })}` !== actor) append(`${actor} reports epoch ${epoch}`);
        if (!late && attemptOf({ epoch }) !== planned) append(`epoch ${epoch} is reported as timely after attempt ${planned} was planned`);
      }
    }
  }
  return found;
};
