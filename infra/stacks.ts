/** Stacks: both of a deployment in one app, under the rules that every synthesis is checked by. */
import { type App, Validations } from 'aws-cdk-lib';
import { AwsSolutionsChecks } from 'cdk-nag';
import { AppStack } from './app-stack.ts';
import type { Deployment } from './deployment.ts';
import { StateStack } from './state-stack.ts';

export interface Stacks {
  readonly state: StateStack;
  readonly app: AppStack;
}

export const makeStacks = (app: App, deployment: Deployment): Stacks => {
  const state = new StateStack(app, 'State', deployment);
  const made = new AppStack(app, 'App', deployment);
  // Its table is imported by name, which says nothing of the order.
  made.addStackDependency(state);
  Validations.of(app).addPlugins(new AwsSolutionsChecks(app));
  return { state, app: made };
};
