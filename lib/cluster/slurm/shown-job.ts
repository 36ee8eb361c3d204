/**
 * One job as `scontrol -o show job ID` shows it: the cheapest look at a single object (one request, one record). Read only for what
 * cannot hold spaces: values such as a comment or a reason make the rest of the line unsplittable.
 */

export interface ShownJob {
  readonly id: string;
  readonly name: string;
  /** Seconds since 1970. */
  readonly submit: number;
}

export const readShownJob = (text: string): ShownJob | undefined => {
  // The beginning only: what follows may repeat these words in text that others chose.
  const first = /^JobId=(\d+) (?:ArrayJobId=\S+ ArrayTaskId=\S+ )?JobName=(\S+) /.exec(text);
  const submit = /\sSubmitTime=(\d+)\s/.exec(text);
  return first && submit ? { id: first[1]!, name: first[2]!, submit: Number(submit[1]) } : undefined;
};
