/**
 * App: what `cdk` runs. Reads the one file of the deployment (context `deployment`, `deployment.json` unless told) and makes its two
 * stacks; a file that is wrong gets one line, and nothing is synthesised. Asks AWS nothing: neither account nor region is known here.
 */
import { readFileSync } from 'node:fs';
import { App } from 'aws-cdk-lib';
import { readDeployment } from './deployment.ts';
import { makeStacks } from './stacks.ts';

const app = new App();
const file = String(app.node.tryGetContext('deployment') ?? 'deployment.json');

const textOf = (path: string): string | undefined => {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    console.error(`${path}: cannot be read (${(error as NodeJS.ErrnoException).code ?? 'unknown'}); docs/deploy.md shows what it holds`);
    return undefined;
  }
};

const text = textOf(file);
const read = text === undefined ? undefined : readDeployment(text);
if (read?.ok) {
  makeStacks(app, read.deployment);
  app.synth();
} else {
  if (read) console.error(`${file}: ${read.says}`);
  process.exitCode = 2;
}
