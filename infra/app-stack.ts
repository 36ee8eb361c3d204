/** App stack: all of a deployment that may be deleted and made again. It refers to the state stack by what that exports, one way. */
import { Stack, type StackProps } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import type { Deployment } from './deployment.ts';
import { Dispatch } from './dispatch.ts';
import { prefixOf, recordOf } from './state-stack.ts';

export class AppStack extends Stack {
  readonly dispatch: Dispatch;

  constructor(scope: Construct, id: string, deployment: Deployment, props: StackProps = {}) {
    super(scope, id, {
      ...props,
      stackName: `${prefixOf(deployment)}-app`,
      description: `dispatch ${deployment.tag}: everything but the record.`,
    });
    this.dispatch = new Dispatch(this, 'Dispatch', { deployment, record: recordOf(this, deployment) });
  }
}
