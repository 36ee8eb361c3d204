/**
 * Probes: the probe that planning and submitting count with, from the cluster's record (lib/app/cluster/preflight.ts). A function of the
 * ports, which it is one of.
 */
import { recordedProbe } from './cluster/preflight.ts';
import type { Ports } from './ports.ts';

export const probes =
  (ports: () => Ports): Ports['probeOf'] =>
  (cluster, login) =>
    recordedProbe(ports(), cluster, login);
