/** Which tables stand on which page, by its path from docs/reference, and the name in their markers. `-u` renews them (reference.test.ts). */
import * as capabilities from './capabilities.ts';
import * as causes from './causes.ts';
import * as environment from './environment.ts';
import * as events from './events.ts';
import * as layout from './layout.ts';
import * as operations from './operations.ts';
import * as permissions from './permissions.ts';
import * as policy from './policy.ts';
import * as questions from './questions.ts';
import * as remarks from './remarks.ts';
import * as simulator from './simulator.ts';
import * as slurm from './slurm-words.ts';
import * as steps from './steps.ts';
import * as timings from './timings.ts';

type Blocks = Readonly<Record<string, () => string>>;

export const PAGES: Readonly<Record<string, Blocks>> = {
  'states-and-causes.md': {
    'job states': causes.jobStates,
    'attempt states': causes.attemptStates,
    'pending groups': causes.pendingGroups,
    findings: causes.findings,
    causes: causes.causes,
    words: causes.words,
    outcome: causes.outcomeFields,
    evidence: causes.evidenceFields,
    details: causes.details,
    cancels: causes.cancelWhys,
    because: causes.becauses,
  },
  'slurm-words.md': { live: slurm.liveWords, ends: slurm.ends, reasons: slurm.reasons, sbatch: slurm.sbatchTexts },
  'policy-and-plan.md': {
    spec: policy.specFields,
    bounds: policy.specLimits,
    conditions: policy.conditions,
    actions: policy.actions,
    unmatched: policy.unmatched,
    limits: policy.limits,
    plan: policy.planFields,
    line: policy.ruleLine,
    enforcers: policy.enforcers,
    gates: policy.gates,
    mechanisms: policy.gateMeanings,
    refusals: remarks.refusals,
    warnings: remarks.warnings,
  },
  'capabilities.md': {
    capabilities: capabilities.capabilities,
    dependents: capabilities.dependents,
    slurm: capabilities.onSlurm,
    fields: capabilities.capabilityFields,
    facts: capabilities.factFields,
    by: capabilities.probedBy,
  },
  'next-steps.md': { steps: steps.steps, events: steps.stepEvents, directives: steps.directives, paces: steps.paces },
  'escalations.md': {
    kinds: questions.kinds,
    cluster: questions.clusterKinds,
    answers: questions.answers,
    stuck: questions.stuck,
    moot: questions.withdrawals,
  },
  'record.md': {
    schemas: layout.schemas,
    events: events.jobEvents,
    cluster: events.clusterEvents,
    shapes: events.shapes,
    choices: events.choices,
    fullness: layout.fullness,
    items: layout.items,
    head: layout.headAttributes,
    indexes: layout.indexes,
  },
  'stores.md': { calls: layout.calls, bounds: layout.bounds },
  'environment.md': {
    variables: environment.variables,
    stages: environment.stages,
    codes: environment.codesOfWrapper,
    waits: environment.wrapperWaits,
  },
  'timings.md': { timings: timings.timings, others: timings.otherTimings },
  '../operate.md': { alarms: operations.alarms, metrics: operations.metrics },
  '../upgrade.md': { numbers: operations.numbers },
  '../simulator.md': { mutants: simulator.mutants, 'out of reach': simulator.outOfReach, models: simulator.models },
  '../security.md': { scopes: permissions.scopes, limits: permissions.limitedRoutes, functions: permissions.functions },
};
