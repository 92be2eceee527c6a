import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Grants every lock, releases every lock, and has one workspace. It takes no time, to measure only the client. */
export async function startSmallService() {
  /** Methods and targets, in the order of their arrival. */
  const requests: string[] = [];
  const server = createServer((request, response) => {
    request.resume();
    requests.push(`${request.method} ${request.url}`);
    response.setHeader('content-type', 'application/json');
    if (request.method === 'DELETE') response.writeHead(204).end();
    else if (request.method === 'POST') response.writeHead(201, { etag: '"1"' }).end('{"id":"1"}');
    else response.end('{"workspaces":[{"id":"game"}]}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  // A server that listens on TCP has an address with a port.
  const { port } = server.address() as AddressInfo;
  return {
    baseUrl: `http://127.0.0.1:${port}/v1`,
    requests,
    stop() {
      server.close();
      server.closeAllConnections();
    },
  };
}
