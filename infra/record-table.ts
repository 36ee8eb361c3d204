/**
 * Record table: the one thing of a deployment that cannot be made again. Keys, indexes and what they carry come from the very definition
 * that the local process and the tests make their table from (lib/record/keys.ts).
 * Guards the record: kept when its stack is deleted, never deleted by a mistake, and restorable to any second of the last 35 days.
 */
import { RemovalPolicy } from 'aws-cdk-lib';
import { type Attribute, AttributeType, Billing, ProjectionType, TableV2 } from 'aws-cdk-lib/aws-dynamodb';
import { Construct } from 'constructs';
import { TTL_ATTRIBUTE, tableDefinition } from '../lib/record/keys.ts';

type Key = { readonly AttributeName: string; readonly KeyType: string };

/** DynamoDB takes its name at creation; the definition does not depend on it. */
const DEFINITION = tableDefinition('any');

export const INDEX_NAMES: readonly string[] = DEFINITION.GlobalSecondaryIndexes.map((index) => index.IndexName);

const attribute = (keys: readonly Key[], type: 'HASH' | 'RANGE'): Attribute => {
  const name = keys.find((key) => key.KeyType === type)?.AttributeName;
  if (name === undefined) throw new Error(`the table's definition has no ${type} key`);
  // Every key is a text: tableDefinition declares no other type.
  return { name, type: AttributeType.STRING };
};

export class RecordTable extends Construct {
  readonly table: TableV2;

  constructor(scope: Construct, id: string) {
    super(scope, id);
    this.table = new TableV2(this, 'Table', {
      partitionKey: attribute(DEFINITION.KeySchema, 'HASH'),
      sortKey: attribute(DEFINITION.KeySchema, 'RANGE'),
      billing: Billing.onDemand(),
      pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
      deletionProtection: true,
      removalPolicy: RemovalPolicy.RETAIN,
      timeToLiveAttribute: TTL_ATTRIBUTE,
      globalSecondaryIndexes: DEFINITION.GlobalSecondaryIndexes.map(({ IndexName, KeySchema, Projection }) => ({
        indexName: IndexName,
        partitionKey: attribute(KeySchema, 'HASH'),
        sortKey: attribute(KeySchema, 'RANGE'),
        ...('NonKeyAttributes' in Projection
          ? { projectionType: ProjectionType.INCLUDE, nonKeyAttributes: [...Projection.NonKeyAttributes] }
          : { projectionType: ProjectionType.KEYS_ONLY }),
      })),
    });
  }
}
