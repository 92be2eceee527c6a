import { z } from '@hono/zod-openapi';
import type { Context } from 'hono';
import { bearerOf, type Environment } from './context.ts';

const maxOriginLength = 2_048;

export const originHeader = z.object({
  Referer: z.string().optional().openapi({
    maxLength: maxOriginLength,
    description:
      'URL that the lock is acquired from, such as the run URL. Stored as origin, without user name, password and fragment. Ignored if it is too long, or not an http or https URL.',
    example: 'https://ci.example.com/runs/1',
  }),
});

/** The verified identity of a run takes precedence over the Referer header. */
export const runOriginOf = (c: Context<Environment>): string | null =>
  bearerOf(c).run?.origin ?? refererOrigin(c.req.header('referer'));

/** The run URL from the Referer of a request: an http or https URL without credentials. */
function refererOrigin(referer: string | undefined): string | null {
  if (referer === undefined || referer.length > maxOriginLength || !URL.canParse(referer)) return null;
  const url = new URL(referer);
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return null;
  // RFC 9110 section 10.1.3: a Referer must not contain these, so they were sent by mistake.
  url.username = '';
  url.password = '';
  url.hash = '';
  return url.href;
}
