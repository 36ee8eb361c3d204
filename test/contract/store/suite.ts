/**
 * The RecordStore's contract: one suite that every implementation passes. A store is opened once for all of it, and each test
 * works on jobs, clusters and keys of its own, so the suite also runs against a table that others may share.
 */
import { afterAll, beforeAll, describe } from 'vitest';
import type { RecordStore } from '../../../lib/record/port.ts';
import { birthContract } from './birth.ts';
import { clusterLogContract } from './cluster-log.ts';
import { PAGE_ITEMS } from './given.ts';
import { headContract } from './head.ts';
import { jobsContract } from './jobs.ts';
import { leaseContract } from './lease.ts';
import { listContract } from './lists.ts';
import { logContract } from './log.ts';
import { noticesContract } from './notices.ts';
import { planContract } from './plan.ts';
import { slotsContract } from './slots.ts';
import { supervisionContract } from './supervision.ts';
import { wakeContract } from './wake.ts';

export interface Opened {
  readonly store: RecordStore;
  close(): Promise<void>;
}

/** `open` gives a store whose lists have pages of `pageItems` rows. */
export const storeContract = (name: string, open: (options: { readonly pageItems: number }) => Promise<Opened>): void => {
  describe(`record store: ${name}`, () => {
    let opened: Opened | undefined;
    beforeAll(async () => {
      opened = await open({ pageItems: PAGE_ITEMS });
    });
    afterAll(async () => {
      await opened?.close();
    });
    const store = (): RecordStore => {
      if (!opened) throw new Error('the store was not opened');
      return opened.store;
    };
    const contracts = [
      ...[logContract, birthContract, headContract, wakeContract, supervisionContract, listContract, leaseContract],
      ...[planContract, clusterLogContract, jobsContract, slotsContract, noticesContract],
    ];
    for (const contract of contracts) {
      contract(store);
    }
  });
};
