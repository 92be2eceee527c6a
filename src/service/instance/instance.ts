import type { Logger } from 'pino';
import type { Duration } from '../../interface/duration.ts';
import type { Git } from '../git/git.ts';
import type { TargetCheck } from '../outbound/target.ts';
import type { FreeDisk } from '../runtime/free-disk.ts';
import type { Metrics } from '../runtime/metrics.ts';
import type { Storage } from '../storage/storage.ts';

/** The dependencies of all parts of an instance. Each part names the ones that it uses. */
export interface Instance {
  readonly storage: Storage;
  readonly git: Git;
  readonly dataFolder: string;
  readonly targets: TargetCheck;
  readonly metrics: Metrics;
  readonly log: Logger;
  readonly allowFileRemotes: boolean;
  readonly syncTimeout: Duration;
  readonly freeDisk: FreeDisk;
}
