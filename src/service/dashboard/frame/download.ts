import { authenticateSession } from '../../sessions/sessions.ts';
import type { PageCall, Site } from './page.ts';

export interface Download {
  readonly lines: AsyncIterable<string>;
  readonly filename: string;
  readonly mediaType: string;
}

/** Response with a file of any length. The session is checked before each part, as for a live page. */
export function download({ storage, log }: Site, { c }: PageCall, { lines, filename, mediaType }: Download): Response {
  const { secret } = c.get('session');
  async function* encoded(): AsyncGenerator<Uint8Array, void, undefined> {
    try {
      for await (const text of lines) {
        if ((await authenticateSession(storage, secret)).kind === 'refused') throw new Error('The session has ended.');
        yield Buffer.from(text);
      }
    } catch (error) {
      log.warn({ err: error, filename }, 'download interrupted');
      // Close the connection, so that the browser reports an incomplete file.
      c.env.outgoing.destroy();
    }
  }
  return new Response(ReadableStream.from(encoded()), {
    headers: {
      'content-type': mediaType,
      'content-disposition': `attachment; filename="${filename}"`,
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      'x-request-id': c.get('requestId'),
    },
  });
}
