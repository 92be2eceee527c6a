import { execFileSync } from 'node:child_process';

/** A response about a lock, or a backup or restore of the path. It took effect between two times, in ms since 1970. */
export interface LockOperation {
  /** The path with its workspace. */
  readonly path: string;
  readonly client: number;
  readonly call: number;
  readonly return: number;
  /** `released-or-gone`: an earlier attempt without a response may have released it. */
  readonly kind: 'granted' | 'held' | 'released' | 'released-or-gone' | 'expired' | 'backed-up' | 'restored';
  /** The id of the granted, released, expired or blocking lock; empty for a backup or restore. */
  readonly id: string;
  readonly fence: number;
}

/** Whether the Go toolchain is installed, which compiles the checker. */
export function hasGo(): boolean {
  try {
    execFileSync('go', ['version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

/** The paths with operations that no sequence of exclusive locks can explain, as checked by Porcupine. */
export function notLinearizable(operations: readonly LockOperation[]): readonly string[] {
  const output = execFileSync('go', ['run', '.'], {
    cwd: import.meta.dirname,
    input: JSON.stringify(operations),
    encoding: 'utf8',
    env: { ...process.env, GOFLAGS: '-mod=readonly -buildvcs=false' },
  });
  return output.split('\n').filter((line) => line !== '');
}
