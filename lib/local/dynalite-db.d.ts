/** What table.ts uses of dynalite's own storage, to mend it; dynalite's version is pinned for this reason. */
declare module 'dynalite/db/index.js' {
  export interface StoredIndex {
    readonly IndexName: string;
    readonly KeySchema: readonly { readonly AttributeName: string; readonly KeyType: string }[];
    readonly Projection: { readonly ProjectionType: string; readonly NonKeyAttributes?: readonly string[] };
  }
  export interface StoredTable {
    readonly TableName: string;
    readonly TableStatus: string;
    readonly KeySchema: StoredIndex['KeySchema'];
    readonly AttributeDefinitions: readonly { readonly AttributeName: string; readonly AttributeType: string }[];
    readonly GlobalSecondaryIndexes?: readonly StoredIndex[];
  }
  interface Db {
    getIndexActions(
      indexes: readonly StoredIndex[],
      existing: undefined,
      item: unknown,
      table: StoredTable,
    ): { readonly puts: readonly { readonly index: string; readonly key: string; readonly item: unknown }[] };
  }
  const db: Db;
  export default db;
}
