import { request } from 'node:http';
import { argv } from 'node:process';

/** Run as a process of its own, so that the service is not held up by who asks: 32 clients, each with a connection. */
const [, , port = '', token = '', workspace = '', count = '0'] = argv;
let next = 0;

function lock(path: string): Promise<number | undefined> {
  const body = JSON.stringify({ path, type: 'exclusive', ttl: '1h' });
  return new Promise((resolve, reject) => {
    const asked = request(
      {
        port,
        host: '127.0.0.1',
        method: 'POST',
        path: `/v1/workspaces/${workspace}/locks`,
        headers: {
          authorization: `Bearer ${token}`,
          'content-type': 'application/json',
          'content-length': Buffer.byteLength(body),
        },
      },
      (answer) => {
        answer.resume().once('end', () => resolve(answer.statusCode));
      },
    );
    asked.once('error', reject).end(body);
  });
}

async function client(): Promise<void> {
  while (next < Number(count)) {
    next += 1;
    if ((await lock(`asset-${next}`)) !== 201) throw new Error('A lock was refused.');
  }
}

await Promise.all(Array.from({ length: 32 }, client));
