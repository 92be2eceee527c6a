/** A value for NODE_OPTIONS that makes a process run this code before its own module. */
export const preload = (code: string): string =>
  // Without quotes, which a shell may read.
  `--import data:text/javascript,${encodeURIComponent(code).replaceAll("'", '%27')}`;

/** A process whose timers and monotonic clock run faster by this factor, or slower if it is below 1. */
export const fasterTime = (times: number): string =>
  preload(`
    import { syncBuiltinESMExports } from 'node:module';
    import promises from 'node:timers/promises';
    const later = globalThis.setTimeout;
    globalThis.setTimeout = (work, ms = 0, ...given) => later(work, ms / ${times}, ...given);
    const wait = promises.setTimeout;
    promises.setTimeout = (ms = 0, ...given) => wait(ms / ${times}, ...given);
    syncBuiltinESMExports();
    const now = performance.now.bind(performance);
    performance.now = () => now() * ${times};
    const uptime = process.uptime.bind(process);
    process.uptime = () => uptime() * ${times};
  `);

/** Multiplies the timeouts of abort signals: a step uses them only for the start of its renewer. */
export const slowerTimeouts = (times: number): string =>
  preload(`
    const { timeout } = AbortSignal;
    AbortSignal.timeout = (ms) => timeout.call(AbortSignal, ms * ${times});
  `);
