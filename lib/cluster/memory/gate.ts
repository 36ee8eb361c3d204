/**
 * Which gate the memory cluster uses, and what a submission to it looks like (contract §6). Pure.
 * As on Slurm, a deadline cannot be combined with a later requeue: such objects are held instead and do not destroy themselves.
 */

import type { Gate } from '../../job/event.ts';
import { formatDuration } from '../../job/quantity.ts';
import type { Spec } from '../../job/spec.ts';
import type { Rendering, RenderOptions } from '../port.ts';
import { attemptScriptOf } from './script.ts';
import type { Settings, Shape } from './state.ts';

export const gateOf = (shape: Shape, options: RenderOptions, clusterNow: number): Gate => {
  if (shape === 'kubernetes') return { mechanism: 'suspend', selfDestructs: false };
  if (options.requeue !== 'never') return { mechanism: 'hold', selfDestructs: false };
  return { mechanism: 'begin', selfDestructs: true, clusterExpiresAt: clusterNow + options.patienceSeconds * 1000 };
};

const SAYS = {
  begin: 'a begin time past its deadline: it starts when released and destroys itself when that never happens',
  hold: 'held until released; it does not destroy itself, so dispatch discards it',
  suspend: 'created suspended; it does not destroy itself, so dispatch discards it',
} as const;

export const renderingOf = (settings: Settings, spec: Spec, options: RenderOptions): Rendering => {
  const { mechanism, selfDestructs } = gateOf(settings.shape, options, 0) as Gate & { mechanism: keyof typeof SAYS };
  const { resources, program } = spec;
  const lines = [
    `memory cluster (${settings.shape})`,
    'name      {identity}',
    `gate      ${mechanism}${mechanism === 'begin' ? ' until {begin}, deadline {deadline}' : ''}`,
    ...(settings.shape === 'slurm' ? ['bound     not sent after {bound}', `requeue   ${options.requeue}`] : []),
    `nodes     ${resources.nodes} × ${resources.tasksPerNode} tasks, ${resources.gpusPerNode} GPUs`,
    `limit     ${formatDuration(spec.timeLimitSeconds)}`,
    `program   ${program.command ? JSON.stringify(program.command) : (program.script ?? '')}`,
    'epoch     {epoch}',
  ];
  const script = attemptScriptOf(settings.script, spec, 1);
  const tooLong = settings.maxSeconds !== undefined && spec.timeLimitSeconds > settings.maxSeconds;
  return {
    text: `${lines.join('\n')}\n`,
    gate: { mechanism, selfDestructs, says: SAYS[mechanism] },
    enforces: { timeLimit: 'the memory cluster ends the program at its limit', oneTaskFails: 'a scripted program ends as a whole' },
    warnings: [{ path: 'cluster', says: 'a memory cluster runs no program: it plays a script' }],
    refusals: [
      ...('fault' in script ? [{ path: 'extensions.memory.script', says: script.fault }] : []),
      ...(tooLong ? [{ path: 'timeLimit', says: `the cluster's limit is ${formatDuration(settings.maxSeconds!)}` }] : []),
    ],
  };
};
