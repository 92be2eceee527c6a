import type { HttpBindings } from '@hono/node-server';
import type { Bearer } from '../tokens/tokens.ts';

/** What a request carries on its way through the middleware. */
export interface Environment {
  Bindings: HttpBindings;
  Variables: {
    requestId: string;
    /** See client-address.ts. */
    clientAddress: string | null;
    /** Set by the access rule of every route that needs a token. */
    bearer: Bearer;
    /** The body exactly as it was sent. */
    bodyText: string;
    /** What the body says in JSON, not yet examined. */
    body: unknown;
    /** Headers that every answer to this request gets. */
    answerHeaders: Readonly<Record<string, string>>;
  };
}
