import { initialSchema } from './initial-schema.ts';
import type { Dialect } from './storage.ts';

type Statements = (dialect: Dialect) => readonly string[];

/** Applied once each, in this order. A released migration never changes: append a new one instead. */
export const migrations: readonly Statements[] = [initialSchema];

/** Number of the schema of this version. */
export const schemaVersion = (): number => migrations.length;
