import { z } from '@hono/zod-openapi';
import type { Context } from 'hono';
import { authenticateRequest } from '../access/access.ts';
import type { ApiResponse } from '../contract/response.ts';
import { clientIsGone, disconnection, type Environment } from '../http/context.ts';
import type { WaitOptions } from '../locks/wait-in-line.ts';
import { maxWaitSeconds } from '../locks/waiters.ts';
import { placeKeptMs, urgencyMs } from '../locks/waits.ts';
import type { Storage } from '../storage/storage.ts';
import { maxPreferLength, maxPriorityLength, preferredWait, urgencyOf } from './prefer.ts';

export const waitHeaders = z.object({
  Prefer: z
    .string()
    .optional()
    .openapi({
      maxLength: maxPreferLength,
      description: `wait=N: wait in line for at most N seconds (up to ${maxWaitSeconds}), and acquire at your turn. The Idempotency-Key, or the lease, identifies the place in line, which is kept for ${placeKeptMs / 1_000} s after the last request. Preference-Applied confirms the wait; if too many requests are waiting, the response is immediate (RFC 7240).`,
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

/** Runs a request with the wait that it prefers, if any. */
export async function waitWith(
  c: Context<Environment>,
  storage: Storage,
  respond: (options: WaitOptions | undefined) => Promise<ApiResponse>,
): Promise<ApiResponse> {
  const seconds = preferredWait(c.req.header('prefer'), maxWaitSeconds);
  if (seconds === undefined) return respond(undefined);
  const gone = disconnection(c.env);
  const startedAt = performance.now();
  const authenticate = () => authenticateRequest(c, { storage });
  try {
    return await respond({ seconds, urgency: urgencyOf(c.req.header('priority')), gone, authenticate });
  } catch (error) {
    if (gone.aborted) return clientIsGone;
    throw error;
  } finally {
    if (seconds > 0) c.set('waitedMs', performance.now() - startedAt);
  }
}
