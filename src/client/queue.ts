import { accepted, oneOf, type Parsed } from '../interface/parsed.ts';
import type { QueuePosition } from '../interface/problem.ts';
import { asObject, type Json } from './json.ts';
import { type ClientResponse, headerOf, objectIn } from './response.ts';

/** Waits in line for a lock (RFC 7240, `Prefer: wait`). */
export interface QueueWait {
  /** How long the service may delay its response. 0 only takes a place. */
  readonly seconds: number;
  readonly urgency: Urgency;
}

/** RFC 9218 section 4.1: 1 comes first. */
const urgencies = { low: 5, normal: 3, high: 1 } as const;

type Urgency = (typeof urgencies)[keyof typeof urgencies];

const parsePriority = oneOf(['low', 'normal', 'high']);

export function parseUrgency(text: string): Parsed<Urgency> {
  const priority = parsePriority(text);
  return priority.ok ? accepted(urgencies[priority.value]) : priority;
}

export const lineParts = (wait: QueueWait | undefined, branch: string | undefined) => ({
  headers: {
    // HTTP libraries send each character of a header as one byte, so the UTF-8 bytes are passed as characters.
    ...(branch !== undefined && { 'lock-branch': Buffer.from(branch).toString('latin1') }),
    ...(wait !== undefined && { prefer: `wait=${wait.seconds}`, priority: `u=${wait.urgency}` }),
  },
  waitMs: wait && wait.seconds > 0 ? wait.seconds * 1_000 : undefined,
});

/** The place in line from a response that grants no locks. `hasWaited`: the service applied the requested wait. */
export const lineIn = (response: ClientResponse) => ({ hasWaited: hasWaited(response), queue: queueIn(response) });

/** Whether `wait` is among the preferences that the service applied (RFC 7240 section 3). */
export const hasWaited = (response: ClientResponse): boolean =>
  /(^|[,;\s])wait($|[=,;\s])/i.test(headerOf(response, 'preference-applied') ?? '');

function queueIn(response: ClientResponse): QueuePosition | undefined {
  const queue = asObject(objectIn(response)['queue']);
  const position = placeIn(queue['position']);
  if (position === undefined) return undefined;
  // A place that was not taken would come after all others.
  return { position, length: Math.max(position, placeIn(queue['length']) ?? 0) };
}

/** A larger number is a bug of the service. */
const maxPlaces = 1_000_000;

/** Counted from 1. */
export function placeIn(value: Json | undefined): number | undefined {
  const number = Number(value);
  return Number.isSafeInteger(number) && number >= 1 && number <= maxPlaces ? number : undefined;
}
