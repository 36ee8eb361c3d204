/** Wrong: what a rule finds, by the rule's name, so that a table of corrupted records can say which rule must catch which. */
export const RULES = [
  'versions without a gap',
  'commit ids are unique',
  'time does not go back',
  'a birth is whole',
  'attempts are consecutive',
  'an attempt is bound once',
  'release only after bound',
  'nothing new after a cancel',
  'nothing after the end',
  'each relaunch is explained',
  'within the limits',
  'a question is asked once and closed once',
  'one blocking question at a time',
  'an end is explained',
  'publications are append-only',
  'a resume point is never below',
  'the head agrees with the log',
  'labels are there',
  'no token outside its slot',
  'at rest nothing is owed',
  'everything is told',
] as const;
export type RuleName = (typeof RULES)[number];

export interface Wrong {
  readonly rule: RuleName;
  readonly where: string;
  readonly says: string;
}

/** Collects what is wrong of one job. */
export const finder = (job: string) => {
  const found: Wrong[] = [];
  return {
    found,
    say: (rule: RuleName, version: number, says: string): void => void found.push({ rule, where: `${job}:${version}`, says }),
  };
};
