import type { Context } from 'hono';
import type { ApiResponse } from '../../contract/response.ts';
import type { Environment } from '../../http/context.ts';

/** Pages load everything from this origin, have no inline scripts or styles, and never turn text into markup. */
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
  // With `no-referrer`, browsers would send forms with the Origin "null". Other sites get no referrer.
  'referrer-policy': 'same-origin',
  'x-content-type-options': 'nosniff',
} as const;

/** Response to a form: the browser continues with GET, so that a reload does not send the form again. */
export const seeOther = (location: string, headers: Readonly<Record<string, string>> = {}): ApiResponse => ({
  status: 303,
  headers: { ...headers, location },
  body: '',
});

const apiPaths = /^\/(?:v1|healthz|readyz|metrics)(?:\/|$)/;

/** Whether the request is from a browser that shows a page, not from a program. */
export const wantsPage = (c: Context<Environment>): boolean =>
  !apiPaths.test(c.req.path) && (c.req.header('accept') ?? '').includes('text/html');
