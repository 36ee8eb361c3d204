/**
 * Apart: what goes through many jobs must come to the last one, whatever is wrong with another (protocols §5.5): a record that a newer
 * release has written, an event that our own check refuses. Such a failure is said, and stays that job's.
 */
import { ClusterFailure } from '../cluster/failure.ts';
import { RecordFailure } from '../job/failure.ts';
import type { Ports } from './ports.ts';

/** Undefined: it failed, and was logged. An outage of the record or of the connection is nobody's own: it travels on. */
export const apart = async <T>(ports: Pick<Ports, 'log'>, job: string, work: () => Promise<T>): Promise<T | undefined> => {
  try {
    return await work();
  } catch (error) {
    if (error instanceof ClusterFailure || (error instanceof RecordFailure && error.code === 'record/unavailable')) throw error;
    const says = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
    ports.log('error', 'one job was passed over', { job, error: says.slice(0, 1024) });
    return undefined;
  }
};
