import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

const program = join(import.meta.dirname, 'latency-proxy-process.ts');

export interface LatencyProxy {
  /** The same database, as far away. */
  readonly url: string;
  stop(): void;
}

/**
 * A network between a service and its database: all that passes arrives so many milliseconds after it was sent, each way.
 * In a process of its own, so that it does not wait for who measures.
 */
export async function startLatencyProxy(databaseUrl: string, ms: number): Promise<LatencyProxy> {
  const url = new URL(databaseUrl);
  const args = [program, '--host', url.hostname, '--port', url.port || '5432', '--ms', String(ms)];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const [port] = await Promise.race([
    once(createInterface({ input: child.stdout }), 'line'),
    once(child, 'exit').then(() => Promise.reject(new Error('The proxy did not start.'))),
  ]);
  url.hostname = '127.0.0.1';
  url.port = String(port);
  return { url: url.href, stop: () => void child.kill('SIGKILL') };
}
