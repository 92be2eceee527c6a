import { z } from '@hono/zod-openapi';
import type { Context } from 'hono';
import { type BranchName, parseBranchName } from '../../interface/branch-name.ts';
import { authenticateRequest } from '../access/access.ts';
import { describedBranch } from '../contract/request-fields.ts';
import { type ApiResponse, Refusal, valid } from '../contract/response.ts';
import { clientIsGone, disconnection, type Environment } from '../http/context.ts';
import { defaultUrgency, maxWaitSeconds, placeKeptMs, urgencyMs, type WaitOptions } from '../locks/wait-terms.ts';
import type { Storage } from '../storage/storage.ts';

/** Longer values of Prefer are ignored, like invalid and unknown preferences (RFC 7240, section 2). */
export const maxPreferLength = 1_000;

const maxPriorityLength = 200;

export const waitHeaders = z.object({
  Prefer: z
    .string()
    .optional()
    .openapi({
      maxLength: maxPreferLength,
      description: `wait=N: wait in line for at most N seconds (up to ${maxWaitSeconds}), and acquire the lock when your turn comes. The Idempotency-Key, or the lease, identifies the place in line, which is kept for ${placeKeptMs / 1_000} s after the last request. Preference-Applied confirms the wait; if too many requests are waiting, the response is immediate (RFC 7240).`,
      example: 'wait=30',
    }),
  Priority: z
    .string()
    .optional()
    .openapi({
      maxLength: maxPriorityLength,
      description: `u=1 to u=5 (RFC 9218), 1 first and 3 by default: the place in line. Each level is worth ${urgencyMs / 60_000} minutes of waiting. Other values are ignored.`,
      example: 'u=1',
    }),
});

/** Runs a request with the wait of its `Prefer` header, if it has one. */
export async function waitWith(
  c: Context<Environment>,
  storage: Storage,
  respond: (options: WaitOptions | undefined) => Promise<ApiResponse>,
): Promise<ApiResponse> {
  const seconds = preferredWait(c.req.header('prefer'));
  if (seconds === undefined) return respond(undefined);
  const gone = disconnection(c.env);
  const startedAt = performance.now();
  const authenticate = () => authenticateRequest(c, { storage });
  try {
    return await respond({ seconds, urgency: urgencyOf(c.req.header('priority')), gone, authenticate });
  } catch (error) {
    // The client has disconnected, so nobody would see a refusal. Other errors are logged.
    if (gone.aborted && error instanceof Refusal) return clientIsGone;
    throw error;
  } finally {
    if (seconds > 0) c.set('waitedMs', performance.now() - startedAt);
  }
}

export const lockBranchHeader = z.object({
  'Lock-Branch': z
    .string()
    .optional()
    .openapi({
      ...describedBranch,
      description:
        'The branch that the lock is for, without refs/heads/. If another branch has a newer version of the file, the lock is refused (problem outdated) or acquired with the member outdated, depending on the workspace settings.',
    }),
});

export function lockBranchOf(c: Context<Environment>): BranchName | undefined {
  const text = c.req.header('lock-branch');
  return text === undefined ? undefined : valid('Lock-Branch', parseBranchName(Buffer.from(text, 'latin1').toString()));
}

/** Separated by commas, which quoted strings may also contain. */
const preferences = /(?<=^|,)(?:[^",]|"(?:[^"\\]|\\.)*")+/g;

const isWait = /^[\t ]*wait[\t ]*(?:[=;]|$)/i;
const waitSeconds = /^[\t ]*wait[\t ]*=[\t ]*(\d+)[\t ]*(?:;|$)/i;

/** The preference `wait` (RFC 7240 section 4.3), at most the longest wait. The first one counts if repeated. */
export function preferredWait(header: string | undefined): number | undefined {
  if (header === undefined || header.length > maxPreferLength) return undefined;
  const wait = header.match(preferences)?.find((preference) => isWait.test(preference));
  const [, seconds] = waitSeconds.exec(wait ?? '') ?? [];
  return seconds === undefined ? undefined : Math.min(Number(seconds), maxWaitSeconds);
}

/** The urgency in the Priority header, a structured dictionary (RFC 9218 section 4.1). Ignores other members. */
export function urgencyOf(header: string | undefined): number {
  if (header === undefined || header.length > maxPriorityLength) return defaultUrgency;
  const [, urgency = defaultUrgency] = /^(?:[^"]*,)?[\t ]*u=([1-5])[\t ]*(?:[,;]|$)/.exec(header) ?? [];
  return Number(urgency);
}
