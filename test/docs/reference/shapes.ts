/**
 * Shapes: a zod schema told as fields for people. The bounds come from the schema, the meaning from whoever prints it; a schema that has
 * a name of its own (a receipt, an outcome) is named, and printed once.
 */
import * as z from 'zod';
import { CAPABILITY_NAMES } from '../../../lib/job/capability.ts';
import { CAUSE_CLASSES, CAUSE_NAMES, evidenceSchema, outcomeSchema } from '../../../lib/job/cause.ts';
import { probeSchema } from '../../../lib/job/cluster-event.ts';
import {
  actionSchema,
  becauseSchema,
  decidedBySchema,
  findingSchema,
  gateSchema,
  lookSchema,
  pointSchema,
  receiptSchema,
  resourcesSchema,
  runSchema,
} from '../../../lib/job/event.ts';
import { policySchema } from '../../../lib/job/policy.ts';
import { specSchema } from '../../../lib/job/spec.ts';
import { code, counted } from './markdown.ts';

export interface Field {
  readonly name: string;
  readonly optional: boolean;
  readonly type: string;
}

/** Schemas that are printed by themselves, by the name that they have there. */
const NAMED = new Map<unknown, string>([
  [pointSchema, '[point](#point)'],
  [receiptSchema, '[receipt](#receipt)'],
  [gateSchema, '[gate](#gate)'],
  [resourcesSchema, '[resources](#resources)'],
  [lookSchema, '[look](#look)'],
  [runSchema, '[run](#run)'],
  [findingSchema, '[finding](#finding)'],
  [outcomeSchema, '[outcome](states-and-causes.md#outcomes)'],
  [evidenceSchema, '[evidence](states-and-causes.md#outcomes)'],
  [decidedBySchema, '[decider](#decider)'],
  [actionSchema, '[action](#action)'],
  [becauseSchema, '[because](#because)'],
  [specSchema, '[spec](policy-and-plan.md#the-spec), normalized'],
  [policySchema, '[policy](policy-and-plan.md#the-policy), normalized'],
  [probeSchema, '[probe](capabilities.md#probes)'],
]);

/** Long lists of names that have a page of their own. */
const LISTS: readonly (readonly [names: readonly string[], told: string])[] = [
  [CAUSE_NAMES, '[cause](states-and-causes.md#causes)'],
  [CAUSE_CLASSES, '[class](states-and-causes.md#causes)'],
  [CAPABILITY_NAMES, '[capability](capabilities.md)'],
];

/** Types that the API's document names. */
const QUANTITIES: Readonly<Record<string, string>> = {
  Duration: '[duration](policy-and-plan.md#quantities)',
  Memory: '[memory](policy-and-plan.md#quantities)',
};

interface Json {
  readonly id?: string;
  readonly $ref?: string;
  readonly type?: string;
  readonly const?: unknown;
  readonly enum?: readonly string[];
  readonly anyOf?: readonly Json[];
  readonly items?: Json;
  readonly properties?: Readonly<Record<string, Json>>;
  readonly additionalProperties?: Json | false;
  readonly required?: readonly string[];
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly exclusiveMinimum?: number;
  readonly maximum?: number;
  readonly maxItems?: number;
}

/** The bounds of every safe integer say nothing. */
const isBound = (value: number | undefined): value is number => value !== undefined && Math.abs(value) < Number.MAX_SAFE_INTEGER;

const rangeOf = ({ minimum, exclusiveMinimum, maximum }: Json): string => {
  const least = isBound(minimum) ? minimum : isBound(exclusiveMinimum) ? exclusiveMinimum : undefined;
  const above = least !== undefined && least === exclusiveMinimum && minimum === undefined;
  if (least !== undefined && isBound(maximum))
    return above ? ` above ${least}, at most ${counted(maximum)}` : ` ${counted(least)} to ${counted(maximum)}`;
  if (least !== undefined) return above ? ` above ${least}` : ` from ${counted(least)}`;
  return isBound(maximum) ? ` to ${counted(maximum)}` : '';
};

const ofJson = (json: Json): string => {
  const quantity = QUANTITIES[json.id ?? json.$ref?.split('/').at(-1) ?? ''];
  if (quantity !== undefined) return quantity;
  if (json.const !== undefined) return code(String(json.const));
  if (json.enum) return LISTS.find(([names]) => isSame(names, json.enum!))?.[1] ?? json.enum.map(code).join(' · ');
  if (json.anyOf) return json.anyOf.map(ofJson).join(', or ');
  switch (json.type) {
    case 'string':
      return isBound(json.maxLength) ? `text, at most ${counted(json.maxLength)}` : 'text';
    case 'integer':
      return `whole number${rangeOf(json)}`;
    case 'number':
      return `number${rangeOf(json)}`;
    case 'boolean':
      return 'yes or no';
    case 'array':
      return `list of ${ofJson(json.items ?? {})}${isBound(json.maxItems) ? `, at most ${counted(json.maxItems)}` : ''}`;
    case 'object': {
      const required = new Set(json.required);
      const names = Object.keys(json.properties ?? {}).map((name) => (required.has(name) ? name : `${name}?`));
      if (names.length > 0) return code(`{${names.join(', ')}}`);
      return json.additionalProperties ? `names, each with ${ofJson(json.additionalProperties)}` : code('{}');
    }
    default:
      return 'anything';
  }
};

const isSame = (a: readonly string[], b: readonly string[]): boolean => a.length === b.length && a.every((name, i) => name === b[i]);

const unwrapped = (schema: z.core.$ZodType): z.core.$ZodType =>
  schema instanceof z.ZodOptional ? unwrapped(schema.def.innerType as z.core.$ZodType) : schema;

/** A type in words: what it may hold, and how much of it. */
export const typeOf = (schema: z.core.$ZodType): string => {
  const inner = unwrapped(schema);
  const named = NAMED.get(inner);
  if (named !== undefined) return named;
  if (inner instanceof z.ZodArray) {
    const element = NAMED.get(inner.element);
    if (element !== undefined) {
      const { maxItems } = z.toJSONSchema(inner, { unrepresentable: 'any' }) as Json;
      return `list of ${element}${isBound(maxItems) ? `, at most ${counted(maxItems)}` : ''}`;
    }
  }
  return ofJson(z.toJSONSchema(inner, { unrepresentable: 'any' }) as Json);
};

export const fieldsOf = (shape: Readonly<Record<string, z.core.$ZodType>>): Field[] =>
  Object.entries(shape)
    .filter(([name]) => name !== 'type')
    .map(([name, schema]) => ({ name, optional: schema instanceof z.ZodOptional, type: typeOf(schema) }));

/** One row per field, with its meaning; a field without one is a mistake of the page. */
export const fieldRows = (
  shape: Readonly<Record<string, z.core.$ZodType>>,
  meaningOf: (name: string) => string | undefined,
  of: string,
): string[][] =>
  fieldsOf(shape).map(({ name, optional, type }) => {
    const meaning = meaningOf(name);
    if (meaning === undefined) throw new Error(`the reference says nothing of ${of}.${name}`);
    return [code(optional ? `${name}?` : name), type, meaning];
  });
