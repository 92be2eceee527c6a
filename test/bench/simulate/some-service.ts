import type { ServiceTimes } from '../../../bench/simulate/service.ts';
import { usualWorkload, type Workload } from '../../../bench/simulate/workload.ts';

/** Of an ordinary machine. */
export const someTimes: ServiceTimes = {
  requestMs: 0.2,
  writeMs: 0.3,
  refuseMs: 0.1,
  groupMs: 0.1,
  flush: { medianMs: 2, sigma: 0.5 },
  listedMs: 0.01,
  listedBytes: 240,
  wireMs: 0.2,
};

/** Few jobs that want the same few paths, each for a short time. */
export const someWorkload: Workload = {
  ...usualWorkload,
  jobs: 40,
  paths: 12,
  zipf: 0.8,
  tokens: 4,
  workSeconds: 20,
  holdSeconds: 5,
  waitSeconds: 90,
  ttlSeconds: 120,
  vanish: 0.02,
};

/** The same machine, so many times as fast. */
export const faster = (times: ServiceTimes, by: number): ServiceTimes => ({
  ...times,
  requestMs: times.requestMs / by,
  writeMs: times.writeMs / by,
  refuseMs: times.refuseMs / by,
  groupMs: times.groupMs / by,
  flush: { ...times.flush, medianMs: times.flush.medianMs / by },
  listedMs: times.listedMs / by,
});
