/**
 * Containers under Slurm: which words run a program inside an image, by the runtime that the probe found (Pyxis or Apptainer).
 * The wrapper itself always runs outside: marks, claims and results are not the image's business.
 */
import type { Probe } from '../../job/capability.ts';

export type Runtime = 'pyxis' | 'apptainer' | 'singularity';

/** The probe's evidence begins with the runtime's name. */
export const runtimeOf = (probe: Probe): Runtime | undefined => {
  const { support, evidence } = probe.capabilities.containers;
  if (support === 'no' || support === 'unknown') return undefined;
  return (['pyxis', 'apptainer', 'singularity'] as const).find((name) => evidence.startsWith(name));
};

/** `mounts`: folders that must be visible inside under their own names. */
export const containerWords = (
  image: string | undefined,
  probe: Probe,
  mounts: readonly string[],
  isCommand: boolean,
): { readonly within: readonly string[]; readonly srunOptions: readonly string[] } => {
  const runtime = image === undefined ? undefined : runtimeOf(probe);
  if (image === undefined || runtime === undefined) return { within: [], srunOptions: [] };
  if (runtime !== 'pyxis') {
    const binds = mounts.flatMap((mount) => ['--bind', mount]);
    return { within: [runtime, 'exec', ...binds, image], srunOptions: [] };
  }
  const options = [`--container-image=${image}`, `--container-mounts=${mounts.map((mount) => `${mount}:${mount}`).join(',')}`];
  // A script runs once, on the first node; inside the image it has no srun of its own.
  return isCommand ? { within: [], srunOptions: options } : { within: ['srun', '--nodes=1', '--ntasks=1', ...options], srunOptions: [] };
};
