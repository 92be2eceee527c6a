import { execFileSync } from 'node:child_process';

/** A response to a client about a lock, or a backup or restore of the path; it took effect between two moments, in milliseconds since 1970. */
export interface LockOperation {
  /** With its workspace. */
  readonly path: string;
  readonly client: number;
  readonly call: number;
  readonly return: number;
  /** `released-or-gone`: an earlier attempt without a response may have released it. */
  readonly kind: 'granted' | 'held' | 'released' | 'released-or-gone' | 'expired' | 'backed-up' | 'restored';
  /** Of the lock that was granted, released or expired, or of the one in the way; empty for a backup or restore. */
  readonly id: string;
  readonly fence: number;
}

/** Whether the Go toolchain is there, with which the checker is compiled. */
export function hasGo(): boolean {
  try {
    execFileSync('go', ['version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

/** The paths whose operations no order explains in which one lock after the other is held; by Porcupine. */
export function notLinearizable(operations: readonly LockOperation[]): readonly string[] {
  const output = execFileSync('go', ['run', '.'], {
    cwd: import.meta.dirname,
    input: JSON.stringify(operations),
    encoding: 'utf8',
    env: { ...process.env, GOFLAGS: '-mod=readonly -buildvcs=false' },
  });
  return output.split('\n').filter((line) => line !== '');
}
