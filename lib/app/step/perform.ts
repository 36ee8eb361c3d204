/** Perform: which step is carried out by which file. Deciding steps commit what the view already implies. */
import { never } from '../../job/assertion.ts';
import { expire } from '../../job/command.ts';
import { raise } from '../../job/question.ts';
import type { Step } from '../../job/step.ts';
import type { View } from '../../job/view.ts';
import type { Ports } from '../ports.ts';
import { cancel } from './cancel.ts';
import { discard } from './discard.ts';
import { finish } from './finish.ts';
import { release } from './release.ts';
import { requeue } from './requeue.ts';
import { settle } from './settle.ts';
import { submit } from './submit.ts';
import { commitIfNext, done, type Performed } from './work.ts';

export type Effect = Exclude<Step, { do: 'await' | 'done' }>;

export const perform = async (ports: Ports, view: View, step: Effect): Promise<Performed> => {
  switch (step.do) {
    case 'submit':
      return submit(ports, view, step.n);
    case 'settle':
      return settle(ports, view, step.n);
    case 'release':
      return release(ports, view, step.n);
    case 'cancel':
      return cancel(ports, view, step);
    case 'discard':
      return discard(ports, view, step.n);
    case 'requeue':
      return requeue(ports, view, step.n);
    case 'finish':
      return finish(ports, view, step.because);
    case 'decide': {
      const { by, action, delaySeconds } = step.verdict;
      return done(
        await commitIfNext(ports, view, step, (_, now) => [
          { type: 'recovery_decided', n: step.n, by, action, notBefore: now + delaySeconds * 1000 },
        ]),
      );
    }
    case 'escalate':
      return done(await commitIfNext(ports, view, step, (newest, now) => [raise(newest, step.question, now)]));
    case 'expire':
      return done(
        await commitIfNext(ports, view, step, (newest) => {
          const decided = expire(newest, step.question);
          return decided.kind === 'events' ? decided.events : [];
        }),
      );
    default:
      return never(step);
  }
};
