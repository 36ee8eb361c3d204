/**
 * Seeds that found a mistake in dispatch, and what it was. They are run for ever; a change of the simulator itself gives a seed another
 * meaning, so each was looked for again, with the mistake put back (the mutant of that name), whenever that happened.
 */
export interface Regression {
  readonly seed: number;
  readonly found: string;
}

export const REGRESSIONS: readonly Regression[] = [
  { seed: 221, found: 'P3.5: on Kubernetes a create whose answer was lost was said never to land, and landed (absent-create-believed)' },
  {
    seed: 34,
    found: 'contract §3: `ran: no` was said of a program that had begun unseen before its patience ended (cancel-says-never-ran)',
  },
  { seed: 6, found: 'P2.8: whoever waited for an answer was replaced every five minutes (asked-counts-as-silent)' },
  {
    seed: 573,
    found: 'P5.5: a preflight, and the poll that made it, ended at a job whose record a newer release wrote (one-record-ends-preflight)',
  },
  {
    seed: 5022920,
    found:
      'P1.3: two supervisors intended one cancel, and what the first had ended was told as a person’s doing; no mutant: one world in some 70,000',
  },
  {
    seed: 6012167,
    found:
      'P6.3: a stranger had put an ended attempt back, between two polls, and its run was lost with its node: a look showed that, and the next attempt did not wait; no mutant: one world in some 50,000',
  },
  {
    seed: 8052525,
    found:
      'P4.5: the next attempt got the id of the one before, whose run 1 was taken for a requeue that had landed, and the job waited for ever; no mutant: one world in some 80,000',
  },
  {
    seed: 8002499,
    found:
      'P6: a requeue had landed, a look from before it was believed, and it was told as refused; the next attempt ran beside it; no mutant: one world in some 50,000',
  },
  {
    seed: 9040777,
    found:
      'P6.3: the cluster’s clock jumped ahead, the mark seemed old, and a release did not wait for what had survived a lost node; no mutant: one world in some 50,000',
  },
];
