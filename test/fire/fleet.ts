import { join } from 'node:path';
import { type ServiceProcess, startServiceProcess } from '../support/service-process.ts';

export type Fleet = Awaited<ReturnType<typeof startFleet>>;

/** Instances of the service on one database, each with its own data folder. */
export async function startFleet(folder: string, databaseUrl: string, count: number) {
  const startOne = (index: number): Promise<ServiceProcess> =>
    startServiceProcess({
      folder: join(folder, `instance-${index}`),
      environment: { DATABASE_URL: databaseUrl },
      args: ['--sync-timeout', '60s', '--log-level', 'error'],
    });
  const running = new Map<number, ServiceProcess>();
  const indexes = Array.from({ length: count }, (_, index) => index);
  await Promise.all(indexes.map(async (index) => running.set(index, await startOne(index))));
  const [first] = running.values();
  return {
    /** The ports of the running instances. */
    ports: () => [...running.values()].map(({ baseUrl }) => Number(new URL(baseUrl).port)),
    /** The token, which all instances accept. */
    token: first?.token ?? '',
    /** Ends an instance like a crash; false if it is not running. */
    async kill(index: number): Promise<boolean> {
      const instance = running.get(index);
      if (instance === undefined) return false;
      running.delete(index);
      await instance.kill();
      return true;
    },
    /** Starts an instance again, with retries. */
    async start(index: number): Promise<void> {
      for (let tries = 1; !running.has(index); tries += 1) {
        try {
          running.set(index, await startOne(index));
        } catch (error) {
          // The instance cannot start while the database restarts.
          if (tries === 10) throw error;
        }
      }
    },
    /** Stops all instances, and returns their exit codes. */
    stop: () => Promise.all([...running.values()].map((instance) => instance.stop())),
  };
}
