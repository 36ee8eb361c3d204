import { expect, test } from 'vitest';
import { distanceOf, nearest } from '../../lib/job/nearest.ts';

const KNOWN = ['name', 'nodes', 'timeLimit', 'memoryPerNode', 'preempted', 'max', 'by'];

test.each([
  ['nmae', 'name'],
  ['node', 'nodes'],
  ['time_limit', 'timeLimit'],
  ['TIMELIMIT', 'timeLimit'],
  ['memory-per-node', 'memoryPerNode'],
  ['preemption', 'preempted'],
  ['maxx', 'max'],
])('%s is near %s', (word, name) => expect(nearest(word, KNOWN)).toBe(name));

test.each(['', 'walrus', 'z', 'qq', 'x'.repeat(65)])('nothing is near %j', (word) => expect(nearest(word, KNOWN)).toBeUndefined());

test('of two equally near names the first wins', () => expect(nearest('ab', ['ac', 'ad'])).toBe('ac'));

test.each([
  ['', '', 0],
  ['a', '', 1],
  ['abc', 'acb', 1],
  ['kitten', 'sitting', 3],
])('%j to %j takes %d changes', (a, b, changes) => {
  expect(distanceOf(a, b)).toBe(changes);
  expect(distanceOf(b, a)).toBe(changes);
});
