import type { Comparison, Outdated } from '../interface/resources.ts';
import { timestampIn } from './clock.ts';
import { asObject, firstName, type Json, type JsonObject } from './json.ts';
import { plainName, type Sanitizer } from './sanitizer.ts';

const maxNameLength = 256;

/** Undefined if the value does not name a path and a branch. */
export function readOutdated(value: Json | undefined, sanitizer: Sanitizer): Outdated | undefined {
  const outdated = asObject(value ?? null);
  const line = (name: string): string => sanitizer.line(firstName(outdated, [name]) ?? '', maxNameLength);
  const path = firstName(outdated, ['path']);
  const branch = line('branch');
  if (path === undefined || branch === '') return undefined;
  return {
    ...{ path: plainName(path), branch, commit: line('commit'), author: line('author') },
    at: timestampIn(outdated['at']) ?? '',
    ...(outdated['deleted'] === true && { deleted: true }),
  };
}

/** The age of the mirror, if the service could not bring it up to date. */
export function ageIn(body: JsonObject): Pick<Comparison, 'as_of'> {
  const asOf = body['as_of'];
  return asOf === undefined ? {} : { as_of: timestampIn(asOf) ?? null };
}
