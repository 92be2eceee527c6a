import type { Context } from 'hono';
import type { Answer } from '../../contract/answer.ts';
import type { Environment } from '../../http/context.ts';

/** Nothing of a page comes from anywhere but here, nothing in it is a script or a style, and no text becomes markup. */
const contentSecurityPolicy = [
  "default-src 'none'",
  "base-uri 'none'",
  "connect-src 'self'",
  "form-action 'self'",
  "frame-ancestors 'none'",
  "img-src 'self'",
  "script-src 'self'",
  "style-src 'self'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ');

export const pageHeaders = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': contentSecurityPolicy,
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  // Without it a form would come from "null"; other sites are told nothing.
  'referrer-policy': 'same-origin',
  'x-content-type-options': 'nosniff',
} as const;

/** After a form: the browser goes on with GET, and a reload sends nothing a second time. */
export const seeOther = (location: string, headers: Readonly<Record<string, string>> = {}): Answer => ({
  status: 303,
  headers: { ...headers, location },
  body: '',
});

const ofTheApi = /^\/(?:v1|healthz|readyz|metrics)(?:\/|$)/;

/** Whether a person looks at the answer, and not a program. */
export const wantsPage = (c: Context<Environment>): boolean =>
  !ofTheApi.test(c.req.path) && (c.req.header('accept') ?? '').includes('text/html');
