/** Mutants: dispatch with one rule taken away, at a port, never in production code. Each must be caught. */
import type { Ports } from '../../lib/app/ports.ts';
import type { World as Cluster } from '../../lib/cluster/memory/world.ts';
import type { Adapter } from '../../lib/cluster/port.ts';
import type { MemoryStore } from '../../lib/record/memory-store.ts';
import type { RecordStore } from '../../lib/record/port.ts';

export interface Mutant {
  readonly name: string;
  /** The rule that is missing. */
  readonly without: string;
  readonly store?: (store: MemoryStore) => RecordStore;
  readonly adapter?: (adapter: Adapter, cluster: Cluster) => Adapter;
  readonly ports?: (ports: Ports) => Ports;
}

export const MUTANTS: readonly Mutant[] = [];
