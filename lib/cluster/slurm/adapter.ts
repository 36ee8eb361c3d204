/**
 * The Slurm adapter: each verb is one remote program of pure parts, run on the one connection of its session.
 *
 * Invariants: nothing throws for what a scheduler or a network said after `connect`; objects of another tag are never acted upon;
 * every verb is bounded in time and bytes.
 */
import { type Probe } from '../../job/capability.ts';
import { assert } from '../../job/assertion.ts';
import type { Receipt } from '../../job/event.ts';
import { parseIdentity, birthOf } from './names.ts';
import { ClusterFailure } from '../failure.ts';
import type { ActAnswer, Adapter, Observed, Session, Submission, SubmitAnswer, Target } from '../port.ts';
import { type Act, actProgram, fenceProgram, readAct, readFence } from './act.ts';
