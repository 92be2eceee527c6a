import { createServer } from 'node:http';
import { connect } from 'node:net';
import { onTestFinished } from 'vitest';
import { joinSockets, listenHere } from '../listen.ts';

/**
 * A proxy that opens tunnels (RFC 9110 section 9.3.6). Every tunnel leads to this machine, whatever host is requested,
 * so that tests can use host names that are not loopback. `silent` never responds; a number refuses with that status.
 */
export async function startConnectProxy({ manner = 'open' }: { readonly manner?: 'open' | 'silent' | number } = {}) {
  /** The hosts and ports of the requested tunnels, with the credentials. */
  const asked: { target: string; authorization: string | undefined }[] = [];
  /** Requests that were not for a tunnel. */
  const others: string[] = [];
  const server = createServer((request, response) => {
    others.push(request.url ?? '');
    response.writeHead(405).end();
  });
  server.on('connect', (request, clientSide) => {
    const target = request.url ?? '';
    asked.push({ target, authorization: request.headers['proxy-authorization'] });
    if (manner === 'silent') {
      // Without reading, the end would not be noticed either.
      clientSide.on('end', () => clientSide.destroy()).resume();
      return;
    }
    if (manner !== 'open') {
      clientSide.end(`HTTP/1.1 ${manner} No\r\n\r\n`);
      return;
    }
    const serverSide = connect(Number(target.split(':').at(-1)), '127.0.0.1');
    serverSide.once('connect', () => clientSide.write('HTTP/1.1 200 Connection Established\r\n\r\n'));
    joinSockets(clientSide, serverSide);
  });

  const { port, sockets, close } = await listenHere(server);
  onTestFinished(close);
  return { address: `http://127.0.0.1:${port}`, sockets, asked, others };
}
