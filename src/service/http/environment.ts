import type { HttpBindings } from '@hono/node-server';
import type { Bearer } from '../tokens/tokens.ts';
import type { ReleaseAdmission } from './rate-limit.ts';

/** What a request carries on its way through the middleware. */
export interface Environment {
  Bindings: HttpBindings;
  Variables: {
    requestId: string;
    /** See client-address.ts. */
    clientAddress: string | null;
    /** Set by the access rule of every route that needs a token or a session. */
    bearer: Bearer;
    /** Of a request to release a lock. */
    releaseAdmission: ReleaseAdmission;
    /** Of the dashboard: the secret in its cookie, and the database's time. */
    session: { readonly secret: string; readonly now: number };
    /** Spent waiting because the client asked for it: see locks/waiters.ts. */
    waitedMs: number;
    /** The body exactly as it was sent. */
    bodyText: string;
    /** What the body says in JSON, not yet examined. */
    body: unknown;
    /** Headers that every answer to this request gets. */
    answerHeaders: Readonly<Record<string, string>>;
  };
}
